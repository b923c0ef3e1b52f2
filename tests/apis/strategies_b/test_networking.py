"""Ingress, IngressClass, NetworkPolicy, IPAddress, ServiceCIDR, EndpointSlice, Endpoints, and
addresses as such.
"""

import pytest

from fakekube.apis import addresses
from fakekube.apis.core import endpoints
from fakekube.apis.discovery import endpointslice
from fakekube.apis.networking import ingress, ingressclass, ipaddress, networkpolicy, servicecidr
from tests.admission.world import World
from tests.apis.strategies_b.steps import changed, created, named, refused, status_changed, warnings

BACKEND = {"service": {"name": "s", "port": {"number": 80}}}
NOT_AN_ADDRESS = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"


def ingress_path(**path):
    return named({"spec": {"rules": [{"http": {"paths": [{"path": "/", "pathType": "Prefix", "backend": BACKEND, **path}]}}]}})


def test_an_ingress_has_no_address_at_first():
    """Given a status / when an Ingress is made with it / then it is fresh."""
    obj = {**ingress_path(), "status": {"loadBalancer": {"ingress": [{"ip": "1.2.3.4"}]}}}
    assert created(ingress.STRATEGY, obj)["status"] == {"loadBalancer": {}}


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ({"path": "x"}, ['path: Invalid value: "x": must be an absolute path']),
        ({"path": "/a//b"}, ["path: Invalid value: \"/a//b\": must not contain '//'"]),
        ({"path": "/.."}, ["path: Invalid value: \"/..\": cannot end with '/..'"]),
        (
            {"pathType": "Regex"},
            ['pathType: Unsupported value: "Regex": supported values: "Exact", "ImplementationSpecific", "Prefix"'],
        ),
        ({"path": "", "pathType": "ImplementationSpecific"}, []),
        ({"backend": {}}, ['backend: Invalid value: "": resource or service backend is required']),
        ({"backend": {"service": {"name": "s"}}}, ["backend: Required value: port name or number is required"]),
        (
            {"backend": {"service": {"name": "s", "port": {"number": 1, "name": "a"}}}},
            ['backend: Invalid value: "": cannot set both port name & port number'],
        ),
        (
            {"backend": {**BACKEND, "resource": {"kind": "K", "name": "n"}}},
            ['backend: Invalid value: "": cannot set both resource and service backends'],
        ),
    ],
)
def test_paths_of_an_ingress(path, expected):
    """Given a path / when made / then what is wrong with it is named."""
    prefix = "spec.rules[0].http.paths[0]."
    assert refused(ingress.STRATEGY, ingress_path(**path)) == [prefix + text for text in expected]


def test_an_ingress_says_something():
    """Given no rules, and an address for a host / when made / then refused."""
    assert refused(ingress.STRATEGY, named()) == [
        "spec: Invalid value: null: either `defaultBackend` or `rules` must be specified"
    ]
    assert refused(ingress.STRATEGY, named({"spec": {"rules": [{"host": "1.2.3.4"}]}})) == [
        'spec.rules[0].host: Invalid value: "1.2.3.4": must be a DNS name, not an IP address'
    ]
    created(ingress.STRATEGY, named({"spec": {"rules": [{"host": "*.a.io"}]}}))


def test_the_class_annotation_gave_way_to_a_field():
    """Given the annotation / when alone, and when it contradicts the field / then a warning, and a
    refusal.
    """
    annotated = {"annotations": {ingress.CLASS_ANNOTATION: "a"}}
    assert warnings(ingress.STRATEGY, named({"spec": {"defaultBackend": BACKEND}}, **annotated)) == [
        "annotation \"kubernetes.io/ingress.class\" is deprecated, please use 'spec.ingressClassName' instead"
    ]
    both = named({"spec": {"defaultBackend": BACKEND, "ingressClassName": "b"}}, **annotated)
    assert refused(ingress.STRATEGY, both) == [
        'annotations.kubernetes.io/ingress.class: Invalid value: "a": must match `ingressClassName` when both are specified'
    ]


def test_the_status_of_an_ingress_holds_addresses():
    """Given a status / when it holds no address / then refused."""
    old = created(ingress.STRATEGY, ingress_path())
    status = {"status": {"loadBalancer": {"ingress": [{"ip": "x"}, {"hostname": "1.2.3.4"}]}}}
    assert status_changed(ingress.STRATEGY, old, status)[1] == [
        f'status.loadBalancer.ingress[0].ip: Invalid value: "x": {NOT_AN_ADDRESS}',
        'status.loadBalancer.ingress[1].hostname: Invalid value: "1.2.3.4": must be a DNS name, not an IP address',
    ]


