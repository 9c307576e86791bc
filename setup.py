"""What pyproject.toml cannot say: packages found by themselves, in folders with other names."""

from setuptools import find_namespace_packages, setup

# udfs/ and catalog/ are folders of the project's top level, but import as sqlext.udfs and
# sqlext.catalog: users keep folders of their own with these names, which would shadow ours.
OUTSIDE = ("udfs", "catalog")
# dbt looks for the adapter of `type: sqlext` in its own namespace.
PLUGIN = {"dbt.adapters.sqlext": "sqlext/dbt/plugin"}

setup(
    packages=find_namespace_packages(include=["sqlext*"], exclude=["sqlext.dbt.plugin"])
    + [f"sqlext.{package}" for folder in OUTSIDE for package in find_namespace_packages(include=[f"{folder}*"])]
    + list(PLUGIN),
    package_dir={"sqlext": "sqlext"} | {f"sqlext.{folder}": folder for folder in OUTSIDE} | PLUGIN,
)
