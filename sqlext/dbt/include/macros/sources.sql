{# A stream source of a YAML file: a table of sqlext's catalog, made before the models that read it. #}

{% macro sqlext_declare_sources() %}
  {% for id in model.depends_on.nodes if id in graph.sources %}
    {% set source = graph.sources[id] %}
    {% if source.config.meta.connector is defined %}
      {% do adapter.run_script(sqlext_source(source)) %}
    {% endif %}
  {% endfor %}
{% endmacro %}


{% macro sqlext_source(source) %}
  {%- set meta = source.config.meta -%}
  {%- set clauses = [] -%}
  {%- for column in source.columns.values() -%}
    {%- set computed = column.config.meta.expression -%}
    {%- if not computed and not column.data_type -%}
      {% do exceptions.raise_compiler_error(
        "source " ~ source.source_name ~ "." ~ source.name ~ ": column " ~ column.name ~ " needs a data_type") %}
    {%- endif -%}
    {%- do clauses.append(adapter.quote(column.name) ~ " " ~ ("AS " ~ computed if computed else column.data_type)) -%}
  {%- endfor -%}
  {%- if meta.proctime -%}
    {%- do clauses.append(adapter.quote(meta.proctime) ~ " AS PROCTIME()") -%}
  {%- endif -%}
  {%- do clauses.extend(sqlext_watermark(meta.rowtime, meta.watermark)) -%}
  CREATE DATABASE IF NOT EXISTS {{ adapter.quote(source.schema) }};
  CREATE OR REPLACE TABLE {{ adapter.quote(source.schema) }}.{{ adapter.quote(source.identifier) }} (
    {{ clauses | join(",\n    ") }}
  ) {{ sqlext_with(meta.connector) }};
{% endmacro %}


{# The WATERMARK clause as a list of one, of none without a rowtime. #}
{% macro sqlext_watermark(rowtime, watermark) %}
  {% do return(["WATERMARK FOR " ~ adapter.quote(rowtime) ~ " AS " ~ (watermark or adapter.quote(rowtime))] if rowtime else []) %}
{% endmacro %}


{% macro sqlext_with(options) -%}
  WITH (
    {%- for key, value in options.items() %}
    {{ sqlext_string(key) }} = {{ sqlext_string(value) }}{{ "," if not loop.last }}
    {%- endfor %}
  )
{%- endmacro %}


{% macro sqlext_string(value) -%}
  '{{ (value | string).replace("'", "''") }}'
{%- endmacro %}
