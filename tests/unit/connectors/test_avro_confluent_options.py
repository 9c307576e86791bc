"""avro-confluent: what its options mean, and which are refused."""

from __future__ import annotations

import pytest

from sqlext.connectors.formats.avro_confluent import (
    AvroConfluentFormat,
    framed_record,
    registers,
    registry_option,
    registry_settings,
    registry_url,
    require_registry,
)
from sqlext.connectors.options import OptionError

URL = {"avro-confluent.url": "http://registry"}


def test_settings_of_the_client() -> None:
    options = {
        **URL,
        "avro-confluent.basic-auth.credentials-source": "USER_INFO",
        "avro-confluent.basic-auth.user-info": "env:USER_INFO",
        "avro-confluent.properties.ssl.ca.location": "/ca.pem",
        "avro-confluent.properties.basic.auth.credentials.source": "USER_INFO",
        "avro-confluent.subject": "s",
    }
    assert registry_settings(options) == (
        ("basic.auth.user.info", "env:USER_INFO"),
        ("ssl.ca.location", "/ca.pem"),
        ("url", "http://registry"),
    )
    assert registry_settings({"json.ignore-parse-errors": "true"}) == ()


def test_names_that_options_had_before() -> None:
    old = {"avro-confluent.schema-registry.url": "http://a", "avro-confluent.schema-registry.subject": "s"}
    assert registry_url(old) == ("avro-confluent.schema-registry.url", "http://a")
    assert registry_settings(old) == (("url", "http://a"),)
    assert registry_option(old, "subject") == "s"


def test_options_of_avro() -> None:
    mapping = {"avro-confluent.timestamp_mapping.legacy": "false"}
    assert AvroConfluentFormat().plain({**URL, **mapping})["avro.timestamp_mapping.legacy"] == "false"
    assert registers(URL)
    assert not registers({**URL, "avro-confluent.auto.register.schemas": "FALSE"})


@pytest.mark.parametrize(
    ("options", "given", "code", "option"),
    [
        ({}, "", "OPT-004", None),
        (
            {**URL, "avro-confluent.ssl.keystore.location": "/k.jks"},
            "key.",
            "OPT-005",
            "key.avro-confluent.ssl.keystore",
        ),
        (
            {**URL, "avro-confluent.properties.ssl.truststore.type": "JKS"},
            "",
            "OPT-005",
            "avro-confluent.properties.ssl",
        ),
    ],
)
def test_refusals(options: dict[str, str], given: str, code: str, option: str | None) -> None:
    with pytest.raises(OptionError) as refused:
        require_registry("connector 'kafka'", options, given)
    assert refused.value.code == code
    assert (refused.value.option or "").startswith(option or "")


def test_the_header_of_a_value() -> None:
    assert framed_record("s", 258, "{}") == "concat(X'0000000102', to_avro(s, '{}'))"
