"""Say what the key or the value of a record holds: a text of fields, which has several writers, or what SQL makes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlext.quoting import string


@dataclass(frozen=True, slots=True)
class TextMessage:
    """A row as a text.

    Attributes:
        form: ``json`` or ``csv``.
        fields: name -> SQL over the rows of a sink.
        settings: the options of Spark's writer of this form.
    """

    form: str
    fields: Mapping[str, str]
    settings: Mapping[str, str]

    @property
    def sql(self) -> str:
        """The text as SQL over the rows."""
        pairs = ", ".join(f"{string(k)}, {string(v)}" for k, v in self.settings.items())
        return f"to_{self.form}({struct(self.fields)}, map({pairs}))"


#: One of them, or SQL of the whole.
Message = TextMessage | str


def struct(fields: Mapping[str, str]) -> str:
    """Return SQL of a struct."""
    return f"named_struct({', '.join(f'{string(n)}, {e}' for n, e in fields.items())})"
