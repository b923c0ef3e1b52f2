"""What is wrong with where a pod wants to run: tolerations, affinity, spread constraints, gates.

Upstream: ValidateTolerations, validateAffinity, validateTopologySpreadConstraints in
pkg/apis/core/validation/validation.go.
"""

from collections.abc import Callable

from fakekube.apimachinery import field_errors, names, validation
from fakekube.apimachinery.field_errors import FieldError, complaints
from fakekube.apimachinery.types import Tree
from fakekube.apimachinery.validation import one_of

TAINT_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
NO_KEY = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
BAD_OPERATOR = "not a valid selector operator"
PLAIN_OPERATORS = ("Exists", "Equal", "")
PLAIN_EFFECTS = ("NoSchedule", "PreferNoSchedule", "")
IN_BOTH = "exists in both matchLabelKeys and labelSelector"
NO_SELECTOR = "must not be specified when labelSelector is not set"


def validate_taint_effect(effect: str, path: str) -> list[FieldError]:
    """What a taint does to pods that do not tolerate it."""
    return one_of(path, effect, TAINT_EFFECTS)


def validate_tolerations(tolerations: list[Tree], path: str, *, comparing: bool = False) -> list[FieldError]:
    """Tolerations; ``comparing`` tells that the operators Lt and Gt are known."""
    found: list[FieldError] = []
    for position, toleration in enumerate(tolerations):
        found += _toleration(toleration, f"{path}[{position}]", comparing=comparing)
    return found


def accepts_tolerations(tolerations: list[Tree]) -> bool:
    """Whether tolerations are fine at a glance, whatever operators are known.

    Whoever gets False has to ask ``validate_tolerations``.
    """
    for toleration in tolerations:
        key, operator, effect = toleration.get("key"), toleration.get("operator", ""), toleration.get("effect", "")
        if not key or operator not in PLAIN_OPERATORS or not names.is_qualified_name(key):
            return not validate_tolerations(tolerations, "")
        if effect != "NoExecute" and (effect not in PLAIN_EFFECTS or "tolerationSeconds" in toleration):
            return False
        value = toleration.get("value", "")
        if value and (operator == "Exists" or not names.is_label_value(value)):
            return False
    return True


def _toleration(toleration: Tree, path: str, *, comparing: bool) -> list[FieldError]:
    found: list[FieldError] = []
    key, operator = toleration.get("key", ""), toleration.get("operator", "")
    value, effect = toleration.get("value", ""), toleration.get("effect", "")
    if key:
        found += complaints(f"{path}.key", key, names.qualified_name(key))
    elif operator != "Exists":
        found.append(field_errors.invalid(f"{path}.operator", operator, NO_KEY))
    if "tolerationSeconds" in toleration and effect != "NoExecute":
        what = "effect must be 'NoExecute' when `tolerationSeconds` is set"
        found.append(field_errors.invalid(f"{path}.effect", effect, what))
    if operator in ("Equal", ""):
        if texts := names.label_value(value):
            found.append(field_errors.invalid(f"{path}.operator", value, ";".join(texts)))
    elif operator == "Exists":
        if value:
            what = "value must be empty when `operator` is 'Exists'"
            found.append(field_errors.invalid(f"{path}.operator", value, what))
    elif operator in ("Lt", "Gt"):
        if not comparing:
            found.append(field_errors.not_supported(f"{path}.operator", operator, ("Equal", "Exists", "Lt", "Gt")))
        elif not value.removeprefix("-").isdecimal():
            what = f"strconv.ParseInt: parsing {field_errors.go_quote(value)}: invalid syntax"
            found.append(field_errors.invalid(f"{path}.value", value, what))
    else:
        found.append(field_errors.not_supported(f"{path}.operator", operator, ("Equal", "Exists")))
    if effect:
        found += validate_taint_effect(effect, f"{path}.effect")
    return found


def validate_affinity(affinity: Tree, path: str, *, check_values: bool = True) -> list[FieldError]:
    """Affinity to nodes and pods.

    ``check_values`` False is for updates of objects with bad values already.
    """
    found: list[FieldError] = []
    if "nodeAffinity" in affinity:
        rules, here = affinity["nodeAffinity"], f"{path}.nodeAffinity"
        if REQUIRED in rules:
            found += validate_node_selector(rules[REQUIRED], f"{here}.{REQUIRED}", check_values=check_values)
        found += _weighted(rules, here, "preference", _preferred_node)
    for name in ("podAffinity", "podAntiAffinity"):
        if name in affinity:
            rules, here = affinity[name], f"{path}.{name}"
            for position, term in enumerate(rules.get(REQUIRED, ())):
                found += _pod_term(term, f"{here}.{REQUIRED}[{position}]")
            found += _weighted(rules, here, "podAffinityTerm", _pod_term)
    return found


