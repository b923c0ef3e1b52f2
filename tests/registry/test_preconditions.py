"""Whether the stored object is the one that a write speaks of, and how it is told if not."""

from dataclasses import replace

import pytest

from fakekube.apimachinery.errors import APIError
from fakekube.registry import preconditions
from fakekube.registry.kind import Kind
from fakekube.storage.record import Record
from tests.endpoints.reads import World
from tests.registry.test_object_metadata import MAP, THING


@pytest.fixture
def record() -> Record:
    return World().make("a", "n")


@pytest.mark.parametrize(
    ("kind", "key"),
    [
        (MAP, "/registry/configmaps/n/a"),
        (replace(MAP, storage_path="maps"), "/registry/maps/n/a"),
        (THING, "/registry/x.example/things/n/a"),
    ],
)
def test_conflicts_name_the_key_of_what_is_stored(record: Record, kind: Kind, key: str) -> None:
    """Given preconditions, then those that hold or say nothing pass, and one that fails is told in
    the words of the storage, the uid first.
    """
    check = preconditions.check_preconditions
    for passing in (("",), ("uid-a",), ("", "2"), ("uid-a", "2")):
        check(kind, record, *passing)
    for failing, why in (
        (("x", "9"), "UID in precondition: x, UID in object meta: uid-a"),
        (("uid-a", "9"), "ResourceVersion in precondition: 9, ResourceVersion in object meta: 2"),
    ):
        with pytest.raises(APIError) as refused:
            check(kind, record, *failing)
        assert (refused.value.code, refused.value.message) == (
            409,
            (
                f'Operation cannot be fulfilled on {kind.group_resource} "a": StorageError: invalid object, Code: 4, Key: {key}, '
                f"ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: {why}"
            ),
        )


@pytest.mark.parametrize(
    ("version", "unconditional", "expected"),
    [
        ("", True, False),
        ("0", True, False),
        ("2", True, True),
        ("3", True, "the object has been modified"),
        ("", False, "must be specified for an update"),
        ("2", False, True),
        ("x", True, 'parsing "x": invalid syntax'),
    ],
)
def test_which_version_an_update_names(record: Record, version: str, unconditional: bool, expected: bool | str) -> None:
    """Given a version in a body, then it is the stored one, none, or refused."""
    kind = replace(MAP, unconditional_update=unconditional)
    if isinstance(expected, bool):
        assert preconditions.check_version(kind, {"resourceVersion": version}, record) is expected
        return
    with pytest.raises(APIError, match=expected):
        preconditions.check_version(kind, {"resourceVersion": version}, record)
