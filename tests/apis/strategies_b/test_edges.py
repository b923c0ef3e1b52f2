"""Rules at their edges: lengths, ranges that are full, features that are off."""

import ipaddress
from types import SimpleNamespace
from typing import Any

import orjson
import pytest

from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.gvk import GroupResource
from fakekube.apis import bootstrap, selecting
from fakekube.apis.certificates.certificatesigningrequest import _certificate, _decided
from fakekube.apis.core import podspec_gates, service_addresses, service_rules
from fakekube.apis.core.namespace import STRATEGY as NAMESPACES
from fakekube.apis.core.podspec_defaults import pull_policy
from fakekube.apis.core.security_validation import _windows, validate_app_armor
from fakekube.apis.scheduling import groups, templates, v1alpha1, v1alpha2
from tests.admission.world import World
from tests.apis.strategies_b.steps import named, status_changed
from tests.fuzz.conftest import Target


@pytest.mark.parametrize(("image", "policy"), [
    ("a", "Always"), ("a:latest", "Always"), ("a:1", "IfNotPresent"), ("a@bad", "IfNotPresent"), ("a:-b", "IfNotPresent"),
    ("r:80/a", "Always"), ("r:80/a:1", "IfNotPresent"), ("r:80/a:latest", "Always"), ("a:latest@bad", "IfNotPresent"),
    (f"a:latest@sha256:{'0' * 64}", "Always"), (f"a@sha256:{'0' * 64}", "IfNotPresent"), ("localhost/a", "Always"),
    ("UPPER/a", "Always"), ("UPPER", "IfNotPresent"), ("b" * 247, "Always"), ("b" * 248, "IfNotPresent"),
    ("a" * 64, "IfNotPresent"), ("a" * 63, "Always"), ("g" * 64, "Always"), (f"x/{'a' * 64}", "Always"),
    (f"r.b/{'a' * 252}", "Always"), (f"r.b/{'a' * 256}", "IfNotPresent"),
    ("a/b-:latest", "IfNotPresent"), ("a/:latest", "IfNotPresent"),
])
def test_when_an_image_is_pulled(image: str, policy: str) -> None:
    """Given an image / when nothing is said / then it is pulled always if its tag is latest, and
    what is no image has no tag.
    """
    assert pull_policy(image) == policy


PROBE: dict[str, Any] = {"httpGet": {"path": "/", "port": 1, "protocol": "HTTP2"}, "grpc": {"port": 1, "mode": "TLS"}}


def gated() -> dict[str, Any]:
    """A pod spec that uses features."""
    return {
        "containers": [{
            "name": "a", "livenessProbe": orjson.loads(orjson.dumps(PROBE)), "restartPolicyRules": [{}],
            "lifecycle": {"stopSignal": "SIGTERM", "preStop": {}},
            "env": [{"name": "A", "value": "b"}, {"name": "B", "valueFrom": {"fileKeyRef": {"key": "k"}}}],
            "volumeMounts": [{"name": "v"}, {"name": "w", podspec_gates.MOUNT_FIELD: {}}]}],
        "topologySpreadConstraints": [{"topologyKey": "t", "matchLabelKeys": ["a"]}, {"topologyKey": "u"}],
        "volumes": [{"name": "v", "emptyDir": {"mode": 1, "medium": "Memory"}}, {"name": "w", "hostPath": {}}],
    }


def test_features_that_are_off_leave_nothing_of_new_pods() -> None:
    """Given a pod that uses features / when they are all on, all off, or off and used before / then
    it has all, none, or what it used.
    """
    spec = gated()
    podspec_gates.drop_disabled(spec, None, lambda _: True)
    assert spec == gated()
    podspec_gates.drop_disabled(spec, None, lambda _: False)
    without: dict[str, Any] = {
        "containers": [{
            "name": "a", "livenessProbe": {"httpGet": {"path": "/", "port": 1}, "grpc": {"port": 1}},
            "lifecycle": {"preStop": {}}, "env": [{"name": "A", "value": "b"}, {"name": "B", "valueFrom": {}}],
            "volumeMounts": [{"name": "v"}, {"name": "w"}]}],
        "topologySpreadConstraints": [{"topologyKey": "t"}, {"topologyKey": "u"}],
        "volumes": [{"name": "v", "emptyDir": {"medium": "Memory"}}, {"name": "w", "hostPath": {}}],
    }
    assert spec == without
    spec = gated()
    podspec_gates.drop_disabled(spec, gated(), lambda _: False)
    used = gated()["containers"][0]
    container = without["containers"][0] | {name: used[name] for name in ("restartPolicyRules", "lifecycle", "env")}
    kept = {"containers": [container], "topologySpreadConstraints": gated()["topologySpreadConstraints"]}
    assert spec == without | kept


