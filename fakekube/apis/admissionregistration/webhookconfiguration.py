"""ValidatingWebhookConfiguration and MutatingWebhookConfiguration: whom to ask about a write.

Upstream: pkg/apis/admissionregistration/v1/defaults.go, validation.
"""

from fakekube.apimachinery import names
from fakekube.apimachinery.field_errors import FieldError, child, duplicate, index, invalid, repetitions, required
from fakekube.apimachinery.types import Tree
from fakekube.apimachinery.validation import label_selector, one_of
from fakekube.apis.admissionregistration.expressions import Expressions, before_of
from fakekube.apis.admissionregistration.rules import (
    FAILURE_POLICIES,
    MATCH_POLICIES,
    REINVOCATION_POLICIES,
    client_errors,
    condition_errors,
    default_match,
    rule_errors,
)
from fakekube.apis.checks import fully_qualified_name
from fakekube.registry.strategy import Strategy, WriteContext

SIDE_EFFECTS, REVIEW_VERSIONS = ("None", "NoneOnDryRun"), ("v1", "v1beta1")


class WebhookConfigurationStrategy(Strategy):
    """What is particular to both kinds of configuration."""

    empties_count = True

    def __init__(self, *, mutating: bool) -> None:
        self.mutating = mutating

    def default(self, obj: Tree, ctx: WriteContext) -> None:
        """Refuse when in doubt, ask about equivalent versions, wait ten seconds."""
        for hook in obj.get("webhooks") or ():
            hook.setdefault("failurePolicy", "Fail")
            hook.setdefault("timeoutSeconds", 10)
            default_match(hook)
            if self.mutating:
                hook.setdefault("reinvocationPolicy", "Never")
            service = (hook.get("clientConfig") or {}).get("service")
            if service is not None:
                service.setdefault("port", 443)

    def validate(self, obj: Tree, ctx: WriteContext) -> list[FieldError]:
        """Every webhook, by names of their own."""
        return self._errors(obj, None, ctx)

    def validate_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> list[FieldError]:
        """The same; expressions that were there may stay."""
        return self._errors(obj, old, ctx)

    def _errors(self, obj: Tree, old: Tree | None, ctx: WriteContext) -> list[FieldError]:
        found: list[FieldError] = []
        seen: set[str] = set()
        for number, hook in enumerate(obj.get("webhooks") or ()):
            path, name = index("webhooks", number), hook.get("name", "")
            found += self._hook(path, hook, old, ctx)
            found += _versions(child(path, "admissionReviewVersions"), hook.get("admissionReviewVersions") or [])
            if name and name in seen:
                found.append(duplicate(child(path, "name"), name))
            seen.add(name)
        return found

    def _hook(self, path: str, hook: Tree, old: Tree | None, ctx: WriteContext) -> list[FieldError]:
        found = fully_qualified_name(child(path, "name"), hook.get("name", ""))
        for number, rule in enumerate(hook.get("rules") or ()):
            found += rule_errors(index(child(path, "rules"), number), rule)
        found += one_of(child(path, "failurePolicy"), hook["failurePolicy"], FAILURE_POLICIES)
        found += one_of(child(path, "matchPolicy"), hook["matchPolicy"], MATCH_POLICIES)
        if hook.get("sideEffects") is not None:
            found += one_of(child(path, "sideEffects"), hook["sideEffects"], SIDE_EFFECTS)
        else:
            found.append(required(child(path, "sideEffects"), "must specify one of None, NoneOnDryRun"))
        seconds = hook["timeoutSeconds"]
        if not 1 <= seconds <= 30:
            text = "the timeout value must be between 1 and 30 seconds"
            found.append(invalid(child(path, "timeoutSeconds"), seconds, text))
        for name in ("namespaceSelector", "objectSelector"):
            found += label_selector(hook.get(name), child(path, name))
        if self.mutating:
            found += one_of(child(path, "reinvocationPolicy"), hook["reinvocationPolicy"], REINVOCATION_POLICIES)
        found += client_errors(child(path, "clientConfig"), hook.get("clientConfig") or {})
        conditions = hook.get("matchConditions") or []
        if not conditions or conditions in [each.get("matchConditions") for each in (old or {}).get("webhooks") or ()]:
            return found
        expressions = Expressions(ctx.minor, before=before_of(old))
        return found + condition_errors(child(path, "matchConditions"), conditions, expressions)


def _versions(path: str, versions: list[str]) -> list[FieldError]:
    if not versions:
        return [required(path, "must specify one of v1, v1beta1")]
    found: list[FieldError] = []
    repeated = repetitions(versions)
    for number, version in enumerate(versions):
        if number in repeated:
            found.append(invalid(index(path, number), version, "duplicate version"))
            continue
        found += [invalid(index(path, number), version, text) for text in names.dns1035_label(version)]
    if not any(version in REVIEW_VERSIONS for version in versions):
        found.append(invalid(path, versions, "must include at least one of v1, v1beta1"))
    return found
