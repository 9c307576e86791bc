"""Ask a schema registry: which schema a number stands for, and the number of a schema.

The client is that of confluent-kafka (the extra ``registry``); any server with the interface of Confluent's answers it.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from sqlext.connectors.options import OptionError
from sqlext.errors import SqlExtError
from sqlext.extras import package
from sqlext_catalog.model import Options

_WHAT = "format 'avro-confluent'"
_MODULE = "confluent_kafka.schema_registry"


def schema_text(settings: Options, number: int) -> str:
    """Return the schema of a number.

    Raises:
        SqlExtError: ENV-011 without the client, OPT-005 for settings that it refuses, RUN-074 if the registry does not
            answer or has no such schema.
    """
    return str(_asked(settings, f"schema {number}", lambda client: client.get_schema(number)).schema_str)


def schema_number(settings: Options, subject: str, schema: str, *, registers: bool) -> int:
    """Return the number of a schema of a subject.

    Args:
        registers: whether a schema that is not there is added.

    Raises:
        SqlExtError: ENV-011, OPT-005 or RUN-074; see ``schema_text``.
    """
    wanted = package(_MODULE, "registry", _WHAT).Schema(schema, "AVRO")
    if registers:
        return int(_asked(settings, f"subject '{subject}'", lambda client: client.register_schema(subject, wanted)))
    found = _asked(settings, f"subject '{subject}'", lambda client: client.lookup_schema(subject, wanted))
    return int(found.schema_id)


def _asked(settings: Options, what: str, question: Any) -> Any:
    client = _client(settings)
    try:
        return question(client)
    # The client raises errors of its own, and those of the HTTP client below it.
    except Exception as error:
        url = dict(settings).get("url", "")
        message = f"the schema registry at {url} does not answer for {what}: {error or type(error).__name__}"
        raise SqlExtError("RUN-074", message, hint="is 'avro-confluent.url' right, and who may use it?") from error


@lru_cache(maxsize=16)
def _client(settings: Options) -> Any:
    """Return the client of this process: it remembers the schemas that it has been given."""
    made = package(_MODULE, "registry", _WHAT).SchemaRegistryClient
    # A token alone is enough for registries that are not Confluent's; their own wants to know the cluster.
    needs = {"bearer.auth.logical.cluster": ""} if "bearer.auth.credentials.source" in dict(settings) else {}
    try:
        return made({**needs, **dict(settings)})
    except (ValueError, TypeError, OSError) as error:
        message = f"the schema registry's client refuses its options: {error}"
        raise OptionError("OPT-005", message, option="avro-confluent.url") from error
