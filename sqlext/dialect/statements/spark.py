"""Say which statements are Spark's or Delta's, by their forms; all others are refused here.

Spark would find a slip only when the statement's turn comes, and what stands before it would have run by then.
The forms are those of Spark's and Delta's documentation. What only Databricks has is read no further than its verb.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import cache

from sqlext.dialect.ast.statements import SparkStatement
from sqlext.dialect.cursor import Cursor
from sqlext.dialect.keywords import unsupported
from sqlext.dialect.statements.forms import Named, read_form
from sqlext.dialect.statements.row_changes import parse_row_change
from sqlext.dialect.tokens import TokenKind, did_you_mean_word

#: Parts of several forms.
_SHARED = {
    "@clauses": """{USING name | OPTIONS parens | PARTITIONED BY parens | CLUSTER BY <AUTO | NONE | parens>
        | CLUSTERED BY parens [SORTED BY parens] INTO integer BUCKETS
        | SKEWED BY parens ON parens [STORED AS DIRECTORIES]
        | @row | STORED AS <INPUTFORMAT string OUTPUTFORMAT string | id> | STORED BY string
        | LOCATION string | COMMENT string | TBLPROPERTIES parens | DEFAULT COLLATION name}""",
    "@row": """ROW FORMAT <SERDE string [WITH SERDEPROPERTIES parens] | DELIMITED {FIELDS TERMINATED BY string
        [ESCAPED BY string] | COLLECTION ITEMS TERMINATED BY string | MAP KEYS TERMINATED BY string
        | LINES TERMINATED BY string | NULL DEFINED AS string}>""",
    "@version": "[TO] <VERSION AS OF integer | TIMESTAMP AS OF expr>",
    "@jar": "<JAR | JARS | FILE | FILES | ARCHIVE | ARCHIVES>",
    "@space": "<DATABASE | SCHEMA | NAMESPACE>",
    "@privileged": "[PRIVILEGES | SCHEMA | CATALOG | TABLE | VIEW | FUNCTION | VOLUME]",
    "@when": """<WHEN [NOT] MATCHED [BY <SOURCE | TARGET>] [AND expr] THEN
        <DELETE | UPDATE SET <* | name = expr {, name = expr}> | INSERT <* | parens VALUES parens>>>""",
}
#: A form begins at the margin, and goes on where lines are indented; ``forms`` says how to read it.
_FORMS = """
ADD @jar rest
ALTER TABLE table ADD <COLUMN | COLUMNS> <parens | name type [rest]>
ALTER TABLE table ADD [IF NOT EXISTS] PARTITION parens [LOCATION string] {PARTITION parens [LOCATION string]}
ALTER TABLE table ADD CONSTRAINT id rest
ALTER TABLE table DROP <COLUMN | COLUMNS> [IF EXISTS] <parens | name {, name}>
ALTER TABLE table DROP [IF EXISTS] PARTITION parens {, PARTITION parens} [PURGE]
ALTER TABLE table DROP CONSTRAINT [IF EXISTS] id [RESTRICT | CASCADE]
ALTER TABLE table DROP FEATURE <id | string> [TRUNCATE HISTORY]
ALTER TABLE table RENAME <COLUMN name TO id | TO name>
ALTER TABLE table PARTITION parens RENAME TO PARTITION parens
ALTER TABLE table [PARTITION parens] <ALTER | CHANGE> [COLUMN] name <TYPE type [rest] | COMMENT string |
    SET rest | DROP rest | FIRST | AFTER id | name type [rest]>
ALTER TABLE table [PARTITION parens] REPLACE COLUMNS parens
ALTER TABLE table [PARTITION parens] SET <TBLPROPERTIES parens | SERDE string [WITH SERDEPROPERTIES parens] |
    SERDEPROPERTIES parens | FILEFORMAT id | LOCATION string | OWNER TO name | TAGS parens>
