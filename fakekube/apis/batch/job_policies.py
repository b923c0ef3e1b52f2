"""What is wrong with a Job's pod failure policy and success policy.

Upstream: validatePodFailurePolicy and validateSuccessPolicy in
pkg/apis/batch/validation/validation.go.
"""

from fakekube.apimachinery import field_errors, names
from fakekube.apimachinery.field_errors import OMITTED, FieldError, complaints
from fakekube.apimachinery.types import Tree
from fakekube.apimachinery.validation import nonnegative, one_of
from fakekube.apis.batch import indexes
from fakekube.apis.internals import internal

MAX_RULES = 20
MAX_EXIT_CODES = 255
MAX_INDEXES_BYTES = 64 * 1024
ACTIONS = ("Count", "FailIndex", "FailJob", "Ignore")
OPERATORS = ("In", "NotIn")
STATUSES = ("False", "True", "Unknown")
NO_CONTAINER = "must be one of the container or initContainer names in the pod template"
NO_RULES = "at least one rules must be specified when the successPolicy is specified"
NO_COUNT = "at least one of succeededCount or succeededIndexes must be specified"


def _valid_values(values: tuple[str, ...]) -> str:
    """As Go prints a list of strings."""
    return f"valid values: [{' '.join(map(field_errors.go_quote, values))}]"


def validate_failure_policy(spec: Tree, path: str) -> list[FieldError]:
    """spec.podFailurePolicy."""
    rules = spec["podFailurePolicy"].get("rules") or []
    found: list[FieldError] = []
    if len(rules) > MAX_RULES:
        found.append(field_errors.too_many(f"{path}.rules", len(rules), MAX_RULES))
    pod = spec["template"]["spec"]
    containers = [*(pod.get("containers") or ()), *pod.get("initContainers", ())]
    container_names = [container.get("name", "") for container in containers]
    for position, rule in enumerate(rules):
        found += _failure_rule(rule, f"{path}.rules[{position}]", container_names, "backoffLimitPerIndex" in spec)
    return found


def _failure_rule(rule: Tree, path: str, container_names: list[str], per_index: bool) -> list[FieldError]:
    found: list[FieldError] = []
    action = rule.get("action", "")
    if not action:
        found.append(field_errors.required(f"{path}.action", _valid_values(ACTIONS)))
    elif action == "FailIndex" and not per_index:
        found.append(field_errors.invalid(f"{path}.action", action, "requires the backoffLimitPerIndex to be set"))
    else:
        found += one_of(f"{path}.action", action, ACTIONS)
    codes, conditions = rule.get("onExitCodes"), rule.get("onPodConditions")
    if codes is not None:
        found += _exit_codes(codes, f"{path}.onExitCodes", container_names)
    if conditions:
        found += _pod_conditions(conditions, f"{path}.onPodConditions")
    if codes is not None and conditions:
        what = "specifying both OnExitCodes and OnPodConditions is not supported"
        found.append(field_errors.invalid(path, OMITTED, what))
    if codes is None and not conditions:
        what = "specifying one of OnExitCodes and OnPodConditions is required"
        found.append(field_errors.invalid(path, OMITTED, what))
    return found


def _exit_codes(requirement: Tree, path: str, container_names: list[str]) -> list[FieldError]:
    found: list[FieldError] = []
    operator, values = requirement.get("operator", ""), requirement.get("values") or []
    if not operator:
        found.append(field_errors.required(f"{path}.operator", _valid_values(OPERATORS)))
    else:
        found += one_of(f"{path}.operator", operator, OPERATORS)
    name = requirement.get("containerName")
    if name is not None and name not in container_names:
        found.append(field_errors.invalid(f"{path}.containerName", name, NO_CONTAINER))
    if not values:
        what = "at least one value is required"
        found.append(field_errors.invalid(f"{path}.values", requirement.get("values"), what))
    elif len(values) > MAX_EXIT_CODES:
        found.append(field_errors.too_many(f"{path}.values", len(values), MAX_EXIT_CODES))
    repeated = field_errors.repetitions(values)
    for position, value in enumerate(values):
        here = f"{path}.values[{position}]"
        if operator == "In" and value == 0:
            found.append(field_errors.invalid(here, value, "must not be 0 for the In operator"))
        if position in repeated:
            found.append(field_errors.duplicate(here, value))
    if values != sorted(values):
        found.append(field_errors.invalid(f"{path}.values", values, "must be ordered"))
    return found


def _pod_conditions(patterns: list[Tree], path: str) -> list[FieldError]:
    found: list[FieldError] = []
    if len(patterns) > MAX_RULES:
        found.append(field_errors.too_many(path, len(patterns), MAX_RULES))
    for position, pattern in enumerate(patterns):
        here, kind, status = f"{path}[{position}]", pattern.get("type", ""), pattern.get("status", "")
        found += complaints(f"{here}.type", kind, names.qualified_name(kind))
        if not status:
            found.append(field_errors.required(f"{here}.status", _valid_values(STATUSES)))
        else:
            found += one_of(f"{here}.status", status, STATUSES)
    return found


def validate_success_policy(spec: Tree, path: str) -> list[FieldError]:
    """spec.successPolicy, which only an indexed Job can have."""
    policy = spec["successPolicy"]
    if spec.get("completionMode") != "Indexed":
        return [field_errors.invalid(path, internal("SuccessPolicy", policy), "requires indexed completion mode")]
    rules = policy.get("rules") or []
    found: list[FieldError] = []
    if not rules:
        found.append(field_errors.required(f"{path}.rules", NO_RULES))
    if len(rules) > MAX_RULES:
        found.append(field_errors.too_many(f"{path}.rules", len(rules), MAX_RULES))
    for position, rule in enumerate(rules):
        found += _success_rule(rule, f"{path}.rules[{position}]", spec.get("completions", 0))
    return found


def _success_rule(rule: Tree, path: str, completions: int) -> list[FieldError]:
    found: list[FieldError] = []
    wanted, text = rule.get("succeededCount"), rule.get("succeededIndexes")
    if wanted is None and text is None:
        return [field_errors.required(path, NO_COUNT)]
    total = 0
    if text is not None:
        if len(text.encode()) > MAX_INDEXES_BYTES:
            found.append(field_errors.too_long(f"{path}.succeededIndexes", MAX_INDEXES_BYTES))
        try:
            total = indexes.count(text, completions)
        except indexes.IndexesError as error:
            what = f"error parsing succeededIndexes: {error}"
            found.append(field_errors.invalid(f"{path}.succeededIndexes", text, what))
    if wanted is None:
        return found
    here = f"{path}.succeededCount"
    found += nonnegative(here, wanted)
    if wanted > completions:
        what = f"must be less than or equal to {completions} (the number of specified completions)"
        found.append(field_errors.invalid(here, wanted, what))
    if text is not None and wanted > total:
        what = f"must be less than or equal to {total} (the number of indexes in the specified succeededIndexes field)"
        found.append(field_errors.invalid(here, wanted, what))
    return found
