"""The admission check ``kueue.x-k8s.io/provisioning-request``: nodes are asked for before a
Workload is admitted.

An autoscaler answers ProvisioningRequests; ``autoscaler.py`` has one that a function decides. The
controllers start with the definition of that kind. Upstream:
pkg/controller/admissionchecks/provisioning.
"""

from collections.abc import Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from fakekube.apimachinery import conditions, meta, times
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.client.resources import CUSTOM_RESOURCE_DEFINITIONS, POD_TEMPLATES
from fakekube.runtime import builder
from fakekube.runtime.builder import Declaration
from fakekube.runtime.reconcile import Request, Result
from fakekube_controllers.kueue import names
from fakekube_controllers.kueue.admissionchecks import provisioning_requests as requests
from fakekube_controllers.kueue.admissionchecks.provisioning_requests import PROVISIONING_REQUESTS
from fakekube_controllers.kueue.names import (
    ADMISSION_CHECKS,
    PROVISIONING_REQUEST_CONFIGS,
    PROVISIONING_REQUEST_CONTROLLER_NAME,
    RESOURCE_FLAVORS,
    WORKLOADS,
)
from fakekube_controllers.kueue.workload import admissionchecks, patching, reasons, reservation, states

if TYPE_CHECKING:
    from fakekube.runtime.context import Context
    from fakekube.workqueue.queue import WorkQueue
    from fakekube_controllers.kueue.manager import Kueue

CONFIG_KIND = "ProvisioningRequestConfig"
CHECK_INACTIVE, NO_REQUEST_NEEDED = "the check is not active", "the provisioning request is not needed"
Configs = Mapping[str, ReadOnlyTree | None]
"""By the name of a check; None for one that is not active."""


def controllers(kueue: "Kueue") -> Iterable[Declaration]:
    """That of Workloads, and that of AdmissionChecks."""
    starts = (CUSTOM_RESOURCE_DEFINITIONS, _is_definition)
    for name, reconciler in (("provisioning_workload", _Workloads), ("provisioning_admissioncheck", _Checks)):
        yield builder.controller(name).starts_with(starts).complete(partial(reconciler, kueue))


def _is_definition(definition: Tree) -> bool:
    return meta.name_of(definition) == requests.DEFINITION


def config_reference(check: ReadOnlyTree) -> tuple[str, str]:
    """The name of the config of a check, and what is wrong with the reference."""
    ref = states.spec_of(check).get("parameters")
    if ref is None:
        return "", "missing parameters reference"
    bad = "bad parameters reference"
    if not ref.get("name"):
        return "", f"empty name: {bad}"
    for field, wanted in (("apiGroup", names.GROUP), ("kind", CONFIG_KIND)):
        if ref.get(field, "") != wanted:
            what = "group" if field == "apiGroup" else "kind"
            return "", f'wrong {what} "{ref.get(field, "")}", expecting "{wanted}": {bad}'
    return ref["name"], ""


class _Checks:
    """Reconciles one AdmissionCheck: whether it is active."""

    def __init__(self, kueue: "Kueue", ctx: "Context") -> None:
        self._kueue, self._ctx = kueue, ctx
        self._checks, self._configs = ctx.lister(ADMISSION_CHECKS), ctx.lister(PROVISIONING_REQUEST_CONFIGS)

    def setup(self, queue: "WorkQueue[Request]") -> None:
        """Follow checks and configs."""
        def of_config(config: ReadOnlyTree) -> None:
            for check in self._checks.list():
                if config_reference(check)[0] == meta.name_of(config):
                    queue.add(Request("", meta.name_of(check)))

        def of_check(check: ReadOnlyTree) -> None:
            queue.add(Request("", meta.name_of(check)))

        self._ctx.add_handler(ADMISSION_CHECKS, of_check, lambda _, new: of_check(new))
        self._ctx.add_handler(PROVISIONING_REQUEST_CONFIGS, of_config, lambda _, new: of_config(new), of_config)

    async def reconcile(self, request: Request) -> Result | None:
        """Write the condition Active. Raises APIError."""
        check = self._checks.get(*request)
        if check is None or states.spec_of(check).get("controllerName") != PROVISIONING_REQUEST_CONTROLLER_NAME:
            return None
        name, wrong = config_reference(check)
        if not wrong and self._configs.get("", name) is None:
            wrong = f'{CONFIG_KIND}.{names.GROUP} "{name}" not found'
        present = [dict(each) for each in states.status_of(check).get("conditions") or ()]
        before = conditions.find(present, "Active")
        if before is not None and before["status"] == ("False" if wrong else "True"):
            return None
        conditions.set_condition(
            present, "Active", "False" if wrong else "True", now=times.format_time(self._kueue.clock.time()),
            reason="BadParametersRef" if wrong else "Active", message=wrong or "The admission check is active",
            observed_generation=meta.generation_of(check))
        status = {**states.status_of(check), "conditions": present}
        await self._kueue.client.update_status(ADMISSION_CHECKS, {**check, "status": status})
        return None


