"""ConfigMap, Secret, ServiceAccount."""

import base64

import pytest

from fakekube.apis.core import configmap, secret
from tests.apis.strategies_b.steps import changed, created, named, refused, warnings

FROZEN = "Forbidden: field is immutable when `immutable` is set"


def encoded(text):
    return base64.b64encode(text.encode()).decode()


@pytest.mark.spec("API-048")
def test_an_empty_data_key_is_refused():
    """Given an empty key / when a ConfigMap and a Secret are made / then both name it."""
    text = (
        'data[]: Invalid value: "": a valid config key must consist of alphanumeric characters, '
        "'-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')"
    )
    assert refused(configmap.STRATEGY, named({"data": {"": "v"}})) == [text]
    assert refused(secret.STRATEGY, named({"data": {"": ""}})) == [text]


def test_a_key_is_in_one_of_the_two_maps():
    """Given a key in data and binaryData / when made / then it is a duplicate."""
    assert refused(configmap.STRATEGY, named({"data": {"k": "v"}, "binaryData": {"k": "dg=="}})) == [
        'data[k]: Invalid value: "k": duplicate of key present in binaryData'
    ]


def test_values_together_are_limited_in_size():
    """Given a byte too many / when made / then it is too long; base64 counts as what it stands for.
    """
    exactly, more = "x" * configmap.MAX_BYTES, encoded("y")
    created(configmap.STRATEGY, named({"data": {"a": exactly}}))
    texts = refused(configmap.STRATEGY, named({"data": {"a": exactly}, "binaryData": {"b": more}}))
    assert len(texts) == 1
    assert "Too long: may not be more than 1048576 bytes" in texts[0]
    created(secret.STRATEGY, named({"data": {"a": encoded(exactly)}}))
    assert len(refused(secret.STRATEGY, named({"data": {"a": encoded(exactly), "b": more}}))) == 1


def test_null_bytes_are_no_bytes():
    """Given null for a value of bytes / when made / then it is empty."""
    assert created(configmap.STRATEGY, named({"binaryData": {"k": None}}))["binaryData"] == {"k": ""}
    assert created(secret.STRATEGY, named({"data": {"k": None, "l": "dg=="}}))["data"] == {"k": "", "l": "dg=="}


@pytest.mark.spec("API-099")
@pytest.mark.parametrize("strategy", [configmap.STRATEGY, secret.STRATEGY])
def test_immutable_things_stay(strategy):
    """Given immutable is set / when data or the flag itself changes / then it is forbidden; labels
    are free.
    """
    old = created(strategy, named({"data": {"k": encoded("v")}, "immutable": True}))
    assert changed(strategy, old, {"data": {"k": encoded("w")}})[1] == [f"data: {FROZEN}"]
    assert changed(strategy, old, {"immutable": False})[1] == [f"immutable: {FROZEN}"]
    assert changed(strategy, old, {"metadata": {"name": "x", "labels": {"a": "b"}}})[1] == []


@pytest.mark.spec("API-043")
def test_string_data_becomes_data():
    """Given stringData over data / when made / then it is encoded, wins, and is gone itself."""
    obj = created(secret.STRATEGY, named({"data": {"a": encoded("old"), "b": encoded("b")}, "stringData": {"a": "new"}}))
    assert obj["data"] == {"a": encoded("new"), "b": encoded("b")}
    assert obj["type"] == "Opaque"
    assert "stringData" not in obj


@pytest.mark.spec("API-099")
def test_the_type_of_a_secret_stays():
    """Given a Secret / when its type changes / then the field is immutable."""
    old = created(secret.STRATEGY, named({"type": "a"}))
    assert changed(secret.STRATEGY, old, {"type": "b"})[1] == ['type: Invalid value: "b": field is immutable']


@pytest.mark.parametrize(
    ("kind", "data", "expected"),
    [
        ("kubernetes.io/tls", {}, ["data[tls.crt]: Required value", "data[tls.key]: Required value"]),
        (
            "kubernetes.io/basic-auth",
            {},
            ["data[username]: Required value", "data[password]: Required value"],
        ),
        ("kubernetes.io/basic-auth", {"username": encoded("u")}, []),
        ("kubernetes.io/ssh-auth", {"ssh-privatekey": ""}, ["data[ssh-privatekey]: Required value"]),
        ("kubernetes.io/dockerconfigjson", {}, ["data[.dockerconfigjson]: Required value"]),
        ("kubernetes.io/dockercfg", {".dockercfg": encoded("{}")}, []),
        (
            "kubernetes.io/dockercfg",
            {".dockercfg": encoded("nope")},
            [
                (
                    'data[.dockercfg]: Invalid value: "<secret contents redacted>": '
                    "invalid character 'o' in literal null (expecting 'u')"
                )
            ],
        ),
        (
            "kubernetes.io/dockercfg",
            {".dockercfg": encoded("1.2.3")},
            [("data[.dockercfg]: Invalid value: \"<secret contents redacted>\": invalid character '.' after top-level value")],
        ),
        (
            "kubernetes.io/service-account-token",
            {},
            ["metadata.annotations[kubernetes.io/service-account.name]: Required value"],
        ),
    ],
)
def test_some_types_want_certain_keys(kind, data, expected):
    """Given a Secret of a type / when its data is not what the type wants / then what is missing is
    named.
    """
    assert refused(secret.STRATEGY, named({"type": kind, "data": data})) == expected


def test_a_tls_secret_without_certificates_is_warned_of():
    """Given a TLS pair that is no PEM / when made / then it is accepted with a warning."""
    obj = named({"type": "kubernetes.io/tls", "data": {"tls.crt": encoded("x"), "tls.key": encoded("y")}})
    assert warnings(secret.STRATEGY, obj) == ["tls: failed to find any PEM data in certificate input"]
