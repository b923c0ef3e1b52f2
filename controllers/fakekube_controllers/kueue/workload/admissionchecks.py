"""The states of admission checks in a Workload, and which checks it needs.

Upstream: pkg/workload/admissionchecks.go, pkg/util/admissioncheck, and SetAdmissionCheckState in
pkg/workload/patching.
"""

from collections.abc import Iterable, Mapping, Sequence

from fakekube.apimachinery import meta, times
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube_controllers.kueue.workload import reasons, states
from fakekube_controllers.kueue.workload.backoff import wait_time_seconds

AdmissionChecks = Mapping[str, frozenset[str]]
"""The flavors that each check of a ClusterQueue is for."""


def states_of(workload: ReadOnlyTree) -> Sequence[Tree]:
    """``status.admissionChecks``."""
    return states.status_of(workload).get("admissionChecks") or ()


def find_admission_check(checks: Iterable[Tree], name: str) -> Tree | None:
    """The state of a check, or None."""
    return next((check for check in checks if check["name"] == name), None)


def set_admission_check_state(checks: list[Tree], check: Tree, *, now: float) -> None:
    """Put the state of a check into a list that the caller owns.

    ``lastTransitionTime`` is that of ``check``, or ``now``, Unix seconds; it stays when the state
    does.
    """
    since = check.get("lastTransitionTime") or times.format_time(now)
    present = find_admission_check(checks, check["name"])
    if present is None:
        checks.append({**check, "lastTransitionTime": since})
        return
    if present.get("state") != check["state"]:
        present["state"], present["lastTransitionTime"] = check["state"], since
    present["message"] = check.get("message", "")
    for field in ("podSetUpdates", "requeueAfterSeconds"):
        if check.get(field) is None:
            present.pop(field, None)
        else:
            present[field] = check[field]


def checks_in(workload: ReadOnlyTree, state: str) -> list[Tree]:
    """Those in a state."""
    return [check for check in states_of(workload) if check.get("state") == state]


def rejected_checks(workload: ReadOnlyTree) -> list[Tree]:
    """Those that say that it must not run."""
    return checks_in(workload, reasons.CHECK_REJECTED)


def retry_checks(workload: ReadOnlyTree) -> list[Tree]:
    """Those that ask for another try."""
    return checks_in(workload, reasons.CHECK_RETRY)


def has_all_checks_ready(workload: ReadOnlyTree) -> bool:
    """Whether every check that it has is Ready."""
    return all(check.get("state") == reasons.CHECK_READY for check in states_of(workload))


def has_retry_checks(workload: ReadOnlyTree) -> bool:
    """Whether a check asks for another try."""
    return bool(retry_checks(workload))


def has_rejected_checks(workload: ReadOnlyTree) -> bool:
    """Whether a check says that it must not run."""
    return bool(rejected_checks(workload))


def all_flavors(cluster_queue: ReadOnlyTree) -> frozenset[str]:
    """The flavors of a ClusterQueue."""
    return frozenset(
        flavor["name"] for group in states.spec_of(cluster_queue).get("resourceGroups") or ()
        for flavor in group.get("flavors") or ())


def admission_checks(cluster_queue: ReadOnlyTree) -> AdmissionChecks:
    """The checks of a ClusterQueue. One that names no flavors is for all.

    Upstream: NewAdmissionChecks.
    """
    strategy = states.spec_of(cluster_queue).get("admissionChecksStrategy") or meta.EMPTY
    return {
        check["name"]: frozenset(check.get("onFlavors") or ()) or all_flavors(cluster_queue)
        for check in strategy.get("admissionChecks") or ()}


def checks_for_admission(checks: AdmissionChecks, admission: ReadOnlyTree) -> list[str]:
    """The names of those that are for a flavor of an admission, in the order of the queue."""
    flavors = {
        flavor for podset in admission.get("podSetAssignments") or () for flavor in (podset.get("flavors") or {}).values()}
    return [name for name, of in checks.items() if not of.isdisjoint(flavors)]


def admission_checks_for_workload(workload: ReadOnlyTree, cluster_queue: ReadOnlyTree) -> list[str]:
    """The names of the checks that a Workload needs.

    Without an admission these are the ones that every flavor needs.
    """
    checks = admission_checks(cluster_queue)
    admission = states.admission(workload)
    if admission is not None:
        return checks_for_admission(checks, admission)
    flavors = all_flavors(cluster_queue)
    return [name for name, of in checks.items() if of >= flavors]


def has_all_required_checks(workload: ReadOnlyTree, checks: AdmissionChecks) -> bool:
    """Whether every check that it needs is among its states, whatever they are.

    It must have an admission.
    """
    admission = states.admission(workload)
    assert admission is not None, "only what is reserved has flavors"
    present = {check["name"] for check in states_of(workload)}
    return all(name in present for name in checks_for_admission(checks, admission))


def sync_admission_check_conditions(checks: Sequence[Tree], wanted: Sequence[str], *, now: float) -> list[Tree] | None:
    """The states with new checks as Pending and without others, by name; None if none changes."""
    if not wanted:
        return [] if checks else None
    synced = [dict(check) for check in checks]
    known = {check["name"] for check in checks}
    for name in wanted:
        if name not in known:
            set_admission_check_state(synced, {"name": name, "state": reasons.CHECK_PENDING, "message": ""}, now=now)
    changed = len(synced) > len(checks) or len(synced) > len(wanted)
    synced = sorted((check for check in synced if check["name"] in wanted), key=lambda check: str(check["name"]))
    return synced if changed else None


def max_retry_time(workload: ReadOnlyTree) -> float | None:
    """When the last of the checks that ask for another try wants it, in Unix seconds."""
    return max((
        times.parse_time(check["lastTransitionTime"]) + check["requeueAfterSeconds"] for check in retry_checks(workload)
        if check.get("requeueAfterSeconds") is not None and check.get("lastTransitionTime")), default=None)


def needs_requeue_at_update(workload: ReadOnlyTree, *, now: float) -> float | None:
    """The time that ``requeueState.requeueAt`` is to have because of a check, if it has not."""
    wanted = max_retry_time(workload)
    if wanted is None or wanted <= now:
        return None
    present = (states.status_of(workload).get("requeueState") or meta.EMPTY).get("requeueAt")
    return wanted if present is None or times.parse_time(present) < wanted else None


def update_admission_check_requeue_state(
    check: Tree, backoff_base_seconds: int, backoff_max_seconds: int, *, jitter: float = 0.0,
) -> None:
    """Set when a check that asks for another try wants it: later each time."""
    tries = (check.get("retryCount") or 0) + 1
    check["requeueAfterSeconds"] = int(wait_time_seconds(tries, backoff_base_seconds, backoff_max_seconds, jitter=jitter))