TWO, ONE = ["10.0.0.1", "fd::1"], ["10.0.0.1"]
NO_RELEASE = "spec.ipFamilyPolicy: Invalid value: \"PreferDualStack\": must be set to 'SingleStack' when releasing the secondary "


def service(addresses: list[str], families: list[str], policy: str = "PreferDualStack") -> dict[str, Any]:
    """A Service of two or one families."""
    return {"spec": {"type": "ClusterIP", "clusterIPs": addresses, "ipFamilies": families, "ipFamilyPolicy": policy}}


@pytest.mark.parametrize(("addresses", "families", "policy", "told"), [
    (TWO, ["IPv4", "IPv6"], "PreferDualStack", []),
    (ONE, ["IPv4"], "SingleStack", []),
    (ONE, ["IPv4"], "PreferDualStack", [f"{NO_RELEASE}clusterIP", f"{NO_RELEASE}ipFamily"]),
    (["fd::1"], ["IPv6"], "SingleStack", [
        'spec.clusterIPs[0]: Invalid value: ["fd::1"]: may not change once set',
        'spec.ipFamilies[0]: Invalid value: ["fd::1"]: may not change once set']),
    ([], [], "SingleStack", [
        "spec.clusterIPs[0]: Invalid value: []: primary clusterIP can not be unset",
        "spec.ipFamilies[0]: Invalid value: []: primary ipFamily can not be unset"]),
    (["10.0.0.1", "fd::2"], ["IPv4", "IPv6"], "PreferDualStack", [
        'spec.clusterIPs[1]: Invalid value: ["10.0.0.1","fd::2"]: may not change once set']),
    (TWO, ["IPv6", "IPv4"], "PreferDualStack", [
        'spec.ipFamilies[0]: Invalid value: ["IPv6","IPv4"]: may not change once set'] * 2),
])
def test_the_second_family_may_go(addresses: list[str], families: list[str], policy: str, told: list[str]) -> None:
    """Given a Service of two families / when it changes / then the first stays, and the second goes
    only where the policy says so.
    """
    before, after = service(TWO, ["IPv4", "IPv6"]), service(addresses, families, policy)
    assert [str(error) for error in service_rules.change_errors(after, before)] == told


def test_the_second_family_may_come() -> None:
    """Given a Service of one family / when it gets a second / then nothing is wrong."""
    assert service_rules.change_errors(service(TWO, ["IPv4", "IPv6"]), service(ONE, ["IPv4"])) == []


def test_node_ports_may_be_used_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a range of three ports / when ports are taken / then the free one is found, from
    wherever the search starts; and none where there is none.
    """
    monkeypatch.setattr(service_addresses, "MIN_PORT", 30000)
    monkeypatch.setattr(service_addresses, "MAX_PORT", 30002)
    for start in range(3):
        ctx: Any = SimpleNamespace(rng=SimpleNamespace(randbelow=lambda size, start=start: start if size == 3 else -1))
        assert service_addresses._free_port({30000, 30002}, ctx) == 30001
        assert service_addresses._free_port(set(), ctx) == 30000 + start
        with pytest.raises(APIError) as error:
            service_addresses._free_port({30000, 30001, 30002}, ctx)
        assert (error.value.code, error.value.message) == (
            500, "Internal error occurred: failed to allocate a nodePort: range is full")


def test_addresses_may_be_used_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a range of two addresses / when both are taken / then a Service gets none; its first
    and its last are nobody's.
    """
    monkeypatch.setattr(service_addresses, "RANGE", ipaddress.ip_network("10.0.0.0/30"))
    ctx: Any = SimpleNamespace(rng=SimpleNamespace(randbelow=lambda size: size - 1))
    assert service_addresses._free_address({}, set(), ctx) == "10.0.0.2"
    assert service_addresses._free_address({}, {"10.0.0.2"}, ctx) == "10.0.0.1"
    with pytest.raises(APIError) as error:
        service_addresses._free_address({"metadata": {"name": "s"}}, {"10.0.0.1", "10.0.0.2"}, ctx)
    assert (error.value.code, error.value.message) == (
        500, 'Internal error occurred: failed to allocate a serviceIP for Service "s": range is full')


