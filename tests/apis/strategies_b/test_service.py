"""Service: defaults, addresses and ports given out, changes of type, what is refused."""

import pytest

from fakekube.apimachinery.errors import APIError
from fakekube.apis.core.service import STRATEGY
from tests.admission.world import World
from tests.apis.strategies_b.steps import changed, created, named, refused, status_changed, warnings


def service(*ports, uid="u", **spec):
    return named({"spec": {"ports": [{"port": port} for port in ports or (80,)], **spec}}, uid=uid)


def stored(world, name, tree):
    tree["metadata"] |= {"name": name, "uid": name}
    world.put("", "services", tree)
    return tree


def test_ports_share_a_node_port_only_with_their_like():
    """Given two ports that ask for one node port / when made / then it is refused, unless they have
    one number.
    """
    ports = [{"name": "a", "port": 80, "nodePort": 30001}, {"name": "b", "port": 80, "nodePort": 30001, "protocol": "UDP"}]
    assert created(STRATEGY, service(type="NodePort") | {"spec": {"type": "NodePort", "ports": ports}})
    ports[1]["port"] = 81
    text = refusal(service() | {"spec": {"type": "NodePort", "ports": ports}})
    assert text.endswith("spec.ports[1].nodePort: Invalid value: 30001: provided port is already allocated")


def refusal(obj, world=None):
    with pytest.raises(APIError) as caught:
        created(STRATEGY, obj, world)
    return caught.value.message


@pytest.mark.spec("API-045")
def test_a_service_gets_an_address_and_defaults():
    """Given a port / when made / then the address is in the range, targetPort is the port, and
    defaults are there.
    """
    spec = created(STRATEGY, service(80, selector={"app": "a"}))["spec"]
    assert spec == {
        "type": "ClusterIP",
        "clusterIP": "10.96.0.1",
        "clusterIPs": ["10.96.0.1"],
        "ipFamilies": ["IPv4"],
        "ipFamilyPolicy": "SingleStack",
        "internalTrafficPolicy": "Cluster",
        "sessionAffinity": "None",
        "selector": {"app": "a"},
        "ports": [{"port": 80, "protocol": "TCP", "targetPort": 80}],
    }


def test_addresses_are_given_out_once():
    """Given a service has an address / when others want one, or that one / then the next, or a
    refusal.
    """
    world = World()
    stored(world, "a", created(STRATEGY, service()))
    assert created(STRATEGY, service(), world)["spec"]["clusterIP"] == "10.96.0.2"
    assert refusal(service(clusterIP="10.96.0.1"), world) == (
        'Service "x" is invalid: spec.clusterIPs: Invalid value: ["10.96.0.1"]: '
        "failed to allocate IP 10.96.0.1: provided IP is already allocated"
    )


def test_an_address_outside_the_range_is_refused():
    """Given an address of another network / when asked for / then it does not match the range."""
    assert refusal(service(clusterIP="192.168.0.1")).endswith(
        "failed to allocate IP 192.168.0.1: the provided network does not match the current range"
    )


def test_a_headless_service_has_none():
    """Given clusterIP None / when made / then it stays, and without a selector both families are
    claimed.
    """
    spec = created(STRATEGY, service(clusterIP="None", selector={"a": "b"}))["spec"]
    assert (spec["clusterIPs"], spec["ipFamilies"], spec["ipFamilyPolicy"]) == (["None"], ["IPv4"], "SingleStack")
    spec = created(STRATEGY, service(clusterIP="None"))["spec"]
    assert (spec["ipFamilies"], spec["ipFamilyPolicy"]) == (["IPv4", "IPv6"], "RequireDualStack")


def test_an_external_name_has_no_address():
    """Given type ExternalName / when made / then neither address nor traffic policy."""
    obj = named({"spec": {"type": "ExternalName", "externalName": "example.com."}})
    assert created(STRATEGY, obj)["spec"] == {
        "type": "ExternalName",
        "externalName": "example.com.",
        "sessionAffinity": "None",
    }


