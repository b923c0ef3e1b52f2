"""What is wrong with an object is told once."""


async def test_a_complaint_that_is_found_twice_is_told_once(api):
    """given two equal requirements of a quota's scope that both lack values / when it is made /
    then one cause
    """
    requirement = {"scopeName": "PriorityClass", "operator": "In"}
    spec = {"hard": {"pods": "1"}, "scopeSelector": {"matchExpressions": [requirement, requirement]}}
    answer = await api("POST", "/api/v1/namespaces/t/resourcequotas", {"metadata": {"name": "q"}, "spec": spec})
    assert answer.status == 422
    assert [cause["field"] for cause in answer.tree["details"]["causes"]] == [
        "spec.scopeSelector.matchExpressions.values"
    ]
