"""What pyproject.toml cannot say: packages found in three folders, dbt's plug-in, examples, colours of JupyterLab."""

from pathlib import Path

from setuptools import find_namespace_packages, setup

# The folders udfs/ and catalog/ each hold one package, under a name that no folder of a user's has.
ROOTS = (".", "udfs", "catalog")
# Examples lie beside the code, and go with it: `sqlext examples`, `sqlext init`.
EXAMPLES = {"sqlext.examples": "sql_examples"}
# dbt looks for the adapter of `type: sqlext` in its own namespace.
PLUGIN = {"dbt.adapters.sqlext": "sqlext/dbt/plugin"}
# Built by `make jupyterlab`. JupyterLab and Notebook look for extensions in this folder of their environment.
COLOURS = Path("sqlext/notebook/labextension")
PLACE = Path("share/jupyter/labextensions/sqlext-cells")

setup(
    packages=[
        package
        for root in ROOTS
        for package in find_namespace_packages(
            root,
            include=["sqlext*"],
            exclude=["sqlext.dbt.plugin", "sqlext.starters.*", "sqlext.notebook.labextension*"],
        )
    ]
    + [*PLUGIN, *EXAMPLES],
    package_dir={"sqlext": "sqlext", "sqlext_udfs": "udfs/sqlext_udfs", "sqlext_catalog": "catalog/sqlext_catalog"}
    | PLUGIN
    | EXAMPLES,
    data_files=[
        (str(PLACE / folder.relative_to(COLOURS)), sorted(str(file) for file in folder.iterdir() if file.is_file()))
        for folder in (COLOURS, COLOURS / "static")
    ],
)
