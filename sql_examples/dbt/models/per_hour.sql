{{ config(emit='AFTER WATERMARK EARLY EVERY ROW') }}
SELECT window_start AS hour, SUM(total) AS total
FROM TABLE(TUMBLE(TABLE {{ ref('per_minute') }}, DESCRIPTOR(minute_time), INTERVAL '1' HOUR))
GROUP BY window_start, window_end
