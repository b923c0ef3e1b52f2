"""An operator as kopf's users write them; ``test_kopf.py`` runs it in a process of its own."""

from typing import Any

import kopf

MINE = {"operator": "kopf"}


@kopf.on.login()
def login(**kwargs: Any) -> Any:
    return kopf.login_with_kubeconfig(**kwargs)


@kopf.on.create("configmaps", labels=MINE)
def greet(patch: kopf.Patch, body: kopf.Body, name: str, **_: Any) -> None:
    patch.metadata.annotations["greeting"] = f"hello {name}"
    kopf.info(body, reason="Greeted", message=f"{name} was greeted")


@kopf.on.update("configmaps", labels=MINE, field="data.mode")
def follow(patch: kopf.Patch, old: str, new: str, **_: Any) -> None:
    patch.metadata.annotations["change"] = f"from {old} to {new}"


@kopf.on.delete("configmaps", labels=MINE)
def farewell(retry: int, **_: Any) -> None:
    if retry == 0:
        raise kopf.TemporaryError("not yet", delay=0.1)


@kopf.on.event("jobs", labels=MINE)
def note(patch: kopf.Patch, annotations: kopf.Annotations, spec: kopf.Spec, **_: Any) -> None:
    if "limit" not in annotations:
        patch.metadata.annotations["limit"] = str(spec["backoffLimit"])
