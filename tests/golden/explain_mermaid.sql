-- what: EXPLAIN as mermaid.
-- output: mermaid
SELECT u.country, w.window_start, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) AS w
JOIN users AS u ON u.name = w.user_name
WHERE w.amount > 0
GROUP BY u.country, w.window_start, w.window_end;

-- becomes
flowchart TD
    n1["Scan: default_catalog.default_database.clicks (filesystem, stream)"]
    n2["AssignWindows: TUMBLE(60000 ms) on ts"]
    n1 -->|append| n2
    n3["Scan: default_catalog.default_database.users (filesystem, snapshot)"]
    n4["Join: INNER on u.name = w.user_name"]
    n2 -->|append| n4
    n3 -->|append| n4
    n5["Aggregate: by window, u.country; emitted when the watermark passes the window"]
    n4 -->|append| n5
