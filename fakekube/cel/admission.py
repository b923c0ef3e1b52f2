"""What expressions of admission see: match conditions of webhooks, and admission policies.

An expression is compiled against the variables ``object``, ``oldObject``, ``request``,
``namespaceObject`` and, as asked for, ``params``, ``authorizer`` and ``variables``. What is written
anew may use less than what is stored, see ``library.kubernetes``. Upstream:
apiserver/pkg/admission/plugin/cel/compile.go.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from fakekube.cel import types
from fakekube.cel.environment import Environment, Program
from fakekube.cel.errors import CompileError, ProgramError
from fakekube.cel.library import authorizer, jsonpatch, kubernetes
from fakekube.cel.types import Field, Type
from fakekube.util.memory import memoized

CALL_COST_LIMIT = 1_000_000
"""So much may one expression cost."""
COST_BUDGET = 10_000_000
"""So much may all expressions of one policy and binding cost together."""
CONDITIONS_COST_BUDGET = COST_BUDGET // 4

OBJECT = "Object"
PATCH_RESULTS = {"ApplyConfiguration": types.object_type(OBJECT, {}), "JSONPatch": types.list_of(jsonpatch.JSON_PATCH_TYPE)}
"""What the expression of a mutation gives, by its patchType."""
_STRINGS, _LABELS = types.list_of(types.STRING), types.map_of(types.STRING, types.STRING)


def _texts(*names: str) -> dict[str, Type | Field]:
    return dict.fromkeys(names, types.STRING)


_KIND = types.object_type("kubernetes.GroupVersionKind", _texts("group", "version", "kind"))
_RESOURCE = types.object_type("kubernetes.GroupVersionResource", _texts("group", "version", "resource"))
_USER = types.object_type("kubernetes.UserInfo", {
    **_texts("username", "uid"), "groups": _STRINGS, "extra": types.map_of(types.STRING, _STRINGS)})
REQUEST = types.object_type("kubernetes.AdmissionRequest", {
    "kind": _KIND, "resource": _RESOURCE, "subResource": types.STRING, "requestKind": _KIND, "requestResource": _RESOURCE,
    "requestSubResource": types.STRING, "name": types.STRING, "namespace": types.STRING, "operation": types.STRING,
    "userInfo": _USER, "dryRun": types.BOOL, "options": types.DYN})
_NAMESPACE_METADATA = types.object_type("kubernetes.NamespaceMetadata", {
    **_texts("name", "generateName", "namespace", "UID", "resourceVersion"), "labels": _LABELS, "annotations": _LABELS,
    "creationTimestamp": types.TIMESTAMP, "deletionTimestamp": types.TIMESTAMP, "deletionGracePeriodSeconds": types.INT,
    "generation": types.INT, "finalizers": _STRINGS})
_CONDITION = types.object_type("kubernetes.NamespaceCondition", {
    **_texts("status", "type", "message", "reason"), "lastTransitionTime": types.TIMESTAMP})
NAMESPACE = types.object_type("kubernetes.Namespace", {
    "metadata": _NAMESPACE_METADATA, "spec": types.object_type("kubernetes.NamespaceSpec", {"finalizers": _STRINGS}),
    "status": types.object_type("kubernetes.NamespaceStatus", {"conditions": types.list_of(_CONDITION), "phase": types.STRING})})
_NAMED_TYPES: Mapping[str, Type] = {
    each.name: each for each in (_KIND, _RESOURCE, _USER, REQUEST, _NAMESPACE_METADATA, _CONDITION, NAMESPACE)}


class Seen(NamedTuple):
    """Which variables there are besides those that are always there.

    ``resource_check`` says that ``authorizer`` comes with ``authorizer.requestResource``.
    """

    params: bool = False
    authorizer: bool = True
    resource_check: bool = True


class _AnyField(dict[str, Field]):
    """The fields of an object of which nothing is known: every name is one."""

    def get(self, name: str, default: object = None) -> Any:
        """The field."""
        return Field(types.DYN, name)

    def __contains__(self, name: object) -> bool:
        return True

    def __missing__(self, name: str) -> Field:
        return Field(types.DYN, name)


class _PatchFields(dict[str, Field]):
    """The fields of a JSONPatch: every other name is one of no type that could be given."""

    def get(self, name: str, default: object = None) -> Any:
        """The field."""
        return super().get(name) or Field(types.opaque(""), name)


class _PatchTypes(dict[str, Type]):
    """Named types, and those of ``Object{}`` at every place: ``Object.spec.template``.

    Upstream: apiserver/pkg/cel/mutation.
    """

    def get(self, name: str, default: Any = None) -> Any:
        """The type of a name."""
        if name == OBJECT or name.startswith(f"{OBJECT}."):
            return types.ObjectType(types.Kind.STRUCT, name, fields=_AnyField())
        return super().get(name, default)


class Composition:
    """What the expressions of one policy are compiled with: its variables so far among it.

    ``stored`` says whether an expression was there before, so that it may use all that the release
    knows. ``composes`` says that there are variables.
    """

    def __init__(self, minor: int, *, params: bool, composes: bool) -> None:
        self._minor, self._params, self._composes = minor, params, composes
        self._fields: dict[str, Field] = {}

    def within(self, *, stored: bool, authorized: bool = True, patches: bool = False) -> Environment:
        """The environment, at this place in the policy."""
        found = environment(self._minor, Seen(self._params, authorized), stored=stored)
        if self._composes:
            found = with_variables(found, self._fields)
        if patches:
            found = _with_patches(found)
        return found

    def add(self, name: str, of: Type) -> None:
        """Let a variable be used from now on."""
        self._fields = {**self._fields, name: Field(of, name)}


def with_variables(found: Environment, fields: Mapping[str, Field]) -> Environment:
    """The environment with a policy's variables, by name."""
    composed = types.ObjectType(types.Kind.STRUCT, "kubernetes.variables", fields=fields)
    return found.extended({"variables": composed}, {composed.name: composed})


