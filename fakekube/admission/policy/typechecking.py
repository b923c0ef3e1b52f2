"""Whether the expressions of a ValidatingAdmissionPolicy fit the kinds that it matches.

What is found is a warning in the policy's status, and refuses nothing. Only ``spec.validations`` is
looked at, and only rules without wildcards, as upstream does it. Upstream gives a type another
number at each check, ``Pod260725155``; here it is always 0, so that one policy gets one status.
Upstream: apiserver/pkg/admission/plugin/policy/validating/typechecking.go.
"""

from collections.abc import Iterator, Sequence

from fakekube.apimachinery.gvk import GroupVersionKind
from fakekube.apimachinery.types import Tree
from fakekube.cel import admission, types
from fakekube.cel.decltypes import DeclType, of_schema
from fakekube.cel.environment import Environment
from fakekube.cel.errors import CompileError, ProgramError
from fakekube.cel.types import Field
from fakekube.registry.resources import ResourceRegistry
from fakekube.schema.definitions import Definitions

MAX_TYPES = 10


class TypeChecker:
    """Checks policies against what a server serves at the moment.

    ``minor`` is that of the release: 37 of ``1.37``.
    """

    def __init__(self, resources: ResourceRegistry, definitions: Definitions, minor: int) -> None:
        self._resources, self._definitions, self._minor = resources, definitions, minor

    def warnings(self, policy: Tree) -> list[Tree]:
        """The ``expressionWarnings`` for the status of a policy."""
        spec = policy["spec"]
        environments = list(self._environments(spec))
        found: list[Tree] = []
        for index, validation in enumerate(spec.get("validations") or ()):
            for name in ("expression", "messageExpression"):
                text = validation.get(name)
                problems = [(gvk, _problem(within, text)) for gvk, within in environments] if text else []
                told = [f"{gvk}: {problem}\n" for gvk, problem in problems if problem]
                if told:
                    found.append({"fieldRef": f"spec.validations[{index}].{name}", "warning": "\n".join(told)})
        return found

    def _environments(self, spec: Tree) -> Iterator[tuple[GroupVersionKind, Environment]]:
        """What expressions may use, for each kind that the policy matches."""
        parameters = spec.get("paramKind")
        seen = admission.Seen(parameters is not None, resource_check=False)
        within = admission.environment(self._minor, seen, stored=True)
        if parameters is not None:
            group, _, version = parameters.get("apiVersion", "").rpartition("/")
            within = within.extended(
                {"params": self._declared(GroupVersionKind(group, version, parameters.get("kind", ""))) or types.DYN})
        for gvk in self._matched(spec):
            declared = self._declared(gvk)
            if declared is not None:
                own = within.extended({"object": declared, "oldObject": declared})
                yield gvk, _with_variables(own, spec.get("variables") or ())

    def _declared(self, gvk: GroupVersionKind) -> DeclType | None:
        schema = self._definitions.schema(gvk)
        return None if schema is None else of_schema(schema, f"{gvk.kind}0", root=True)

    def _matched(self, spec: Tree) -> list[GroupVersionKind]:
        """The kinds that the rules name, sorted; no more of them once a rule has named ten."""
        found: dict[GroupVersionKind, None] = {}
        for rule in (spec.get("matchConstraints") or {}).get("resourceRules") or ():
            kinds = list(self._of_rule(rule))
            found |= dict.fromkeys(kinds[:MAX_TYPES])
            if len(kinds) >= MAX_TYPES:
                break
        return sorted(found)

    def _of_rule(self, rule: Tree) -> Iterator[GroupVersionKind]:
        groups, versions = (sorted(rule.get(name) or ()) for name in ("apiGroups", "apiVersions"))
        if any("*" in text for text in (*groups, *versions)):
            return
        resources = sorted(name for name in rule.get("resources") or () if "*" not in name and "/" not in name)
        for group in groups:
            for version in versions:
                for resource in resources:
                    yield from self._named(group, version, resource.lower())

    def _named(self, group: str, version: str, resource: str) -> Iterator[GroupVersionKind]:
        """The kinds of that name, plural or singular: in any group where none is given, as clients'
        mappers of resources read it.
        """
        for kind in self._resources.kinds:
            if kind.version == version and group in ("", kind.group) and resource in (kind.plural, kind.singular):
                yield kind.gvk


def _with_variables(within: Environment, variables: Sequence[Tree]) -> Environment:
    """The environment with a policy's variables; one that does not compile may be anything."""
    fields: dict[str, Field] = {}
    for each in variables:
        name = each.get("name", "")
        try:
            of = admission.with_variables(within, fields).compile(each.get("expression", "")).type
        except (CompileError, ProgramError):
            of = types.DYN
        fields = {**fields, name: Field(of, name)}
    return admission.with_variables(within, fields)


def _problem(within: Environment, text: str) -> str:
    """What the check of the types says; empty when nothing."""
    try:
        within.compile(text)
    except CompileError as error:
        return str(error)
    except ProgramError:  # the types fit
        return ""
    return ""
