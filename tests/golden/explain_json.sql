-- what: EXPLAIN as json.
-- output: json
SELECT u.country, w.window_start, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) AS w
JOIN users AS u ON u.name = w.user_name
WHERE w.amount > 0
GROUP BY u.country, w.window_start, w.window_end;

SELECT user_name, MAX(amount) AS most FROM clicks GROUP BY user_name;

-- becomes
{
  "path": "native",
  "why": "every step has an operator of Spark that gives the same rows",
  "mode": "streaming",
  "changelog": "append",
  "columns": [
    "country STRING",
    "window_start TIMESTAMP(3)",
    "n BIGINT"
  ],
  "time_attributes": [],
  "watermarks": [
    "clicks.ts: largest value - 5000 ms"
  ],
  "groupings": [],
  "unbounded_states": [],
  "tree": {
    "node": "Aggregate",
    "detail": "by window, u.country; emitted when the watermark passes the window",
    "changelog": "append",
    "time": [],
    "inputs": [
      {
        "node": "Join",
        "detail": "INNER on u.name = w.user_name",
        "changelog": "append",
        "time": [
          "ts",
          "window_time"
        ],
        "inputs": [
          {
            "node": "AssignWindows",
            "detail": "TUMBLE(60000 ms) on ts",
            "changelog": "append",
            "time": [
              "ts",
              "window_time"
            ],
            "inputs": [
              {
                "node": "Scan",
                "detail": "default_catalog.default_database.clicks (filesystem, stream)",
                "changelog": "append",
                "time": [
                  "ts"
                ],
                "inputs": []
              }
            ]
          },
          {
            "node": "Scan",
            "detail": "default_catalog.default_database.users (filesystem, snapshot)",
            "changelog": "append",
            "time": [],
            "inputs": []
          }
        ]
      }
    ]
  }
}

{
  "path": "native",
  "why": "every step has an operator of Spark that gives the same rows",
  "mode": "streaming",
  "changelog": "update, by key (user_name)",
  "columns": [
    "user_name STRING",
    "most INT"
  ],
  "time_attributes": [],
  "watermarks": [
    "clicks.ts: largest value - 5000 ms"
  ],
  "groupings": [],
  "unbounded_states": [
    "GROUP BY user_name without a window"
  ],
  "tree": {
    "node": "Aggregate",
    "detail": "by user_name",
    "changelog": "update, by key (user_name)",
    "time": [],
    "inputs": [
      {
        "node": "Scan",
        "detail": "default_catalog.default_database.clicks (filesystem, stream)",
        "changelog": "append",
        "time": [
          "ts"
        ],
        "inputs": []
      }
    ]
  }
}
