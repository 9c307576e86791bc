"""What pyproject.toml cannot say: packages found in three folders, and dbt's plug-in."""

from setuptools import find_namespace_packages, setup

# The folders udfs/ and catalog/ each hold one package, under a name that no folder of a user's has.
ROOTS = (".", "udfs", "catalog")
# dbt looks for the adapter of `type: sqlext` in its own namespace.
PLUGIN = {"dbt.adapters.sqlext": "sqlext/dbt/plugin"}

setup(
    packages=[
        package
        for root in ROOTS
        for package in find_namespace_packages(root, include=["sqlext*"], exclude=["sqlext.dbt.plugin"])
    ]
    + list(PLUGIN),
    package_dir={"sqlext": "sqlext", "sqlext_udfs": "udfs/sqlext_udfs", "sqlext_catalog": "catalog/sqlext_catalog"}
    | PLUGIN,
)
