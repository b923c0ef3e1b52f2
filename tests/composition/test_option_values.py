"""What each option takes, what it makes of it, and what it says of anything else."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from fakekube.composition.options import (
    ClusterOptions,
    OptionError,
    boolean_of,
    controller_name,
    function_named,
    named,
    port_of,
    selected,
    switches,
)

KNOWN = (
    "nodes, controllers, kubernetes_version, feature_gates, runtime_config, clock, seed, start, "
    "disable_admission_plugins, enable_admission_plugins, admission_control_config_file, scheduler_config, "
    "addon_config, authorization_mode, metrics_server, default_storage_class, warn_unmodelled, event_ttl, grace, "
    "etcd_compaction_interval, resource_quota_sync_period, advertise_address, client_ca_file, tls, token_auth_file, "
    "anonymous_auth, audit_log, faults, record, allow_host, allow_origin, webhook_services, cache_mutation_detector")
YEAR_2026 = datetime(2026, 1, 1, tzinfo=UTC)


def test_what_a_cluster_is_like_unless_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given no options, when a cluster's are made, then each has its default."""
    monkeypatch.delenv("KUBE_CACHE_MUTATION_DETECTOR", raising=False)
    made = ClusterOptions.of()
    assert {name: getattr(made, name) for name in ClusterOptions.__dataclass_fields__} == {
        "nodes": 1, "controllers": "*", "kubernetes_version": "1.37", "feature_gates": {}, "runtime_config": {}, "clock": "auto",
        "seed": 0, "start": None, "disable_admission_plugins": (), "enable_admission_plugins": (),
        "admission_control_config_file": "", "scheduler_config": "", "addon_config": {}, "authorization_mode": ("AlwaysAllow",),
        "metrics_server": True, "default_storage_class": False, "warn_unmodelled": False, "event_ttl": 3600.0, "grace": 0.6,
        "etcd_compaction_interval": None, "resource_quota_sync_period": 300.0, "advertise_address": "", "client_ca_file": "",
        "tls": False, "token_auth_file": "", "anonymous_auth": None, "audit_log": "", "faults": "", "record": "",
            "allow_host": (),
        "allow_origin": (), "webhook_services": {}, "cache_mutation_detector": False}


