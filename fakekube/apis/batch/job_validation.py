"""What is wrong with a Job's spec, also inside of a CronJob.

Upstream: pkg/apis/batch/validation/validation.go.
"""

from typing import Any

from fakekube.apimachinery import field_errors, labels, names, validation
from fakekube.apimachinery.equality import same
from fakekube.apimachinery.field_errors import FieldError, complaints
from fakekube.apimachinery.types import Tree
from fakekube.apimachinery.validation import IMMUTABLE, immutable, nonnegative_fields, one_of
from fakekube.apis.batch.job_policies import validate_failure_policy, validate_success_policy
from fakekube.apis.batch.job_scheduling import validate_scheduling
from fakekube.apis.core.podspec_validation import PodSpecOptions, validate_template
from fakekube.apis.internals import internal

NAME_LABEL, LEGACY_NAME_LABEL = "batch.kubernetes.io/job-name", "job-name"
UID_LABEL, LEGACY_UID_LABEL = "batch.kubernetes.io/controller-uid", "controller-uid"
MAX_INDEXED_PARALLELISM = 100_000
MANY_COMPLETIONS = 100_000
MAX_PARALLELISM_FOR_MANY = 10_000
MAX_MANAGED_BY_LENGTH = 63
NUMBERS = (
    "parallelism", "completions", "activeDeadlineSeconds", "backoffLimit", "ttlSecondsAfterFinished",
    "backoffLimitPerIndex", "maxFailedIndexes",
)
NEEDS_INDEXED = "requires indexed completion mode"
IMMUTABLE_FIELDS = {
    "completionMode": "*s", "podFailurePolicy": "*PodFailurePolicy", "backoffLimitPerIndex": "*i", "managedBy": "*s",
    "successPolicy": "*SuccessPolicy",
}
BAD_PATH = 'must be a domain-prefixed path (such as "acme.io/foo")'


def sorted_map(values: dict[str, str]) -> dict[str, str]:
    """Labels in the order in which upstream prints them."""
    return dict(sorted(values.items()))


def validate_job(job: Tree, options: PodSpecOptions) -> list[FieldError]:
    """A new Job, metadata excepted."""
    return _generated_selector(job) + validate_spec_and_selector(job["spec"], options)


def _generated_selector(job: Tree) -> list[FieldError]:
    """Unless the client chose it by hand, the selector is the Job's uid, and the template has the
    labels for it.
    """
    spec, meta = job["spec"], job["metadata"]
    if spec.get("manualSelector") or "selector" not in spec:
        return []
    uid, name = meta.get("uid", ""), meta.get("name", "")
    expected = {LEGACY_UID_LABEL: uid, LEGACY_NAME_LABEL: name, UID_LABEL: uid, NAME_LABEL: name}
    present = (spec["template"].get("metadata") or {}).get("labels") or {}
    found = [] if expected.items() <= present.items() else _wrong_labels(present, expected)
    if _matches(spec["selector"], expected) is False:
        shown = dict(spec["selector"])
        if shown.get("matchLabels"):
            shown["matchLabels"] = sorted_map(shown["matchLabels"])
        found.append(field_errors.invalid("spec.selector", shown, "`selector` not auto-generated"))
    return found


def _wrong_labels(present: dict[str, str], expected: dict[str, str]) -> list[FieldError]:
    found: list[FieldError] = []
    for key, value in expected.items():
        path = f"spec.template.metadata.labels[{key}]"
        if key not in present:
            found.append(field_errors.required(path, f"must be '{value}'"))
        elif present[key] != value:
            found.append(field_errors.invalid(path, sorted_map(present), f"must be '{value}'"))
    return found


def _matches(selector: Tree | None, present: dict[str, str]) -> bool | None:
    """Whether a selector fits labels; None when it is no selector at all."""
    try:
        return labels.selects(selector, present)
    except labels.SelectorError:
        return None


def validate_spec_and_selector(spec: Tree, options: PodSpecOptions) -> list[FieldError]:
    """The spec of a Job, its selector included."""
    found = validate_job_spec(spec, "spec", options)
    selector = spec.get("selector")
    if selector is None:
        found.append(field_errors.required("spec.selector"))
    found += validation.label_selector(selector, "spec.selector")
    present = (spec["template"].get("metadata") or {}).get("labels") or {}
    if _matches(selector, present) is False:
        shown = sorted_map(present) if present else None
        what = "`selector` does not match template `labels`"
        found.append(field_errors.invalid("spec.template.metadata.labels", shown, what))
    return found


