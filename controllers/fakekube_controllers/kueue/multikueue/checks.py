"""The admission check of MultiKueue: which MultiKueueConfig it names, and whether its clusters can
be used.

Upstream: ACReconciler in pkg/controller/admissionchecks/multikueue/admissioncheck.go, and
pkg/util/admissioncheck.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from fakekube.apimachinery import conditions, meta
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.runtime.context import Context
from fakekube.runtime.reconcile import Request, Result
from fakekube_controllers.kueue import names
from fakekube_controllers.kueue.multikueue.active import write_active
from fakekube_controllers.kueue.names import ADMISSION_CHECKS, MULTIKUEUE_CLUSTERS, MULTIKUEUE_CONFIGS
from fakekube_controllers.kueue.workload import admissionchecks

if TYPE_CHECKING:
    from fakekube_controllers.kueue.manager import Kueue


class BadParameters(Exception):
    """An admission check names no MultiKueueConfig, or one that is not there."""


def config_name(check: ReadOnlyTree) -> str:
    """The MultiKueueConfig that a check names. Raises BadParameters."""
    ref = (check.get("spec") or {}).get("parameters")
    if ref is None:
        raise BadParameters("missing parameters reference")
    bad = "bad parameters reference"
    if not ref.get("name"):
        raise BadParameters(f"empty name: {bad}")
    for field, what, wanted in (("apiGroup", "group", names.GROUP), ("kind", "kind", MULTIKUEUE_CONFIGS.kind)):
        if ref.get(field) != wanted:
            raise BadParameters(f'wrong {what} "{ref.get(field, "")}", expecting "{wanted}": {bad}')
    return str(ref["name"])


def config_of(check: ReadOnlyTree, ctx: Context) -> ReadOnlyTree:
    """That MultiKueueConfig. Raises BadParameters."""
    name = config_name(check)
    config = ctx.lister(MULTIKUEUE_CONFIGS).get("", name)
    if config is None:
        raise BadParameters(f'MultiKueueConfig.{names.GROUP} "{name}" not found')
    return config


def clusters_of_check(name: str, ctx: Context) -> list[str]:
    """The clusters of an admission check. Raises BadParameters."""
    check = ctx.lister(ADMISSION_CHECKS).get("", name)
    if check is None:
        raise BadParameters(f'AdmissionCheck.{names.GROUP} "{name}" not found')
    return list((config_of(check, ctx).get("spec") or {}).get("clusters") or ())


def is_multikueue(check: ReadOnlyTree) -> bool:
    """Whether a check is this controller's."""
    return bool((check.get("spec") or {}).get("controllerName") == names.MULTIKUEUE_CONTROLLER_NAME)


def multikueue_check(workload: ReadOnlyTree, ctx: Context) -> Tree | None:
    """The state of a Workload's check of MultiKueue, or None."""
    lister = ctx.lister(ADMISSION_CHECKS)
    for state in admissionchecks.states_of(workload):
        check = lister.get("", state["name"])
        if check is not None and is_multikueue(check):
            return state
    return None


def checks_naming(config: str, ctx: Context) -> list[ReadOnlyTree]:
    """The checks that name a MultiKueueConfig."""
    found: list[ReadOnlyTree] = []
    for check in ctx.lister(ADMISSION_CHECKS).list():
        try:
            if is_multikueue(check) and config_name(check) == config:
                found.append(check)
        except BadParameters:
            pass
    return found


def checks_of_config(kueue: "Kueue", config: Tree) -> Iterable[Request]:
    """Requests for the checks that name a MultiKueueConfig."""
    return [Request("", meta.name_of(check)) for check in checks_naming(meta.name_of(config), kueue.ctx)]


def checks_of_cluster(kueue: "Kueue", cluster: Tree) -> Iterable[Request]:
    """Requests for the checks that use a MultiKueueCluster."""
    name = meta.name_of(cluster)
    return [
        request for config in kueue.ctx.lister(MULTIKUEUE_CONFIGS).list()
        if name in ((config.get("spec") or {}).get("clusters") or ())
        for request in checks_of_config(kueue, config)]


class CheckReconciler:
    """Reconciles one AdmissionCheck."""

    def __init__(self, kueue: "Kueue", ctx: Context) -> None:
        self._ctx = ctx
        self._checks, self._clusters = ctx.lister(ADMISSION_CHECKS), ctx.lister(MULTIKUEUE_CLUSTERS)
        ctx.lister(MULTIKUEUE_CONFIGS)

    async def reconcile(self, request: Request) -> Result | None:
        """Write whether it is active. Raises APIError."""
        check = self._checks.get("", request.name)
        if check is None or not is_multikueue(check):
            return None
        status, reason, message = self._judge(check)
        await write_active(self._ctx, ADMISSION_CHECKS, check, status, reason, message)
        return None

    def _judge(self, check: ReadOnlyTree) -> tuple[str, str, str]:
        """Status, reason and message of the condition Active."""
        try:
            clusters = (config_of(check, self._ctx).get("spec") or {}).get("clusters") or []
        except BadParameters as error:
            return "False", "BadConfig", f"Cannot load the AdmissionChecks parameters: {error}"
        missing, inactive = [], []
        for name in clusters:
            cluster = self._clusters.get("", name)
            if cluster is None:
                missing.append(name)
            elif not conditions.is_true((cluster.get("status") or meta.EMPTY).get("conditions"), "Active"):
                inactive.append(name)
        if not missing and not inactive:
            return "True", "Active", "The admission check is active"
        unusable = (("Missing", missing), ("Inactive", inactive))
        parts = [f"{text} clusters: [{' '.join(found)}]" for text, found in unusable if found]
        if len(missing) + len(inactive) < len(clusters):
            return "True", "SomeActiveClusters", ", ".join(parts)
        return "False", "NoUsableClusters", ", ".join(parts)