@pytest.mark.parametrize(("port", "dry_run", "told"), [
    (30000, False, ""), (32767, False, ""), (30001, False, "provided port is already allocated"),
    (29999, False, "provided port is not in the valid range. The range of valid ports is 30000-32767"),
    (32768, False, "provided port is not in the valid range. The range of valid ports is 30000-32767"),
    (29999, True, ""), (30001, True, "provided port is already allocated"),
])
def test_the_port_of_a_health_check_is_allocated(port: int, dry_run: bool, told: str) -> None:
    """Given a port that is asked for / when it is taken or outside / then the answer is an internal
    error; a dry run asks only whether it is free.
    """
    obj = {"spec": {"healthCheckNodePort": port, "ports": []}}
    ctx: Any = SimpleNamespace(dry_run=dry_run)
    if not told:
        service_addresses._health_port(obj, None, ctx, {30001})
        assert obj == {"spec": {"healthCheckNodePort": port, "ports": []}}
        return
    with pytest.raises(APIError) as error:
        service_addresses._health_port(obj, None, ctx, {30001})
    assert error.value.message == f"Internal error occurred: failed to allocate requested HealthCheck NodePort {port}: {told}"


GMSA = "gmsaCredentialSpec"
LONG_DOMAIN = [
    "runAsUserName's Domain length must be under 256 characters",
    "runAsUserName's Domain doesn't match the NetBios nor the DNS format"]


@pytest.mark.parametrize(("options", "told"), [
    ({GMSA: "ä" * 32768}, []), ({GMSA: "ä" * 32768 + "a"}, ["gmsaCredentialSpec size must be under 64 KiB"]),
    ({"runAsUserName": "u" * 104}, []),
    ({"runAsUserName": "u" * 105}, ["runAsUserName's User length must not be longer than 104 characters"]),
    ({"runAsUserName": f"{'d' * 63}.{'d' * 63}.{'d' * 63}.{'d' * 63}\\u"}, []),
    ({"runAsUserName": f"{'-' * 256}\\u"}, LONG_DOMAIN),
])
def test_lengths_on_windows(options: dict[str, str], told: list[str]) -> None:
    """Given texts for Windows / when they are longer than may be, in bytes / then that is told."""
    (field, value), = options.items()
    shown = orjson.dumps(value).decode()
    assert [str(error) for error in _windows(options, "w")] == [f"w.{field}: Invalid value: {shown}: {each}" for each in told]


@pytest.mark.parametrize(("profile", "told"), [
    ("ä" * 2047 + "a", []), ("ä" * 2048, ["a.localhostProfile: Too long: may not be more than 4095 bytes"]),
    (" ", ['a.localhostProfile: Invalid value: " ": must not be padded with whitespace']),
    ("", ["a.localhostProfile: Required value: must be set when AppArmor type is Localhost"]),
])
def test_lengths_of_profiles(profile: str, told: list[str]) -> None:
    """Given a profile of AppArmor / when its name is long, padded or empty / then that is told."""
    assert [str(error) for error in validate_app_armor({"type": "Localhost", "localhostProfile": profile}, "a")] == told


def test_a_namespace_that_goes_is_terminating() -> None:
    """Given namespaces / when their phase is written / then it is that of what becomes of them."""
    here, gone = named({"spec": {}, "status": {}}), named({"spec": {}, "status": {}}, deletionTimestamp="2026-01-01T00:00:00Z")
    text = 'status.Phase: Invalid value: "{}": may only be \'{}\' if `deletionTimestamp` is {}empty'
    for old, phase, told in (
        (here, "Active", []), (gone, "Terminating", []), (gone, "Active", [text.format("Active", "Terminating", "not ")]),
        (here, "Terminating", [text.format("Terminating", "Active", "")]),
    ):
        assert status_changed(NAMESPACES, old, {"status": {"phase": phase}}, World())[1] == told


def test_who_decides_on_requests_does_not_sign_them() -> None:
    """Given a request for a certificate / when a decision changes, or somebody else sets the
    certificate / then it is refused.
    """
    def decided(status: str) -> dict[str, Any]:
        return {"status": {"conditions": [{"type": "Approved", "status": status}]}}

    assert _decided(decided("True"), decided("True")) == []
    changed, = _decided(decided("False"), decided("True"))
    assert str(changed).startswith(
        'status.conditions: Forbidden: updates may not modify a condition of type "Approved"\n')
    signed, other = {"status": {"certificate": "YQ=="}}, {"status": {"certificate": "Yg=="}}
    assert [str(each) for each in _certificate(signed, {}, signer=False)] == [
        "status.certificate: Forbidden: updates may not set certificate content"]
    assert [str(each) for each in _certificate(signed, other, signer=True)] == [
        "status.certificate: Forbidden: updates may not modify existing certificate content"]
    assert _certificate(signed, signed, signer=False) == []


