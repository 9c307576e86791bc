"""The Nexmark questions in batch Spark SQL: what ``sql_examples/nexmark/q*.sql`` must give.

Written from what the questions mean, over the views ``person``, ``auction``, ``bid`` and ``side_input``: windows are
made by rounding times, ranks by Spark's own.
"""

from __future__ import annotations

_RANKED = (
    "SELECT *, row_number() OVER (PARTITION BY id ORDER BY price DESC, bid_time) AS n FROM ("
    "SELECT A.id, A.itemName, A.seller, A.category, B.bidder, B.price, B.dateTime AS bid_time "
    "FROM auction A JOIN bid B ON A.id = B.auction AND B.dateTime BETWEEN A.dateTime AND A.expires)"
)
_WINNERS = f"(SELECT * FROM ({_RANKED}) WHERE n = 1)"
_TEN = "make_timestamp_ntz(2024, 3, 1, 0, 0, 0) + make_dt_interval(0, 0, 0, 10 * floor(({0}) / 10))"
_SECONDS = "timestampdiff(SECOND, TIMESTAMP_NTZ '2024-03-01 00:00:00', {0})"
_TUMBLE = _TEN.format(_SECONDS.format("dateTime"))
_RANKS = ("true", "price < 10000", "price >= 10000 AND price < 1000000", "price >= 1000000")
_COUNTS = ", ".join(f"count_if({r})" for r in _RANKS)
_DISTINCT = ", ".join(f"count(DISTINCT CASE WHEN {r} THEN {c} END)" for c in ("bidder", "auction") for r in _RANKS)
_DAY = "date_format(dateTime, 'yyyy-MM-dd')"
_PLAIN = "SELECT auction, bidder, price"
# A row is in five windows of ten seconds that begin two seconds apart.
_HOPS = f"""
SELECT auction, start, count(*) AS num FROM (
  SELECT auction, explode(sequence(0, 4)) AS k, {_SECONDS.format("dateTime")} AS s FROM bid
) LATERAL VIEW explode(array(2 * (s DIV 2) - 2 * k)) AS start
GROUP BY auction, start"""

ANSWERS: dict[int, str] = {
    0: f"{_PLAIN}, dateTime, extra FROM bid",
    1: "SELECT auction, bidder, CAST(0.908 * price AS DECIMAL(23, 3)), dateTime, extra FROM bid",
    2: "SELECT auction, price FROM bid WHERE auction % 123 = 0",
    3: """SELECT name, city, state, A.id FROM auction A JOIN person P ON seller = P.id
          WHERE category = 10 AND state IN ('OR', 'ID', 'CA')""",
    4: f"SELECT category, CAST(avg(price) AS BIGINT) FROM {_WINNERS} GROUP BY category",
    5: f"""WITH hops AS ({_HOPS})
           SELECT auction, num, TIMESTAMP_NTZ '2024-03-01 00:00:00' + make_dt_interval(0, 0, 0, start) FROM (
             SELECT *, max(num) OVER (PARTITION BY start) AS most FROM hops) WHERE num = most""",
    6: f"""SELECT seller, CAST(avg(price) AS BIGINT) FROM (
             SELECT *, row_number() OVER (PARTITION BY seller ORDER BY bid_time DESC, id DESC) AS place
             FROM {_WINNERS}) WHERE place <= 10 GROUP BY seller""",
    7: f"""SELECT auction, price, bidder, dateTime, extra FROM (
             SELECT *, max(price) OVER (PARTITION BY {_TUMBLE}) AS most FROM bid) WHERE price = most""",
    8: f"""SELECT DISTINCT P.id, P.name, P.start FROM (SELECT id, name, {_TUMBLE} AS start FROM person) P
           JOIN (SELECT seller, {_TUMBLE} AS start FROM auction) A ON P.id = A.seller AND P.start = A.start""",
    9: f"SELECT id, itemName, seller, category, bidder, price, bid_time FROM {_WINNERS}",
    10: f"{_PLAIN}, dateTime, extra, {_DAY}, date_format(dateTime, 'HH:mm') FROM bid",
    11: """SELECT bidder, count(*), min(dateTime), max(dateTime) + INTERVAL '10' SECOND FROM (
             SELECT *, sum(CAST(begins AS INT)) OVER (PARTITION BY bidder ORDER BY dateTime) AS go FROM (
               SELECT *, coalesce(dateTime > lag(dateTime) OVER (PARTITION BY bidder ORDER BY dateTime)
                 + INTERVAL '10' SECOND, true) AS begins FROM bid)) GROUP BY bidder, go""",
    # The run is over before a window of processing time has ended (as in Flink).
    12: "SELECT bidder, 1L, dateTime, dateTime FROM bid WHERE false",
    13: f"{_PLAIN}, dateTime, value FROM bid JOIN side_input ON auction % 100 = key",
    14: """SELECT auction, bidder, CAST(0.908 * price AS DECIMAL(24, 3)),
              CASE WHEN hour(dateTime) BETWEEN 8 AND 18 THEN 'dayTime'
                WHEN hour(dateTime) <= 6 OR hour(dateTime) >= 20 THEN 'nightTime' ELSE 'otherTime' END,
              length(regexp_replace(extra, '[^c]', ''))
            FROM bid WHERE 0.908 * price > 1000000 AND 0.908 * price < 50000000""",
    15: f"SELECT {_DAY}, {_COUNTS}, {_DISTINCT} FROM bid GROUP BY {_DAY}",
    16: f"""SELECT channel, {_DAY}, max(date_format(dateTime, 'HH:mm')), {_COUNTS}, {_DISTINCT}
            FROM bid GROUP BY channel, {_DAY}""",
    17: f"""SELECT auction, {_DAY}, {_COUNTS}, min(price), max(price), CAST(avg(price) AS BIGINT), sum(price)
            FROM bid GROUP BY auction, {_DAY}""",
    18: """SELECT auction, bidder, max_by(price, dateTime), max_by(channel, dateTime), max(dateTime)
           FROM bid GROUP BY auction, bidder""",
    19: f"""{_PLAIN}, dateTime, n FROM (
              SELECT *, row_number() OVER (PARTITION BY auction ORDER BY price DESC, dateTime, bidder) AS n FROM bid)
            WHERE n <= 10""",
    20: f"""{_PLAIN}, B.dateTime, itemName, seller, category FROM bid B JOIN auction A ON B.auction = A.id
            WHERE category = 10""",
    21: f"""{_PLAIN}, channel, id FROM (SELECT *, CASE lower(channel) WHEN 'apple' THEN '0' WHEN 'google' THEN '1'
              WHEN 'facebook' THEN '2' WHEN 'baidu' THEN '3'
              ELSE nullif(regexp_extract(url, 'channel_id=([^&]*)', 1), '') END AS id FROM bid) WHERE id IS NOT NULL""",
    22: f"{_PLAIN}, channel, split(url, '/')[3], split(url, '/')[4], split(url, '/')[5] FROM bid",
}
