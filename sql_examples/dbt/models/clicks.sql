{{ config(materialized='stream_source') }}
(
  item STRING,
  ts TIMESTAMP(3),
  day AS CAST(ts AS DATE),
  WATERMARK FOR ts AS ts - INTERVAL '10' SECOND
) WITH ('connector' = 'filesystem', 'path' = '{{ env_var("INPUT", "input") }}/clicks', 'format' = 'json')
