{{ config(materialized='table', file_format='delta') }}
SELECT i.category, SUM(m.total) AS total
FROM {{ ref('per_minute') }} AS m JOIN {{ ref('items') }} AS i ON i.item = m.item
GROUP BY i.category
