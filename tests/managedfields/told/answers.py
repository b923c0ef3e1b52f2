"""What patches and owners of fields come to, in one table.

Each line of ``answers.txt`` is a function, its arguments and what comes of it. ``python -m
tests.managedfields.told.answers`` writes the answers down again, for review; a line may end after
the arguments.
"""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from fakekube.apimachinery.errors import APIError
from fakekube.managedfields import check, empty, entries, fieldsv1, resetfields, scale
from fakekube.managedfields.atomics import AtomicsFound
from fakekube.managedfields.manager import FieldManager
from fakekube.managedfields.nodes import TypedError
from fakekube.patch import errors, json_patch, merge_patch, strategic_merge
from tests.managedfields.world import schema, widgets

FILE = Path(__file__).with_name("answers.txt")


def _manager(kind: str) -> FieldManager:
    if kind == "Widget":
        return widgets()
    api_version, _, name = kind.rpartition(" ")
    group, _, version = api_version.rpartition("/")
    return FieldManager(schema(group, version, name), api_version)


def _conversation(kind: str, steps: list[Any]) -> list[Any]:
    """The owners after each step (manager, what it does, a tree, and perhaps a sub-resource), or
    the refusal.
    """
    manager, live = _manager(kind), None
    told: list[Any] = []
    for number, (name, verb, sent, *subresource) in enumerate(steps):
        options = {"manager": name, "now": f"2026-01-01T00:00:{number:02}Z", "subresource": "".join(subresource)}
        tree = json.loads(json.dumps(sent))
        before = json.dumps(live)
        try:
            if verb == "update":
                manager.update(live, tree, **options)
                found = tree
            elif verb == "merge":
                found = manager.merge(live or {}, tree)
            else:
                found = manager.apply(live, tree, force=verb == "force", **options)
        except APIError as error:
            told.append(error.status())
        except (AtomicsFound, TypedError) as error:
            told.append(str(error))
        else:
            assert json.dumps(live) == before
            live = json.loads(json.dumps(found))
            live["metadata"].setdefault("uid", "u")
            told.append(live)
    return told


def _strategic(kind: str, tree: Any, patch: Any) -> Any:
    api_version, _, name = kind.rpartition(" ")
    group, _, version = api_version.rpartition("/")
    try:
        return strategic_merge.apply(tree, patch, schema(group, version, name))
    except errors.PatchError as error:
        return [error.code, error.reason, error.text]


def _checked(kind: str, tree: Any) -> Any:
    return check.check(_manager(kind)._node, tree)


def _empty(kind: str) -> Any:
    api_version, _, name = kind.rpartition(" ")
    group, _, version = api_version.rpartition("/")
    found = schema(group, version, name)
    return [empty.empty_object(found), resetfields.reset_fields_of(found, status_keeps_metadata=name == "Node")]


FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "json-patch": json_patch.apply,
    "merge-patch": merge_patch.apply,
    "strategic-patch": _strategic,
    "conversation": _conversation,
    "check": _checked,
    "empty": _empty,
    "fields": lambda tree: [fieldsv1.parse(tree), [*map(fieldsv1.element_text, fieldsv1.parse(tree))]],
    "entries": lambda found: entries.encode(entries.decode(found, trusted=False)),
    "capped": lambda found: entries.encode(entries.capped(entries.decode(found))),
    "arranged": entries.arranged,
    "reset": entries.is_reset,
    "same": entries.same_but_for_times,
    "to-scale": lambda parent, path: scale.to_scale(parent, path),
    "to-parent": lambda parent, of_scale, path: scale.to_parent(parent, of_scale, "apps/v1", path),
}


def answer(name: str, arguments: list[Any]) -> Any:
    """What a function answers, or the words in which it refuses."""
    try:
        return FUNCTIONS[name](*json.loads(json.dumps(arguments)))
    except (ValueError, TypedError) as error:
        return f"{type(error).__name__}: {error}"


def main() -> None:
    """Write them down."""
    rows = [json.loads(line)[:2] for line in FILE.read_text().splitlines()]
    FILE.write_text("".join(f"{json.dumps([*row, answer(*row)])}\n" for row in rows))


if __name__ == "__main__":
    main()
