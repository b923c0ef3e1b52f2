"""What a server has made up is replaced by what the other one has made up, and back."""

from fakekube.recording.translation import Translation

OLD, NEW = "11111111-2222-4333-8444-555555555555", "aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee"


def pod(name: str, uid: str, version: str, namespace: str = "default") -> dict[str, object]:
    return {"metadata": {"name": name, "generateName": "j-", "namespace": namespace, "uid": uid, "resourceVersion": version},
            "status": {"podIP": f"10.0.0.{version}"}}


def learnt() -> Translation:
    translation = Translation("pre-", ["default", "team"], ["high"])
    translation.learn(pod("j-bcdfg", OLD, "7"), pod("j-xz245", NEW, "900", "pre-default"))
    translation.learn(
        {"metadata": {"resourceVersion": "8", "continue": "old"}, "items": []},
        {"metadata": {"resourceVersion": "950", "continue": "new"}, "items": []})
    return translation


def test_paths_and_queries() -> None:
    """Given what an answer has taught / when paths and queries are translated / then namespaces
    have the prefix, and generated names, uids, versions and tokens are those of the other server.
    """
    translation = learnt()
    there = translation.path("/api/v1/namespaces/default/pods/j-bcdfg/status")
    assert there == "/api/v1/namespaces/pre-default/pods/j-xz245/status"
    assert translation.path("/api/v1/namespaces/team") == "/api/v1/namespaces/pre-team"
    assert translation.path("/api/v1/namespaces/other/pods/default") == "/api/v1/namespaces/other/pods/default"
    assert translation.path("/apis/scheduling.k8s.io/v1/priorityclasses/high").endswith("/priorityclasses/pre-high")
    assert translation.path("/version") == "/version"
    assert translation.query({
        "resourceVersion": ["8"], "continue": ["old"], "labelSelector": [f"uid={OLD}"],
        "fieldSelector": ["metadata.namespace=default,metadata.name=j-bcdfg"]}) == {
        "resourceVersion": ["950"], "continue": ["new"], "labelSelector": [f"uid={NEW}"],
        "fieldSelector": ["metadata.namespace=pre-default,metadata.name=j-xz245"]}


def test_versions_that_were_never_told() -> None:
    """Given known versions / when others are translated / then a list's is the latest before it,
    one of the future and one of an object stay as they are, and so does 0.
    """
    translation = learnt()
    translation.learn({"metadata": {"name": "b", "resourceVersion": "20"}}, {"metadata": {"name": "b", "resourceVersion": "990"}})
    versions = ["7", "8", "15", "99", "0"]
    assert [translation.version(version, of_list=True) for version in versions] == ["900", "950", "950", "99", "0"]
    assert [translation.version(version) for version in versions] == ["900", "950", "15", "99", "0"]


def test_bodies() -> None:
    """Given the same / when bodies are translated / then objects, JSON patches, references and
    texts in annotations are, and values that only look alike stay.
    """
    translation = learnt()
    assert translation.object({
        "metadata": {"name": "x", "namespace": "default", "resourceVersion": "7",
                     "ownerReferences": [{"uid": OLD, "name": "j-bcdfg"}],
                     "annotations": {"last": '{"metadata":{"namespace":"default"}}'}},
        "spec": {"priorityClassName": "high", "serviceAccountName": "default", "replicas": 7}}, clusterwide=False) == {
        "metadata": {"name": "x", "namespace": "pre-default", "resourceVersion": "900",
                     "ownerReferences": [{"uid": NEW, "name": "j-xz245"}],
                     "annotations": {"last": '{"metadata":{"namespace":"pre-default"}}'}},
        "spec": {"priorityClassName": "pre-high", "serviceAccountName": "default", "replicas": 7}}
    assert translation.body([{"op": "test", "path": "/metadata/resourceVersion", "value": "7"}]) == [
        {"op": "test", "path": "/metadata/resourceVersion", "value": "900"}]
    assert translation.object({"metadata": {"name": "team"}}, clusterwide=True) == {"metadata": {"name": "pre-team"}}
    assert translation.text("system:serviceaccount:default:x") == "system:serviceaccount:pre-default:x"


