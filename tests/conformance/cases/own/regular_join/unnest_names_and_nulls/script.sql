CREATE TABLE users (
  uid INT, tags ARRAY<STRING>, props MAP<STRING, INT>, items ARRAY<ROW<sku STRING, qty INT>>
) WITH (
  'connector'='filesystem',
  'path'='${IN}/users.json',
  'format'='json'
);
CREATE TABLE tags (uid INT, tag STRING, nr INT) WITH ('connector'='filesystem', 'path'='${OUT}/tags', 'format'='json');
CREATE TABLE props (uid INT, k STRING, v INT) WITH ('connector'='filesystem', 'path'='${OUT}/props', 'format'='json');
CREATE TABLE items (uid INT, sku STRING, qty INT) WITH ('connector'='filesystem', 'path'='${OUT}/items', 'format'='json');
CREATE TABLE kept (uid INT, sku STRING, qty INT) WITH ('connector'='filesystem', 'path'='${OUT}/kept', 'format'='json');
CREATE TABLE picked (uid INT, tag STRING) WITH ('connector'='filesystem', 'path'='${OUT}/picked', 'format'='json');
CREATE TABLE seen (uid INT, tag STRING) WITH ('connector'='filesystem', 'path'='${OUT}/seen', 'format'='json');
INSERT INTO tags SELECT uid, t, ORDINALITY FROM users CROSS JOIN UNNEST(tags) WITH ORDINALITY AS t;
INSERT INTO props SELECT uid, `KEY`, `VALUE` FROM users CROSS JOIN UNNEST(props);
INSERT INTO items SELECT uid, i.* FROM users CROSS JOIN UNNEST(items) AS i;
INSERT INTO kept SELECT uid, sku, qty FROM users LEFT JOIN UNNEST(items) AS i ON TRUE;
INSERT INTO picked SELECT uid, tag FROM users JOIN UNNEST(tags) AS t (tag) ON tag <> 'x';
INSERT INTO seen SELECT uid, l.tag FROM users AS u, LATERAL (SELECT tag FROM UNNEST(u.tags) AS t (tag) WHERE tag < 'z') AS l;