def test_an_ingress_class_keeps_its_controller():
    """Given a class / when its controller is no path, or changes / then refused; parameters get a
    scope.
    """
    old = created(ingressclass.STRATEGY, named({"spec": {"controller": "a.io/b", "parameters": {"kind": "K", "name": "n"}}}))
    assert old["spec"]["parameters"]["scope"] == "Cluster"
    assert changed(ingressclass.STRATEGY, old, {"spec": {"controller": "a.io/c"}})[1] == [
        'spec.controller: Invalid value: "a.io/c": field is immutable'
    ]
    assert refused(ingressclass.STRATEGY, named({"spec": {"controller": "a"}})) == [
        'spec.controller: Invalid value: "a": must be a domain-prefixed path (such as "acme.io/foo")'
    ]
    scoped = {"controller": "a.io/b", "parameters": {"kind": "K", "name": "n", "scope": "Namespace"}}
    assert refused(ingressclass.STRATEGY, named({"spec": scoped})) == [
        "spec.parameters.namespace: Required value: `parameters.scope` is set to 'Namespace'"
    ]


def test_a_policy_is_for_ingress_unless_it_speaks_of_egress():
    """Given policies / when made / then types and protocols are filled in."""
    assert created(networkpolicy.STRATEGY, named())["spec"] == {"policyTypes": ["Ingress"]}
    spec = created(networkpolicy.STRATEGY, named({"spec": {"egress": [{"ports": [{"port": 53}]}]}}))["spec"]
    assert spec["policyTypes"] == ["Ingress", "Egress"]
    assert spec["egress"][0]["ports"] == [{"port": 53, "protocol": "TCP"}]


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (
            {"ports": [{"port": 80, "endPort": 70}]},
            ["spec.ingress[0].ports[0].endPort: Invalid value: 70: must be greater than or equal to `port`"],
        ),
        (
            {"ports": [{"port": "http", "endPort": 70}]},
            ["spec.ingress[0].ports[0].endPort: Invalid value: 70: may not be specified when `port` is non-numeric"],
        ),
        ({"from": [{}]}, ["spec.ingress[0].from[0]: Required value: must specify a peer"]),
        (
            {"from": [{"ipBlock": {"cidr": "10.0.0.0"}}]},
            [
                (
                    'spec.ingress[0].from[0].ipBlock.cidr: Invalid value: "10.0.0.0": '
                    "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"
                )
            ],
        ),
    ],
)
def test_what_is_refused_of_a_policy(rule, expected):
    """Given something wrong in a rule / when made / then it is named."""
    assert refused(networkpolicy.STRATEGY, named({"spec": {"ingress": [rule]}})) == expected


def test_blocks_without_a_range_are_told_last():
    """Given a block without a range before one with a bad range / when made / then the missing one
    comes last.
    """
    peers = [{"ipBlock": {}}, {"podSelector": {}, "ipBlock": {"cidr": "10.0.0.0/8"}}]
    assert refused(networkpolicy.STRATEGY, named({"spec": {"ingress": [{"from": peers}]}})) == [
        "spec.ingress[0].from[1]: Forbidden: may not specify both ipBlock and another peer",
        "spec.ingress[0].from[0].ipBlock.cidr: Required value",
    ]


def test_an_ambiguous_range_is_warned_of():
    """Given bits beyond the prefix / when a policy is made / then a warning."""
    spec = {"ingress": [{"from": [{"ipBlock": {"cidr": "10.0.0.1/8"}}]}]}
    assert warnings(networkpolicy.STRATEGY, named({"spec": spec})) == [
        (
            'spec.ingress[0].from[0].ipBlock.cidr: CIDR value "10.0.0.1/8" is ambiguous in this context '
            '(should be "10.0.0.0/8" or "10.0.0.1/32"?)'
        )
    ]


def test_an_address_object_is_named_after_the_address():
    """Given IPAddresses / when the name is none, or the parent changes / then refused."""
    parent = {"resource": "services", "namespace": "t", "name": "s"}
    old = created(ipaddress.STRATEGY, named({"spec": {"parentRef": parent}}, name="10.0.0.1"))
    assert changed(ipaddress.STRATEGY, old, {"spec": {"parentRef": {**parent, "name": "r"}}})[1] == [
        "spec.parentRef: Invalid value: null: field is immutable"
    ]
    assert refused(ipaddress.STRATEGY, named(name="2001:DB8::1")) == [
        'metadata.name: Invalid value: "2001:DB8::1": must be in canonical form ("2001:db8::1")',
        "spec.parentRef: Required value",
    ]


def test_a_range_may_get_a_second_family():
    """Given a ServiceCIDR / when ranges change / then only a second family may come."""
    old = created(servicecidr.STRATEGY, named({"spec": {"cidrs": ["10.0.0.0/16"]}}))
    assert changed(servicecidr.STRATEGY, old, {"spec": {"cidrs": ["10.0.0.0/16", "2001:db8::/64"]}})[1] == []
    assert changed(servicecidr.STRATEGY, old, {"spec": {"cidrs": ["10.1.0.0/16"]}})[1] == [
        'spec.cidrs[0]: Invalid value: "10.1.0.0/16": field is immutable'
    ]
    assert refused(servicecidr.STRATEGY, named()) == ["spec.cidrs: Required value: at least one CIDR required"]
    assert refused(servicecidr.STRATEGY, named({"spec": {"cidrs": ["10.0.0.0/16", "10.1.0.0/16"]}})) == [
        (
            'spec.cidrs: Invalid value: ["10.0.0.0/16","10.1.0.0/16"]: '
            "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64"
        )
    ]