ALTER TABLE table UNSET <TBLPROPERTIES | TAGS> [IF EXISTS] parens
ALTER TABLE table RECOVER PARTITIONS
ALTER TABLE table CLUSTER BY <AUTO | NONE | parens>
ALTER TABLE table DEFAULT COLLATION name
ALTER VIEW table <SET TBLPROPERTIES parens | UNSET TBLPROPERTIES [IF EXISTS] parens | RENAME TO name | AS query
    | WITH SCHEMA id [EVOLUTION]>
ALTER @space name <SET <DBPROPERTIES | PROPERTIES> parens | UNSET <DBPROPERTIES | PROPERTIES> [IF EXISTS] parens
    | SET LOCATION string | SET OWNER TO name | DEFAULT COLLATION name>
ANALYZE TABLE table [PARTITION parens] COMPUTE [DELTA] STATISTICS [NOSCAN | FOR ALL COLUMNS | FOR COLUMNS name
    {, name}]
ANALYZE TABLES [<IN | FROM> name] COMPUTE STATISTICS [NOSCAN]
CACHE [LAZY] TABLE new [OPTIONS parens] [AS] query
CACHE [LAZY] TABLE table [OPTIONS parens]
CLEAR CACHE
COMMENT ON @space name IS <string | NULL>
COMMENT ON <TABLE | COLUMN> table IS <string | NULL>
CONVERT TO DELTA name [NO STATISTICS] [PARTITIONED BY parens]
COPY INTO name [parens] FROM <string | parens> FILEFORMAT = id [rest]
CREATE [OR REPLACE] TABLE [IF NOT EXISTS] new [SHALLOW | DEEP] CLONE table [@version] {TBLPROPERTIES parens |
    LOCATION string}
CREATE [OR REPLACE] [EXTERNAL] TABLE [IF NOT EXISTS] new LIKE table @clauses
CREATE [OR REPLACE] [EXTERNAL | TEMPORARY | TEMP] TABLE [IF NOT EXISTS] new [parens] @clauses [[AS] query]
CREATE [OR REPLACE] [GLOBAL] [TEMPORARY | TEMP] VIEW [IF NOT EXISTS] new [parens] {COMMENT string |
    TBLPROPERTIES parens | WITH SCHEMA id [EVOLUTION] | DEFAULT COLLATION name} AS query
CREATE [OR REPLACE] [GLOBAL] <TEMPORARY | TEMP> VIEW new [parens] USING name [OPTIONS parens]
CREATE @space [IF NOT EXISTS] name {COMMENT string | [MANAGED] LOCATION string | WITH <DBPROPERTIES |
    PROPERTIES> parens | DEFAULT COLLATION name}
