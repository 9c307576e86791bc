create Table e (k string, v Int, ts timestamp(3), watermark For ts As ts - interval '5' second) With ('connector'='filesystem', 'path'='${IN}/ev.json', 'format'='json');
CREATE TABLE snk (
  a STRING
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
select k, Window_Start as ws, count(*) as c from table(Tumble(table e, descriptor(ts), interval '1' minute)) group by k, window_start, window_end;
