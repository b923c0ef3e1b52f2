"""The addresses of nodes and pods: each follows from the order in which nodes and pods came."""

from fakekube.apimachinery.types import Tree


class Addresses:
    """Where nodes and pods are. ``numbers`` are the places of the nodes among those that there ever were; new ones are added.

    ``of_pods`` are the addresses of pods that are there, by uid, and ``pod_numbers`` the place of each node's latest pod.
    """

    def __init__(self, numbers: dict[str, int], of_pods: dict[str, str], pod_numbers: dict[str, int]) -> None:
        self.numbers, self._of_pods, self._pod_numbers = numbers, of_pods, pod_numbers

    def dump(self) -> Tree:
        """All of it, for another kubelet."""
        return {"nodes": dict(self.numbers), "addresses": dict(self._of_pods), "pods": dict(self._pod_numbers)}

    def number_of(self, node: str) -> int:
        """The place of a node among those that there ever were; addresses come from it."""
        return self.numbers.setdefault(node, len(self.numbers))

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

    def forget(self, uid: str) -> None:
        """A pod is gone."""
        self._of_pods.pop(uid, None)


def address(number: int) -> str:
    """The address of the cluster's Nth node."""
    return f"192.168.{number // 250}.{number % 250 + 1}"


def pod_address(node_number: int, pod_number: int) -> str:
    """The address of a node's Nth pod."""
    return f"10.{244 + node_number // 256}.{node_number % 256}.{pod_number % 250 + 2}"
