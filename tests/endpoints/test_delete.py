"""DELETE: where its options come from, and what it answers."""

import pytest

from tests.apiserver.conftest import Api

CONFIG_MAPS = "/api/v1/namespaces/t/configmaps"


async def make(api: Api, name: str = "a", **metadata: object) -> str:
    answer = await api("POST", CONFIG_MAPS, {"metadata": {"name": name, **metadata}})
    assert answer.status == 201
    return str(answer.tree["metadata"]["uid"])


@pytest.mark.spec("API-141")
async def test_answers(api: Api) -> None:
    """Given a ConfigMap, a Service and nothing / when they are deleted / then a Status, the object,
    404.
    """
    uid = await make(api)
    answer = await api("DELETE", f"{CONFIG_MAPS}/a")
    assert (answer.tree["status"], answer.tree["details"]) == ("Success", {"name": "a", "kind": "configmaps", "uid": uid})
    await api(
        "POST",
        "/api/v1/namespaces/t/services",
        {"metadata": {"name": "s"}, "spec": {"clusterIP": "None", "ports": [{"port": 1}]}},
    )
    assert (await api("DELETE", "/api/v1/namespaces/t/services/s")).tree["kind"] == "Service"
    assert (await api("DELETE", f"{CONFIG_MAPS}/a")).status == 404


@pytest.mark.spec("API-141")
async def test_preconditions(api: Api) -> None:
    """Given a precondition that fails / when the object is deleted / then a Conflict names the
    kind.
    """
    uid = await make(api)
    answer = await api("DELETE", f"{CONFIG_MAPS}/a", {"preconditions": {"uid": "u"}})
    assert answer.message == (
        f'Operation cannot be fulfilled on ConfigMap "a": the UID in the precondition (u) does not match '
        f"the UID in record ({uid}). "
        "The object might have been deleted and then recreated"
    )


@pytest.mark.spec("API-147")
async def test_body_wins_over_the_query(api: Api) -> None:
    """Given an object that a finalizer holds / when body and query differ / then the body counts,
    unless it is empty.
    """
    for name, body, finalizers in (
        ("a", {"propagationPolicy": "Background"}, ["x.io/hold"]),
        ("b", {}, ["x.io/hold"]),
        ("c", None, ["x.io/hold", "orphan"]),
    ):
        await make(api, name, finalizers=["x.io/hold"])
        answer = await api("DELETE", f"{CONFIG_MAPS}/{name}?propagationPolicy=Orphan", body)
        assert answer.tree["metadata"]["finalizers"] == finalizers


@pytest.mark.spec("API-147")
@pytest.mark.parametrize(
    ("query", "body", "status", "text"),
    [
        (
            "",
            {"orphanDependents": True, "propagationPolicy": "Orphan"},
            422,
            "orphanDependents and deletionPropagation cannot be both set",
        ),
        (
            "?propagationPolicy=Odd",
            None,
            422,
            'Unsupported value: "Odd": supported values: "Foreground", "Background", "Orphan", "nil"',
        ),
        ("?gracePeriodSeconds=soon", None, 400, 'strconv.ParseInt: parsing "soon": invalid syntax'),
        ("", {"kind": "Pod", "apiVersion": "v1"}, 400, 'no kind "Pod" is registered for version "v1"'),
        (
            "",
            {"ignoreStoreReadErrorWithClusterBreakingPotential": True, "gracePeriodSeconds": 1},
            422,
            "cannot be set together with",
        ),
        ("", b"[]", 400, "cannot unmarshal array"),
    ],
)
async def test_options_that_are_none(api: Api, query: str, body: object, status: int, text: str) -> None:
    """Given options that cannot be / when something is deleted with them / then it stays, and the
    answer says why.
    """
    await make(api)
    answer = await api("DELETE", f"{CONFIG_MAPS}/a{query}", body)  # type: ignore[arg-type]
    assert answer.status == status
    assert text in answer.message
    assert (await api("GET", f"{CONFIG_MAPS}/a")).status == 200