def validate_job_spec(spec: Tree, path: str, options: PodSpecOptions) -> list[FieldError]:
    """The spec of a Job or of a CronJob's template, selector excepted."""
    found = nonnegative_fields(spec, path, *NUMBERS)
    if "maxFailedIndexes" in spec and "backoffLimitPerIndex" not in spec:
        found.append(field_errors.required(f"{path}.backoffLimitPerIndex", "when maxFailedIndexes is specified"))
    if "managedBy" in spec:
        found += _managed_by(spec["managedBy"], f"{path}.managedBy")
    mode = spec.get("completionMode", "NonIndexed")
    found += one_of(f"{path}.completionMode", mode, ("NonIndexed", "Indexed"))
    if mode == "Indexed":
        found += _indexed(spec, path)
    elif mode == "NonIndexed":
        for name in ("backoffLimitPerIndex", "maxFailedIndexes"):
            if name in spec:
                found.append(field_errors.invalid(f"{path}.{name}", spec[name], NEEDS_INDEXED))
    if "podFailurePolicy" in spec:
        found += validate_failure_policy(spec, f"{path}.podFailurePolicy")
    if "successPolicy" in spec:
        found += validate_success_policy(spec, f"{path}.successPolicy")
    if "podReplacementPolicy" in spec:
        allowed = ("Failed",) if "podFailurePolicy" in spec else ("Failed", "TerminatingOrFailed")
        found += one_of(f"{path}.podReplacementPolicy", spec["podReplacementPolicy"], allowed)
    if "scheduling" in spec:
        found += validate_scheduling(spec, f"{path}.scheduling")
    template = spec.get("template") or {}
    found += validate_template(template, f"{path}.template", options)
    found += _restart_policy(spec, template.get("spec") or {}, f"{path}.template.spec.restartPolicy")
    return found


def _managed_by(text: str, path: str) -> list[FieldError]:
    if not text:
        return [field_errors.required(path)]
    domain, _, rest = text.partition("/")
    if not domain or not rest:
        found = [field_errors.invalid(path, text, BAD_PATH)]
    else:
        found = complaints(path, domain, names.dns1123_subdomain(domain))
        if not names.matches(names.HTTP_PATH, rest):
            found.append(field_errors.invalid(path, rest, names.mismatch("Invalid path", names.HTTP_PATH)))
    if len(text.encode()) > MAX_MANAGED_BY_LENGTH:
        found.append(field_errors.too_long(path, MAX_MANAGED_BY_LENGTH))
    return found


def _indexed(spec: Tree, path: str) -> list[FieldError]:
    found: list[FieldError] = []
    completions, parallelism, failures = (
        spec.get(name) for name in ("completions", "parallelism", "maxFailedIndexes"))
    if completions is None:
        found.append(field_errors.required(f"{path}.completions", "when completion mode is Indexed"))
    if parallelism is not None and parallelism > MAX_INDEXED_PARALLELISM:
        what = f"must be less than or equal to {MAX_INDEXED_PARALLELISM} when completion mode is Indexed"
        found.append(field_errors.invalid(f"{path}.parallelism", parallelism, what))
    if completions is not None and failures is not None and failures > completions:
        what = "must be less than or equal to completions"
        found.append(field_errors.invalid(f"{path}.maxFailedIndexes", failures, what))
    if failures is not None and failures > MAX_INDEXED_PARALLELISM:
        what = f"must be less than or equal to {MAX_INDEXED_PARALLELISM}"
        found.append(field_errors.invalid(f"{path}.maxFailedIndexes", failures, what))
    if completions is None or completions <= MANY_COMPLETIONS or "backoffLimitPerIndex" not in spec:
        return found
    what = (
        f"must be less than or equal to {MAX_PARALLELISM_FOR_MANY} when completions are above {MANY_COMPLETIONS} and "
        "used with backoff limit per index"
    )
    if failures is None:
        why = f"must be specified when completions is above {MANY_COMPLETIONS}"
        found.append(field_errors.required(f"{path}.maxFailedIndexes", why))
    if parallelism is not None and parallelism > MAX_PARALLELISM_FOR_MANY:
        found.append(field_errors.invalid(f"{path}.parallelism", parallelism, what))
    if failures is not None and failures > MAX_PARALLELISM_FOR_MANY:
        found.append(field_errors.invalid(f"{path}.maxFailedIndexes", failures, what))
    return found


