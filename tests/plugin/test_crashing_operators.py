"""Operators outside of the cluster that are declared: they start with it, die, and start again."""

import sys
import threading
from pathlib import Path
from typing import Any

import httpx
import kopf
import pytest
import yaml
from click.testing import CliRunner
from kubernetes import client, watch

from fakekube import Cluster
from fakekube.cli.main import cli
from fakekube.client.resources import CONFIG_MAPS, SECRETS
from fakekube.composition.options import OptionError
from fakekube.exploration.crashes import crash_points
from fakekube.faults.rules import FaultError
from fakekube.testing.background import BackgroundCluster
from fakekube.testing.operatorruns import OperatorDied
from fakekube.testing.operators import command_operator, kopf_operator, operator_kubeconfig, thread_operator
from fakekube.util.driver import Stalled
from tests.plugin.crashing import COMMAND, OPERATORS, SELECTOR, connected, run

EACH = [pytest.param(name, marks=pytest.mark.fakekube(extra=[one], grace="600ms")) for name, one in OPERATORS.items()]


def make(core: client.CoreV1Api, name: str) -> None:
    core.create_namespaced_config_map("default", {"metadata": {"name": name, "labels": SELECTOR}})


def secrets(core: client.CoreV1Api) -> list[str]:
    return [found.metadata.name for found in core.list_namespaced_secret("default").items]


def asked(server: BackgroundCluster, *verbs: str) -> list[tuple[str, str, int]]:
    """What the operator asked for, and what it was answered."""
    entries = server.run(lambda cluster: list(cluster.apiserver.log))
    return [(entry.verb, entry.resource, entry.code) for entry in entries if entry.user == "shop" and entry.verb in verbs]


@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("name", EACH)
def test_it_dies_of_its_first_write(fakekube_server: BackgroundCluster, name: str, moment: str) -> None:
    """Given an operator that dies before or after its first write is committed, when it has work to
    do, then that write is there or is not at that moment, it starts again with empty caches and
    does it again, and no virtual time passes meanwhile.
    """
    core, began = connected(fakekube_server.kubeconfig), fakekube_server.clock.time()
    watched = len(asked(fakekube_server, "watch"))
    with fakekube_server.faults.add(crash="shop", users="shop", verbs="create", resources="secrets", nth=1, moment=moment):
        make(core, "web")
        fakekube_server.settle()
    first = 503 if moment == "before" else 201
    again = 201 if moment == "before" else 409
    assert asked(fakekube_server, "create") == [("create", "secrets", first), ("create", "secrets", again)]
    assert len(asked(fakekube_server, "watch")) >= 2 * watched
    assert secrets(core) == ["web"]
    assert fakekube_server.clock.time() == began


@pytest.mark.parametrize("name", EACH)
def test_it_is_stopped_started_and_restarted_by_its_name(fakekube_server: BackgroundCluster, name: str) -> None:
    """Given an operator, when it is stopped, then it does nothing; when it is started, it does what
    was left; it is restarted at any moment; and a reset lets it begin anew.
    """
    core = connected(fakekube_server.kubeconfig)
    fakekube_server.stop_controller("shop")
    make(core, "a")
    fakekube_server.settle()
    assert secrets(core) == []
    fakekube_server.start_controller("shop")
    fakekube_server.settle()
    assert secrets(core) == ["a"]
    fakekube_server.restart_controller("shop")
    make(core, "b")
    fakekube_server.settle()
    assert secrets(core) == ["a", "b"]
    fakekube_server.reset()
    assert secrets(core) == []
    make(core, "c")
    fakekube_server.settle()
    assert secrets(core) == ["c"]


