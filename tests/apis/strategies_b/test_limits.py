"""ResourceQuota and LimitRange."""

import pytest

from fakekube.apis.core import limitrange, resourcequota
from tests.admission.world import World
from tests.apis.strategies_b.steps import changed, created, named, refused, status_changed


def quota(**spec):
    return named({"spec": spec})


def limits(**limit):
    return named({"spec": {"limits": [{"type": "Container", **limit}]}})


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"hard": {"pods": "-1"}}, ['spec.hard[pods]: Invalid value: "-1": must be greater than or equal to 0']),
        ({"hard": {"pods": "500m"}}, ['spec.hard[pods]: Invalid value: "500m": must be an integer']),
        ({"hard": {"pods": "1"}, "scopes": ["Sometimes"]}, ['spec.scopes: Invalid value: ["Sometimes"]: unsupported scope']),
        (
            {"hard": {"services": "1"}, "scopes": ["BestEffort"]},
            ['spec.scopes: Invalid value: ["BestEffort"]: unsupported scope applied to resource'],
        ),
        (
            {"hard": {"pods": "1"}, "scopes": ["BestEffort", "NotBestEffort"]},
            ['spec.scopes: Invalid value: ["BestEffort","NotBestEffort"]: conflicting scopes'],
        ),
    ],
)
def test_what_is_refused_of_a_quota(spec, expected):
    """Given something wrong in a quota / when made / then it is named."""
    assert refused(resourcequota.STRATEGY, quota(**spec)) == expected


def test_scope_selectors_have_operators_that_fit():
    """Given a selector / when operator and values do not fit / then refused."""
    selector = {"matchExpressions": [{"scopeName": "PriorityClass", "operator": "In"}]}
    assert refused(resourcequota.STRATEGY, quota(hard={"pods": "1"}, scopeSelector=selector)) == [
        (
            "spec.scopeSelector.matchExpressions.values: Required value: "
            "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"
        )
    ]
    selector["matchExpressions"][0] |= {"operator": "Exists", "values": ["high"]}
    assert refused(resourcequota.STRATEGY, quota(hard={"pods": "1"}, scopeSelector=selector)) == [
        (
            'spec.scopeSelector.matchExpressions.values: Invalid value: ["high"]: '
            "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector"
        )
    ]


def test_the_scopes_of_a_quota_stay():
    """Given scopes / when their order and when they themselves change / then only the first passes.
    """
    old = created(resourcequota.STRATEGY, quota(hard={"pods": "1"}, scopes=["Terminating", "NotBestEffort"]))
    swapped = {"spec": {"hard": {"pods": "2"}, "scopes": ["NotBestEffort", "Terminating"]}}
    assert changed(resourcequota.STRATEGY, old, swapped)[1] == []
    assert changed(resourcequota.STRATEGY, old, {"spec": {"hard": {"pods": "1"}}})[1] == [
        "spec.scopes: Invalid value: null: field is immutable"
    ]


def test_a_quota_starts_without_usage():
    """Given a status / when made, and when written through status / then dropped, and checked."""
    old = created(resourcequota.STRATEGY, {**quota(hard={"pods": "1"}), "status": {"used": {"pods": "9"}}})
    assert old["status"] == {}
    assert status_changed(resourcequota.STRATEGY, old, {"status": {"used": {"pods": "-1"}}})[1] == [
        'status.used[pods]: Invalid value: "-1": must be greater than or equal to 0'
    ]


def test_the_limit_defaults_to_the_maximum_and_the_request_to_the_limit():
    """Given a maximum and a minimum / when made / then default and defaultRequest follow."""
    limit = created(limitrange.STRATEGY, limits(max={"cpu": "2"}, min={"memory": "1Gi"}))["spec"]["limits"][0]
    assert limit["default"] == {"cpu": "2"}
    assert limit["defaultRequest"] == {"cpu": "2", "memory": "1Gi"}


@pytest.mark.parametrize(
    ("limit", "expected"),
    [
        (
            {"min": {"cpu": "2"}, "max": {"cpu": "1"}, "default": {"cpu": "1"}, "defaultRequest": {"cpu": "1"}},
            [
                'min[cpu]: Invalid value: "2": min value 2 is greater than max value 1',
                'defaultRequest[cpu]: Invalid value: "1": min value 2 is greater than default request value 1',
                'default[cpu]: Invalid value: "2": min value 2 is greater than default value 1',
            ],
        ),
        ({"type": "Pod", "default": {"cpu": "1"}}, ["default: Forbidden: may not be specified when `type` is 'Pod'"]),
        (
            {"maxLimitRequestRatio": {"cpu": "500m"}},
            ['maxLimitRequestRatio[cpu]: Invalid value: "500m": ratio 500m is less than 1'],
        ),
        (
            {"type": "PersistentVolumeClaim"},
            ["limits: Required value: either minimum or maximum storage value is required, but neither was provided"],
        ),
    ],
)
def test_what_is_refused_of_a_limit_range(limit, expected):
    """Given amounts out of order / when made / then they are named."""
    assert refused(limitrange.STRATEGY, limits(**limit)) == [f"spec.limits[0].{text}" for text in expected]


def test_types_of_limits_are_known_and_listed_once():
    """Given types / when one is unknown or comes twice / then refused."""
    assert refused(limitrange.STRATEGY, named({"spec": {"limits": [{"type": "Pod"}, {"type": "Pod"}, {"type": "X"}]}})) == [
        'spec.limits[1].type: Duplicate value: "Pod"',
        'spec.limits[2].type: Invalid value: "X": must be a standard limit type or fully qualified',
    ]


@pytest.mark.parametrize(("hard", "expected"), [
    ({"requests.cpu": "2", "limits.cpu": "1"}, ["ResourceQuota requests.cpu (2) should be less than limits.cpu (1)"]),
    ({"cpu": "2", "limits.cpu": "1"}, ["ResourceQuota cpu (2) should be less than limits.cpu (1)"]),
    ({"memory": "2Gi", "limits.memory": "1Gi"}, ["ResourceQuota memory (2Gi) should be less than limits.memory (1Gi)"]),
    ({"cpu": "2", "requests.cpu": "1", "limits.cpu": "1"}, []),
    ({"requests.cpu": "1", "limits.cpu": "1"}, []),
    ({"requests.ephemeral-storage": "2", "limits.ephemeral-storage": "1"},
     ["ResourceQuota requests.ephemeral-storage (2) should be less than limits.ephemeral-storage (1)"]),
    ({"storage": "2", "limits.storage": "1"}, []),
    ({"ephemeral-storage": "2", "limits.ephemeral-storage": "1"}, []),
    ({"requests.cpu": "2"}, []),
    ({"limits.cpu": "2"}, []),
])
def test_a_quota_that_lets_ask_for_more_than_may_be_used_is_warned_of(hard, expected):
    """Given amounts for requests and limits / then a new quota is warned of where more may be asked
    for, by whichever name; one that is changed is not.
    """
    obj, ctx = quota(hard=hard), World().context()
    assert resourcequota.STRATEGY.warnings(obj, None, ctx) == expected
    assert resourcequota.STRATEGY.warnings(obj, obj, ctx) == []


def test_a_ratio_that_no_float_holds_is_without_bound():
    """Given amounts whose ratio no float holds, when a limit range is made, then it is taken."""
    assert refused(limitrange.STRATEGY, limits(min={"cpu": "1n"}, max={"cpu": "1e400"}, maxLimitRequestRatio={"cpu": "2"})) == []