@pytest.mark.parametrize(("text", "on"), [
    ("true", True), ("TRUE", True), ("True", True), ("t", True), ("T", True), ("1", True), ("", False), ("yes", False), ("0",
        False),
])
def test_who_asks_to_look_for_changes_of_caches(text: str, on: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given upstream's variable, when options are made, then it says whether caches are looked at.
    """
    monkeypatch.setenv("KUBE_CACHE_MUTATION_DETECTOR", text)
    assert ClusterOptions.of().cache_mutation_detector is on


@pytest.mark.parametrize(("option", "value", "made"), [
    ("kubernetes_version", "v1.36.2", "1.36"), ("kubernetes_version", 1.36, "1.36"), ("clock", "real", "real"),
    ("clock", "manual", "manual"), ("clock", "scaled:3x", 3.0), ("clock", 0.5, 0.5), ("clock", "1000000", 1e6), ("nodes", "0", 0),
    ("nodes", 100_000, 100_000), ("seed", "-7", -7), ("start", "2026-01-01T00:00:00Z", YEAR_2026), ("start", YEAR_2026,
        YEAR_2026),
    ("start", None, None), ("feature_gates", "A=true, B=F,C", {"A": True, "B": False, "C": True}),
    ("feature_gates", ["A", "B=0,C=1"], {"A": True, "B": False, "C": True}),
    ("feature_gates", {"A": True, "B": "f", "C": "T"}, {"A": True, "B": False, "C": True}), ("feature_gates", None, {}),
    ("runtime_config", "api/all=false", {"api/all": False}), ("disable_admission_plugins", " A ,,B", ("A", "B")),
    ("enable_admission_plugins", ["A,B", "C"], ("A", "B", "C")), ("enable_admission_plugins", None, ()),
    ("authorization_mode", "Node,RBAC", ("Node", "RBAC")), ("authorization_mode", ["AlwaysDeny"], ("AlwaysDeny",)),
    ("metrics_server", "false", False), ("default_storage_class", "T", True), ("warn_unmodelled", True, True), ("tls", "1", True),
    ("cache_mutation_detector", "f", False), ("event_ttl", "90s", 90.0), ("event_ttl", 0, 0.0), ("grace", "1h30m", 5400.0),
    ("grace", "0", 0.0), ("etcd_compaction_interval", "", None), ("etcd_compaction_interval", None, None),
    ("etcd_compaction_interval", "5m", 300.0), ("etcd_compaction_interval", 0, 0.0), ("resource_quota_sync_period", "1s", 1.0),
    ("advertise_address", "", ""), ("advertise_address", "::0001", "::1"), ("advertise_address", "10.0.0.1", "10.0.0.1"),
    ("client_ca_file", Path("a"), "a"), ("client_ca_file", None, ""), ("token_auth_file", Path("a"), "a"), ("audit_log", "-",
        "-"),
    ("admission_control_config_file", Path("a"), "a"), ("record", Path("a"), "a"), ("record", None, ""), ("record", 7, 7),
    ("scheduler_config", {"a": 1}, {"a": 1}), ("scheduler_config", Path("a"), "a"), ("anonymous_auth", "", None),
    ("anonymous_auth", "true", True), ("anonymous_auth", False, False), ("controllers", ["a", "-b"], "a,-b"),
    ("controllers", "*", "*"), ("allow_host", "Shop.Example, *", ("shop.example", "*")), ("allow_origin", "*", ("*",)),
    ("allow_origin", "http://127.0.0.1:3000", ("http://127.0.0.1:3000",)),
    ("webhook_services", "a/b=https://h:1, a/c:80=http://h/", {"a/b": "https://h:1", "a/c:80": "http://h/"}),
    ("webhook_services", {"a/b": "https://h"}, {"a/b": "https://h"}), ("addon_config", ["a=f", "b=g"], {"a": "f", "b": "g"}),
    ("addon_config", {"a": None, "b": False, "c": True, "d": {"x": 1}, "e": Path("f")}, {"c": True, "d": {"x": 1}, "e": "f"}),
    ("faults", [{"stale": True}], [{"stale": True}]),
])
def test_what_an_option_takes(option: str, value: Any, made: Any) -> None:
    """Given an option as people write it, when a cluster's are made, then it is this."""
    found = getattr(ClusterOptions.of(**{option: value}), option)
    assert (found, type(found)) == (made, type(made))


@pytest.mark.parametrize(("option", "value", "told"), [
    ("node", 1, f"unknown option 'node': known are {KNOWN}"),
    ("kubernetes_version", "1", "kubernetes_version: '1' is no version: say 1.37"),
    ("kubernetes_version", "1.x", "kubernetes_version: '1.x' is no version: say 1.37"),
    *(("clock", value, f"clock: {value!r} is none of real, manual, auto, or a factor above 0") for value in (
        "fast", 0, -1, "inf", "nan")),
    ("clock", 1_000_001, "clock: 1000001 is too fast: a factor is at most 1,000,000"),
    ("nodes", "x", "nodes: 'x' is no number of nodes"), ("nodes", -1, "nodes: -1 is no number of nodes"),
    ("nodes", 100_001, "nodes: 100001 are too many: at most 100,000"), ("nodes", 1.5, "nodes: 1.5 is no number of nodes"),
    ("seed", "x", "seed: 'x' is no whole number"),
    ("start", "2026-01-01", "start: '2026-01-01' is no time with a time zone: say 2026-01-01T00:00:00Z"),
    ("start", "x", "start: 'x' is no time with a time zone: say 2026-01-01T00:00:00Z"),
    ("start", 7, "start: 7 is no time with a time zone: say 2026-01-01T00:00:00Z"),
    ("start", "0200-01-01T00:00:00Z", "start: '0200-01-01T00:00:00Z': a clock holds the times from 300-01-01 to 9700-01-01"),
    ("feature_gates", "A=x", 'feature_gates: invalid value of A=x, err: strconv.ParseBool: parsing "x": invalid syntax'),
    ("feature_gates", {"A": 2}, 'feature_gates: invalid value of A=2, err: strconv.ParseBool: parsing "2": invalid syntax'),
    ("runtime_config", "a=", 'runtime_config: invalid value of a=, err: strconv.ParseBool: parsing "": invalid syntax'),
    ("authorization_mode", "", "authorization_mode: at least one authorization-mode must be passed"),
    ("authorization_mode", "X", ('authorization_mode: authorization-mode "X" is not a valid mode: known are AlwaysAllow, '
     "AlwaysDeny, Node, RBAC")),
    ("authorization_mode", "RBAC,Node,RBAC",
     'authorization_mode: authorization-mode ["RBAC" "Node" "RBAC"] has mode specified more than once'),
    *((option, "x", f'{option}: invalid value of {option}=x, err: strconv.ParseBool: parsing "x": invalid syntax') for option in (
        "metrics_server", "default_storage_class", "warn_unmodelled", "tls", "anonymous_auth", "cache_mutation_detector")),
    *((option, "x", f"{option}: 'x' is no duration: say 1h30m, 90s or 500ms") for option in (
        "event_ttl", "grace", "etcd_compaction_interval", "resource_quota_sync_period")),
    ("resource_quota_sync_period", "0s", "resource_quota_sync_period: '0s' is not above zero"),
    ("advertise_address", "x", "advertise_address: 'x' is no IP address"),
    *(("webhook_services", f"{name}=https://h", (f"webhook_services: {name!r} is no service: say namespace/name or "
       "namespace/name:port")) for name in ("a", "/b", "a/", "a/b/c", "a/b:x")),
    *(("webhook_services", f"a/b={url}",
        f"webhook_services: {url!r} is no URL of a server: say https://127.0.0.1:9443") for url in (
        "", "h", "ftp://h", "https://", "https://h/x", "https://h:x", "https://h:99999")),
    ("addon_config", "a", "addon_config: 'a' is no configuration of an add-on: say NAME=FILE"),
    ("addon_config", "=f", "addon_config: '' is no configuration of an add-on: say NAME=FILE"),
    ("feature_gates", "workload-aware", None),
])
def test_what_an_option_does_not_take(option: str, value: Any, told: str | None) -> None:
    """Given a value that is not possible, when options are made, then it is said which and why."""
    if told is None:
        assert ClusterOptions.of(**{option: value}).runtime_config == {
            "scheduling.k8s.io/v1beta1": True, "scheduling.k8s.io/v1alpha3": True}
        return
    with pytest.raises(OptionError) as refused:
        ClusterOptions.of(**{option: value})
    assert str(refused.value) == told


@pytest.mark.parametrize(("release", "gates", "versions"), [
    ("1.35", ["GenericWorkload", "GangScheduling"], ["scheduling.k8s.io/v1alpha1"]),
    ("1.36", ["GenericWorkload", "GangScheduling", "WorkloadAwarePreemption", "TopologyAwareWorkloadScheduling",
              "WorkloadWithJob", "DRAWorkloadResourceClaims"], ["scheduling.k8s.io/v1alpha2"]),
    ("1.37", ["GenericWorkload", "TopologyAwareWorkloadScheduling", "CompositePodGroup", "PodGroupPreemptionPolicy",
              "WorkloadWithJob", "DRAWorkloadResourceClaims"], ["scheduling.k8s.io/v1beta1", "scheduling.k8s.io/v1alpha3"]),
])
def test_the_preset_of_workload_aware_scheduling(release: str, gates: list[str], versions: list[str]) -> None:
    """Given the preset, when options are made, then it stands for gates and versions of the
    release, and what is said of one of them goes before it; switched off it is nothing.
    """
    made = ClusterOptions.of(kubernetes_version=release, feature_gates="workload-aware")
    assert made.feature_gates == dict.fromkeys(gates, True)
    assert made.runtime_config == dict.fromkeys(versions, True)
    own = ClusterOptions.of(
        kubernetes_version=release, feature_gates="workload-aware,GenericWorkload=false", runtime_config={versions[0]: False,
            "x": True})
    assert own.feature_gates == {**dict.fromkeys(gates, True), "GenericWorkload": False}
    assert own.runtime_config == {**dict.fromkeys(versions, True), versions[0]: False, "x": True}
    off = ClusterOptions.of(kubernetes_version=release, feature_gates="workload-aware=false,A")
    assert (off.feature_gates, off.runtime_config) == ({"A": True}, {})
    with pytest.raises(OptionError) as refused:
        ClusterOptions.of(kubernetes_version="1.34", feature_gates="workload-aware")
    assert str(refused.value) == (
        "feature_gates: Kubernetes 1.34 has no workload-aware scheduling: 1.35, 1.36, 1.37 have")


@pytest.mark.parametrize(("values", "seconds"), [
    ({}, 0.0), ({"clock": "manual"}, 0.0), ({"clock": "real"}, 300.0), ({"clock": "2"}, 300.0),
    ({"clock": "auto", "etcd_compaction_interval": 7}, 7.0), ({"clock": "real", "etcd_compaction_interval": 0}, 0.0),
])
def test_when_old_states_are_forgotten(values: dict[str, Any], seconds: float) -> None:
    """Given a clock, when nothing is said of compaction, then it is upstream's five minutes, and
    never where time leaps.
    """
    assert ClusterOptions.of(**values).compaction_seconds == seconds


NAMES = ["podgc", "endpoint", "horizontalpodautoscaling", "csrsigning", "csrapproving", "csrcleaner", "garbagecollector", "job",
    "x"]


@pytest.mark.parametrize(("text", "found"), [
    ("*", NAMES[:-1]), ("*,x", NAMES), ("", []), (" job , garbage-collector-controller", ["garbagecollector", "job"]),
    ("*,-job,-podgc", [name for name in NAMES[1:-1] if name != "job"]), ("-job", []), ("x,job", ["job", "x"]),
    ("pod-garbage-collector-controller", ["podgc"]), ("endpoints", ["endpoint"]), ("endpoints-controller", ["endpoint"]),
    ("horizontal-pod-autoscaler-controller", ["horizontalpodautoscaling"]),
    ("certificatesigningrequest-signing-controller", ["csrsigning"]),
    ("certificatesigningrequest-approving-controller", ["csrapproving"]),
    ("certificatesigningrequest-cleaner-controller", ["csrcleaner"]),
])
def test_which_controllers_are_meant(text: str, found: list[str]) -> None:
    """Given names as upstream and we spell them, when controllers are chosen, then they come in
    their order; * is all but the optional ones.
    """
    assert selected(text, NAMES, ["x"]) == found


def test_one_controller() -> None:
    """Given a name, when one controller is meant, then it is found, or it is said which there are.
    """
    assert controller_name(" garbage-collector-controller ", NAMES) == "garbagecollector"
    for choose in (lambda: controller_name("jobs", NAMES), lambda: selected("*,-jobs", NAMES)):
        with pytest.raises(OptionError) as refused:
            choose()
        assert str(refused.value).endswith(f"is not in the list of known controllers: {', '.join(NAMES)}")
    with pytest.raises(OptionError, match='controllers: "jobs" is not'):
        controller_name("jobs", NAMES)


def test_functions_are_named_by_text() -> None:
    """Given a text that names something in a module, when it is taken, then it is that; what is no
    text stays as it is, and a function has to be one.
    """
    import json

    assert named("outcome", " json:loads ") is json.loads
    assert named("outcome", 7) == 7
    assert (function_named("outcome", ""), function_named("outcome", None)) == (None, None)
    assert function_named("outcome", json.loads) is json.loads
    for value, told in (
        ("json", "outcome: 'json' names nothing that can be imported: say module:attribute"),
        ("json:x", "outcome: 'json:x' names nothing that can be imported: module 'json' has no attribute 'x'"),
        ("json:__name__", "outcome: 'json:__name__' is no function"), (7, "outcome: 7 is no function"),
    ):
        with pytest.raises(OptionError) as refused:
            function_named("outcome", value)
        assert str(refused.value) == told


def test_ports_and_switches() -> None:
    """Given values of servers, when they are read, then they are within their limits."""
    assert [port_of(value) for value in ("0", 65535)] == [0, 65535]
    for value in (-1, 65536, "x"):
        with pytest.raises(OptionError) as refused:
            port_of(value)
        assert str(refused.value) == f"port: {value!r} is no port: say one from 0 to 65535"
    assert (boolean_of("a", "F"), boolean_of("a", True), switches(["A=1", ""])) == (False, True, {"A": True})
