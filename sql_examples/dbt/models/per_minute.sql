{{ config(rowtime='minute_time') }}
SELECT item, window_start AS minute, window_time AS minute_time, SUM(amount) AS total
FROM TABLE(TUMBLE(TABLE {{ ref('large_orders') }}, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY item, window_start, window_end, window_time
