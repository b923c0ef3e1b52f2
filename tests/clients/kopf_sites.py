"""An operator of a custom kind, with what kopf's own examples show; ``test_kopf_sites.py`` runs it
in a process of its own.
"""

import asyncio
import os
from typing import Any

import kopf

SITES = ("kopf.example.com", "v1", "sites")


@kopf.on.login()
def login(**kwargs: Any) -> Any:
    return kopf.login_with_kubeconfig(**kwargs)


@kopf.on.startup()
def configure(settings: kopf.OperatorSettings, **_: Any) -> None:
    settings.persistence.finalizer = "kopf.example.com/sites"
    settings.peering.standalone = not os.environ.get("SITES_PEERING")
    settings.peering.name = "sites"
    settings.peering.mandatory = not settings.peering.standalone
    settings.posting.loggers = True
    if port := os.environ.get("SITES_WEBHOOKS"):
        settings.admission.managed = "sites.kopf.example.com"
        settings.admission.server = kopf.WebhookServer(
            addr="127.0.0.1", host="127.0.0.1", port=int(port), certfile=os.environ["SITES_CERTIFICATE"],
            pkeyfile=os.environ["SITES_KEY"], cafile=os.environ["SITES_CA"])


@kopf.on.create(*SITES)
def create(spec: kopf.Spec, name: str, namespace: str, memo: kopf.Memo, **_: Any) -> dict[str, str]:
    page = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"{name}-page"}, "data": {"text": spec["text"]}}
    kopf.adopt(page)
    memo.page = page["metadata"]
    from kubernetes import client, config

    config.load_kube_config()
    made = client.CoreV1Api().create_namespaced_config_map(namespace, page)
    return {"page": made.metadata.name}


@kopf.on.create(*SITES)
async def languages(spec: kopf.Spec, **_: Any) -> None:
    for language in spec.get("languages", []):
        @kopf.subhandler(id=language)  # type: ignore[arg-type]
        async def translate(language: str = language, **_: Any) -> str:
            return f"in {language}"


@kopf.on.create(*SITES, annotations={"broken": kopf.PRESENT})
def fail(**_: Any) -> None:
    raise kopf.PermanentError("it is broken")


@kopf.on.create(*SITES, annotations={"slow": kopf.PRESENT})
def fail_at_first(retry: int, **_: Any) -> str:
    if retry < 2:
        raise kopf.TemporaryError("not yet", delay=0.1)
    return f"after {retry}"


@kopf.on.update(*SITES, field="spec.text")
def change(old: str, new: str, **_: Any) -> str:
    return f"from {old} to {new}"


@kopf.on.delete(*SITES)
def farewell(name: str, namespace: str, **_: Any) -> None:
    from kubernetes import client, config

    config.load_kube_config()
    client.CoreV1Api().create_namespaced_config_map(namespace, {"metadata": {"name": f"{name}-farewell"}})


@kopf.timer(*SITES, interval=0.2, annotations={"clock": kopf.PRESENT})
def tick(status: kopf.Status, patch: kopf.Patch, **_: Any) -> None:
    patch.status["ticks"] = min(status.get("ticks", 0) + 1, 3)


@kopf.daemon(*SITES, annotations={"daemon": kopf.PRESENT})
async def serve(stopped: kopf.DaemonStopped, patch: kopf.Patch, **_: Any) -> None:
    patch.status["daemon"] = "running"
    while not stopped:
        await asyncio.sleep(0.1)
        break


@kopf.index(*SITES)
def by_text(spec: kopf.Spec, name: str, **_: Any) -> dict[str, str]:
    return {spec["text"]: name}


@kopf.on.event("configmaps", labels={"ask": kopf.PRESENT})
def answer(
    labels: kopf.Labels, annotations: kopf.Annotations, patch: kopf.Patch, by_text: kopf.Index[str, str], **_: Any,
) -> None:
    found = ",".join(sorted(by_text.get(labels["ask"], [])))
    if annotations.get("found") != found:
        patch.metadata.annotations["found"] = found


if os.environ.get("SITES_WEBHOOKS"):
    @kopf.on.validate(*SITES)
    def refuse(spec: kopf.Spec, warnings: list[str], **_: Any) -> None:
        warnings.append("sites are public")
        if "secret" in spec["text"]:
            raise kopf.AdmissionError("secrets are not published", code=422)

    @kopf.on.mutate(*SITES, operation="CREATE")
    def default(spec: kopf.Spec, patch: kopf.Patch, **_: Any) -> None:
        if "color" not in spec:
            patch.spec["color"] = "blue"
