"""What containers use of the CPU and of memory, for whoever serves metrics: ``Kubelet.usage`` and ``Kubelet.node_usage``.

A pod's annotations say it (``fakekube.dev/cpu-usage``, ``memory-usage``), as one amount or as steps in time, and are read when
somebody asks; then the Outcome of the run; then the cluster's defaults. Upstream: pkg/kubelet/server/stats.
"""

from typing import NamedTuple

from fakekube.apimachinery import quantity
from fakekube_controllers.kubelet.containers.container import Container
from fakekube_controllers.kubelet.outcomes import annotations
from fakekube_controllers.kubelet.outcomes.annotations import Said, bad
from fakekube_controllers.kubelet.outcomes.outcome import Defaults
from fakekube_controllers.kubelet.pods.run import PodRun


class Usage(NamedTuple):
    """What is used now."""

    cpu_nanocores: int
    memory_bytes: int


def of_container(run: PodRun, container: Container, now: float, defaults: Defaults) -> Usage | None:
    """What a container uses; None when it does not run. Raises BadOutcome for an annotation that cannot be meant."""
    if not container.running:
        return None
    said = Said(annotations.of_pod(run.pod), container.name, is_init=any(container is other for other in run.init))
    outcome, since = container.outcome, now - (container.started_at or now)
    cpu = said.text("cpu-usage") or (outcome.cpu if outcome else "") or defaults.cpu
    memory = said.text("memory-usage") or (outcome.memory if outcome else "") or defaults.memory
    return Usage(_now("cpu-usage", cpu, since).nano, _now("memory-usage", memory, since).value)


def _now(key: str, text: str, since: float) -> quantity.Quantity:
    """``250m``, or ``0s=100m,5m=2``: the last step that has come."""
    amount = "0"
    for part in text.split(","):
        at, equals, value = part.strip().rpartition("=")
        if not equals or annotations.seconds_of(key, at) <= since:
            amount = value
    try:
        return quantity.parse(amount)
    except quantity.QuantityError as error:
        raise bad(key, f"{amount!r}: {error}") from error