def test_node_ports_are_given_out_once():
    """Given a service has a node port / when others want one, or that one / then the next, or a
    refusal.
    """
    world = World()
    stored(world, "a", created(STRATEGY, service(type="NodePort")))
    spec = created(STRATEGY, service(type="NodePort"), world)["spec"]
    assert [port["nodePort"] for port in spec["ports"]] == [30001]
    taken = named({"spec": {"type": "NodePort", "ports": [{"port": 80, "nodePort": 30000}]}})
    assert refusal(taken, world) == (
        'Service "x" is invalid: spec.ports[0].nodePort: Invalid value: 30000: provided port is already allocated'
    )
    outside = named({"spec": {"type": "NodePort", "ports": [{"port": 80, "nodePort": 80}]}})
    assert refusal(outside, world).endswith(
        "Invalid value: 80: provided port is not in the valid range. The range of valid ports is 30000-32767"
    )


def test_tcp_and_udp_on_one_port_share_a_node_port():
    """Given the same number twice / when made / then one node port serves both."""
    ports = [{"name": "t", "port": 53}, {"name": "u", "port": 53, "protocol": "UDP"}]
    spec = created(STRATEGY, named({"spec": {"type": "NodePort", "ports": ports}}))["spec"]
    assert [port["nodePort"] for port in spec["ports"]] == [30000, 30000]


def test_a_load_balancer_may_do_without_node_ports():
    """Given allocateLoadBalancerNodePorts false / when made / then none is given out."""
    spec = created(STRATEGY, service(type="LoadBalancer", allocateLoadBalancerNodePorts=False))["spec"]
    assert "nodePort" not in spec["ports"][0]
    assert spec["externalTrafficPolicy"] == "Cluster"


def test_local_traffic_of_a_balancer_gets_a_health_port():
    """Given policy Local / when made / then a port to check each node, besides the node port."""
    spec = created(STRATEGY, service(type="LoadBalancer", externalTrafficPolicy="Local"))["spec"]
    assert (spec["ports"][0]["nodePort"], spec["healthCheckNodePort"]) == (30000, 30001)


def test_an_update_keeps_what_was_given_out():
    """Given a node port service / when a client sends a spec without addresses and ports / then it
    keeps them.
    """
    world = World()
    old = stored(world, "a", created(STRATEGY, service(type="NodePort")))
    obj, wrong = changed(STRATEGY, old, {"spec": {"type": "NodePort", "ports": [{"port": 80, "targetPort": 8080}]}}, world)
    assert wrong == []
    assert obj["spec"]["clusterIP"] == old["spec"]["clusterIP"]
    assert obj["spec"]["ports"][0]["nodePort"] == old["spec"]["ports"][0]["nodePort"]


@pytest.mark.spec("API-099")
def test_the_address_of_a_service_stays():
    """Given a service / when its address changes / then it may not."""
    old = created(STRATEGY, service())
    spec = {**old["spec"], "clusterIP": "10.96.0.9", "clusterIPs": ["10.96.0.9"]}
    assert changed(STRATEGY, old, {"spec": spec})[1] == [
        'spec.clusterIPs[0]: Invalid value: ["10.96.0.9"]: may not change once set'
    ]


def test_becoming_a_cluster_service_gives_back_node_ports():
    """Given a balancer / when it becomes a cluster service / then what only balancers have goes."""
    world = World()
    old = stored(world, "a", created(STRATEGY, service(type="LoadBalancer")))
    obj, wrong = changed(STRATEGY, old, {"spec": {**old["spec"], "type": "ClusterIP"}}, world)
    assert wrong == []
    assert not {"externalTrafficPolicy", "allocateLoadBalancerNodePorts"} & set(obj["spec"])
    assert obj["spec"]["ports"] == [{"port": 80, "protocol": "TCP", "targetPort": 80}]


