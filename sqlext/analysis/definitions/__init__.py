"""Turn definition statements into catalog records, pure and without Spark.

The rules are Flink's, asked of Flink 2.3.0 where its documentation is silent; each module names its source. Whether a
connector can read or write a table is not asked here: as in Flink, an unknown connector is refused when the table is
used. An option that the connector does not have is refused here, at its place; Flink refuses it at the first use.

======== ==========================================
DDL-001  a column's name is taken
DDL-002  a primary key names no column, or twice the same
DDL-003  a second primary key
DDL-004  a primary key on a column that is not physical, or is nullable
DDL-005  PARTITIONED BY names no physical column
DDL-006  a sub-query in a computed column or a watermark, OVER in a computed column
DDL-007  a stored expression that a change makes invalid
DDL-010  LIKE of something that is no table
DDL-011  LIKE: base and new table define the same thing
DDL-012  LIKE: a feature named twice
DDL-013  LIKE of a table whose expressions have another meaning
DDL-014  CREATE TABLE AS: columns that do not go with the query
DDL-015  CREATE TEMPORARY TABLE AS, a temporary materialized view
DDL-020  a view that reads itself
DDL-021  a view's columns: another number than its query's, or two of one name
DDL-022  a materialized view that is no delta table
DDL-030  ALTER TABLE: no such column, key, constraint or watermark
DDL-031  ALTER TABLE: it is there already
DDL-032  ALTER TABLE: something else uses the column
TIME-010 WATERMARK names no column of the table
TIME-011 WATERMARK on a column that is no TIMESTAMP(p) or TIMESTAMP_LTZ(p), p up to 3
TIME-012 a second WATERMARK
TIME-013 WATERMARK on a processing-time attribute
TIME-014 a watermark's expression is of another type than its column
======== ==========================================
"""

from sqlext.analysis.definitions.alterations import alteration_of
from sqlext.analysis.definitions.ctas import fill_of
from sqlext.analysis.definitions.tables import check_known, table_of
from sqlext.analysis.definitions.views import view_of

__all__ = ["alteration_of", "check_known", "fill_of", "table_of", "view_of"]