CREATE [OR REPLACE] [TEMPORARY | TEMP] FUNCTION [IF NOT EXISTS] new parens <RETURNS | RETURN> rest
CREATE INDEX [IF NOT EXISTS] id ON [TABLE] table [USING id] parens [OPTIONS parens]
DECLARE [OR REPLACE] [VARIABLE | VAR] name {, name} [type] [<DEFAULT | => expr]
DELETE FROM target [WHERE expr]
DESCRIBE FUNCTION [EXTENDED] <name | string>
DESCRIBE <@space | CATALOG> [EXTENDED] name
DESCRIBE [QUERY] query
DESCRIBE <HISTORY | DETAIL> <string | stored> [LIMIT integer]
DESCRIBE [TABLE] [EXTENDED | FORMATTED] table [PARTITION parens] [AS JSON | name [AS JSON]]
DROP TABLE [IF EXISTS] table [PURGE]
DROP VIEW [IF EXISTS] table
DROP @space [IF EXISTS] name [RESTRICT | CASCADE]
DROP [TEMPORARY | TEMP] FUNCTION [IF EXISTS] name
DROP INDEX [IF EXISTS] id ON [TABLE] table
DROP <TEMPORARY | TEMP> <VARIABLE | VAR> [IF EXISTS] name
EXECUTE IMMEDIATE expr [INTO name {, name}] [USING rest]
FROM relations <SELECT | INSERT | MAP | REDUCE | WHERE | LATERAL | GROUP | HAVING | pipe> rest
FSCK REPAIR TABLE name [DRY RUN]
GENERATE id FOR TABLE stored
GRANT id @privileged {, id @privileged} ON <id name TO | name TO> <id | string>
INSERT OVERWRITE [LOCAL] DIRECTORY [string] [USING name] [OPTIONS parens] query
INSERT OVERWRITE [LOCAL] DIRECTORY string [@row] [STORED AS id] query
LIST @jar [rest]
LOAD DATA [LOCAL] INPATH string [OVERWRITE] INTO TABLE table [PARTITION parens]
MAP expr {, expr} USING rest
MERGE [WITH SCHEMA EVOLUTION] INTO target USING <( query ) [alias] | target> ON expr @when {@when}
MSCK REPAIR TABLE table [<ADD | DROP | SYNC> PARTITIONS]
OPTIMIZE <string | stored> [FULL] [WHERE expr] [ZORDER BY <( name {, name} ) | name {, name}>]
REDUCE expr {, expr} USING rest
REFRESH TABLE table
REFRESH FUNCTION name
REFRESH string
REORG TABLE stored [WHERE expr] APPLY parens
REPAIR TABLE table [<ADD | DROP | SYNC> PARTITIONS]
REPLACE TABLE new [parens] @clauses [[AS] query]
RESET [key]
RESTORE [TABLE] <string | stored> @version
REVOKE id @privileged {, id @privileged} ON <id name FROM | name FROM> <id | string>
SET - id
SET TIME ZONE <LOCAL | expr>
SET <VAR | VARIABLE> <parens = ( query ) | name = expr {, name = expr}>
SET CATALOG <string | id>
SET key [= [rest]]
SHOW PARTITIONS stored [PARTITION parens]
SHOW TBLPROPERTIES stored [parens]
SHOW TABLE EXTENDED [<IN | FROM> name] LIKE string [PARTITION parens]
SHOW <NAMESPACES | DATABASES | SCHEMAS | CATALOGS | COLLATIONS> [<IN | FROM> name] [[LIKE] string]
SHOW CURRENT <NAMESPACE | DATABASE | SCHEMA | CATALOG>
SHOW [USER | SYSTEM | ALL] FUNCTIONS [<IN | FROM> name] [[LIKE] <string | name>]
SHOW CREATE TABLE table [AS SERDE]
SHOW COLUMNS <IN | FROM> table [<IN | FROM> name]
SHOW <GRANT | GRANTS | INDEXES | USERS | VOLUMES | DETAILS> [rest]
SYNC <SCHEMA | TABLE> name [AS EXTERNAL] FROM name [SET OWNER id] [DRY RUN]
TRUNCATE TABLE stored [PARTITION parens]
UNCACHE TABLE [IF EXISTS] table
UNDROP TABLE <WITH ID string | name>
UPDATE target SET name = expr {, name = expr} [WHERE expr]
VACUUM <string | stored> {LITE | FULL | RETAIN integer HOURS | DRY RUN}
"""

#: Flink's statements that neither this dialect nor Spark has, by their first words, and what to do instead.
_FLINK_ONLY: dict[tuple[str, str], tuple[str, str]] = {
    ("LOAD", "MODULE"): ("LOAD MODULE", "leave it out: the built-in functions are always there"),
    ("UNLOAD", "MODULE"): ("UNLOAD MODULE", "leave it out: the built-in functions are always there"),
    ("USE", "MODULES"): ("USE MODULES", "leave it out: the built-in functions are always there"),
    ("CREATE", "MODEL"): ("CREATE MODEL", "register a Python function that asks the model, and call that"),
    ("ALTER", "MODEL"): ("ALTER MODEL", "register a Python function that asks the model, and call that"),
    ("DESCRIBE", "MODEL"): ("DESCRIBE MODEL", "leave it out: there are no models"),
    ("DESC", "MODEL"): ("DESCRIBE MODEL", "leave it out: there are no models"),
    ("DROP", "MODEL"): ("DROP MODEL", "leave it out: there are no models"),
    ("ADD", "JAR"): (
        "ADD JAR",
        "leave it out: connectors and formats are there; JARs for Spark are named when it starts",
    ),
    ("REMOVE", "JAR"): ("REMOVE JAR", "leave it out: a JAR stays until the Spark session ends"),
    ("COMPILE", "PLAN"): ("COMPILE PLAN", "leave it out: a query is planned when it starts, and its state stays"),
}
_SHELLS = dict.fromkeys(
    (".", "\\"), "a command of the shell stands at the prompt of `sqlext shell`, in its -e, or piped to it"
)
#: Words that begin a statement of ours wherever they stand, for hints.
_OURS_BEHIND = ("TABLE", "VIEW", "DATABASE", "CATALOG", "FUNCTION", "TABLES", "VIEWS", "DATABASES", "CATALOGS")


def parse_spark(cursor: Cursor, ours: Collection[str]) -> SparkStatement:
    """Read a statement that is Spark's, from its first word on, up to its end.

    Args:
        ours: the first words of our own statements, for the hint.

    Raises:
        SqlExtError: PARSE-002 at the word from which on Spark has no such statement, PARSE-004 for a statement that
            only Flink has.
    """
    first = cursor.token
    _refuse_flink_only(cursor)
    verb = "DESCRIBE" if first.upper == "DESC" else first.upper
    forms = _by_verb().get(verb, ()) if first.kind is TokenKind.WORD else ()
    if not forms:
        hint = _SHELLS.get(first.text) or did_you_mean_word(first.upper, *_by_verb(), *ours)
        hint = hint or "neither sqlext nor Spark has a statement that begins so"
        raise cursor.unexpected("a statement", hint=hint)
    again = Cursor(cursor.source, cursor.tokens, "spark")
    again.index = cursor.index + 1
    named = _read(cursor, verb, forms)
    span = cursor.span_from(first.start)
    return SparkStatement(span, tuple(named.tables), tuple(named.made), change=parse_row_change(again, verb))


def is_sparks_verb(word: str) -> bool:
    """Whether a statement of Spark's or Delta's begins with a word; one of ours may, too."""
    return word in _by_verb()


def _read(cursor: Cursor, verb: str, forms: tuple[str, ...]) -> Named:
    # Spark's expressions, whatever mode ours have.
    reading = Cursor(cursor.source, cursor.tokens, "spark")
    reading.index = cursor.index + 1
    named = read_form(reading, verb, forms, _OURS_BEHIND)
    cursor.index = reading.index
    return named


@cache
def _by_verb() -> dict[str, tuple[str, ...]]:
    """Return the forms by their first word, which is left out of them."""
    text = re.sub(r"\n +", " ", _FORMS)
    for part, form in _SHARED.items():
        text = text.replace(part, re.sub(r"\n +", " ", form))
    found: dict[str, tuple[str, ...]] = {}
    for form in text.split("\n")[1:-1]:
        verb, _, rest = form.partition(" ")
        found[verb] = (*found.get(verb, ()), rest)
    return found


def _refuse_flink_only(cursor: Cursor) -> None:
    first, second = cursor.token.upper, cursor.peek().upper
    if first == "CALL":
        raise unsupported(cursor, "CALL", "do in Python what the procedure does")
    # ADD JAR is Spark's as well.
    if (first, second) in _FLINK_ONLY and not (first == "ADD" and cursor.mode == "spark"):
        what, hint = _FLINK_ONLY[first, second]
        raise unsupported(cursor, what, hint)
