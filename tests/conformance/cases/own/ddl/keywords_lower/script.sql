create table e (k string, v int, ts timestamp(3), watermark for ts as ts - interval '5' second) with ('connector'='filesystem', 'path'='${IN}/ev.json', 'format'='json');
CREATE TABLE snk (
  k STRING, window_start TIMESTAMP(3), c BIGINT, u STRING
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
select k, window_start, count(*) as c, upper(k) as u from table(tumble(table e, descriptor(ts), interval '1' minute)) group by k, window_start, window_end;
