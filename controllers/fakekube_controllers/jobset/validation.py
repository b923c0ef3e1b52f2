"""What a new JobSet may not be. Upstream: ValidateCreate and what it calls in
pkg/webhooks/jobset_webhook.go; ``updates.py`` has the rest.
"""

from collections.abc import Callable, Iterator, Sequence

from fakekube.apimachinery import field_errors, meta
from fakekube.apimachinery import names as words
from fakekube.apimachinery.field_errors import FieldError, child, go_quote, index, invalid
from fakekube.apimachinery.field_names import domain_prefixed_path
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube_controllers.jobset import names, volumes
from fakekube_controllers.jobset.failures import IGNORE_MAX, RESTART_JOB
from fakekube_controllers.jobset.features import Features

MAX_INT32 = 2**31 - 1
MAX_MANAGED_BY_LENGTH = 63
MAX_REPLICAS_RESTARTED_ALONE = 1024
MAX_RULE_NAME_LENGTH = 128
RULE_NAME = "[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?"
RULE_NAME_TEXT = (
    "a failure policy rule name must start with an alphabetic character, optionally followed by a string of alphanumeric "
    "characters or '_,:', and must end with an alphanumeric character or '_'")
REASONS = ("BackoffLimitExceeded", "DeadlineExceeded", "FailedIndexes", "MaxFailedIndexesExceeded", "PodFailurePolicy")
"""Why a Job may have failed."""
NO_RESTART_JOB = (
    "RestartJob and RestartJobAndIgnoreMaxRestarts failure policy actions are not allowed when RestartJob feature gate is "
    "disabled")
TOO_MANY_TO_RESTART_ALONE = (
    "JobSet cannot have a failure policy rule with RestartJob or RestartJobAndIgnoreMaxRestarts action and a replicated job "
    f"with replicas > {MAX_REPLICAS_RESTARTED_ALONE}")
NAME_TOO_LONG = "JobSet name is too long, {} names generated for this JobSet will exceed 63 characters"
POD_SUFFIX = "-abcde"

FindClaim = Callable[[str], Tree | None]
"""The claim of a name in the namespace of the JobSet."""


def errors_of(jobset: ReadOnlyTree, features: Features, claims: FindClaim) -> list[FieldError]:
    """The complaints about a new JobSet with its defaults, in upstream's order."""
    spec = jobset["spec"]
    failure_policy = spec.get("failurePolicy")
    restarts_in_place = (failure_policy or meta.EMPTY).get("restartStrategy") == "InPlaceRestart"
    found: list[FieldError] = []
    if restarts_in_place and not features.InPlaceRestart:
        found.append(_plain("InPlaceRestart restart strategy cannot be set when InPlaceRestart feature gate is disabled"))
    replicated_jobs = names.replicated_jobs(jobset)
    if replicated_jobs and replicated_jobs[0].get("dependsOn") is not None:
        found.append(_plain("DependsOn can't be set for the first ReplicatedJob"))
    found += _of_names(spec)
    known: dict[str, None] = {}
    for place, each in enumerate(replicated_jobs):
        known[each["name"]] = None
        path = index("spec.replicatedJobs", place)
        found += _of_replicated_job(meta.name_of(jobset), each, path)
        for dependency in each.get("dependsOn") or ():
            if dependency["name"] not in known:
                found.append(_plain(f"replicatedJob: {each['name']} cannot depend on replicatedJob: {dependency['name']}"))
        if restarts_in_place and features.InPlaceRestart:
            found += _of_restart_in_place(each, path)
    for name in (spec.get("successPolicy") or meta.EMPTY).get("targetReplicatedJobs") or ():
        if name not in known:
            found.append(_plain(f"invalid replicatedJob name '{name}' does not appear in .spec.ReplicatedJobs"))
    if failure_policy is not None:
        found += map(_plain, _of_failure_policy(failure_policy, replicated_jobs, known, features))
    if spec.get("coordinator") is not None:
        found += map(_plain, _of_coordinator(jobset))
    return [*found, *volumes.errors_of(jobset, claims)]


def _plain(text: str) -> FieldError:
    """A complaint that upstream makes without a field."""
    return FieldError("Internal error", "", "", text)


def _of_names(spec: ReadOnlyTree) -> Iterator[FieldError]:
    subdomain = (spec.get("network") or meta.EMPTY).get("subdomain")
    if subdomain:
        path = "spec.network.subdomain"
        for complaint in words.dns1123_subdomain(subdomain):
            yield invalid(path, subdomain, complaint)
        yield from _label(path, subdomain, ".spec.network.subdomain is too long, must be less than 63 characters")
    manager = spec.get("managedBy")
    if manager is not None:
        yield from domain_prefixed_path("spec.managedBy", manager)
        if words.is_longer(manager, MAX_MANAGED_BY_LENGTH):
            yield field_errors.too_long("spec.managedBy", MAX_MANAGED_BY_LENGTH)


def _label(path: str, text: str, too_long: str, shown: str = "") -> Iterator[FieldError]:
    """The complaints about a name that must be a label of RFC 1035."""
    for complaint in words.dns1035_label(text):
        is_length = complaint == words.too_long(words.MAX_LABEL_LENGTH)
        yield invalid(path, shown or text, too_long if is_length else complaint)