async def test_crash_points_of_a_function() -> None:
    """Given an operator in a thread, when every crash point of it is played on clusters in the
    test's own loop, then there is one for its write, and it ends as the calm run does.
    """
    async def play(cluster: Cluster) -> list[str]:
        await cluster.client.create(CONFIG_MAPS, {"metadata": {"name": "web", "labels": SELECTOR}}, "default")
        await cluster.settle()
        return [found["metadata"]["name"] for found in (await cluster.client.list(SECRETS, "default")).items]

    ended = await crash_points(play, "shop", extra=[OPERATORS["thread"]], nodes=0, controllers="", grace="600ms")
    assert ended.calm == ["web"]
    assert [(point.where, point.end) for point in ended.points] == [
        ("shop dies after its write 1 is committed (create secrets)", ["web"])]


@pytest.mark.fakekube(clock="manual", grace="600ms", extra=[
    command_operator("shop", ["sh", "-c", f"sleep 1; exec {' '.join(COMMAND)}"])])
def test_virtual_time_waits_while_it_starts(fakekube_server: BackgroundCluster) -> None:
    """Given an operator that starts for longer than others may be silent, when it dies in the
    middle of an hour that is to pass, then all that it does is done at the instant it was told.
    """
    core, began = connected(fakekube_server.kubeconfig), fakekube_server.clock.time()
    with fakekube_server.faults.add(crash="shop", users="shop", verbs="create", nth=1):
        make(core, "web")
        fakekube_server.advance("1h")
    entries = fakekube_server.run(lambda cluster: list(cluster.apiserver.log))
    assert [(entry.code, entry.time) for entry in entries if entry.user == "shop" and entry.verb == "create"] == [
        (503, began), (201, began)]
    assert fakekube_server.clock.time() == began + 3600


def test_what_a_run_of_kopf_keeps_dies_with_it(tmp_path: Path) -> None:
    """Given kopf with a memo in which it counts its starts, when it dies and starts again, then it
    counts from the beginning.
    """
    registry, counted = kopf.OperatorRegistry(), []

    @kopf.on.startup(registry=registry)
    def start(memo: kopf.Memo, **_: Any) -> None:
        memo.starts += 1
        counted.append(memo.starts)

    @kopf.on.event("configmaps", registry=registry)
    def seen(**_: Any) -> None:
        pass

    extra = [kopf_operator("shop", registry, memo=kopf.Memo(starts=0))]
    with BackgroundCluster(nodes=0, controllers="", grace="200ms", kubeconfig=tmp_path / "kubeconfig", extra=extra) as server:
        server.restart_controller("shop")
        server.settle()
    assert counted == [1, 1]


# bad input

def play(path: Path, *operators: Any, grace: str = "200ms", **options: Any) -> None:
    """What a test does: make an object, let time pass."""
    with BackgroundCluster(nodes=0, controllers="", kubeconfig=path / "kubeconfig", extra=operators, **options) as server:
        make(connected(server.kubeconfig), "web")
        server.advance("1s", grace=grace)


def test_a_command_that_there_is_not(tmp_path: Path) -> None:
    """Given a command that does not exist, when the cluster starts, then an OptionError says so,
    and nothing is left behind.
    """
    with pytest.raises(OptionError, match=r"^extra: the operator shop cannot be started: .*no-such-command"):
        play(tmp_path, command_operator("shop", ["no-such-command"]))
    assert not [thread for thread in threading.enumerate() if thread.name == "fakekube operator shop"]


@pytest.mark.parametrize("when", ["at its start", "later"])
def test_a_command_that_dies_by_itself(tmp_path: Path, when: str) -> None:
    """Given a command that ends with an exit code, at once or when it has seen an object, when the
    test waits for time, then that fails with its exit code and its last lines.
    """
    shop = command_operator("shop", [*COMMAND, "3"] if when == "later" else [sys.executable, "-c", "raise SystemExit(2)"])
    told = "exit code 2, and has said nothing"
    if when == "later":
        told = "exit code 3, its last lines were:\n  watching\n  no\n  way"
    with pytest.raises(OperatorDied, match=f"^the operator shop has ended with {told}$"):
        play(tmp_path, shop, grace="2s")