@pytest.mark.spec("API-146")
async def test_job_without_a_policy_warns(api: Api) -> None:
    """Given a Job / when it is deleted without saying what becomes of its pods / then a Warning
    tells that they stay.
    """
    spec = {"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}}
    await api("POST", "/apis/batch/v1/namespaces/t/jobs", {"metadata": {"name": "j"}, "spec": spec})
    answer = await api("DELETE", "/apis/batch/v1/namespaces/t/jobs/j")
    assert answer.warnings[0].startswith('299 - "child pods are preserved by default when jobs are deleted')


async def test_accepted_when_orphaning_is_refused(api: Api) -> None:
    """Given a held object / when orphanDependents=false is given / then 202 says that it is not
    gone yet.
    """
    await make(api, finalizers=["x.io/hold"])
    assert (await api("DELETE", f"{CONFIG_MAPS}/a?orphanDependents=false")).status == 202


@pytest.mark.spec("API-148")
async def test_collection(api: Api) -> None:
    """Given labelled objects / when a selection is deleted / then those are listed as they were,
    and the others stay.
    """
    await make(api, "a", labels={"x": "y"})
    await make(api, "b")
    latest = (await api("GET", f"{CONFIG_MAPS}/b")).tree["metadata"]["resourceVersion"]
    answer = await api("DELETE", f"{CONFIG_MAPS}?labelSelector=x=y")
    assert (answer.tree["kind"], answer.tree["metadata"]) == ("ConfigMapList", {"resourceVersion": latest})
    assert [item["metadata"]["name"] for item in answer.tree["items"]] == ["a"]
    assert "deletionTimestamp" not in answer.tree["items"][0]["metadata"]
    assert (await api("GET", f"{CONFIG_MAPS}/b")).status == 200


async def test_what_waited_for_the_collector_goes_as_it_was_stored(api: Api) -> None:
    """Given an object deleted in the foreground / when it is deleted in the background / then it is
    gone, and told as stored.
    """
    accounts = "/api/v1/namespaces/t/serviceaccounts"
    await api("POST", accounts, {"metadata": {"name": "s"}})
    held = (await api("DELETE", f"{accounts}/s?propagationPolicy=Foreground")).tree
    dry = (await api("DELETE", f"{accounts}/s?propagationPolicy=Background&dryRun=All")).tree
    assert "finalizers" not in dry["metadata"]
    last = (await api("DELETE", f"{accounts}/s?propagationPolicy=Background")).tree
    assert last["metadata"]["finalizers"] == held["metadata"]["finalizers"] == ["foregroundDeletion"]
    assert (await api("GET", f"{accounts}/s")).status == 404


@pytest.mark.parametrize("group", ["/api/v1", "/apis/events.k8s.io/v1"])
async def test_events_have_no_dependents(api: Api, group: str) -> None:
    """Given an Event / when it is deleted in the foreground / then it is gone at once."""
    body = {"metadata": {"name": "e"}, "involvedObject": {"namespace": "t"}}
    assert (await api("POST", "/api/v1/namespaces/t/events", body)).status == 201
    answer = await api("DELETE", f"{group}/namespaces/t/events/e?propagationPolicy=Foreground")
    assert (answer.tree["kind"], answer.tree["status"]) == ("Status", "Success")


@pytest.mark.parametrize("parameter", ["gracePeriodSeconds=", "gracePeriodSeconds=1.5"])
async def test_numbers_of_the_query(api: Api, parameter: str) -> None:
    """Given no number where one belongs / when an object is deleted / then 400 in strconv's words,
    and it stays.
    """
    await make(api)
    answer = await api("DELETE", f"{CONFIG_MAPS}/a?{parameter}")
    text = parameter.partition("=")[2]
    assert (answer.status, answer.message) == (400, f'strconv.ParseInt: parsing "{text}": invalid syntax')
    assert (await api("GET", f"{CONFIG_MAPS}/a")).status == 200


async def test_what_can_be_read_is_not_deleted_unsafely(api: Api) -> None:
    """Given an object that can be read / when it is to be deleted without being read / then that is
    a Conflict.
    """
    await make(api)
    answer = await api("DELETE", f"{CONFIG_MAPS}/a?ignoreStoreReadErrorWithClusterBreakingPotential=true")
    assert answer.status == 409
    assert answer.message.endswith("unsafe deletion is not allowed because the object is decodable from storage")


async def test_preconditions_of_namespaces_are_told_as_storage_does(api: Api) -> None:
    """Given a Namespace / when a precondition of its deletion fails / then the Conflict is
    storage's.
    """
    answer = await api("DELETE", "/api/v1/namespaces/t", {"preconditions": {"resourceVersion": "0"}})
    assert answer.message.startswith(
        'Operation cannot be fulfilled on namespaces "t": Precondition failed: ResourceVersion in precondition: 0, ')