def _weighted(rules: Tree, path: str, field: str, check: Callable[[Tree, str], list[FieldError]]) -> list[FieldError]:
    found: list[FieldError] = []
    for position, weighted in enumerate(rules.get(PREFERRED, ())):
        here, weight = f"{path}.{PREFERRED}[{position}]", weighted.get("weight", 0)
        if not 1 <= weight <= 100:
            found.append(field_errors.invalid(f"{here}.weight", weight, "must be in the range 1-100"))
        found += check(weighted.get(field, {}), f"{here}.{field}")
    return found


def _preferred_node(term: Tree, path: str) -> list[FieldError]:
    return _node_term(term, path, check_values=False)


def validate_node_selector(selector: Tree, path: str, *, check_values: bool = True) -> list[FieldError]:
    """A NodeSelector: at least one term."""
    terms, here = selector.get("nodeSelectorTerms") or [], f"{path}.nodeSelectorTerms"
    if not terms:
        return [field_errors.required(here, "must have at least one node selector term")]
    found: list[FieldError] = []
    for position, term in enumerate(terms):
        found += _node_term(term, f"{here}[{position}]", check_values=check_values)
    return found


def _node_term(term: Tree, path: str, *, check_values: bool) -> list[FieldError]:
    found: list[FieldError] = []
    for position, requirement in enumerate(term.get("matchExpressions", ())):
        found += _node_requirement(requirement, f"{path}.matchExpressions[{position}]", check_values=check_values)
    for position, requirement in enumerate(term.get("matchFields", ())):
        found += _node_field(requirement, f"{path}.matchFields[{position}]")
    return found


def _node_requirement(requirement: Tree, path: str, *, check_values: bool) -> list[FieldError]:
    found: list[FieldError] = []
    operator, values, key = requirement.get("operator", ""), requirement.get("values", ()), requirement.get("key", "")
    if operator in ("In", "NotIn"):
        if not values:
            what = "must be specified when `operator` is 'In' or 'NotIn'"
            found.append(field_errors.required(f"{path}.values", what))
    elif operator in ("Exists", "DoesNotExist"):
        if values:
            what = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
            found.append(field_errors.forbidden(f"{path}.values", what))
    elif operator in ("Gt", "Lt"):
        if len(values) != 1:
            what = "must be specified single value when `operator` is 'Lt' or 'Gt'"
            found.append(field_errors.required(f"{path}.values", what))
    else:
        found.append(field_errors.invalid(f"{path}.operator", operator, BAD_OPERATOR))
    found += complaints(f"{path}.key", key, names.qualified_name(key))
    if check_values:
        for position, value in enumerate(values):
            found += complaints(f"{path}.values[{position}]", value, names.label_value(value))
    return found


def _node_field(requirement: Tree, path: str) -> list[FieldError]:
    found: list[FieldError] = []
    operator, values, key = requirement.get("operator", ""), requirement.get("values", ()), requirement.get("key", "")
    if operator not in ("In", "NotIn"):
        found.append(field_errors.invalid(f"{path}.operator", operator, BAD_OPERATOR))
    elif len(values) != 1:
        what = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
        found.append(field_errors.required(f"{path}.values", what))
    if key != "metadata.name":
        return [*found, field_errors.invalid(f"{path}.key", key, "not a valid field selector key")]
    for position, value in enumerate(values):
        found += complaints(f"{path}.values[{position}]", value, names.dns1123_subdomain(value))
    return found


def _pod_term(term: Tree, path: str) -> list[FieldError]:
    selector = term.get("labelSelector")
    found = validation.label_selector(selector, f"{path}.labelSelector")
    found += validation.label_selector(term.get("namespaceSelector"), f"{path}.namespaceSelector")
    for namespace in term.get("namespaces", ()):
        found += complaints(f"{path}.namespace", namespace, names.dns1123_label(namespace))
    found += _label_keys(term, path)
    key = term.get("topologyKey", "")
    if not key:
        found.append(field_errors.required(f"{path}.topologyKey", "can not be empty"))
    return found + complaints(f"{path}.topologyKey", key, names.qualified_name(key))


