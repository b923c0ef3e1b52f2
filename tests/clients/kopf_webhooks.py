"""An operator with admission handlers, for test_kopf_admission.py: kopf serves them over HTTPS and
writes their configurations itself.
"""

import os
from typing import Any

import kopf


@kopf.on.startup()
def configure(settings: kopf.OperatorSettings, **_: Any) -> None:
    settings.admission.managed = "auto.kopf.dev"
    settings.admission.server = kopf.WebhookServer(
        addr="127.0.0.1", cafile=os.environ["CA_FILE"], certfile=os.environ["CERT_FILE"], pkeyfile=os.environ["KEY_FILE"])


@kopf.on.validate("configmaps", labels={"operator": "kopf"})
def no_tabs(body: kopf.Body, warnings: list[str], **_: Any) -> None:
    warnings.append("looked at by kopf")
    if any("\t" in value for value in (body.get("data") or {}).values()):
        raise kopf.AdmissionError("no tabs", code=429)


@kopf.on.mutate("configmaps", labels={"operator": "kopf"})
def add_mode(patch: kopf.Patch, body: kopf.Body, **_: Any) -> None:
    if "mode" not in (body.get("data") or {}):
        patch.setdefault("data", {})["mode"] = "added"