def test_answers_come_back() -> None:
    """Given the same / when an answer of the other server is translated back / then it has the
    names of the recording, in messages too; a name that was made up and never answered is known to
    lack.
    """
    translation = learnt()
    assert translation.back(pod("j-xz245", NEW, "900", "pre-default"))["metadata"] == {
        "name": "j-bcdfg", "generateName": "j-", "namespace": "default", "uid": OLD, "resourceVersion": "900"}
    assert translation.back({"message": 'pods "j-xz245" in namespace "pre-default"'}) == {
        "message": 'pods "j-bcdfg" in namespace "default"'}
    translation.learn({"items": [pod("j-2bcdf", OLD, "9")]}, {"items": []})
    assert translation.lacks("j-2bcdf")
    assert not translation.lacks("j-bcdfg")


def test_lists_are_laid_beside_each_other() -> None:
    """Given lists of generated objects in another order, and one of fixed names / when they are
    laid beside each other / then fixed names stand for themselves, and the generated ones in their
    order.
    """
    translation = Translation("pre-", ["default"])
    translation.learn(
        {"items": [pod("j-bcdfg", OLD, "1"), {"metadata": {"name": "fixed", "uid": NEW}}]},
        {"items": [{"metadata": {"name": "fixed", "uid": OLD}}, pod("j-zzzzz", NEW, "2", "pre-default")]})
    assert translation.path("/api/v1/namespaces/default/pods/j-bcdfg").endswith("/j-zzzzz")
    assert translation.text(OLD) == NEW
    assert translation.text(NEW) == OLD


def owned(name: str) -> dict[str, object]:
    return {"metadata": {"name": name, "ownerReferences": [{"kind": "Job", "name": "j", "uid": OLD}]}}


def test_names_that_are_made_of_uids() -> None:
    """Given groups and Workloads that controllers have named by the uid of a Job / when lists, pods
    and references are laid beside each other / then their names are those of the other server; a
    ReplicaSet's name, which is made of its template, is not taken to be another one.
    """
    translation = Translation("pre-", ["default"])
    translation.learn(
        {"items": [owned("job-a-73bea"), owned("job-b-b8dd8")]},
        {"items": [owned("job-b-00000"), owned("job-a-12345")]}, by_uid=True)
    translation.learn(
        {"spec": {"podGroupName": "j-6bd7f98d-g-9454944bf"}}, {"spec": {"podGroupName": "j-759796cb64-g-5db94f5cf7"}})
    translation.learn({"items": [owned("web-567bfcfc8d")]}, {"items": [owned("web-74d6888c8f")]})
    path = "/apis/kueue.x-k8s.io/v1beta2/namespaces/default/workloads/job-a-73bea"
    assert translation.path(path).endswith("/pre-default/workloads/job-a-12345")
    assert translation.back("job-b-00000 j-759796cb64-g-5db94f5cf7") == "job-b-b8dd8 j-6bd7f98d-g-9454944bf"
    assert translation.text("web-567bfcfc8d") == "web-567bfcfc8d"


def test_references_to_what_has_no_namespace() -> None:
    """Given classes and queues of the test's own / when what names them is translated / then it
    names those there, in objects of add-ons and in their labels too, and nowhere else.
    """
    translation = Translation("pre-", ["default"], ["cq", "f", "high", "node-1"], ["queues.example.com"])
    assert translation.body({
        "priorityClassName": "high", "labels": {"queues.example.com/class": "high", "class": "high"},
        "ref": {"kind": "ClusterRole", "name": "high"}, "other": "cq"}) == {
        "priorityClassName": "pre-high", "labels": {"queues.example.com/class": "pre-high", "class": "high"},
        "ref": {"kind": "ClusterRole", "name": "pre-high"}, "other": "cq"}
    queue = {"clusterQueue": "cq", "flavors": [{"name": "f"}, {"name": "theirs"}]}
    assert translation.object(queue, clusterwide=False, group="queues.example.com") == {
        "clusterQueue": "pre-cq", "flavors": [{"name": "pre-f"}, {"name": "theirs"}]}
    assert translation.object(queue, clusterwide=False) == queue
    selected = {"fieldSelector": ["metadata.name=node-1"]}
    assert translation.query(selected, clusterwide=True) == {"fieldSelector": ["metadata.name=pre-node-1"]}
    assert translation.query(selected) == selected
