"""Admission handlers of a kopf operator in a process of its own, behind HTTPS."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import trustme
from kubernetes import client
from kubernetes.client.exceptions import ApiException

OPERATOR = Path(__file__).with_name("kopf_webhooks.py")


@pytest.fixture
def operator(kubeconfig: Path, namespace: str, tmp_path: Path) -> Iterator[Path]:
    """The running operator with a certificate for this machine, and the file that it logs to."""
    authority, log = trustme.CA(), tmp_path / "operator.log"
    issued = authority.issue_cert("127.0.0.1")
    files = {"CA_FILE": tmp_path / "ca.pem", "CERT_FILE": tmp_path / "cert.pem", "KEY_FILE": tmp_path / "key.pem"}
    authority.cert_pem.write_to_path(files["CA_FILE"])
    issued.cert_chain_pems[0].write_to_path(files["CERT_FILE"])
    issued.private_key_pem.write_to_path(files["KEY_FILE"])
    environment = os.environ | {name: str(path) for name, path in files.items()} | {"KUBECONFIG": str(kubeconfig)}
    with log.open("w") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "kopf", "run", "--standalone", "-n", namespace, str(OPERATOR)],
            env=environment, stdout=output, stderr=subprocess.STDOUT)
        try:
            yield log
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(30)


@pytest.mark.spec("API-161", "API-162")
def test_kopf_admission(api: client.ApiClient, namespace: str, operator: Path, until: Callable[..., Any]) -> None:
    """Given an operator with a validating and a mutating handler, when it has put its
    configurations there and objects are written, then they are changed and refused as it says, and
    others are left alone.
    """
    core, hooks = client.CoreV1Api(api), client.AdmissionregistrationV1Api(api)

    def configured() -> bool:
        found = [*hooks.list_validating_webhook_configuration().items, *hooks.list_mutating_webhook_configuration().items]
        return sum(len(each.webhooks or ()) for each in found) == 2

    until(configured)

    def config_map(name: str, value: str, **labels: str) -> dict[str, Any]:
        return {"metadata": {"name": name, "labels": labels}, "data": {"key": value}}

    made = core.create_namespaced_config_map(namespace, config_map("good", "x", operator="kopf"))
    assert made.data == {"key": "x", "mode": "added"}
    with pytest.raises(ApiException) as caught:
        core.create_namespaced_config_map(namespace, config_map("bad", "\t", operator="kopf"))
    assert caught.value.status == 429
    assert "denied the request: no tabs" in caught.value.body
    other = core.create_namespaced_config_map(namespace, config_map("other", "\t"))
    assert other.data == {"key": "\t"}