class _Workloads:
    """Reconciles one Workload: asks for nodes, and takes over what came of it."""

    def __init__(self, kueue: "Kueue", ctx: "Context") -> None:
        self._kueue, self._ctx = kueue, ctx
        self._recorder = kueue.recorder("kueue-provisioning-request-controller")
        self._workloads, self._checks = ctx.lister(WORKLOADS), ctx.lister(ADMISSION_CHECKS)
        self._configs, self._requests = ctx.lister(PROVISIONING_REQUEST_CONFIGS), ctx.lister(PROVISIONING_REQUESTS)
        self._templates, self._flavors = ctx.lister(POD_TEMPLATES), ctx.lister(RESOURCE_FLAVORS)

    def setup(self, queue: "WorkQueue[Request]") -> None:
        """Follow Workloads, their requests, checks and configs."""
        def of_workload(workload: ReadOnlyTree) -> None:
            queue.add(Request(*meta.key_of(workload)))

        def of_request(request: ReadOnlyTree) -> None:
            owner = meta.controller_of(request)
            if owner is not None and owner["kind"] == WORKLOADS.kind:
                queue.add(Request(meta.namespace_of(request), owner["name"]))

        def of_check(check: ReadOnlyTree) -> None:
            for workload in self._workloads.list():
                if admissionchecks.find_admission_check(admissionchecks.states_of(workload), meta.name_of(check)) is not None:
                    of_workload(workload)

        def of_config(config: ReadOnlyTree) -> None:
            for check in self._checks.list():
                if config_reference(check)[0] == meta.name_of(config):
                    of_check(check)

        add = self._ctx.add_handler
        add(WORKLOADS, of_workload, lambda _, new: of_workload(new))
        add(PROVISIONING_REQUESTS, of_request, lambda _, new: of_request(new), of_request)
        add(ADMISSION_CHECKS, of_check, lambda _, new: of_check(new), of_check)
        add(PROVISIONING_REQUEST_CONFIGS, of_config, lambda _, new: of_config(new), of_config)

    async def reconcile(self, request: Request) -> Result | None:
        """Do what is to be done next. Raises APIError, InconsistentAssignments."""
        workload = self._workloads.get(*request)
        if workload is None:
            return None
        finished, evicted = states.is_finished(workload), states.is_evicted(workload)
        if not states.has_quota_reservation(workload) and not finished and not evicted:
            return None
        owned = [each for each in self._requests.controlled_by(meta.uid_of(workload)) if not meta.is_deleting(each)]
        if finished or evicted:
            if finished or self._kueue.features.CleanupProvisioningRequestsOnEviction:
                await self._delete(owned)
            return None
        configs = self._configs_of(workload)
        current = self._current(workload, configs, owned)
        workload = await self._sync_states(workload, configs, current) or workload
        await self._delete([each for each in owned if all(each is not kept for kept in current.values())])
        for check, config in configs.items():
            if config is not None and requests.is_needed(workload, config):
                await self._ask(workload, check, config, current.get(check))
        return None

    def _configs_of(self, workload: ReadOnlyTree) -> Configs:
        configs: dict[str, ReadOnlyTree | None] = {}
        for state in admissionchecks.states_of(workload):
            check = self._checks.get("", state["name"])
            if check is not None and states.spec_of(check).get("controllerName") == PROVISIONING_REQUEST_CONTROLLER_NAME:
                name, wrong = config_reference(check)
                configs[state["name"]] = None if wrong else self._configs.get("", name)
        return configs

    def _current(self, workload: ReadOnlyTree, configs: Configs, owned: Iterable[Tree]) -> dict[str, Tree]:
        """The last request of each check."""
        name, found = meta.name_of(workload), dict[str, Tree]()
        for check, config in configs.items():
            if config is None or not requests.is_needed(workload, config):
                continue
            synced = [each for each in owned if requests.is_synced_with_config(each, config)]
            attempts = {requests.attempt_of(each, name, check): each for each in synced}
            known = [attempt for attempt in attempts if attempt is not None]
            if known:
                found[check] = attempts[max(known)]
        return found

    async def _delete(self, unused: Iterable[ReadOnlyTree]) -> None:
        for each in unused:
            await self._kueue.client.delete(
                PROVISIONING_REQUESTS, meta.name_of(each), meta.namespace_of(each), missing_ok=True)

    # -- what came of it --------------------------------------------------------------------------

    async def _sync_states(self, workload: ReadOnlyTree, configs: Configs, current: Mapping[str, Tree]) -> Tree | None:
        checks = [dict(each) for each in admissionchecks.states_of(workload)]
        messages: list[str] = []
        updated = False
        for check, config in configs.items():
            state = admissionchecks.find_admission_check(checks, check)
            assert state is not None, "configs are of states"
            wanted = dict(state)
            if config is not None and requests.is_needed(workload, config) and check not in current:
                return None
            self._sync_state(workload, wanted, config, current.get(check))
            updated = updated or wanted != state
            if wanted["state"] != state["state"]:
                message = f"Admission check {check} updated state from {state['state']} to {wanted['state']}"
                messages.append(message + (f" with message: {wanted['message']}" if wanted.get("message") else ""))
                wanted.pop("lastTransitionTime", None)
            admissionchecks.set_admission_check_state(checks, wanted, now=self._kueue.clock.time())
        if not updated:
            return None

        def update(changed: Tree) -> bool:
            changed["status"]["admissionChecks"] = checks
            return True

        written = await patching.patch_status(
            self._kueue.client, workload, PROVISIONING_REQUEST_CONTROLLER_NAME, update, features=self._kueue.features)
        for message in messages:
            self._recorder.report(
                workload, "Normal", "AdmissionCheckUpdated", "AdmissionCheckUpdated",
                reservation.truncate_event_message(message))
        return written

    def _sync_state(self, workload: ReadOnlyTree, state: Tree, config: ReadOnlyTree | None, request: ReadOnlyTree | None) -> None:
        """Make the state of a check what its request says."""
        if config is None:
            state.update(state=reasons.CHECK_PENDING, message=CHECK_INACTIVE)
        elif request is None:
            if state["state"] != reasons.CHECK_READY:
                state.update(state=reasons.CHECK_READY, message=NO_REQUEST_NEEDED)
                state.pop("podSetUpdates", None)
        elif (failed := _true(request, requests.FAILED)) is not None:
            self._retry(workload, state, config, request, "Retrying after failure", failed["message"])
        elif (revoked := _true(request, requests.CAPACITY_REVOKED)) is not None:
            if states.is_active(workload):
                state.update(state=reasons.CHECK_REJECTED, message=revoked["message"])
        elif (expired := _true(request, requests.BOOKING_EXPIRED)) is not None:
            if not states.is_admitted(workload):
                self._retry(workload, state, config, request, "Retrying after booking expired", expired["message"])
        elif (provisioned := _true(request, requests.PROVISIONED)) is not None:
            if state["state"] != reasons.CHECK_READY:
                state.update(
                    state=reasons.CHECK_READY, message=provisioned["message"],
                    podSetUpdates=requests.pod_set_updates(workload, request, config))
        elif _true(request, requests.ACCEPTED) is not None:
            estimate = meta.find_condition(request, requests.PROVISIONED)
            if estimate is not None:
                state.update(state=reasons.CHECK_PENDING, message=estimate["message"])
        else:
            state.update(state=reasons.CHECK_PENDING, message="")

    def _retry(
        self, workload: ReadOnlyTree, state: Tree, config: ReadOnlyTree, request: ReadOnlyTree, what: str, message: str,
    ) -> None:
        check = state["name"]
        attempt = requests.attempt_of(request, meta.name_of(workload), check) or 1
        strategy = states.spec_of(config).get("retryStrategy") or meta.EMPTY
        if attempt > strategy.get("backoffLimitCount", 3):
            state.update(state=reasons.CHECK_REJECTED, message=message)
            return
        state["message"] = f"{what}: {message}"
        if attempt > (state.get("retryCount") or 0):
            state["state"] = reasons.CHECK_RETRY
            admissionchecks.update_admission_check_requeue_state(
                state, strategy.get("backoffBaseSeconds", 60), strategy.get("backoffMaxSeconds", 1800),
                jitter=self._ctx.rng.uniform(0, 1))

    # -- asking -----------------------------------------------------------------------------------

    async def _ask(self, workload: ReadOnlyTree, check: str, config: ReadOnlyTree, request: ReadOnlyTree | None) -> None:
        state = admissionchecks.find_admission_check(admissionchecks.states_of(workload), check)
        if state is None or state["state"] == reasons.CHECK_READY:
            return
        attempt = (state.get("retryCount") or 0) + 1
        if request is not None:
            ended = _true(request, requests.FAILED) is not None or (
                _true(request, requests.BOOKING_EXPIRED) is not None and not states.is_admitted(workload))
            if ended and state["state"] == reasons.CHECK_PENDING:
                attempt = (requests.attempt_of(request, meta.name_of(workload), check) or 1) + 1
                request = None
        if request is None:
            request = await self._create(workload, state, config, attempt)
        await self._hand_over_templates(workload, request)

    async def _create(self, workload: ReadOnlyTree, state: Tree, config: ReadOnlyTree, attempt: int) -> Tree:
        name = requests.request_name(meta.name_of(workload), state["name"], attempt)
        merged, namespace, client = requests.merged_pod_sets(workload, config), meta.namespace_of(workload), self._kueue.client
        for each in merged:
            template = requests.pod_template_name(name, each.pod_set["name"])
            if self._templates.get(namespace, template) is None:
                try:
                    await client.create(POD_TEMPLATES, requests.pod_template(
                        workload, template, each, lambda flavor: self._flavors.get("", flavor), self._kueue.features))
                except APIError as error:
                    await self._tell_of_failure(workload, state, f'Error creating PodTemplate "{template}": {error.message}')
                    raise
        try:
            created = await client.create(PROVISIONING_REQUESTS, requests.provisioning_request(workload, name, config, merged))
        except APIError as error:
            await self._tell_of_failure(workload, state, f'Error creating ProvisioningRequest "{name}": {error.message}')
            raise
        self._recorder.report(
            workload, "Normal", "ProvisioningRequestCreated", "Created", f'Created ProvisioningRequest: "{name}"')
        return created

    async def _tell_of_failure(self, workload: ReadOnlyTree, state: Tree, message: str) -> None:
        self._recorder.report(
            workload, "Warning", "FailedCreate", "FailedCreate", reservation.truncate_event_message(message))
        told = {
            **state, "message": reservation.truncate_condition_message(message),
            "lastTransitionTime": times.format_time(self._kueue.clock.time())}

        def update(changed: Tree) -> bool:
            checks = changed["status"].setdefault("admissionChecks", [])
            admissionchecks.set_admission_check_state(checks, told, now=self._kueue.clock.time())
            return True

        await patching.patch_status(
            self._kueue.client, workload, PROVISIONING_REQUEST_CONTROLLER_NAME, update, features=self._kueue.features)

    async def _hand_over_templates(self, workload: ReadOnlyTree, request: ReadOnlyTree) -> None:
        """Let templates go with their request."""
        for each in states.spec_of(request).get("podSets") or ():
            template = self._templates.get(meta.namespace_of(request), each["podTemplateRef"]["name"])
            if template is None or meta.is_controlled_by(template, request):
                continue
            owners = [owner for owner in meta.owners_of(template) if owner["uid"] != meta.uid_of(workload)]
            metadata = {**template["metadata"], "ownerReferences": [*owners, meta.controller_reference(request)]}
            await self._kueue.client.update(POD_TEMPLATES, {**template, "metadata": metadata})


def _true(request: ReadOnlyTree, type_: str) -> Tree | None:
    """The condition of a type, if it is true."""
    found = meta.find_condition(request, type_)
    return found if found is not None and found["status"] == "True" else None
