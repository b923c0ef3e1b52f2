"""What a kubelet needs for pods: made when the first pod comes to a node.

A cluster of a test that has nodes and no pods starts sooner without it. ``pods`` takes pods through
their life, ``server`` answers the API server, ``staged.py`` lets KWOK's Stages write the status of
pods instead.
"""

from fakekube.apimachinery.types import Tree
from fakekube.cache.indexer import by_node_name
from fakekube.client.resources import NODES, PODS
from fakekube.runtime.context import Context
from fakekube_controllers.kubelet.node.addresses import Addresses
from fakekube_controllers.kubelet.node.clients import NodeClients
from fakekube_controllers.kubelet.node.mode import KubeletModes
from fakekube_controllers.kubelet.outcomes.outcome import Defaults
from fakekube_controllers.kubelet.pods.admission import PodAdmission
from fakekube_controllers.kubelet.pods.attempts import Attempts
from fakekube_controllers.kubelet.pods.checkpoint import Checkpoint
from fakekube_controllers.kubelet.pods.events import PodEvents
from fakekube_controllers.kubelet.pods.failures import OutcomeFailures
from fakekube_controllers.kubelet.pods.references import References
from fakekube_controllers.kubelet.pods.runs import PodRuns, RunBuilder
from fakekube_controllers.kubelet.pods.status_manager import StatusManager
from fakekube_controllers.kubelet.pods.workers import NODE_INDEX, PodWorkers
from fakekube_controllers.kubelet.server.server import Server
from fakekube_controllers.kubelet.staged import Staged

OBSERVED_GENERATION, PULL_CHECKED = "PodObservedGenerationTracking", "KubeletEnsureSecretPulledImages"
RESTART_RULES, QUICK_RESTARTS = "ContainerRestartRules", "ReduceDefaultCrashLoopBackOffDecay"


class PodParts:
    """``addresses`` and ``modes`` are the kubelet's own.

    What containers do outlives a stop: they run on while their kubelet is down. Everything else is
    made anew by ``start``.
    """

    def __init__(self, addresses: Addresses, modes: KubeletModes) -> None:
        self._addresses, self._modes = addresses, modes
        self.runs = PodRuns()
        self.staged = Staged(lambda uid: uid in self.runs)
        self._attempts = Attempts()
        self._failure_lines: list[str] = []

    def dump(self) -> Checkpoint:
        """What is not in the API: what containers do, and who has which address."""
        return self.runs.dump(
            {"attempts": self._attempts.dump(), **self._addresses.dump(), "stages": self.staged.dump()})

    def load(self, state: Checkpoint | Tree) -> None:
        """Go on from where another kubelet was; before ``start``."""
        rest = self.runs.checkpoints.load(state)
        self._attempts.load(rest["attempts"])
        self._addresses.load(rest)
        self.staged.load(rest.get("stages"))

    def start(self, ctx: Context, clients: NodeClients) -> None:
        """Begin to look after pods."""
        runs, modes, addresses = self.runs, self._modes, self._addresses
        defaults: Defaults = ctx.options.get("kubelet_defaults") or Defaults()
        events = PodEvents(ctx.recorder("kubelet", client_of=clients.of), addresses, pull_checked=ctx.enabled(PULL_CHECKED))
        failures = OutcomeFailures(events, self._failure_lines)
        queue = ctx.queue("kubelet")
        references = References(ctx, queue.add)
        builder = RunBuilder(
            ctx.options.get("outcome"), defaults, events.container, rules=ctx.enabled(RESTART_RULES),
            quick=ctx.enabled(QUICK_RESTARTS), references=references)
        runs.rebuild_with(lambda pod: builder.build(pod, ctx.clock.time(), 0))
        pods, nodes = ctx.lister(PODS), ctx.lister(NODES)
        ctx.informer(PODS).add_index(NODE_INDEX, by_node_name)
        self.server = Server(ctx, runs, modes, queue, defaults)
        self.workers = PodWorkers(
            ctx, queue, runs,
            PodAdmission(
                runs, self._attempts, nodes, modes, events, failures, defaults, build=builder.build,
                pods_on=lambda node: pods.by_index(NODE_INDEX, node)),
            StatusManager(
                clients, addresses, observed_generation=ctx.enabled(OBSERVED_GENERATION),
                removal_seconds=defaults.removal_seconds),
            events, failures, addresses=addresses, modes=modes, staged=self.staged, observer=self.server,
            references=references)
        self.staged.start(ctx, addresses, modes)
        ctx.explainers.append(failures.explain)
        ctx.tasks.spawn(self.workers.forget_gone(), "kubelet housekeeping")

    def close(self) -> None:
        """Everything else belongs to the context."""
        self.server.close()
        self.staged.close()