def test_a_function_that_raises(tmp_path: Path) -> None:
    """Given a function that raises, when the test ends, then it fails with that error."""
    def shop(_: Path, __: threading.Event) -> None:
        raise KeyError("web")

    with pytest.raises(OperatorDied, match=r"^the operator shop has died of KeyError: 'web'$"):
        play(tmp_path, thread_operator("shop", shop))


def test_a_function_that_returns(tmp_path: Path) -> None:
    """Given a function that returns, when the test ends, then nothing is wrong."""
    play(tmp_path, thread_operator("shop", lambda *_: None))


def test_a_thread_that_never_ends(tmp_path: Path) -> None:
    """Given a function that does not look at its event, when the test ends, then it ends after the
    bound, and says so.
    """
    for_ever = threading.Event()
    shop = thread_operator("shop", lambda *_: for_ever.wait(), stop_seconds=0.2, start_seconds=0.2)
    with pytest.raises(OperatorDied, match=r"^the operator shop goes on 0.2 s after it was killed: its thread has to end when"):
        play(tmp_path, shop)
    for_ever.set()


def test_a_dead_thread_reaches_nothing(tmp_path: Path) -> None:
    """Given a thread that goes on when it was killed, when it writes with the connection, the port
    or the token of its dead run, then nothing of that is served.
    """
    dead, over = threading.Event(), threading.Event()
    errors: list[str] = []

    def asked_with(kubeconfig: Path, server: BackgroundCluster) -> int:
        """The answer to that run's token where everybody else asks."""
        token = yaml.safe_load(kubeconfig.read_text())["users"][0]["user"]["token"]
        return httpx.get(f"{server.url}/api/v1/configmaps", headers={"Authorization": f"Bearer {token}"}).status_code

    def shop(kubeconfig: Path, stop: threading.Event) -> None:
        core = connected(kubeconfig)
        make(core, f"from-{len(errors)}")
        stop.wait()
        dead.wait()
        try:
            make(core, "late")
        except Exception as error:  # whatever the client says
            errors.append(type(error).__name__)
        errors.append(str(asked_with(kubeconfig, server)))
        over.set()

    extra = [thread_operator("shop", shop, stop_seconds=20)]
    with BackgroundCluster(nodes=0, controllers="", grace="200ms", kubeconfig=tmp_path / "kubeconfig", extra=extra) as server:
        core = connected(server.kubeconfig)
        threading.Timer(0.1, dead.set).start()
        server.stop_controller("shop")
        assert over.wait(10)
        assert errors == ["MaxRetryError", "401"]
        assert [found.metadata.name for found in core.list_namespaced_config_map("default").items] == ["from-0"]


@pytest.mark.fakekube(extra=[thread_operator("shop", run)], grace="200ms")
def test_a_fault_for_who_is_not_there(fakekube_server: BackgroundCluster) -> None:
    """Given an operator, when a fault is to kill another one, then that is refused, and it is named
    among those that there are.
    """
    with pytest.raises(FaultError, match=r'"shops" is not in the list of known controllers: .*shop'):
        fakekube_server.faults.add(crash="shops")


def test_two_of_one_name(tmp_path: Path) -> None:
    """Given two operators of one name, when the cluster starts, then that is refused."""
    with pytest.raises(ValueError, match="there is a component 'shop' already"):
        play(tmp_path, *[thread_operator("shop", run)] * 2)


def test_nobody_else_has_a_kubeconfig_of_an_operator() -> None:
    """Given a test, when it asks for the kubeconfig of the operator that it is, then it is none."""
    with pytest.raises(LookupError):
        operator_kubeconfig()


def test_it_is_nothing_for_fakekube_run(fakekube_server: BackgroundCluster) -> None:
    """Given an operator outside, when ``fakekube run`` is to run it, then it says in one sentence
    that it cannot.
    """
    path, module = str(fakekube_server.kubeconfig), "tests.plugin.crashing:SHOP"
    done = CliRunner().invoke(cli, ["run", module, "--kubeconfig", path])
    assert (done.exit_code, done.output.splitlines()[-1]) == (
        1, "Error: the operator shop is for clusters in tests: it is a client, run it as it is")


