"""Lists of a past version while objects are read and written."""

from tests.apiserver.conftest import TABLE, Api

MAPS = "/api/v1/namespaces/t/configmaps"
COUNT = 600  # more than stay decoded


async def test_a_superseded_object_can_be_listed_at_its_version_time_and_again(api: Api) -> None:
    """Given an object that was read often and changed / when it is listed as it was, and the same
    is done to many others / then every answer is the state of then.
    """
    for number in range(COUNT):
        name = f"map-{number}"
        made = await api("POST", MAPS, {"metadata": {"name": name}, "data": {"number": "before"}})
        assert made.status == 201
        for _ in range(4):
            assert (await api("GET", f"{MAPS}/{name}", headers=TABLE)).status == 200
        changed = await api.patch(f"{MAPS}/{name}", {"data": {"number": "after"}})
        assert changed.status == 200
        version = made.tree["metadata"]["resourceVersion"]
        past = await api(
            "GET",
            f"{MAPS}?resourceVersion={version}&resourceVersionMatch=Exact&fieldSelector=metadata.name={name}", headers=TABLE)
        assert past.status == 200
        row, = past.tree["rows"]
        assert row["object"]["metadata"]["resourceVersion"] == version