def endpoint_slice(*addresses, **fields):
    return named({"addressType": "IPv4", "endpoints": [{"addresses": list(addresses)}], **fields})


def test_ports_of_a_slice_have_names_and_protocols():
    """Given a slice / when made / then ports speak TCP and empty lists are none."""
    obj = created(endpointslice.STRATEGY, endpoint_slice("10.0.0.1", ports=[{"port": 80}]))
    assert obj["ports"] == [{"name": "", "port": 80, "protocol": "TCP"}]
    bare = created(endpointslice.STRATEGY, named({"addressType": "IPv4", "endpoints": []}))
    assert (bare["endpoints"], bare["ports"]) == (None, None)


@pytest.mark.parametrize(
    ("obj", "expected"),
    [
        (named({"endpoints": []}), ["addressType: Required value"]),
        (endpoint_slice(), ["endpoints[0].addresses: Required value"]),
        (endpoint_slice("x"), [f'endpoints[0].addresses[0]: Invalid value: "x": {NOT_AN_ADDRESS}']),
        (
            endpoint_slice("2001:db8::1"),
            ['endpoints[0].addresses: Invalid value: "2001:db8::1": must be an IPv4 address'],
        ),
        (endpoint_slice("10.0.0.1", ports=[{}, {}]), ['ports[1].name: Duplicate value: ""']),
        (
            endpoint_slice("nowhere", addressType="FQDN"),
            [
                (
                    'endpoints[0].addresses[0]: Invalid value: "nowhere": '
                    "should be a domain with at least two segments separated by dots"
                )
            ],
        ),
    ],
)
def test_what_is_refused_of_a_slice(obj, expected):
    """Given something wrong in a slice / when made / then it is named."""
    assert refused(endpointslice.STRATEGY, obj) == expected


def test_the_type_of_a_slice_stays():
    """Given a slice / when its type changes / then refused; unchanged endpoints are not looked at
    again.
    """
    old = created(endpointslice.STRATEGY, endpoint_slice("10.0.0.1"))
    assert changed(endpointslice.STRATEGY, old, {"addressType": "IPv6"})[1] == [
        "addressType: Invalid value: null: field is immutable"
    ]


def test_labels_of_a_slice_count_as_its_spec():
    """Given a slice / when only labels change / then its generation rises."""
    old = created(endpointslice.STRATEGY, endpoint_slice("10.0.0.1"))
    assert endpointslice.STRATEGY.spec_changed({**old, "metadata": {"labels": {"a": "b"}}}, old)
    assert not endpointslice.STRATEGY.spec_changed({**old, "ports": []}, old)


def test_endpoints_have_addresses_that_can_be_reached():
    """Given subsets / when addresses are missing or local / then refused."""
    assert refused(endpoints.STRATEGY, named({"subsets": [{"ports": [{"port": 1}]}]})) == [
        "subsets[0]: Required value: must specify `addresses` or `notReadyAddresses`"
    ]
    assert refused(endpoints.STRATEGY, named({"subsets": [{"addresses": [{"ip": "169.254.0.1"}]}]})) == [
        'subsets[0].addresses[0].ip: Invalid value: "169.254.0.1": may not be in the link-local range (169.254.0.0/16, fe80::/10)'
    ]


@pytest.mark.parametrize(
    ("text", "strict", "expected"),
    [
        ("10.0.0.1", True, []),
        ("010.0.0.1", False, []),
        ("010.0.0.1", True, ["must not have leading 0s"]),
        ("::ffff:10.0.0.1", True, ["must not be an IPv4-mapped IPv6 address"]),
        ("10.0.0", False, [NOT_AN_ADDRESS]),
        ("fe80::1%eth0", False, [NOT_AN_ADDRESS]),
    ],
)
def test_old_fields_are_lenient_about_addresses(text, strict, expected):
    """Given odd spellings / when read with and without the gate / then some pass, and known ones
    always.
    """
    assert [error.detail for error in addresses.legacy_ip("p", text, strict=strict)] == expected
    assert addresses.legacy_ip("p", text, [text], strict=strict) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("10.0.0.1", []),
        ("010.0.0.1", ['p: non-standard IP address "010.0.0.1" is invalid: use "10.0.0.1"']),
        ("2001:DB8::1", ['p: IPv6 address "2001:DB8::1" should be in RFC 5952 canonical format ("2001:db8::1")']),
    ],
)
def test_odd_spellings_are_warned_of(text, expected):
    """Given an address that is accepted / when it is not canonical / then a warning says how to
    write it.
    """
    assert addresses.ip_warnings("p", text) == expected


def test_gates_make_services_strict():
    """Given the gate / when a slice has leading zeros / then it is refused."""
    world = World("StrictIPCIDRValidation")
    assert refused(endpointslice.STRATEGY, endpoint_slice("010.0.0.1"), world) == [
        'endpoints[0].addresses[0]: Invalid value: "010.0.0.1": must not have leading 0s'
    ]
