"""What a Job does about pods that failed or succeeded: podFailurePolicy and successPolicy.

Rules are looked at in order and the first that matches decides. Upstream: pod_failure_policy.go,
success_policy.go.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from fakekube_controllers.job import indexes, pods
from fakekube_controllers.job.indexes import Indexes


class Verdict(NamedTuple):
    """What the first matching rule decides. ``message`` is that of a FailJob rule."""

    action: str  # FailJob, FailIndex, Ignore, Count, or "" when no rule matched
    message: str = ""

    @property
    def counts(self) -> bool:
        """Whether the failure goes into status.failed."""
        return self.action != "Ignore"


def match_failure_policy(policy: Mapping[str, Any] | None, pod: pods.Pod, *, per_index: bool = True) -> Verdict:
    """The verdict of a podFailurePolicy on a pod whose phase is Failed; no policy counts the
    failure.

    FailIndex rules are passed over unless failures are counted ``per_index``.
    """
    if policy is None or pods.phase(pod) != "Failed":
        return Verdict("")
    for number, rule in enumerate(policy.get("rules") or ()):
        if rule["action"] == "FailIndex" and not per_index:
            continue
        message = _exit_code_match(rule.get("onExitCodes"), pod, number)
        message = message or _condition_match(rule.get("onPodConditions"), pod, number)
        if message:
            return Verdict(rule["action"], message if rule["action"] == "FailJob" else "")
    return Verdict("")


def _name(pod: pods.Pod) -> str:
    return f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"


def _exit_code_match(requirement: Mapping[str, Any] | None, pod: pods.Pod, number: int) -> str:
    if requirement is None:
        return ""
    wanted, values = requirement.get("containerName"), requirement.get("values") or ()
    for status in pods.container_statuses(pod):
        code = ((status.get("state") or {}).get("terminated") or {}).get("exitCode", 0)
        if code == 0 or (wanted is not None and wanted != status["name"]):
            continue
        if (code in values) == (requirement["operator"] == "In"):
            return (
                f"Container {status['name']} for pod {_name(pod)} failed with exit code {code} "
                f"matching FailJob rule at index {number}"
            )
    return ""


def _condition_match(patterns: Sequence[Mapping[str, str]] | None, pod: pods.Pod, number: int) -> str:
    present = [(c["type"], c["status"]) for c in (pod.get("status") or {}).get("conditions") or ()]
    for pattern in patterns or ():
        if (pattern["type"], pattern["status"]) in present:
            return f"Pod {_name(pod)} has condition {pattern['type']} matching FailJob rule at index {number}"
    return ""


def match_success_policy(policy: Mapping[str, Any] | None, completed: Indexes) -> str:
    """``Matched rules at index I`` when a successPolicy is met by the completed indexes, else
    nothing.
    """
    if policy is None or not completed:
        return ""
    for number, rule in enumerate(policy.get("rules") or ()):
        needed, count = rule.get("succeededIndexes"), rule.get("succeededCount")
        listed = indexes.parse(needed) if needed is not None else completed
        if needed is not None and not listed:
            continue
        if listed.common(completed) >= (len(listed) if count is None else count):
            return f"Matched rules at index {number}"
    return ""
