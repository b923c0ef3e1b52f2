"""Which names a CustomResourceDefinition gets, and the conditions that say so.

Names belong to one definition of a group at a time: plural, singular and short names are taken from
one pool, kind and list kind from another. Upstream:
apiextensions-apiserver/pkg/controller/status/naming_controller.go and controller/establish.
"""

from collections.abc import Iterable

from fakekube.apimachinery import conditions
from fakekube.apimachinery.field_errors import go_quote
from fakekube.apimachinery.types import Tree

NAMES_ACCEPTED, ESTABLISHED, TERMINATING = "NamesAccepted", "Established", "Terminating"
ACCEPTED, NOT_ACCEPTED = "the initial names have been accepted", "not all names are accepted"


def condition(type_: str, status: str, reason: str, message: str) -> Tree:
    """A condition without a time."""
    return {"type": type_, "status": status, "reason": reason, "message": message}


def with_condition(status: Tree, wanted: Tree, now: str) -> Tree:
    """A status with one condition set; ``status`` itself stays as it is."""
    found = list(status["conditions"] or ())
    present = conditions.find(found, wanted["type"])
    time = conditions.transition_time(present, wanted["status"], now)
    conditions.put(found, {
        "type": wanted["type"], "status": wanted["status"], "lastTransitionTime": time,
        "reason": wanted["reason"], "message": wanted["message"]})
    return {**status, "conditions": found}


def is_equivalent(wanted: Tree, present: Tree | None) -> bool:
    """Whether a condition is there already, whatever its time."""
    return present is not None and all(present.get(field) == text for field, text in wanted.items())


def named_status(definition: Tree, taken: Iterable[Tree], now: str) -> Tree | None:
    """The status of a definition once its names have been looked at; None when it stays as it is.

    ``taken`` are the accepted names of all definitions of the group, its own among them, as
    upstream has it: a name that it holds already in another place is no free one.
    """
    status = definition["status"]
    wanted, accepted = definition["spec"]["names"], status["acceptedNames"]
    if wanted == accepted:
        return None
    got, verdict = _accepted(wanted, accepted, taken)
    if got == accepted and is_equivalent(verdict, conditions.find(status["conditions"], NAMES_ACCEPTED)):
        return None
    established = conditions.find(status["conditions"], ESTABLISHED) or condition(
        ESTABLISHED, "False", "NotAccepted", NOT_ACCEPTED)
    if established["status"] != "True" and verdict["status"] == "True":
        established = condition(ESTABLISHED, "False", "Installing", ACCEPTED)
    return with_condition(with_condition({**status, "acceptedNames": got}, verdict, now), established, now)


def established_status(definition: Tree, now: str) -> Tree | None:
    """The status of a definition that is established from now on; None when it is already, or
    cannot be.
    """
    status = definition["status"]
    found = status["conditions"]
    if not conditions.is_true(found, NAMES_ACCEPTED) or conditions.is_true(found, ESTABLISHED):
        return None
    return with_condition(status, condition(ESTABLISHED, "True", "InitialNamesAccepted", ACCEPTED), now)


def _accepted(wanted: Tree, accepted: Tree, held: Iterable[Tree]) -> tuple[Tree, Tree]:
    """The names that it has from now on, and the condition that tells of conflicts, the last one
    alone.
    """
    resources, kinds = _taken(held)
    got, conflict = dict(accepted), ("", "")
    for field, word, taken in (
        ("plural", "Plural", resources), ("singular", "Singular", resources), ("shortNames", "ShortNames", resources),
        ("kind", "Kind", kinds), ("listKind", "ListKind", kinds),
    ):
        found = _conflicts(wanted.get(field), accepted.get(field), taken)
        if found:
            conflict = f"{word}Conflict", _aggregate(found)
        else:
            _set(got, field, wanted)
    _set(got, "categories", wanted)
    order = ("plural", "singular", "shortNames", "kind", "listKind", "categories")
    names = {field: got[field] for field in order if field in got}
    if conflict[0]:
        return names, condition(NAMES_ACCEPTED, "False", *conflict)
    return names, condition(NAMES_ACCEPTED, "True", "NoConflicts", "no conflicts found")


def _taken(held: Iterable[Tree]) -> tuple[dict[str, None], dict[str, None]]:
    resources: dict[str, None] = {}
    kinds: dict[str, None] = {}
    for names in held:
        resources |= dict.fromkeys([names["plural"], names.get("singular", ""), *(names.get("shortNames") or ())])
        kinds |= dict.fromkeys([names["kind"], names.get("listKind", "")])
    return resources, kinds


def _conflicts(wanted: object, accepted: object, taken: dict[str, None]) -> list[str]:
    if isinstance(wanted, list) or isinstance(accepted, list):
        had = accepted if isinstance(accepted, list) else []
        names = [name for name in (wanted if isinstance(wanted, list) else []) if name not in had]
    else:
        names = [str(wanted or "")] if (wanted or "") != (accepted or "") else []
    return [f"{go_quote(name)} is already in use" for name in names if name in taken]


def _set(got: Tree, field: str, wanted: Tree) -> None:
    if field in wanted:
        got[field] = wanted[field]
    else:
        got.pop(field, None)


def _aggregate(texts: list[str]) -> str:
    """As upstream joins several errors: each once, in brackets when there are more than one."""
    texts = list(dict.fromkeys(texts))
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