def test_groups_of_pods_in_older_words() -> None:
    """Given groups / when there are too many, two of one name, or one changes its gang / then that
    is told in the words of each version.
    """
    def gang(count: int) -> dict[str, Any]:
        return {"schedulingPolicy": {"gang": {"minCount": count}}}

    def told(errors: list[Any]) -> list[str]:
        return [str(error) for error in errors]

    assert told(groups._validate_policy(gang(2), gang(1), "p", "minCount")) == []
    assert told(groups._validate_policy(gang(0), gang(1), "p", "minCount")) == ["p.gang.minCount: Required value"]
    assert told(groups._validate_policy(gang(-1), gang(1), "p", "minCount")) == [
        "p.gang.minCount: Invalid value: -1: must be greater than or equal to 1"]
    assert groups._validate_policy({"schedulingPolicy": {"basic": {}, "gang": {"minCount": 1}}},
                                   {"schedulingPolicy": {"basic": {}, "gang": {"minCount": 1}, "x": 1}}, "p", "minCount") != []
    assert (groups._validate_priority(10**9, "p"), told(groups._validate_priority(10**9 + 1, "p"))) == (
        [], ["p: Invalid value: 1000000001: must be less than or equal to 1000000000"])
    eight = [{"name": f"g{number}", "policy": {"basic": {}}} for number in range(8)]
    assert v1alpha1._validate_groups(eight, "g") == []
    assert told(v1alpha1._validate_groups([*eight, eight[0]], "g")) == ["g: Too many: 9: must have at most 8 items"]
    assert v1alpha1._internal_reference({"kind": "Job", "name": "j"}) == {"APIGroup": "", "Kind": "Job", "Name": "j"}
    assert v1alpha1._internal_reference(None) is None
    twice = [{"name": "a", "schedulingPolicy": {"basic": {}}}] * 2
    assert told(v1alpha2._validate_templates(twice, "t")) == [
        't[1]: Duplicate value: {"name":"a","schedulingPolicy":{"basic":{}}}']
    assert templates._capital([{"topology": [{"key": "a"}], "x": None}]) == [{"Topology": [{"Key": "a"}], "X": None}]


def test_fields_that_select_are_texts() -> None:
    """Given fields of all types / when they are selected by / then they are Go's texts."""
    found = selecting.selectable("spec.on", "spec.off", "spec.n", "spec.none", "spec.text")
    assert found.values is not None
    assert found.values({"spec": {"on": True, "off": False, "n": 5, "text": "t"}}) == {
        "spec.on": "true", "spec.off": "false", "spec.n": "5", "spec.none": "", "spec.text": "t"}


def test_what_a_server_does_not_serve_is_stored_as_it_is_known() -> None:
    """Given a server that serves nothing / when it is asked what it starts with / then it is the
    version that everybody knows.
    """
    resource = GroupResource("scheduling.k8s.io", "priorityclasses")
    assert bootstrap.bootstrap_objects(resource, []) == bootstrap.bootstrap_objects(resource)


def test_what_is_converted_is_deleted_as_what_is_stored() -> None:
    """Given an autoscaler with a finalizer / when it is deleted by an older version / then it goes
    once that is done.
    """
    target, path = Target(), "/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers"
    tree = {"metadata": {"name": "h", "finalizers": ["a.b/c"]}, "spec": {
        "maxReplicas": 2, "scaleTargetRef": {"kind": "Deployment", "name": "d", "apiVersion": "apps/v1"}}}
    made = orjson.loads(target.send("POST", path, orjson.dumps(tree)).body)
    gone = orjson.loads(target.send("DELETE", f"{path}/h").body)
    assert gone["metadata"].pop("deletionTimestamp") == "2026-01-01T00:00:00Z"
    assert gone["metadata"].pop("deletionGracePeriodSeconds") == 0
    assert gone["spec"] == made["spec"]
    assert {name: value for name, value in made["metadata"].items() if name not in ("resourceVersion", "generation")}.items() <= (
        gone["metadata"].items())
    target.loop.close()
