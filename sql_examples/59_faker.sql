-- Made-up rows by Flink's connector faker: names, numbers, times and choices, the same in every run.
-- It needs the library Faker: pip install 'sqlext-spark[faker]'

CREATE TABLE server_logs (
  client_ip STRING,
  userid STRING,
  log_time TIMESTAMP(3),
  request_line STRING,
  status_code STRING,
  size INT,
  tags ARRAY<STRING>,
  place ROW<city STRING, zip STRING>,
  WATERMARK FOR log_time AS log_time - INTERVAL '15' SECOND
) WITH (
  'connector' = 'faker',
  'number-of-rows' = '500',
  'fields.client_ip.expression' = '#{Internet.publicIpV4Address}',
  'fields.userid.expression' = '#{numerify ''user_##''}',
  'fields.userid.null-rate' = '0.5',
  'fields.log_time.expression' = '#{date.past ''15'',''5'',''SECONDS''}',
  'fields.request_line.expression' = '#{regexify ''(GET|POST|PUT){1}''} #{regexify ''/[a-z]{3}\.html''} HTTP/1.1',
  'fields.status_code.expression' = '#{Options.option ''200'',''201'',''404''}',
  'fields.size.expression' = '#{number.numberBetween ''100'',''1000''}',
  'fields.tags.expression' = '#{Color.name}',
  'fields.tags.length' = '3',
  'fields.place.city.expression' = '#{Address.city}',
  'fields.place.zip.expression' = '#{bothify ''??-####''}'
);

-- Which values there are.
SELECT status_code, COUNT(*) > 100 AS often, MIN(size) >= 100 AND MAX(size) < 1000 AS sizes
FROM server_logs GROUP BY status_code;

-- Half of the users are NULL; expressions are put together with the text around them.
SELECT COUNT(*) AS logs,
       COUNT(userid) BETWEEN 200 AND 300 AS about_half,
       COUNT(CASE WHEN request_line SIMILAR TO '(GET|POST|PUT) /[a-z]+.html HTTP/1.1' THEN 1 END) AS requests,
       COUNT(CASE WHEN place.zip LIKE '__-____' THEN 1 END) AS zips
FROM server_logs;

SELECT CARDINALITY(tags) AS tags, COUNT(*) AS logs FROM server_logs GROUP BY CARDINALITY(tags);

-- Times are behind the clock, so windows over them are as of live rows.
SELECT SUM(logs) AS logs
FROM (
  SELECT window_start, COUNT(*) AS logs
  FROM TABLE(TUMBLE(TABLE server_logs, DESCRIPTOR(log_time), INTERVAL '5' SECOND))
  GROUP BY window_start, window_end
);