def _with_patches(found: Environment) -> Environment:
    fields = _PatchFields(jsonpatch.JSON_PATCH_TYPE.fields)
    patch = types.ObjectType(types.Kind.STRUCT, jsonpatch.JSON_PATCH_TYPE.name, fields=fields)
    extended = found.extended({}, {patch.name: patch})
    declarations = extended.declarations
    functions = dict(declarations.functions)
    declarations.functions = functions
    declarations.add_functions(jsonpatch.library().functions)
    declarations.named_types = _PatchTypes(declarations.named_types)
    return extended


class Refused(Exception):
    """An expression that cannot be used; the text is upstream's.

    ``internal`` says that upstream calls it an error of its own.
    """

    internal = False


@memoized(64)
def environment(minor: int, seen: Seen, *, stored: bool) -> Environment:
    """The environment of a release, by its minor number: 37 of ``1.37``."""
    return kubernetes.environment(minor, stored=stored).extended(variables(seen), _NAMED_TYPES)


def variables(seen: Seen) -> dict[str, Type]:
    """The variables and their types."""
    declared: dict[str, Type] = {"object": types.DYN, "oldObject": types.DYN, "namespaceObject": NAMESPACE, "request": REQUEST}
    if seen.params:
        declared["params"] = types.DYN
    if seen.authorizer:
        declared["authorizer"] = authorizer.AUTHORIZER_TYPE
        if seen.resource_check:
            declared["authorizer.requestResource"] = authorizer.RESOURCE_CHECK_TYPE
    return declared


def compiled(within: Environment, text: str, results: Sequence[Type] = (types.ANY,)) -> Program:
    """The program of an expression whose value has one of these types.

    Raises Refused.
    """
    try:
        program = within.compile(text)
    except CompileError as error:
        raise Refused(f"compilation failed: {error}") from None
    except ProgramError as error:
        refused = Refused(f"program instantiation failed: {error}")
        refused.internal = True
        raise refused from None
    if types.ANY not in results and program.type not in results:
        shown = [_shown(each) for each in results]
        told = shown[0] if len(shown) == 1 else f"one of [{' '.join(shown)}]"
        raise Refused(f"must evaluate to {told} but got {_shown(program.type)}")
    return program


def _shown(of: Type) -> str:
    """The type as Go prints it: by its name at run time."""
    return f"{of.name}({', '.join(map(_shown, of.parameters))})" if of.parameters else of.name
