"""PodSecurity: pods keep to the standard that their namespace's labels name.

Upstream: k8s.io/pod-security-admission/admission, plugin/pkg/admission/security/podsecurity. Left
out: exemptions and default levels, which come from a configuration file; audit annotations; the
limits on how many pods are looked at.
"""

from fakekube.admission.plugin import Plugin, is_resource
from fakekube.admission.pod_security_levels import LEVELS, Policy, Standard, policy_of
from fakekube.apimachinery import errors
from fakekube.apimachinery.gvk import GroupKind
from fakekube.apimachinery.types import Tree
from fakekube.registry.attributes import Attributes
from fakekube.registry.kind import Kind

POD_SUBRESOURCES = ("", "ephemeralcontainers", "resize")


class PodSecurity(Plugin):
    """Refuses pods that violate what is enforced, warns of others; checks the labels and warns when
    they tighten.
    """

    name = "PodSecurity"

    def handles(self, kind: Kind, operation: str, subresource: str) -> bool:
        """Pods, what makes pods, and namespaces, when written."""
        if operation not in ("CREATE", "UPDATE"):
            return False
        if is_resource(kind, "", "pods"):
            return subresource in POD_SUBRESOURCES
        return not subresource and (is_resource(kind, "", "namespaces") or bool(kind.pod_template))

    def validate(self, attrs: Attributes) -> None:
        """Look at what is written, as its kind has it."""
        obj = attrs.obj
        if obj is None:
            return
        if is_resource(attrs.kind, "", "namespaces"):
            _namespace(attrs, obj)
            return
        namespace = attrs.ctx.cluster.lookup("", "namespaces", "", attrs.namespace)
        if namespace is None:
            return
        policy, _wrong = policy_of(namespace["metadata"].get("labels") or {})
        if policy == Policy():
            return
        if is_resource(attrs.kind, "", "pods"):
            if attrs.old is None or _has_new_image(obj["spec"], attrs.old["spec"]):
                _pod(attrs, obj, policy)
        else:
            _template(attrs, obj, policy)


def _pod(attrs: Attributes, pod: Tree, policy: Policy) -> None:
    found = policy.enforce.objections(pod["metadata"], pod["spec"])
    if found:
        why = f'violates PodSecurity "{policy.enforce}": {_details(found)}'
        raise errors.forbidden(attrs.kind.group_resource, attrs.name, why)
    _warn(attrs, pod, policy.warn)


def _template(attrs: Attributes, obj: Tree, policy: Policy) -> None:
    template: Tree | None = obj
    for name in attrs.kind.pod_template:
        template = (template or {}).get(name)
    if template is not None and "spec" in template:
        _warn(attrs, template, policy.warn)


def _warn(attrs: Attributes, pod: Tree, standard: Standard) -> None:
    found = standard.objections(pod.get("metadata") or {}, pod["spec"])
    if found:
        attrs.ctx.warn(f'would violate PodSecurity "{standard}": {_details(found)}')


def _details(found: list[tuple[str, str]]) -> str:
    return ", ".join(f"{reason} ({detail})" for reason, detail in found)


def _has_new_image(spec: Tree, old: Tree) -> bool:
    """Whether an update brings containers or images that nobody has looked at."""
    for field in ("containers", "initContainers"):
        images, before = ([one.get("image") for one in tree.get(field) or ()] for tree in (spec, old))
        if images != before:
            return True
    known = [(one["name"], one.get("image")) for one in old.get("ephemeralContainers") or ()]
    return any((one["name"], one.get("image")) not in known for one in spec.get("ephemeralContainers") or ())


def _namespace(attrs: Attributes, obj: Tree) -> None:
    policy, wrong = policy_of(obj["metadata"].get("labels") or {})
    if attrs.old is None:
        if wrong:
            raise errors.invalid(GroupKind("", "Namespace"), attrs.name, wrong)
        return
    before, wrong_before = policy_of(attrs.old["metadata"].get("labels") or {})
    if wrong and wrong != wrong_before:
        raise errors.invalid(GroupKind("", "Namespace"), attrs.name, wrong)
    now, then = policy.enforce, before.enforce
    if now.level == "privileged" or now == then:
        return
    if now.version != then.version or LEVELS.index(now.level) > LEVELS.index(then.level):
        for text in _violations(attrs, now):
            attrs.ctx.warn(text)


def _violations(attrs: Attributes, standard: Standard) -> list[str]:
    """What pods that exist already have against the new standard: one text for each set of reasons.
    """
    names: dict[str, list[str]] = {}
    for pod in attrs.ctx.cluster.select("", "pods", attrs.name):
        found = standard.objections(pod["metadata"], pod["spec"])
        if found:
            names.setdefault(", ".join(reason for reason, _detail in found), []).append(pod["metadata"]["name"])
    if not names:
        return []
    texts = []
    for reasons, pods in names.items():
        others = len(pods) - 1
        more = f" (and {others} other pod{'' if others == 1 else 's'})" if others else ""
        texts.append(f"{min(pods)}{more}: {reasons}")
    head = f'existing pods in namespace "{attrs.name}" violate the new PodSecurity enforce level "{standard}"'
    return [head, *sorted(texts)]
