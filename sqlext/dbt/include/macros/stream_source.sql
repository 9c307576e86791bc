{# A stream that a model declares: columns, WATERMARK and WITH, as behind CREATE TABLE. #}

{% materialization stream_source, adapter='sqlext' %}
  {{ return(sqlext_definition('source', 'TABLE', sql)) }}
{% endmaterialization %}


{# A view of streams: its columns keep their time attributes. #}

{% materialization stream_view, adapter='sqlext' %}
  {% do sqlext_declare_sources() %}
  {{ return(sqlext_definition('view', 'VIEW', 'AS ' ~ sql)) }}
{% endmaterialization %}


{% macro sqlext_definition(kind, word, definition) %}
  {% set existing = load_cached_relation(this) %}
  {% set target = this.incorporate(type='view' if kind == 'view' else 'table') %}
  {{ run_hooks(pre_hooks) }}
  {% if existing is not none and adapter.stream_kind(this) != kind %}
    {% do adapter.drop_relation(existing) %}
  {% endif %}
  {% set script %}
CREATE DATABASE IF NOT EXISTS {{ adapter.quote(this.schema) }};
CREATE OR REPLACE {{ word }} {{ adapter.quote(this.schema) }}.{{ adapter.quote(this.identifier) }}
{{ definition }};
  {% endset %}
  {% do adapter.run_script(script) %}
  {% call noop_statement('main', 'OK') %}{{ script }}{% endcall %}
  {{ run_hooks(post_hooks) }}
  {% do return({'relations': [target]}) %}
{% endmacro %}
