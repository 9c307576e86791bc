{# A Delta table that the model's query keeps: each run goes on where the last one stopped. #}

{% materialization streaming_table, adapter='sqlext' %}
  {% set target = this.incorporate(type='table') %}
  {{ run_hooks(pre_hooks) }}
  {% do sqlext_declare_sources() %}

  {% if should_full_refresh() or adapter.stream_kind(this) != 'streaming_table' %}
    {% do adapter.drop_relation(load_cached_relation(this) or target) %}
  {% endif %}
  {% set script = sqlext_streaming_table(this, sql) %}
  {% set run_for = config.get('run_for', '1 min') %}
  {% set changed = adapter.catch_up(script, run_for, config.get('trigger_interval')) %}
  {% if changed %}
    {% do sqlext_changed(target, script, run_for, changed) %}
  {% endif %}

  {% call noop_statement('main', 'SKIP' if changed and config.get('on_configuration_change') == 'continue' else 'OK') %}
    {{ script }}
  {% endcall %}
  {% do persist_docs(target, model) %}
  {{ run_hooks(post_hooks) }}
  {{ return({'relations': [target]}) }}
{% endmaterialization %}


{% macro sqlext_changed(target, script, run_for, changed) %}
  {% set wanted = config.get('on_configuration_change') %}
  {% if wanted == 'apply' %}
    {% do log(target ~ " begins anew, without the state and the rows that it had: " ~ changed, info=true) %}
    {% do adapter.drop_relation(target) %}
    {% do adapter.run_script(script, run_for, config.get('trigger_interval')) %}
  {% elif wanted == 'continue' %}
    {% do exceptions.warn(target ~ " is left as it is: " ~ changed) %}
  {% else %}
    {% do exceptions.raise_fail_fast_error(target ~ ": " ~ changed ~ ". `dbt run --full-refresh --select " ~ target.identifier ~ "` starts it anew") %}
  {% endif %}
{% endmacro %}


{% macro sqlext_streaming_table(relation, sql) -%}
  {%- set clauses = sqlext_watermark(config.get('rowtime'), config.get('watermark')) -%}
  {%- set partitions = config.get('partition_by') or [] -%}
  {%- set partitions = [partitions] if partitions is string else partitions -%}
  {%- set emit = config.get('emit') -%}
  {%- set place = {'connector': 'delta', 'table-name': relation.schema ~ '.' ~ relation.identifier} -%}
  {%- set options = dict(place, **(config.get('options') or {})) -%}
CREATE DATABASE IF NOT EXISTS {{ adapter.quote(relation.schema) }};
SET 'sqlext.bounded' = 'catch-up';
SET 'pipeline.name' = {{ sqlext_string(relation.schema ~ '.' ~ relation.identifier) }};
  {%- for key, value in (config.get('settings') or {}).items() %}
SET {{ sqlext_string(key) }} = {{ sqlext_string(value) }};
  {%- endfor %}
CREATE TABLE {{ adapter.quote(relation.schema) }}.{{ adapter.quote(relation.identifier) }}
  {%- if clauses %} ({{ clauses | join(', ') }}){% endif %}
  {%- if partitions %} PARTITIONED BY ({{ partitions | map('trim') | join(', ') }}){% endif %}
{{ sqlext_with(options) }} AS
{{ sql }}
  {%- if emit %}
EMIT {{ emit }}
  {%- endif %};
{%- endmacro %}