@pytest.mark.parametrize("operator", [
    command_operator("shop", ["sleep", "600"], start_seconds=0.2),
    thread_operator("shop", lambda _, stop: stop.wait(), start_seconds=0.2),
], ids=["command", "thread"])
def test_one_that_never_begins(tmp_path: Path, operator: Any) -> None:
    """Given an operator that asks for nothing, when time is to pass, then that waits for the bound,
    and no longer; at the end nothing is left of it.
    """
    play(tmp_path, operator)
    assert not [thread for thread in threading.enumerate() if thread.name == "fakekube operator shop"]


def test_kopf_that_cannot_start(tmp_path: Path) -> None:
    """Given handlers for the startup of kopf that raise, when time is to pass, then that fails with
    what kopf says.
    """
    registry = kopf.OperatorRegistry()

    @kopf.on.startup(registry=registry)
    def start(**_: Any) -> None:
        raise kopf.PermanentError("no database")

    with pytest.raises(OperatorDied, match=r"^the operator shop has died of ActivityError: "):
        play(tmp_path, kopf_operator("shop", registry))


@pytest.mark.parametrize(("declare", "told"), [
    (lambda: thread_operator("shop/web", run), "'shop/web' is no name of an operator"),
    (lambda: kopf_operator("shop", restart_policy="OnFailure"), "shop: restart_policy: 'OnFailure' is none of Never, Always"),
    (lambda: thread_operator("shop", run, users="web"), "shop: unknown option 'users': known are user, groups, "),  # type: ignore[call-arg]
])
def test_a_declaration_that_is_not_possible(declare: Any, told: str) -> None:
    """Given a declaration with a name or an option that cannot be, when it is made, then an
    OptionError says which.
    """
    with pytest.raises(OptionError, match=f"^operators: {told}"):
        declare()


# doors

def dies_at_once(tries: list[float]) -> Any:
    """A function that dies of its first runs."""
    def shop(kubeconfig: Path, stop: threading.Event) -> None:
        tries.append(1)
        if len(tries) < 4:
            raise RuntimeError("no way")
        run(kubeconfig, stop)

    return shop


def test_one_that_dies_by_itself_and_starts_again(tmp_path: Path) -> None:
    """Given an operator that is to start again whenever it dies, when its first three runs die,
    then the second begins at once, the others after 10 s and 20 s more, and the fourth works.
    """
    tries: list[float] = []
    extra = [thread_operator("shop", dies_at_once(tries), restart_policy="Always")]
    path = tmp_path / "kubeconfig"
    with BackgroundCluster(nodes=0, controllers="", clock="manual", grace="600ms", kubeconfig=path, extra=extra) as server:
        core = connected(path)
        make(core, "web")
        found = []
        for _ in range(4):
            found.append((len(tries), secrets(core)))
            server.advance("10s")
    assert found == [(2, []), (3, []), (3, []), (4, ["web"])]


def test_one_that_dies_while_time_is_to_pass(tmp_path: Path) -> None:
    """Given an operator that is to start again, when it dies twice while two minutes are to pass,
    then it starts again at that instant, and 10 s later, and does its work then.
    """
    died: list[bool] = []

    def shop(kubeconfig: Path, stop: threading.Event) -> None:
        if len(died) < 2:
            core = connected(kubeconfig)
            for _ in watch.Watch().stream(core.list_namespaced_config_map, "default", label_selector="shop=web"):
                while not server.cluster.outside.called:  # until time is to pass
                    stop.wait(0.01)
                died.append(True)
                core.create_namespaced_config_map("default", {"metadata": {"generateName": "seen-"}})
                stop.wait(0.05)  # until that is over
                raise RuntimeError("no way")
        run(kubeconfig, stop)

    path, extra = tmp_path / "kubeconfig", [thread_operator("shop", shop, restart_policy="Always")]
    with BackgroundCluster(nodes=0, controllers="", clock="manual", grace="600ms", kubeconfig=path, extra=extra) as server:
        core, began = connected(path), server.clock.time()
        make(core, "web")
        server.advance("2m")
        assert (secrets(core), server.clock.time()) == (["web"], began + 120)
        assert [entry.time for entry in server.run(lambda cluster: list(cluster.apiserver.log)) if (
            entry.verb, entry.resource) == ("create", "secrets")] == [began + 10]