def _label_keys(holder: Tree, path: str) -> list[FieldError]:
    """MatchLabelKeys and mismatchLabelKeys, after they have been merged into the selector."""
    found: list[FieldError] = []
    wanted, unwanted = holder.get("matchLabelKeys", []), holder.get("mismatchLabelKeys", [])
    if not wanted and not unwanted:
        return found
    selector = holder.get("labelSelector")
    for field, keys in (("matchLabelKeys", wanted), ("mismatchLabelKeys", unwanted)):
        if keys and selector is None:
            found.append(field_errors.forbidden(f"{path}.{field}", NO_SELECTOR))
            continue
        for position, key in enumerate(keys):
            found += complaints(f"{path}.{field}[{position}]", key, names.qualified_name(key))
    if selector is not None:
        seen = set(selector.get("matchLabels", ()))
        places = {key: place for place, key in reversed([*enumerate(wanted)])}
        for requirement in selector.get("matchExpressions", ()):
            key = requirement.get("key", "")
            if key in places and key in seen:
                found.append(field_errors.invalid(f"{path}[{places[key]}]", key, IN_BOTH))
            seen.add(key)
    both = "exists in both matchLabelKeys and mismatchLabelKeys"
    refused = set(unwanted)
    for position, key in enumerate(wanted):
        if key in refused:
            found.append(field_errors.invalid(f"{path}.matchLabelKeys[{position}]", key, both))
    return found


def _unmerged_keys(constraint: Tree, path: str) -> list[FieldError]:
    """MatchLabelKeys that nobody merges into the selector: it may not name them either."""
    keys, selector = constraint.get("matchLabelKeys", ()), constraint.get("labelSelector")
    if not keys:
        return []
    found = [field_errors.forbidden(path, NO_SELECTOR)] if selector is None else []
    named = {*(selector or {}).get("matchLabels", ()), *(
        each.get("key", "") for each in (selector or {}).get("matchExpressions", ()))}
    for position, key in enumerate(keys):
        found += complaints(f"{path}[{position}]", key, names.qualified_name(key))
        if key in named:
            found.append(field_errors.invalid(f"{path}[{position}]", key, IN_BOTH))
    return found


def validate_spread_constraints(constraints: list[Tree], path: str, *, merged: bool = True) -> list[FieldError]:
    """TopologySpreadConstraints. ``merged``: their label keys go into their selectors."""
    found: list[FieldError] = []
    pairs = [(constraint.get("topologyKey"), constraint.get("whenUnsatisfiable")) for constraint in constraints]
    last = {pair: position for position, pair in enumerate(pairs)}
    for position, constraint in enumerate(constraints):
        here, skew = f"{path}[{position}]", constraint.get("maxSkew", 0)
        action, key = constraint.get("whenUnsatisfiable", ""), constraint.get("topologyKey", "")
        if skew <= 0:
            found.append(field_errors.invalid(f"{here}.maxSkew", skew, "must be greater than zero"))
        if not key:
            found.append(field_errors.required(f"{here}.topologyKey", "can not be empty"))
        found += one_of(f"{here}.whenUnsatisfiable", action, ("DoNotSchedule", "ScheduleAnyway"))
        if position < last.get((key, action), -1):
            found.append(field_errors.duplicate(f"{here}.{{topologyKey, whenUnsatisfiable}}", f"{{{key}, {action}}}"))
        found += _min_domains(constraint.get("minDomains"), action, f"{here}.minDomains")
        for name in ("nodeAffinityPolicy", "nodeTaintsPolicy"):
            if name in constraint:
                found += one_of(f"{here}.{name}", constraint[name], ("Honor", "Ignore"))
        found += _label_keys(constraint, here) if merged else _unmerged_keys(constraint, f"{here}.matchLabelKeys")
        found += validation.label_selector(constraint.get("labelSelector"), f"{here}.labelSelector")
    return found


def validate_scheduling_gates(gates: list[Tree], path: str) -> list[FieldError]:
    """SchedulingGates: names, each of them once."""
    found: list[FieldError] = []
    taken: set[str] = set()
    for position, gate in enumerate(gates):
        name = gate.get("name", "")
        found += complaints(f"{path}[{position}]", name, names.qualified_name(name))
        if name in taken:
            found.append(field_errors.duplicate(f"{path}[{position}]", name))
        taken.add(name)
    return found


def validate_scheduling_group(group: Tree, path: str) -> list[FieldError]:
    """The group of pods that are scheduled together."""
    name = group.get("podGroupName")
    if name is None:
        return [field_errors.invalid(f"{path}.podGroupName", None, "must specify one of: `podGroupName`")]
    return complaints(f"{path}.podGroupName", name, names.dns1123_subdomain(name))


def _min_domains(number: int | None, action: str, path: str) -> list[FieldError]:
    if number is None:
        return []
    found: list[FieldError] = []
    if number <= 0:
        found.append(field_errors.invalid(path, number, "must be greater than zero"))
    if action != "DoNotSchedule":
        what = f"can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {action}"
        found.append(field_errors.invalid(path, number, what))
    return found
