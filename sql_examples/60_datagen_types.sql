-- datagen makes values of every type, with Flink's options for parts of them: element, key, value, names of a ROW.

CREATE TABLE made (
  id INT,
  price DECIMAL(10, 2),
  code VARCHAR(20),
  mark BINARY(4),
  at TIMESTAMP(3),
  tags ARRAY<STRING>,
  scores MAP<STRING, INT>,
  basket MULTISET<INT>,
  buyer ROW<name STRING, age INT, sizes ARRAY<DOUBLE>>
) WITH (
  'connector' = 'datagen', 'number-of-rows' = '200',
  'fields.id.kind' = 'sequence', 'fields.id.start' = '1', 'fields.id.end' = '1000',
  'fields.price.min' = '5', 'fields.price.max' = '20',
  'fields.code.var-len' = 'true',
  'fields.at.max-past' = '1 min',
  'fields.tags.length' = '2', 'fields.tags.element.length' = '6', 'fields.tags.null-rate' = '0.25',
  'fields.scores.length' = '4', 'fields.scores.key.length' = '8', 'fields.scores.value.min' = '1', 'fields.scores.value.max' = '9',
  'fields.basket.element.min' = '1', 'fields.basket.element.max' = '3',
  'fields.buyer.name.length' = '5', 'fields.buyer.age.min' = '18', 'fields.buyer.age.max' = '99',
  'fields.buyer.sizes.length' = '3', 'fields.buyer.sizes.element.max' = '10'
);

-- The rows are the same in every run: values are hashes of the row's number.
SELECT id, price, code, HEX(mark) AS mark, tags, buyer.name AS name, buyer.age AS age FROM made WHERE id <= 3;

SELECT COUNT(*) AS made,
       MIN(price) >= 5 AND MAX(price) < 20 AS prices,
       MIN(CHAR_LENGTH(code)) < MAX(CHAR_LENGTH(code)) AS codes,
       COUNT(tags) BETWEEN 120 AND 180 AS about_three_quarters,
       MIN(CARDINALITY(scores)) AS scores,
       MAX(CARDINALITY(basket)) AS different,
       MAX(buyer.sizes[1]) <= 10 AS sizes
FROM made;

-- Elements differ from each other.
SELECT COUNT(*) AS different FROM (SELECT DISTINCT tag FROM made CROSS JOIN UNNEST(tags) AS u (tag));
