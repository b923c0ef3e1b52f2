"""``fakekube demo``: which stories there are, and the command of each."""

from collections.abc import Mapping
from types import MappingProxyType

import click


class _Demos(click.Group):
    """Our own demonstrations, and those of installed packages."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        from fakekube.cli.demos.stage import installed

        return sorted([*super().list_commands(ctx), *installed()])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        from fakekube.cli.demos.stage import installed

        own = super().get_command(ctx, cmd_name)
        if own is not None or cmd_name not in installed():
            return own
        found = installed()[cmd_name].load()()
        return _story_command(cmd_name, found.speed, found.about)


@click.group(cls=_Demos)
def demo() -> None:
    """Watch a cluster at work, step by step."""


STORIES: Mapping[str, tuple[float, str]] = MappingProxyType({
    "job": (10.0, "A Job's whole life. Created, scheduled, run, failed once, retried, complete, deleted, collected."),
    "cronjob": (30.0, "A Job each minute. One takes too long; then a suspension, and the end of history."),
    "failure-policy": (10.0, "Which failures a Job tries again. Others end it, and some do not count."),
    "success-policy": (10.0, "A Job that is done as soon as its leader is."),
    "rollout": (10.0, "A new version of a Deployment. Then one that gets stuck, and the way back."),
    "node-failure": (15.0, "A node falls silent, is given up, and comes back."),
    "drain": (5.0, "A node is emptied for maintenance. A PodDisruptionBudget has it done pod by pod."),
    "statefulset": (5.0, "Pods with names of their own. They are made, replaced, updated and removed in order."),
    "autoscaler": (20.0, "Load comes and goes, and replicas follow it. An autoscaler does that."),
    "probes": (10.0, "Containers that are slow, busy or stuck. A probe for each finds it out."),
    "gang": (10.0, "Jobs that start whole or not at all. One that waits holds nothing."),
    "preemption": (10.0, "A gang that matters more than others. Who has to go, and who is spared."),
    "topology": (10.0, "A gang that stays in one rack. It waits until one has room for all of it."),
    "composite": (5.0, "Two roles that start together. Each is a gang, and neither starts without the other."),
    "spreading": (5.0, "Pods that are spread over zones. As evenly as they have to be."),
    "flaky-operator": (10.0, "A bug that comes once in a while. It is found, shrunk, told and mended."),
    "garbage-collection": (3.0, "What is deleted with its owner. In the background, in the foreground, or not at all."),
})
"""What can be watched: the speed that suits it, and what it is about."""


def _story_command(name: str, speed: float, about: str) -> click.Command:
    @click.command(name, help=about)
    @click.option("--speed", type=float, default=speed, show_default=True, help=(
        "How many times as fast as the wall's the cluster's time runs."))
    @click.option("--pause/--no-pause", "pauses", default=False, show_default=True, help=(
        "Stop after each step until Enter is pressed; the cluster's time stands meanwhile."))
    @click.option("--manifests", is_flag=True, help="Show the YAML of what the story creates.")
    @click.option("--join", is_flag=True, help=(
        "Serve the cluster on a loopback port for kubectl, and keep it after the end until Ctrl-C."))
    @click.option("--kubeconfig", type=click.Path(), metavar="FILE", help=(
        "Where --join writes a kubeconfig; without it, a temporary file."))
    @click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of names, uids and jitter.")
    def play(speed: float, pauses: bool, manifests: bool, join: bool, kubeconfig: str | None, seed: int) -> None:
        from fakekube.cli.demos.stage import run

        run(name, speed, pauses=pauses, manifests=manifests, join=join, kubeconfig=kubeconfig, seed=seed)

    return play


for _name, (_speed, _about) in STORIES.items():
    demo.add_command(_story_command(_name, _speed, _about))
