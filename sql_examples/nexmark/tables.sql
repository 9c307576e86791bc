-- The Nexmark benchmark's model: people who open auctions and bid in them, all in one stream of events.
-- Run this file first, then any of the queries, with the same catalog:
--   sqlext run tables.sql --catalog C --define IN=/data; sqlext run q4.sql --catalog C --define OUT=/out
SET 'sqlext.expressions' = 'flink';

CREATE TABLE IF NOT EXISTS nexmark (
  event_type INT,
  person ROW<id BIGINT, name STRING, emailAddress STRING, creditCard STRING, city STRING, state STRING,
    `dateTime` TIMESTAMP(3), extra STRING>,
  auction ROW<id BIGINT, itemName STRING, description STRING, initialBid BIGINT, reserve BIGINT,
    `dateTime` TIMESTAMP(3), expires TIMESTAMP(3), seller BIGINT, category BIGINT, extra STRING>,
  bid ROW<auction BIGINT, bidder BIGINT, price BIGINT, channel STRING, url STRING, `dateTime` TIMESTAMP(3), extra STRING>,
  `dateTime` AS CASE WHEN event_type = 0 THEN person.`dateTime`
    WHEN event_type = 1 THEN auction.`dateTime` ELSE bid.`dateTime` END,
  WATERMARK FOR `dateTime` AS `dateTime` - INTERVAL '4' SECOND
) WITH ('connector' = 'filesystem', 'path' = '${IN}/nexmark', 'format' = 'json');

CREATE VIEW IF NOT EXISTS person AS
SELECT person.id, person.name, person.emailAddress, person.creditCard, person.city, person.state, `dateTime`, person.extra
FROM nexmark WHERE event_type = 0;

CREATE VIEW IF NOT EXISTS auction AS
SELECT auction.id, auction.itemName, auction.description, auction.initialBid, auction.reserve, `dateTime`,
  auction.expires, auction.seller, auction.category, auction.extra
FROM nexmark WHERE event_type = 1;

CREATE VIEW IF NOT EXISTS bid AS
SELECT bid.auction, bid.bidder, bid.price, bid.channel, bid.url, `dateTime`, bid.extra FROM nexmark WHERE event_type = 2;

CREATE TABLE IF NOT EXISTS side_input (key BIGINT, `value` STRING)
WITH ('connector' = 'filesystem', 'path' = '${IN}/side_input', 'format' = 'csv', 'scan.mode' = 'snapshot');
