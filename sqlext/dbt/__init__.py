"""Provide the dbt adapter of type ``sqlext``: dbt-spark's session method with streams.

``plugin`` is installed as ``dbt.adapters.sqlext``, where dbt looks for it. ``include`` holds the macros.
"""
