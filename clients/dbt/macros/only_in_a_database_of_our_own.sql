{# The user `weir` of the embedded ClickHouse may write everywhere: a model of ours must never replace a table of Weir's. #}
{% macro only_in_a_database_of_our_own() %}
  {% if target.schema in ['weir', 'default', 'system'] %}
    {{ exceptions.raise_compiler_error("models are made in a database of their own, not in " ~ target.schema ~ ": set DBT_CLICKHOUSE_DATABASE") }}
  {% endif %}
{% endmacro %}
