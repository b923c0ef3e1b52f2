"""The examples of the first texts of KEP-4671, whose shape no release has."""

import pytest

from fakekube.apimachinery.types import Tree
from tests.keps.examples import Examples, cluster_with, example, kinds

LABEL = "jobset.sigs.k8s.io/replicatedjob-name"
RELEASES = pytest.mark.parametrize("release", ["1.35", "1.37"])


def labelled(pod: Tree, **labels: str) -> Tree:
    """A pod that says by its labels alone where it belongs."""
    return {**pod, "metadata": {"name": "-".join(("by-label", *labels.values())), "labels": labels}}


@RELEASES
async def test_a_job_waits_until_all_of_it_has_room(release: str) -> None:
    """Given a Job of 100 pods and room for 96, when its minute is over, then none of them ever had
    a node, and others may take the room; with room for all, they run.
    """
    async with cluster_with("4671-draft-job", release=release, gates="DraftWorkload=true") as cluster:
        found = Examples(cluster)
        await found.nodes("rack-a1", "rack-a2", "rack-b1")
        assert await found.places() == {"": 100}
        await cluster.advance(60)
        assert await found.places() == {"": 100}
        await found.nodes("rack-b2")
        await cluster.advance(120)
        places = await found.places()
        assert (sum(places.values()), places[""]) == (100, 0)


async def test_groups_find_their_pods_by_a_label() -> None:
    """Given two groups with selectors and a pod that names the first, when 99 pods have the label
    of the second, then nobody starts; with 99 of the first, these and the named one do.
    """
    async with cluster_with("4671-draft-selectors", gates="DraftWorkload=true") as cluster:
        found = Examples(cluster)
        await found.nodes()
        [pod] = kinds(example("4671-draft-selectors"), "Pod")
        await found.more(labelled(pod, **{LABEL: "job2"}), 99)
        assert await found.places() == {"": 100}
        await found.more(labelled(pod, **{LABEL: "job1"}), 99)
        assert (await found.places())[""] == 99
        assert all("job2" in name["metadata"]["name"] for name in await found.pods() if "nodeName" not in name["spec"])


async def test_a_replica_waits_for_its_own_pods() -> None:
    """Given a pod of replica 2, when 99 pods of replica 1 come, then nobody starts; when 99 of its
    own do, then all of these.
    """
    async with cluster_with("4671-draft-replicas", gates="DraftWorkload=true") as cluster:
        found = Examples(cluster)
        await found.nodes()
        [pod] = kinds(example("4671-draft-replicas"), "Pod")
        key = "scheduling.fakekube.dev/pod-group-replica"
        for replica, waiting in (("1", 100), ("2", 99)):
            annotations = {**pod["metadata"]["annotations"], key: replica}
            await found.more({**pod, "metadata": {"name": f"replica-{replica}", "annotations": annotations}}, 99)
            assert (await found.places())[""] == waiting
