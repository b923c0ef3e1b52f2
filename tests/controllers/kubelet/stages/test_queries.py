"""Queries of Stages."""

import pytest

pytest.importorskip("jq", reason="the extra kwok is not installed")

from fakekube_controllers.kubelet.stages import queries

TREE = {
    "metadata": {"labels": {"a.b/c": "x"}, "ownerReferences": [{"kind": "Job"}, {"kind": "Other"}]},
    "status": {"conditions": [{"type": "Ready", "status": "True"}, {"type": "Other", "status": "False"}], "count": 3, "zero": 0},
}


@pytest.mark.parametrize(("query", "found"), [
    (".", [TREE]),
    (".metadata.deletionTimestamp", [None]),
    ('.metadata.labels["a.b/c"]', ["x"]),
    ('.metadata.labels."a.b/c"', ["x"]),
    (".metadata.ownerReferences.[].kind", ["Job", "Other"]),
    (".metadata.ownerReferences[1].kind", ["Other"]),
    (".metadata.ownerReferences[-1].kind", ["Other"]),
    (".metadata.ownerReferences[9].kind", [None]),
    (".metadata.finalizers.[]", []),
    (".metadata.finalizers[]?", []),
    ('.status.conditions.[] | select( .type == "Ready" ) | .status', ["True"]),
    (".status.conditions | map(.type)", [["Ready", "Other"]]),
    ("[.status.conditions[] | .type] | length", [2]),
    ('.status.conditions | any(.status == "True")', [True]),
    ('.status.conditions | all(.status == "True")', [False]),
    (".status.count > 2 and .status.zero == 0", [True]),
    (".status.count >= 4 or (.status.count != 3)", [False]),
    ('.status.missing // "none"', ["none"]),
    (".status.count, .status.zero", [3, 0]),
    (".status.missing | not", [True]),
    (".status.count | tostring", ["3"]),
    ('"5" | tonumber', [5]),
    ('.metadata | has("labels")', [True]),
    (".metadata.labels | keys", [["a.b/c"]]),
    ('.status.conditions[0].type | startswith("Re")', [True]),
    ('.status.conditions[0].type | test("^R.*y$")', [True]),
    ('.status.conditions[0].type | test("(")', []),
    (".status.count.deeper", []),
    ("[]", [[]]),
    ("empty", []),
    ("null < true", [True]),
    (".status.count + 1", [4]),
    (".status.conditions[0].status as $found | $found", ["True"]),
    ('.status.conditions | map(select(.type == "Ready"))[0].status', ["True"]),
])
def test_a_query_finds_what_jq_would(query, found):
    """Given a query / then it finds what jq finds; one that does not fit the object finds nothing.
    """
    assert queries.compile(query)(TREE) == found


@pytest.mark.parametrize("query", ["", ".a +", "$x", "foo", ".a | ", ".[", ".a.", "select(", "(.a", ".a b"])
def test_what_is_no_query_is_refused(query):
    """Given a text that is no query / then it is refused, in a line, and shown."""
    with pytest.raises(queries.QueryError, match=r"^[^\n]+$") as refused:
        queries.compile(query)
    assert not query or str(refused.value).endswith(f" in {query!r}")


@pytest.mark.parametrize("query", ["now", ".status | now"])
def test_the_walls_time_is_nowhere(query):
    """Given a query that asks what time it is / then it fails, as the cluster's time is another,
    and finds nothing.
    """
    assert queries.compile(query)(TREE) == []