def _restart_policy(spec: Tree, pod: Tree, path: str) -> list[FieldError]:
    policy = pod.get("restartPolicy", "")
    if policy in ("Always", ""):
        return [field_errors.required(path, 'valid values: "OnFailure", "Never"')]
    if policy not in ("OnFailure", "Never"):
        return [field_errors.not_supported(path, policy, ("OnFailure", "Never"))]
    if "podFailurePolicy" in spec and policy != "Never":
        what = 'only "Never" is supported when podFailurePolicy is specified'
        return [field_errors.invalid(path, policy, what)]
    return []


def validate_pod_names(job: Tree) -> list[FieldError]:
    """The pods of an indexed Job are named by its own name and an index: that must be a host's
    name.
    """
    spec, name = job["spec"], job["metadata"].get("name", "")
    completions = spec.get("completions", 0)
    if spec.get("completionMode") != "Indexed" or completions <= 0:
        return []
    longest = f"{name}-{completions - 1}"
    if not names.dns1123_label(longest):
        return []
    what = f"will not able to create pod with invalid DNS label: {longest}"
    return [field_errors.invalid("metadata.name", name, what)]


def validate_changes(
    spec: Tree, old: Tree, *, scheduling: bool, resources: bool, elastic: bool = True,
) -> list[FieldError]:
    """What an update may not do.

    ``scheduling`` and ``resources`` say what may change in the template.

    Both are about the old object: it must be suspended, with nothing running. ``elastic``: the
    completions of an indexed Job may change with its parallelism.
    """
    found = _completions(spec.get("completions"), old.get("completions"), spec, elastic=elastic)
    found += _kept("spec.selector", "*-LabelSelector", spec.get("selector"), old.get("selector"))
    found += _template(spec, old, scheduling=scheduling, resources=resources)
    for name, kind in IMMUTABLE_FIELDS.items():
        found += _kept(f"spec.{name}", kind, spec.get(name), old.get(name))
    return found


def _kept(path: str, kind: str, new: Any, old: Any) -> list[FieldError]:
    """A value that may not change, which prints as the internal type that it is."""
    return [] if same(new, old) else [field_errors.invalid(path, internal(kind, new), IMMUTABLE)]


def _completions(new: Any, old: Any, spec: Tree, *, elastic: bool) -> list[FieldError]:
    path = "spec.completions"
    if spec.get("completionMode") != "Indexed" or not elastic:
        return immutable(path, new, old)
    if same(new, old) or new is None or new == spec.get("parallelism"):
        return []
    return [field_errors.invalid(path, new, "can only be modified in tandem with spec.parallelism")]


def _template(spec: Tree, old: Tree, *, scheduling: bool, resources: bool) -> list[FieldError]:
    new_template, old_template = spec["template"], old["template"]
    if same(new_template, old_template):
        return []
    if scheduling:
        old_template = _with_directives(old_template, new_template)
    if not (old.get("suspend") and resources):
        return _kept("spec.template", "PodTemplateSpec", new_template, old_template)
    pod = new_template["spec"]
    return _kept("spec.template.spec", "PodSpec", pod, _with_resources(old_template["spec"], pod))


def _with_directives(old: Tree, new: Tree) -> Tree:
    """The old template with the new one's labels, annotations, and say in where the pods run."""
    pod, new_pod = dict(old["spec"]), new["spec"]
    for name in ("nodeSelector", "tolerations", "schedulingGates"):
        pod.pop(name, None)
        if name in new_pod:
            pod[name] = new_pod[name]
    affinity = {name: rules for name, rules in (pod.get("affinity") or {}).items() if name != "nodeAffinity"}
    if "nodeAffinity" in (new_pod.get("affinity") or {}):
        affinity["nodeAffinity"] = new_pod["affinity"]["nodeAffinity"]
    pod.pop("affinity", None)
    if affinity or "affinity" in new_pod:
        pod["affinity"] = affinity
    return {"metadata": new.get("metadata"), "spec": pod}


def _with_resources(old: Tree, new: Tree) -> Tree:
    """The old pod spec with the resources of the new one's containers, matched by place and name.
    """
    result = dict(old)
    for field in ("containers", "initContainers"):
        containers, wanted = old.get(field) or [], new.get(field) or []
        if not containers or len(containers) != len(wanted):
            continue
        result[field] = [
            {**container, "resources": other.get("resources", {})}
            if container.get("name") == other.get("name") else container
            for container, other in zip(containers, wanted, strict=True)
        ]
    return result