@pytest.mark.fakekube(extra=[OPERATORS["thread"]], grace="600ms")
def test_every_door_that_lets_it_die(fakekube_server: BackgroundCluster) -> None:
    """Given an operator, when it is to die of a request of somebody else's, by a fault that was
    POSTed, and when a restart is POSTed, then each time it dies and starts again.
    """
    core, url = connected(fakekube_server.kubeconfig), f"{fakekube_server.url}/fakekube/v1/"
    began = len(asked(fakekube_server, "watch"))
    assert httpx.post(f"{url}faults", json={"crash": "shop", "verbs": "create", "names": "web", "nth": 1}).status_code == 200
    make(core, "web")
    fakekube_server.settle()
    assert secrets(core) == ["web"]
    assert len(asked(fakekube_server, "watch")) == began + 1
    answer = httpx.post(f"{url}controllers", json={"restart": "shop"})
    assert {"name": "shop", "running": True} in answer.json()["items"]
    fakekube_server.settle()
    assert len(asked(fakekube_server, "watch")) == began + 2
    fakekube_server.faults.add(crash="shop", users="kubernetes-admin", verbs="create", names="again")
    make(core, "again")
    fakekube_server.settle()
    assert secrets(core) == ["again", "web"]


@pytest.mark.fakekube(tls=True, extra=[OPERATORS["kopf"]], grace="600ms")
def test_over_tls(fakekube_server: BackgroundCluster) -> None:
    """Given a cluster with TLS, when kopf is to act, then it does."""
    core = connected(fakekube_server.kubeconfig)
    make(core, "web")
    fakekube_server.settle()
    assert secrets(core) == ["web"]


def test_who_it_is(tmp_path: Path) -> None:
    """Given an operator with the name of a service account, on a cluster with RBAC, when it asks
    for what no role allows it, then it is refused by that name.
    """
    shop = thread_operator("shop", run, user="system:serviceaccount:default:shop")
    refused = r'died of ForbiddenException: \(403\)[\s\S]*User \\"system:serviceaccount:default:shop\\" cannot watch resource'
    with pytest.raises(OperatorDied, match=refused):
        play(tmp_path, shop, authorization_mode="RBAC")


async def test_a_cluster_in_the_tests_own_loop_and_its_fork() -> None:
    """Given a cluster in this loop with an operator as a command, when it is forked, then the fork
    has one of its own.
    """
    async def made(cluster: Cluster, name: str) -> list[str]:
        await cluster.client.create(CONFIG_MAPS, {"metadata": {"name": name, "labels": SELECTOR}}, "default")
        await cluster.settle()
        return [found["metadata"]["name"] for found in (await cluster.client.list(SECRETS, "default")).items]

    async with Cluster(nodes=0, controllers="", grace="600ms", extra=[OPERATORS["command"]]) as cluster:
        assert await made(cluster, "a") == ["a"]
        async with cluster.fork() as fork:
            assert await made(fork, "b") == ["a", "b"]
        assert await made(cluster, "c") == ["a", "c"]


@pytest.mark.fakekube(extra=[OPERATORS["command"]], grace="600ms", clock="manual")
def test_who_waits_in_vain_is_told_of_it(fakekube_server: BackgroundCluster) -> None:
    """Given an operator that has nothing to do, when a test waits for it, then it is told how the
    operator is, and what it has said last.
    """
    with pytest.raises(Stalled, match="shop: runs, and said last: watching"):
        fakekube_server.run_until(lambda: False)
