"""Parse texts into statements: tokens with offsets, then frozen dataclasses. No Spark, no catalog.

Read in this order: ``tokens`` (the lexer), ``cursor`` and ``keywords``; ``ast`` (what comes out); ``expressions``,
``queries`` and ``emit`` (parsers that call each other); ``statements`` (a module for each family, and ``choice``);
``script`` (``${NAME}``, splitting). ``pieces`` is for editors alone.

Refusals:

========= ==============================================================
PARSE-001 a string, quoted name or comment is never closed
PARSE-002 something else stands where the grammar wants a certain thing
PARSE-003 nested or chained too deeply
PARSE-004 a construct of Spark or Flink that this dialect does not have
PARSE-005 a reserved word of Flink as a column's name (mode flink)
PARSE-006 a type's parameter is out of range
PARSE-007 not a type
PARSE-008 not a binary literal
PARSE-009 a PRIMARY KEY without NOT ENFORCED
PARSE-010 an operator that Flink has not (mode flink)
PARSE-011 a text in double quotes (mode flink)
PARSE-012 an option with two values
EMIT-...  the EMIT clause: see the package ``emit``
NAME-001  a variable ${NAME} that was not given
========= ==============================================================
"""
