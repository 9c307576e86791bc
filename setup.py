"""What pyproject.toml cannot say: packages found in three folders, dbt's plug-in, and the examples."""

from setuptools import find_namespace_packages, setup

# The folders udfs/ and catalog/ each hold one package, under a name that no folder of a user's has.
ROOTS = (".", "udfs", "catalog")
# Examples lie beside the code, and go with it: `sqlext examples`, `sqlext init`.
EXAMPLES = {"sqlext.examples": "sql_examples"}
# dbt looks for the adapter of `type: sqlext` in its own namespace.
PLUGIN = {"dbt.adapters.sqlext": "sqlext/dbt/plugin"}

setup(
    packages=[
        package
        for root in ROOTS
        for package in find_namespace_packages(
            root, include=["sqlext*"], exclude=["sqlext.dbt.plugin", "sqlext.starters.*"]
        )
    ]
    + [*PLUGIN, *EXAMPLES],
    package_dir={"sqlext": "sqlext", "sqlext_udfs": "udfs/sqlext_udfs", "sqlext_catalog": "catalog/sqlext_catalog"}
    | PLUGIN
    | EXAMPLES,
)
