"""The addresses of nodes and pods: each follows from the order in which nodes and pods came."""

from fakekube.apimachinery.types import ReadOnlyTree, Tree


class Addresses:
    """Where nodes and pods are. A node's address follows from its number, a pod's from that and the
    pod's number there.
    """

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}  # by node
        # the number of the next node; those of deleted ones are not given again
        self._following = 0
        self._of_pods: dict[str, str] = {}  # by uid, of the pods that are there
        self._pod_numbers: dict[str, int] = {}  # of each node's latest pod

    def dump(self) -> Tree:
        """All of it, for another kubelet."""
        return {"nodes": dict(self._numbers), "addresses": dict(self._of_pods), "pods": dict(self._pod_numbers)}

    def load(self, state: ReadOnlyTree) -> None:
        """Know what another kubelet dumped."""
        self._numbers, self._of_pods = dict(state["nodes"]), dict(state["addresses"])
        self._pod_numbers = dict(state["pods"])
        self._following = max(self._numbers.values(), default=-1) + 1

    def number_of(self, node: str) -> int:
        """A node's number: how many nodes had asked before it."""
        found = self._numbers.get(node)
        if found is None:
            found = self._numbers[node] = self._following
            self._following += 1
        return found

    def of_node(self, node: str) -> str:
        """A node's address."""
        return address(self.number_of(node))

    def of_pod(self, node: str, uid: str, on_host: bool) -> str:
        """A pod's address: its node's, or one of its own for as long as it is there."""
        if on_host:
            return self.of_node(node)
        found = self._of_pods.get(uid)
        if found is None:
            number = self._pod_numbers[node] = self._pod_numbers.get(node, -1) + 1
            found = self._of_pods[uid] = pod_address(self.number_of(node), number)
        return found

    def forget_node(self, node: str) -> None:
        """A node is gone."""
        self._numbers.pop(node, None)

    def forget_pod(self, uid: str) -> None:
        """A pod is gone."""
        self._of_pods.pop(uid, None)


def address(number: int) -> str:
    """The address of the cluster's Nth node."""
    return f"192.168.{number // 250}.{number % 250 + 1}"


def pod_address(node_number: int, pod_number: int) -> str:
    """The address of a node's Nth pod."""
    return f"10.{244 + node_number // 256}.{node_number % 256}.{pod_number % 250 + 2}"
