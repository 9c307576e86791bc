{{ config(materialized='stream_view') }}
SELECT * FROM {{ source('files', 'orders') }} WHERE amount >= 10
