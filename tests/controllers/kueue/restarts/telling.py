"""What Kueue does in a play in which it does not die.

``python -m tests.controllers.kueue.restarts.telling`` plays all and writes it down, for review: the
difference to what stood there is the change in behaviour.
"""

import asyncio
from pathlib import Path

from fakekube import Cluster
from tests.controllers.kueue.restarts import appplays, fleetplays, jobplays, podplays
from tests.controllers.kueue.restarts.dying import Play
from tests.controllers.stories.story import happened

FOLDER = Path(__file__).parent / "told"
OTHERS = ("fakekube", "kubelet", "kube-scheduler", "kube-controller-manager", "kuberay-operator", "lws", "jobset")
PLAYS: dict[str, Play] = {
    play.act.__name__: play for play in (*jobplays.PLAYS, *podplays.PLAYS, *appplays.PLAYS, *fleetplays.PLAYS)}


async def tell(play: Play) -> list[str]:
    """What Kueue writes and says, for each cluster."""
    async with play.scene() as scene:
        members = {"": scene} if isinstance(scene, Cluster) else scene
        began = {name: cluster.apiserver.storage.revision for name, cluster in members.items()}
        await play.act(scene)
        return [
            line for name, cluster in members.items() for line in (f"-- {name}", *happened(cluster, began[name], OTHERS))]


async def _write_down() -> None:
    for name, play in PLAYS.items():
        (FOLDER / f"{name}.txt").write_text("\n".join(await tell(play)) + "\n")


if __name__ == "__main__":
    asyncio.run(_write_down())