def test_becoming_a_name_gives_back_the_address():
    """Given a cluster service / when it becomes a name / then its address and families go."""
    old = created(STRATEGY, service())
    obj, wrong = changed(STRATEGY, old, {"spec": {**old["spec"], "type": "ExternalName", "externalName": "a.b"}})
    assert wrong == []
    assert not {"clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"} & set(obj["spec"])


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"ports": []}, ["spec.ports: Required value"]),
        (
            {"ports": [{"port": 1}, {"port": 2}]},
            ["spec.ports[0].name: Required value", "spec.ports[1].name: Required value"],
        ),
        (
            {"ports": [{"port": 0}]},
            [
                "spec.ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive",
                "spec.ports[0].targetPort: Invalid value: 0: must be between 1 and 65535, inclusive",
            ],
        ),
        (
            {"type": "Both"},
            ['spec.type: Unsupported value: "Both": supported values: "ClusterIP", "ExternalName", "LoadBalancer", "NodePort"'],
        ),
        (
            {"externalTrafficPolicy": "Local"},
            ['spec.externalTrafficPolicy: Invalid value: "Local": may only be set for externally-accessible services'],
        ),
        (
            {"sessionAffinity": "Cookie"},
            ['spec.sessionAffinity: Unsupported value: "Cookie": supported values: "ClientIP", "None"'],
        ),
        ({"loadBalancerClass": "a/b"}, ["spec.loadBalancerClass: Forbidden: may only be used when `type` is 'LoadBalancer'"]),
        (
            {"externalIPs": ["127.0.0.1"]},
            ['spec.externalIPs[0]: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)'],
        ),
    ],
)
def test_what_is_refused(spec, expected):
    """Given something wrong in a spec / when made / then it is named."""
    assert refused(STRATEGY, named({"spec": {"ports": [{"port": 80}], **spec}})) == expected


def test_two_families_are_refused_where_there_is_one():
    """Given a policy that requires both / when made / then the cluster is not configured for it."""
    assert refusal(service(ipFamilyPolicy="RequireDualStack")).endswith(
        'spec.ipFamilyPolicy: Invalid value: "RequireDualStack": this cluster is not configured for dual-stack services'
    )


def test_only_balancers_have_addresses_in_their_status():
    """Given a cluster service and a balancer / when status gets an address / then refused, and
    completed.
    """
    status = {"status": {"loadBalancer": {"ingress": [{"ip": "1.2.3.4"}]}}}
    old = created(STRATEGY, service())
    assert status_changed(STRATEGY, old, status)[1] == [
        "status.loadBalancer.ingress: Forbidden: may only be used when `spec.type` is 'LoadBalancer'"
    ]
    obj, wrong = status_changed(STRATEGY, created(STRATEGY, service(type="LoadBalancer")), status)
    assert wrong == []
    assert obj["status"]["loadBalancer"]["ingress"] == [{"ip": "1.2.3.4", "ipMode": "VIP"}]


def test_what_is_ignored_is_warned_of():
    """Given a headless service with a session affinity / when made / then a warning."""
    obj = service(clusterIP="None", selector={"a": "b"}, sessionAffinity="ClientIP")
    assert warnings(STRATEGY, obj) == ["spec.SessionAffinity is ignored for headless services"]


def test_a_second_family_is_released_by_asking_for_one():
    """Given a headless service of two families / when one is left out / then only with the policy
    that says so.
    """
    old = created(STRATEGY, service(clusterIP="None"))
    spec = {**old["spec"], "ipFamilies": ["IPv6"]}
    with pytest.raises(APIError) as caught:
        changed(STRATEGY, old, {"spec": spec})
    assert caught.value.message.endswith(
        "spec.ipFamilyPolicy: Invalid value: \"RequireDualStack\": must be 'SingleStack' to release the secondary IP family"
    )
    assert changed(STRATEGY, old, {"spec": {**old["spec"], "ipFamilyPolicy": "SingleStack"}})[1] == []


def test_a_node_port_twice_is_no_validation_error():
    """Given a node port service / when an update names its port twice / then upstream's 500."""
    old = created(STRATEGY, service(type="NodePort"))
    spec = {**old["spec"], "ports": old["spec"]["ports"] * 2}
    with pytest.raises(APIError) as caught:
        changed(STRATEGY, old, {"spec": spec})
    assert (caught.value.code, caught.value.message) == (500, "duplicate nodePort: {TCP 30000}")
