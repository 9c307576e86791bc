-- A metric gets a column after a month. What was written stays; the new column counts over all rows, also the old ones.

CREATE TABLE visits (page STRING, seconds INT, ts TIMESTAMP(3)) WITH ('connector' = 'delta', 'path' = '${OUT}/visits');

INSERT INTO visits VALUES
  ('home', 5, TIMESTAMP '2024-02-01 09:00:00'),
  ('home', 40, TIMESTAMP '2024-02-12 10:00:00'),
  ('help', 90, TIMESTAMP '2024-02-20 11:00:00');

SET 'sqlext.bounded' = 'catch-up';

CREATE MATERIALIZED VIEW page_visits AS
SELECT page, COUNT(*) AS visits FROM visits GROUP BY page;

SELECT * FROM page_visits;

-- The state of the new version is filled from all rows. The rows that are there stay.
DEPLOY WITH ('keep-rows' = 'true')
CREATE MATERIALIZED VIEW page_visits AS
SELECT page, COUNT(*) AS visits, MAX(seconds) AS longest FROM visits GROUP BY page;

-- A page has its new row when it is visited next: the 40 seconds are from before.
INSERT INTO visits VALUES ('home', 7, TIMESTAMP '2024-03-01 09:00:00'), ('shop', 60, TIMESTAMP '2024-03-01 09:01:00');
ALTER MATERIALIZED TABLE page_visits RESUME;

SELECT * FROM page_visits;
