"""Turn DDL into functions of the catalog: each returns a ``ChangeFunction`` for ``SessionCatalog.apply``.

They know Flink's rules of existence (IF [NOT] EXISTS, RESTRICT, what shadows what) and nothing of SQL text. The
messages follow Flink's CatalogManager. Codes:

======== ==========================================
CAT-001  exists already
CAT-002  does not exist
CAT-003  exists with another definition
CAT-004  is a view, not a table, or the reverse
CAT-005  a database is not empty
CAT-006  a catalog or database is in use, or always there
CAT-007  a temporary object hides the stored one
CAT-008  a rename leaves the database
CAT-009  the name is reserved
======== ==========================================
"""

from sqlext_catalog.ddl.databases import (
    alter_catalog,
    alter_database,
    create_catalog,
    create_database,
    drop_catalog,
    drop_database,
)
from sqlext_catalog.ddl.queries import drop_query, record_query, update_query
from sqlext_catalog.ddl.relations import (
    IfExists,
    alter_table,
    alter_view,
    create,
    drop_table,
    drop_view,
    rename,
    reset_options,
    set_options,
)

__all__ = [
    "IfExists",
    "alter_catalog",
    "alter_database",
    "alter_table",
    "alter_view",
    "create",
    "create_catalog",
    "create_database",
    "drop_catalog",
    "drop_database",
    "drop_query",
    "drop_table",
    "drop_view",
    "record_query",
    "rename",
    "reset_options",
    "set_options",
    "update_query",
]
