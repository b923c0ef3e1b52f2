"""What people write to make a control plane fail: which requests, and what goes wrong with them.

A rule is what ``Cluster.faults.add`` takes as keyword arguments, and an entry of the list
``faults`` in a plan. A plan is a file or a text in YAML or JSON, a mapping, or a list of rules.
Every rule does one thing, and only things that real control planes do. Upstream has no counterpart;
the nearest is Chaos Mesh's HTTPChaos, which knows no resources.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    WithJsonSchema,
    field_validator,
    model_validator,
)
from pydantic.alias_generators import to_camel

from fakekube.apimachinery.labels import parse as parse_selector
from fakekube.faults.globs import LONGEST, MOST_WILD_CHARACTERS, is_wild, wildness
from fakekube.util.durations import LONGEST_SECONDS, seconds_of

VERBS = ("get", "list", "watch", "create", "update", "patch", "delete", "deletecollection")
READING, WRITING = VERBS[:3], VERBS[3:]
GROUPS_OF_VERBS: Mapping[str, tuple[str, ...]] = {"*": VERBS, "read": READING, "write": WRITING}

ErrorName = Literal[
    "TooManyRequests", "InternalError", "ServiceUnavailable", "ShuttingDown", "Timeout", "ServerTimeout", "Conflict",
    "Unauthorized", "StorageInitializing", "EtcdTimeout", "EtcdLeaderChanged", "EtcdNoLeader", "EtcdNoSpace"]
VERBS_OF_ERRORS: Mapping[str, tuple[str, ...]] = {
    "Conflict": ("update", "patch", "delete"), "EtcdNoSpace": ("create", "update", "patch"), "StorageInitializing": READING}
"""Errors that not every verb can meet; etcd deletes while it has no space."""
ERRORS_OF_ANY_PATH = ("TooManyRequests", "ShuttingDown", "ServiceUnavailable", "Timeout", "InternalError", "Unauthorized")
"""Errors that need no object: a request for ``/version`` can meet them, too."""
AMBIGUOUS = ("InternalError", "ServiceUnavailable", "Timeout", "ServerTimeout", "EtcdTimeout", "EtcdLeaderChanged")
"""Errors that may be told of a write that was committed."""
WatchFault = Literal["end", "cut", "expire", "stall", "late", "no-bookmarks"]
MOST_RULES = 1_000
"""So many a plan has at most."""
MOST_PATTERNS = 1_000
"""So many values one field of a rule has at most."""
PATTERNS = ("namespaces", "names", "clusters", "users", "user_agents", "components", "paths")
"""The fields whose values are patterns."""
MOST_WILD = 100
"""So many patterns with stars and question marks a rule has at most: each is compiled."""
DOES = ("error", "latency", "cut", "watch", "stale", "compact", "lose_lease", "crash", "webhook")
"""What a rule does: one of these."""

LEASES = ("coordination.k8s.io", "leases")

TEXTS = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}
VERB_TEXTS = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"enum": [*VERBS, *GROUPS_OF_VERBS]}}]}
ONE_THING: dict[str, Any] = {"oneOf": [{"required": [to_camel(name)]} for name in DOES]}
"""For editors, which know of no validator."""


class FaultError(ValueError):
    """A plan or a rule that says something impossible; the text says what, in one sentence.

    ``place`` is where in a plan it stands: names of fields, and numbers in lists.
    """

    def __init__(self, text: str, place: Sequence[str | int] = ()) -> None:
        super().__init__(text)
        self.place = tuple(place)


def _texts(value: Any) -> Any:
    return tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value


def _numbers(value: Any) -> Any:
    return (value,) if isinstance(value, int) else value


def _seconds(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, str | float | int | timedelta | None):
        raise ValueError(f"{value!r} is no duration: say 1h30m, 90s or 500ms")
    seconds = None if value is None else seconds_of(value)
    if seconds is not None and seconds > LONGEST_SECONDS:
        raise ValueError("so long a time cannot be counted")
    return seconds


def _is_text(value: str) -> str:
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ValueError("half a character is no text") from None
    return value


Text = Annotated[str, AfterValidator(_is_text)]
Texts = Annotated[tuple[Text, ...], BeforeValidator(_texts), WithJsonSchema(TEXTS)]
Verbs = Annotated[tuple[Text, ...], BeforeValidator(_texts), WithJsonSchema(VERB_TEXTS)]
Seconds = Annotated[
    float, BeforeValidator(_seconds), WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "number", "minimum": 0}]})]
Numbers = Annotated[
    tuple[Annotated[int, Field(ge=1)], ...], BeforeValidator(_numbers),
    WithJsonSchema({"anyOf": [{"type": "integer", "minimum": 1}, {"type": "array", "items": {"type": "integer", "minimum": 1}}]})]


class Rule(BaseModel):
    """One fault: which requests, which of those, and what goes wrong."""

    model_config = ConfigDict(
        extra="forbid", alias_generator=to_camel, populate_by_name=True, frozen=True, json_schema_extra=ONE_THING)

    name: Annotated[Text, Field(description="Named in logs, histories and reports; unique.")] = ""

    verbs: Annotated[Verbs, Field(
        description="get, list, watch, create, update, patch, delete, deletecollection; read, write.")] = ()
    resources: Annotated[Texts, Field(description="jobs, jobs.batch, pods/status, pods/*, */*; without: everything.")] = ()
    namespaces: Annotated[Texts, Field(description="Names, * and ? in them stand for anything.")] = ()
    names: Annotated[Texts, Field(description="Names of objects, with * and ?.")] = ()
    labels: Annotated[Text, Field(description="A label selector on the object that is asked for or sent.")] = ""
    clusters: Annotated[Texts, Field(description="Members of a fleet in which it holds, with * and ?.")] = ()
    users: Annotated[Texts, Field(description="Names of users, with * and ?.")] = ()
    user_agents: Annotated[Texts, Field(description="User agents, with * and ?.")] = ()
    components: Annotated[Texts, Field(description="Components of the cluster that ask, as job or scheduler.")] = ()
    paths: Annotated[Texts, Field(
        description="Paths, with * and ?: /openapi/*. /healthz, /livez and /readyz meet only faults that name them.")] = ()

    nth: Annotated[Numbers, Field(description="Which of the matching requests, counted from 1.")] = ()
    every: Annotated[int | None, Field(ge=1, description="Every so many of the matching requests.")] = None
    probability: Annotated[float | None, Field(ge=0, le=1, description="How likely for each; drawn from the seed.")] = None
    times: Annotated[int | None, Field(ge=1, description="So often at most.")] = None
    after: Annotated[Seconds, Field(description="From so long after the rule was added.")] = 0.0
    until: Annotated[Seconds | None, Field(description="Until so long after the rule was added.")] = None

    error: Annotated[ErrorName | None, Field(description="The answer is this error.")] = None
    message: Annotated[Text, Field(description="What an InternalError says.")] = ""
    retry_after_seconds: Annotated[int | None, Field(ge=0, description="What Retry-After says.")] = None
    latency: Annotated[Seconds | None, Field(description="The request takes so much longer.")] = None
    cut: Annotated[Literal["before", "after", "body"] | None, Field(
        description="The connection breaks: before the commit, after it, or in the middle of the answer's body.")] = None
    watch: Annotated[WatchFault | None, Field(description="What goes wrong with a watch.")] = None
    stale: Annotated[bool, Field(
        description="Reads that take what a cache has (resourceVersion=0), and watches, are answered by a replica that"
        " stands where it was when the rule began.")] = False
    behind: Annotated[int | None, Field(
        ge=1, description="Of stale: the replica stands so many versions before the first read that it answers, and watches"
        " that are open are not its; lasting says for how long.")] = None
    compact: Annotated[bool, Field(description="Before the request, all past states are forgotten.")] = False
    lose_lease: Annotated[bool, Field(description="Before the request, somebody else takes the Lease that it writes.")] = False
    crash: Annotated[Text, Field(
        description="The component that dies, of another member of a fleet as manager/scheduler; it starts again at once.")] = ""
    webhook: Annotated[Literal["refused", "timeout", "error"] | None, Field(
        description="What goes wrong with calls of webhooks and converters, whose names are those in names.")] = None

    moment: Annotated[Literal["before", "after"], Field(
        description="Of error, latency and crash: before the commit or after it.")] = "before"
    events: Annotated[int, Field(ge=0, description="Of watch: so many events come first.")] = 0
    lasting: Annotated[Seconds | None, Field(
        description="Of watch stall and late: for how long; of those that end: so long it stands still first. Of behind.")] = None
    optional: Annotated[bool, Field(description="It is no failure of the test when no request meets it.")] = False

    @model_validator(mode="after")
    def _is_possible(self) -> "Rule":
        does = self.does
        if len(does) != 1:
            told = f", not {' and '.join(does)}" if does else ""
            raise ValueError(f"a rule does one thing: say one of {', '.join(DOES)}{told}")
        self._check_which()
        self._check_what(does[0])
        return self

    @field_validator("latency")
    @classmethod
    def _takes_time(cls, value: float | None) -> float | None:
        if value == 0:
            raise ValueError("it takes no time")
        return value

    def _check_which(self) -> None:
        for verb in self.verbs:
            if verb not in VERBS and verb not in GROUPS_OF_VERBS:
                raise ValueError(f"verbs: {verb!r} is no verb: known are {', '.join(VERBS)}, read and write")
        if self.labels:
            try:
                parse_selector(self.labels)
            except ValueError as error:
                raise ValueError(f"labels: {error}") from None
        chosen = [name for name in ("nth", "every", "probability") if getattr(self, name) not in (None, ())]
        if len(chosen) > 1:
            raise ValueError(f"{' and '.join(chosen)} contradict each other: say one of them")
        wild = sum(is_wild(pattern) for name in PATTERNS for pattern in getattr(self, name))
        if wild > MOST_WILD:
            raise ValueError(f"{wild:,} patterns with * and ? are more than the {MOST_WILD} that a rule takes")
        for name in (*PATTERNS, "resources"):
            values = getattr(self, name)
            if len(values) > MOST_PATTERNS:
                raise ValueError(f"{name}: {len(values):,} are more than the {MOST_PATTERNS:,} that a rule takes")
            if any(len(pattern) > LONGEST for pattern in values):
                raise ValueError(f"{name}: one has more than {LONGEST} characters")
            if any(wildness(pattern) > MOST_WILD_CHARACTERS for pattern in values):
                raise ValueError(f"{name}: one has more than {MOST_WILD_CHARACTERS} of * and ?")
        for path in self.paths:
            if not path.startswith(("/", "*", "?")):
                raise ValueError(f"paths: {path!r} is no path: it begins with /")
        if self.until is not None and self.until <= self.after:
            raise ValueError(f"until ({self.until:g} s) is not later than after ({self.after:g} s): no request could meet it")

    def _check_what(self, does: str) -> None:
        verbs = self.all_verbs
        if does == "watch" and "watch" not in verbs:
            raise ValueError("a fault of watches meets no request whose verb is another: leave verbs out, or say watch")
        if does == "stale" and not verbs:
            raise ValueError("a stale answer is one to get, list or watch: verbs has none of them")
        if does == "lose_lease" and not verbs:
            raise ValueError("a Lease is lost with an update or a patch of it: verbs has neither")
        if not verbs:
            possible = ", ".join(VERBS_OF_ERRORS[str(self.error)])
            raise ValueError(f"{self.error} is an answer to {possible}: verbs has none of them")
        if self.moment == "after" and does not in ("error", "latency", "crash"):
            raise ValueError(f"moment is of error, latency and crash, not of {does}")
        if self.moment == "after" and self.error is not None and self.error not in AMBIGUOUS:
            possible = ", ".join(AMBIGUOUS)
            raise ValueError(f"no control plane answers {self.error} to what it has committed: {possible} are possible")
        if self.message and self.error != "InternalError":
            raise ValueError("message is what an InternalError says")
        if self.retry_after_seconds is not None and self.error is None:
            raise ValueError("retryAfterSeconds is of an error")
        if self.lasting is not None and self.watch in (None, "no-bookmarks") and self.behind is None:
            raise ValueError("lasting is of watch, but not of watch: no-bookmarks, and of behind")
        if self.behind is not None and not self.stale:
            raise ValueError("behind is of stale")
        if self.watch == "late" and self.lasting is None:
            raise ValueError("watch: late needs lasting, how late each event comes")
        if self.events and self.watch is None:
            raise ValueError("events is of watch")

    @property
    def does(self) -> list[str]:
        """What it does, of DOES."""
        return [name for name in DOES if getattr(self, name) not in (None, False, "")]

    @property
    def all_verbs(self) -> tuple[str, ...]:
        """The verbs that it matches, in full: of those that it says, what its fault can happen to.
        """
        said = tuple(dict.fromkeys(one for verb in self.verbs for one in GROUPS_OF_VERBS.get(verb, (verb,)))) or VERBS
        return tuple(verb for verb in said if verb in self._possible_verbs)

    @property
    def _possible_verbs(self) -> tuple[str, ...]:
        if self.watch is not None:
            return ("watch",)
        if self.stale:
            return READING
        return ("update", "patch") if self.lose_lease else VERBS_OF_ERRORS.get(self.error or "", VERBS)

    @property
    def is_about_any_path(self) -> bool:
        """Whether it can happen to a request that names no resource, as one to ``/version``."""
        if self.error is not None:
            return self.error in ERRORS_OF_ANY_PATH
        return self.latency is not None or self.cut is not None

    @property
    def what(self) -> str:
        """What goes wrong, in a few words."""
        does = self.does[0]
        value = getattr(self, does)
        if does in ("error", "watch", "crash", "webhook"):
            text = f"{does} {value}"
        elif does == "latency":
            text = f"latency {value:g} s"
        else:
            text = f"cut {value}" if does == "cut" else does.replace("_", " ")
        return f"{text} after the commit" if self.moment == "after" else text


class Plan(BaseModel):
    """A file of faults."""

    model_config = ConfigDict(extra="forbid", alias_generator=to_camel, frozen=True)

    api_version: Literal["fakekube.dev/v1"] = "fakekube.dev/v1"
    kind: Literal["FaultPlan"] = "FaultPlan"
    faults: tuple[Rule, ...] = ()


def rule_of(values: Mapping[str, Any]) -> Rule:
    """A rule from what somebody wrote. Raises FaultError."""
    try:
        return Rule.model_validate(dict(values))
    except ValidationError as error:
        raise FaultError(_sentence(error, Rule), error.errors()[0]["loc"]) from None


def rules_of(content: Any) -> list[Rule]:
    """The rules of a plan, read: a mapping with ``faults``, a list of rules, or one rule.

    Raises FaultError, also for two rules of one name.
    """
    return list(rules_in(content))


def rules_in(content: Any) -> Iterator[Rule]:
    """The same, each read when it is asked for: many take as long as much else does."""
    is_plan = isinstance(content, Mapping) and not {"faults", "kind", "apiVersion"}.isdisjoint(content)
    if isinstance(content, Mapping) and not is_plan:
        yield rule_of(content)
        return
    listed = _planned(content) if is_plan else _listed(content)
    if len(listed) > MOST_RULES:
        raise FaultError(f"faults: {len(listed):,} are more than the {MOST_RULES:,} that a plan takes")
    place: tuple[str, ...] = ("faults",) if is_plan else ()
    seen: dict[str, None] = {}
    for number, one in enumerate(listed):
        rule = _numbered(number, one, place)
        if rule.name in seen:
            raise FaultError(f"faults: two are called {rule.name!r}", (*place, number))
        if rule.name:
            seen[rule.name] = None
        yield rule


def _planned(plan: Mapping[str, Any]) -> Sequence[Any]:
    """What stands in the list of a plan."""
    listed = plan.get("faults", ())
    is_list = isinstance(listed, list | tuple)
    try:
        Plan.model_validate({**plan, "faults": ()} if is_list else dict(plan))
    except ValidationError as error:
        raise FaultError(_sentence(error, Plan), error.errors()[0]["loc"]) from None
    return listed if is_list else ()


def _listed(content: Any) -> Sequence[Any]:
    if content is None:
        return ()
    if isinstance(content, Rule):
        return (content,)
    if isinstance(content, list | tuple):
        return content
    raise FaultError(f"faults: {type(content).__name__} is no plan: say a mapping with faults, or a list of rules")


def _numbered(number: int, content: Any, place: tuple[str, ...]) -> Rule:
    if isinstance(content, Rule):
        return content
    if not isinstance(content, Mapping):
        raise FaultError(f"faults.{number}: {content!r} is no rule", (*place, number))
    try:
        return rule_of(content)
    except FaultError as error:
        raise FaultError(f"faults.{number}{'.' if error.place else ': '}{error}", (*place, number, *error.place)) from None


def _sentence(error: ValidationError, model: type[BaseModel]) -> str:
    """The first of what is wrong, as ``place: what``."""
    from difflib import get_close_matches

    first = error.errors(include_url=False)[0]
    loc = [str(part) for part in first["loc"]]
    place = ".".join(part for part in loc if not part.startswith(("function-", "constrained-", "str", "tuple")))
    if first["type"] == "extra_forbidden":
        known = [str(field.alias) for field in (Rule if loc[0] == "faults" else model).model_fields.values()]
        near = get_close_matches(loc[-1], known, n=1)
        told = f"did you mean {near[0]}?" if near else f"known are {', '.join(known)}"
        return f"{place}: there is no such field: {told}"
    text = first["msg"].removeprefix("Value error, ")
    return f"{place}: {text[:1].lower()}{text[1:]}" if place else text


def json_schema() -> dict[str, Any]:
    """The JSON schema of a plan, for editors."""
    return Plan.model_json_schema(by_alias=True)
