-- CURRENT_WATERMARK: which rows come too late, row by row: sqlext test sql_examples/54_current_watermark.sql
-- Its .steps file says what comes when. A micro-batch has one watermark: what the batches before it have brought.

CREATE TABLE parcels (
  parcel STRING, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '10' SECOND
) WITH ('connector' = 'filesystem', 'path' = '${IN}/parcels', 'format' = 'json', 'source.monitor-interval' = '1 s');

-- NULL before the first watermark. A WHERE of the last column leaves late rows out, or takes them alone.
SELECT parcel, ts, CURRENT_WATERMARK(ts) AS met,
  CURRENT_WATERMARK(ts) IS NOT NULL AND ts <= CURRENT_WATERMARK(ts) AS is_late
FROM parcels;
