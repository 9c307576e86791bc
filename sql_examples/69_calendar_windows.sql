-- Windows of a calendar: months, quarters and years, by the clock of the session's zone.

SET 'table.local-time-zone' = 'Europe/Berlin';

CREATE TABLE invoices (
  customer STRING, amount DECIMAL(10, 2), ts TIMESTAMP_LTZ(3),
  WATERMARK FOR ts AS ts - INTERVAL '1' HOUR
) WITH ('connector' = 'filesystem', 'path' = '${IN}/invoices', 'format' = 'csv');

-- Berlin is an hour before UTC in January and two in March: 23:30 UTC on January 31 is February there.
SELECT window_start, window_end, COUNT(*) AS invoices, SUM(amount) AS total
FROM TABLE(TUMBLE(TABLE invoices, DESCRIPTOR(ts), INTERVAL '1' MONTH))
GROUP BY window_start, window_end;

-- A fiscal year that begins in April: the offset moves the first month.
SELECT customer, window_start, window_end, SUM(amount) AS total
FROM TABLE(TUMBLE(TABLE invoices, DESCRIPTOR(ts), INTERVAL '1' YEAR, INTERVAL '3' MONTH))
GROUP BY customer, window_start, window_end;

-- Quarters that begin each month.
SELECT window_start, window_end, SUM(amount) AS total
FROM TABLE(HOP(TABLE invoices, DESCRIPTOR(ts), INTERVAL '1' MONTH, INTERVAL '1' QUARTER))
GROUP BY window_start, window_end;

-- Year to date, each month.
SELECT window_start, window_end, SUM(amount) AS so_far
FROM TABLE(CUMULATE(TABLE invoices, DESCRIPTOR(ts), INTERVAL '1' MONTH, INTERVAL '1' YEAR))
WHERE customer = 'ann'
GROUP BY window_start, window_end;

-- A week has a fixed length. Without an offset it begins on Thursday, as January 1, 1970 did; on Monday four days later.
SELECT window_start, COUNT(*) AS invoices
FROM TABLE(TUMBLE(TABLE invoices, DESCRIPTOR(ts), INTERVAL '7' DAY, INTERVAL '4' DAY))
GROUP BY window_start, window_end;
