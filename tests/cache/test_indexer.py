"""An indexer holds what a list of objects that is gone through each time would give, in the same
order.
"""

from hypothesis import given
from hypothesis import strategies as st

from fakekube.apimachinery import meta
from fakekube.apimachinery.meta import ObjectKey
from fakekube.cache.indexer import (
    Indexer,
    by_controller_uid,
    by_label,
    by_namespace_without_controller,
    by_node_name,
    by_owner_uid,
)

FUNCTIONS = {
    "owners": by_owner_uid, "controller": by_controller_uid, "orphans": by_namespace_without_controller,
    "label": by_label("k"), "node": by_node_name, "node again": by_node_name, "all": lambda _: ("x", "x"),
}
NAMES = st.sampled_from("abc")
OWNERS = st.lists(st.tuples(st.sampled_from(["u1", "u2"]), st.booleans()), max_size=2, unique_by=lambda owner: owner[0])


def tree(namespace: str, name: str, owners: list[tuple[str, bool]], label: str | None, node: str | None) -> dict:
    metadata = {"namespace": namespace, "name": name, "labels": {"k": label} if label else {}}
    if owners:
        metadata["ownerReferences"] = [{"uid": uid, "controller": controller} for uid, controller in owners]
    return {"metadata": metadata, "spec": {"nodeName": node} if node else {}}


TREES = st.builds(
    tree, st.sampled_from(["", "n1", "n2"]), NAMES, OWNERS, st.sampled_from([None, "v1", "v2"]), st.sampled_from([None, "m"]))
REMOVALS = st.builds(ObjectKey, st.sampled_from(["", "n1"]), NAMES)
STEPS = st.lists(st.one_of(TREES, REMOVALS, st.sampled_from(sorted(FUNCTIONS))), max_size=40)


class Plain:
    """The same without any cleverness: an object that changes its values in an index goes to the
    end of each of them, and a function under two names has one order.
    """

    def __init__(self) -> None:
        self.objects: dict[ObjectKey, dict] = {}
        self.found: dict[str, dict[str, list[ObjectKey]]] = {}

    def add_index(self, name: str) -> None:
        if name in self.found:
            return
        alike = next((known for known in self.found if FUNCTIONS[known] is FUNCTIONS[name]), None)
        self.found[name] = {} if alike is None else {value: [*keys] for value, keys in self.found[alike].items()}
        for key, obj in self.objects.items() if alike is None else ():
            self._enter(name, key, obj)

    def _enter(self, name: str, key: ObjectKey, obj: dict) -> None:
        for value in dict.fromkeys(FUNCTIONS[name](obj)):
            self.found[name].setdefault(value, []).append(key)

    def _leave(self, name: str, key: ObjectKey) -> None:
        for keys in self.found[name].values():
            if key in keys:
                keys.remove(key)

    def put(self, key: ObjectKey, obj: dict) -> None:
        old = self.objects.get(key)
        self.objects[key] = obj
        for name in self.found:
            if old is None or list(FUNCTIONS[name](old)) != list(FUNCTIONS[name](obj)):
                self._leave(name, key)
                self._enter(name, key, obj)

    def remove(self, key: ObjectKey) -> None:
        self.objects.pop(key, None)
        for name in self.found:
            self._leave(name, key)


@given(STEPS)
def test_it_finds_what_a_search_would_find(steps: list) -> None:
    """Given objects that come, change owners, labels and nodes and go, and indices that come in
    between / when all is looked up / then every list has the same objects in the same order as a
    search, and nothing else is left in an index.
    """
    indexer, plain = Indexer(), Plain()
    for step in steps:
        if isinstance(step, str):
            indexer.add_index(step, FUNCTIONS[step])
            plain.add_index(step)
        elif isinstance(step, ObjectKey):
            assert indexer.remove(step) is plain.objects.get(step)
            plain.remove(step)
        else:
            key = meta.key_of(step)
            assert indexer.put(key, step) is plain.objects.get(key)
            plain.put(key, step)
        assert list(indexer.list()) == list(indexer) == list(plain.objects.values())
        assert indexer.all_keys() == list(plain.objects)
        for namespace in ("n1", "n2"):
            assert list(indexer.list(namespace)) == [obj for key, obj in plain.objects.items() if key.namespace == namespace]
        for name, found in plain.found.items():
            assert sorted(indexer.index_values(name)) == sorted(value for value, keys in found.items() if keys)
            for value, keys in found.items():
                assert [id(obj) for obj in indexer.by_index(name, value)] == [id(plain.objects[key]) for key in keys]


def test_a_function_under_two_names_has_one_order() -> None:
    """Given an index in which an object changed its value / when the function is indexed under
    another name, too Then both names give the same list in the same order, the object that came to
    the value last at its end.
    """
    indexer = Indexer()
    indexer.add_index("node again", by_node_name)
    for step in (tree("n1", "a", [], None, None), tree("", "a", [], None, "m"), tree("n1", "a", [], None, "m")):
        indexer.put(meta.key_of(step), step)
    indexer.add_index("node", by_node_name)
    for name in ("node again", "node"):
        assert [meta.namespace_of(obj) for obj in indexer.by_index(name, "m")] == ["", "n1"]


def test_a_change_in_place_of_owners_is_seen() -> None:
    """Given an object with an owner / when another tree of it has an equal list of owners, and then
    another list / then it is found under those that it has.
    """
    indexer = Indexer()
    indexer.add_index("owners", by_owner_uid)
    for uids in (["u1"], ["u1"], ["u2"], []):
        obj = tree("n1", "a", [(uid, True) for uid in uids], None, None)
        indexer.put(meta.key_of(obj), obj)
        assert {uid: list(indexer.by_index("owners", uid)) for uid in ("u1", "u2")} == {
            uid: [obj] if uid in uids else [] for uid in ("u1", "u2")}
