"""What plugins keep for one scheduling cycle of a pod.

Upstream: kube-scheduler/framework/cycle_state.go, pkg/scheduler/framework/cycle_state.go. A plugin
keeps what it likes under its own name. A value with a method ``clone`` is cloned with the state;
any other is shared by the clones, and must not be changed once it was written.
"""

from typing import Any


class CycleState(dict[str, Any]):
    """Values by name of the plugin, and which plugins are left out for this pod.

    ``skip_filter_plugins`` are set by PreFilter, ``skip_score_plugins`` by PreScore,
    ``skip_pre_bind_plugins`` by PreBindPreFlight. ``pod_group``: the state of the group cycle that
    the pod is scheduled in, None for a pod on its own. ``pods_to_activate``: uids that plugins want
    to be tried again once this pod has its node (upstream: PodsToActivate).
    """

    __slots__ = ("pod_group", "pods_to_activate", "skip_filter_plugins", "skip_pre_bind_plugins", "skip_score_plugins")

    def __init__(self) -> None:
        super().__init__()
        self.skip_filter_plugins: frozenset[str] = frozenset()
        self.skip_score_plugins: frozenset[str] = frozenset()
        self.skip_pre_bind_plugins: frozenset[str] = frozenset()
        self.pod_group: CycleState | None = None
        self.pods_to_activate: dict[str, None] = {}

    def clone(self) -> "CycleState":
        """A copy for what-if questions: its values can be changed apart from these."""
        copied = CycleState()
        for name, value in self.items():
            clone = getattr(value, "clone", None)
            copied[name] = value if clone is None else clone()
        copied.skip_filter_plugins, copied.skip_score_plugins = self.skip_filter_plugins, self.skip_score_plugins
        copied.skip_pre_bind_plugins, copied.pod_group = self.skip_pre_bind_plugins, self.pod_group
        copied.pods_to_activate = self.pods_to_activate
        return copied
