"""What expressions learn about what somebody may do."""

from dataclasses import dataclass, field

import pytest

from fakekube.cel import errors
from fakekube.cel.library import authorizer, kubernetes

ENVIRONMENT = kubernetes.environment(37).extended({
    "authorizer": authorizer.AUTHORIZER_TYPE, "mine": authorizer.RESOURCE_CHECK_TYPE,
})


@dataclass
class Port:
    """Lets ``admin`` do everything, others read; remembers what was asked."""

    user: str = "admin"
    asked: list[tuple[str, authorizer.Attributes]] = field(default_factory=list)

    def decide(self, attributes: authorizer.Attributes) -> authorizer.Decision:
        """Whether it is allowed."""
        self.asked.append((self.user, attributes))
        if attributes.verb == "explode":
            return authorizer.Decision(allowed=False, reason="", error="it exploded")
        return authorizer.Decision(allowed=self.user == "admin" or attributes.verb == "get", reason=f"{self.user} asked")

    def service_account(self, namespace: str, name: str) -> "Port":
        """The same for a service account."""
        return Port(f"{namespace}/{name}", self.asked)


def evaluate(text: str) -> tuple[object, list[tuple[str, authorizer.Attributes]], int]:
    """The value, what was asked, and the cost."""
    port = Port()
    mine = authorizer.resource_check(port, group="apps", resource="deployments", subresource="", namespace="ns", name="web")
    value, cost = ENVIRONMENT.compile(text).run({"authorizer": authorizer.Authorizer(port), "mine": mine})
    return value, port.asked, cost


@pytest.mark.parametrize(("text", "value", "user", "asked"), [
    ("authorizer.path('/healthz').check('get').allowed()", True, "admin", authorizer.Attributes("get", path="/healthz")),
    (
        "authorizer.group('apps').resource('deployments').subresource('scale').namespace('ns').name('web').check('update').allowed()",
        True, "admin", authorizer.Attributes(
            "update", group="apps", resource="deployments", subresource="scale", namespace="ns", name="web"),
    ),
    (
        "authorizer.group('').resource('pods').fieldSelector('spec.nodeName=n').labelSelector('a=b').check('list').reason()",
        "admin asked", "admin", authorizer.Attributes(
            "list", resource="pods", field_selector="spec.nodeName=n", label_selector="a=b"),
    ),
    (
        "authorizer.serviceAccount('ns', 'sa').group('').resource('pods').check('create').allowed()", False, "ns/sa",
        authorizer.Attributes("create", resource="pods"),
    ),
    (
        "mine.check('explode').errored() && mine.check('explode').error() == 'it exploded'", True, "admin",
        authorizer.Attributes("explode", group="apps", resource="deployments", namespace="ns", name="web"),
    ),
    ("mine.check('get').errored()", False, "admin", authorizer.Attributes(
        "get", group="apps", resource="deployments", namespace="ns", name="web")),
])
def test_the_port_is_asked(text: str, value: object, user: str, asked: authorizer.Attributes) -> None:
    """given a port, when an expression checks, then it is asked for just that, and says so"""
    found, questions, cost = evaluate(text)
    assert (found, questions[-1]) == (value, (user, asked))
    assert cost > authorizer.CHECK_COST * len(questions)


@pytest.mark.parametrize(("text", "said"), [
    ("authorizer.path(' ')", "path must not be empty"),
    ("authorizer.group('').resource('')", "resource must not be empty"),
    ("authorizer.serviceAccount('ns', 'S A')", "Invalid service account name"),
    ("authorizer.serviceAccount('n.s', 'sa')", "Invalid service account namespace"),
    ("authorizer == authorizer", "no such overload"),
])
def test_what_cannot_be_checked_is_an_error(text: str, said: str) -> None:
    """given a check of nothing, when it is made, then upstream's words say so"""
    with pytest.raises(errors.EvaluationError) as wrong:
        evaluate(text)
    assert str(wrong.value) == said


@pytest.mark.parametrize("text", ["authorizer.check('get')", "authorizer.group('').check('get')", "mine.allowed()", "mine.verb"])
def test_steps_come_in_order(text: str) -> None:
    """given a check without its parts, when it is compiled, then it is refused"""
    with pytest.raises(errors.CompileError):
        ENVIRONMENT.compile(text)


def test_an_expression_can_afford_two_checks() -> None:
    """given three checks, when their cost is estimated, then it is more than policies spend"""
    check = "authorizer.group('').resource('pods').check('get').allowed()"
    assert ENVIRONMENT.compile(f"{check} && {check}").estimate().max < 1_000_000
    assert ENVIRONMENT.compile(f"{check} && {check} && {check}").estimate().max > 1_000_000