def _of_replicated_job(jobset: str, each: ReadOnlyTree, path: str) -> Iterator[FieldError]:
    name, replicas, job = each["name"], names.replicas(each), each["template"].get("spec") or meta.EMPTY
    parallelism = job.get("parallelism")
    if (1 if parallelism is None else parallelism) * replicas > MAX_INT32:
        yield _plain(f"the product of replicas and parallelism must not exceed {MAX_INT32} for replicatedJob '{name}'")
    group_too_long = ".spec.replicatedJob[].groupName is too long, must be less than 63 characters"
    yield from _label(child(path, "groupName"), each.get("groupName", ""), group_too_long)
    longest = names.job_name(jobset, name, replicas - 1)
    yield from _label(child(path, "name"), longest, NAME_TOO_LONG.format("job"))
    if job.get("completionMode") == "Indexed" and job.get("completions") is not None:
        pod = names.pod_name(jobset, name, replicas - 1, job["completions"] - 1) + POD_SUFFIX
        yield from _label(child(path, "name"), pod, NAME_TOO_LONG.format("pod"), longest)


def _of_restart_in_place(each: ReadOnlyTree, path: str) -> Iterator[FieldError]:
    job, path = each["template"].get("spec") or meta.EMPTY, child(path, "template", "spec")
    start, when = f"replicatedJob {each['name']}:", "when in-place restart is enabled"
    wanted = (("backoffLimit", MAX_INT32, f"{MAX_INT32} (MaxInt32)"), ("podReplacementPolicy", "Failed", "Failed"))
    for field, value, shown in wanted:
        if job.get(field) != value:
            yield invalid(child(path, field), job.get(field), f"{start} must be set to {shown} {when}")
    if job.get("parallelism") is None or job.get("completions") != job.get("parallelism"):
        text = f"{start} completions and parallelism must be set and equal to each other {when}"
        yield invalid(child(path, "completions"), job.get("completions"), text)


def _of_failure_policy(
    policy: ReadOnlyTree, replicated_jobs: Sequence[Tree], known: dict[str, None], features: Features,
) -> Iterator[str]:
    rules: Sequence[Tree] = policy.get("rules") or ()
    if any(rule["action"] in (RESTART_JOB, RESTART_JOB + IGNORE_MAX) for rule in rules):
        if not features.RestartJob:
            yield NO_RESTART_JOB
            return
        if any(names.replicas(each) > MAX_REPLICAS_RESTARTED_ALONE for each in replicated_jobs):
            yield TOO_MANY_TO_RESTART_ALONE
    called: dict[str, list[int]] = {}
    for place, rule in enumerate(rules):
        name = rule["name"]
        called.setdefault(name, []).append(place)
        length = len(name.encode())
        if not 1 <= length <= MAX_RULE_NAME_LENGTH:
            yield (
                f"invalid failure policy rule name of length {length}, the rule name must be at least 1 characters long and at "
                f"most {MAX_RULE_NAME_LENGTH} characters long")
        if not words.matches(RULE_NAME, name):
            yield f"invalid failure policy rule name '{name}', {RULE_NAME_TEXT}"
        for target in rule.get("targetReplicatedJobs") or ():
            if target not in known:
                yield f"invalid replicatedJob name '{target}' in failure policy does not appear in .spec.ReplicatedJobs"
        for reason in rule.get("onJobFailureReasons") or ():
            if reason not in REASONS:
                yield f"invalid job failure reason '{reason}' in failure policy is not a recognized job failure reason"
    for name, places in called.items():
        if len(places) > 1:
            yield f"rule names are not unique, rules with indices [{' '.join(map(str, places))}] all have the same name '{name}'"


def _of_coordinator(jobset: ReadOnlyTree) -> Iterator[str]:
    """The coordinator must be a pod that there will be, and its address a label's value."""
    told = jobset["spec"]["coordinator"]
    name, job_index, pod_index = told.get("replicatedJob", ""), told.get("jobIndex", 0), told.get("podIndex", 0)
    replicated_job = next((each for each in names.replicated_jobs(jobset) if each["name"] == name), None)
    job = (replicated_job or meta.EMPTY).get("template", meta.EMPTY).get("spec") or meta.EMPTY
    if replicated_job is None:
        yield f"coordinator replicatedJob {name} does not exist"
    elif not 0 <= job_index < names.replicas(replicated_job):
        yield f"coordinator job index {job_index} is invalid for replicatedJob {name}"
    elif job.get("completionMode") != "Indexed" or job.get("completions") is None:
        yield "job for coordinator pod must be indexed completion mode, and completions number must be set"
    elif not 0 <= pod_index < job["completions"]:
        yield f"coordinator pod index {pod_index} is invalid for replicatedJob {name} job index {job_index}"
    value = names.coordinator_endpoint(jobset)
    if complaints := words.label_value(value):
        yield (
            f"spec will lead to invalid label value {go_quote(value)} for coordinator label {go_quote(names.COORDINATOR)} "
            f"(long JobSet / ReplicatedJob / SubDomain name?): {', '.join(complaints)}")
