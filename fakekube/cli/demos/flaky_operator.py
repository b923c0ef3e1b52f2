"""``fakekube demo flaky-operator``: a bug that comes once in a while is found, shrunk, told and
mended.

Nothing is written down beforehand: the operators' code is that of this module, and what is told of
their runs is what the runner of explorations gives back for the seeds that were asked for.
"""

import asyncio
import difflib
import inspect
import shutil
import textwrap
from collections.abc import Mapping
from typing import ClassVar

from fakekube.apimachinery import meta
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.cli.demos.stage import Story
from fakekube.cli.live import INDENT, MAX_COLUMNS
from fakekube.client.resources import CONFIG_MAPS, PODS, SECRETS, Resource
from fakekube.composition.cluster import Cluster
from fakekube.exploration import campaign, story
from fakekube.exploration.distinct import fingerprint
from fakekube.exploration.runner import Explored, Verdict
from fakekube.exploration.strategies import Calm
from fakekube.exploration.targets import calm_of
from fakekube.runtime.builder import Declaration, controller
from fakekube.runtime.context import Context
from fakekube.runtime.demo import Row
from fakekube.runtime.predicates import for_objects
from fakekube.runtime.reconcile import Request
from fakekube.testing.history import History
from fakekube.util.choices import Choices

STRATEGY = "intermediate-states"
SEEDS = 50
FIRST_SEED = 100
"""The seeds before it let an operator that writes so little die once each, so nothing is shrunk."""

DEEPER = " " * 6
POD = {"spec": {"containers": [{"name": "shop", "image": "shop:1"}]}}
NAMES = ("books", "fruit", "shoes")


def _is_shop(obj: ReadOnlyTree) -> bool:
    return (obj["metadata"].get("labels") or {}).get("kind") == "shop"


class Shops:
    """Makes a Pod and a Secret for each ConfigMap that is a shop. It has a bug."""

    def __init__(self, ctx: Context) -> None:
        self._client, self._listers = ctx.client, {each: ctx.lister(each) for each in (PODS, SECRETS)}

    async def reconcile(self, shop: Request) -> None:
        if self.has_made(PODS, shop):
            return
        await self.make(PODS, shop, POD)
        await self.make(SECRETS, shop, {})

    def has_made(self, resource: Resource, shop: Request) -> bool:
        """Whether the cache has a child of a shop."""
        return self._listers[resource].get(shop.namespace, shop.name) is not None

    async def make(self, resource: Resource, shop: Request, body: Tree) -> None:
        """Make a child of a shop, unless it is there."""
        try:
            await self._client.create(resource, {"metadata": {"name": shop.name}, **body}, shop.namespace)
        except APIError as error:
            if error.reason != "AlreadyExists":
                raise


class MendedShops(Shops):
    """Asks for what it makes last."""

    async def reconcile(self, shop: Request) -> None:
        if self.has_made(SECRETS, shop):
            return
        await self.make(PODS, shop, POD)
        await self.make(SECRETS, shop, {})


def _operator(make: type[Shops]) -> Declaration:
    return controller("shops").for_(CONFIG_MAPS, predicate=for_objects(_is_shop)).complete(make)


OPERATOR = _operator(Shops)


async def make_shops(cluster: Cluster) -> None:
    """What users do."""
    for name in NAMES:
        await cluster.client.create(CONFIG_MAPS, {"metadata": {"name": name, "labels": {"kind": "shop"}}}, "default")


async def verdict(cluster: Cluster) -> str:
    """What a test says of a cluster: what is wrong, or nothing."""
    made = [meta.name_of(secret) for secret in (await cluster.client.list(SECRETS, "default")).items]
    return "" if sorted(made) == sorted(NAMES) else "a shop has no Secret"


def explored(make: type[Shops], seeds: range) -> Explored:
    """Test with a plan of each seed, in loops of their own; the first failure is shrunk.

    The detail of a verdict is the history of its run.
    """
    async def run(choices: Choices) -> tuple[Verdict, list[Calm]]:
        async with Cluster(controllers="", schedule=choices, extra=[_operator(make)]) as cluster:
            await make_shops(cluster)
            await cluster.advance("1m")
            ended = Verdict(await verdict(cluster), fingerprint([cluster.apiserver.storage]), History.of(cluster))
            return ended, calm_of(cluster)

    return campaign.explore(
        lambda choices, _: asyncio.run(run(choices))[0], lambda _: asyncio.run(run(Choices(0, ()))),
        campaign.by_strategies([STRATEGY], seeds))


class Demo(Story):
    """The calm run passes; a seed fails, is shrunk and told; one line mends it."""

    nodes = 1
    extra = (OPERATOR,)
    header = ("NAME", "STATUS", "KIND")
    told: ClassVar[Mapping[str, str]] = {}

    def follows(self) -> Mapping[Resource, Row]:
        """What is made for shops."""
        return {PODS: _row("Pod"), SECRETS: _row("Secret")}

    async def tell(self) -> None:
        """From the calm day to the mended operator."""
        await self.say(
            "An operator makes a Pod and a Secret for each ConfigMap that is a shop. This is what it does for one:")
        self.table.quote(inspect.getsource(Shops.reconcile))
        await self.say("We make three shops, as its test does.")
        await make_shops(self.cluster)
        await self.until(lambda: len(self.rows(kind="Pod", status="Running")) == len(NAMES) == len(self.rows(kind="Secret")))
        told = await verdict(self.cluster) or "passed"
        await self.say(f"The test looks for three Secrets. It says: {told}. It does so each time.")
        first = self.seed or FIRST_SEED
        seeds = range(first, first + SEEDS)
        await self.say(
            f"Now the strategy {STRATEGY}: the operator dies before or after one of its writes, or several times, and starts "
            f"again with empty caches. When it dies, a seed says. We try {SEEDS}, from {first} on, each in a cluster of its "
            "own.")
        if not await self._explored(Shops, seeds):
            return
        await self.say(
            "It dies between its two writes, starts again, sees the Pod, and believes that all is done. This mends it:")
        self.table.quote("\n".join(_mending()))
        if await self._explored(MendedShops, seeds):
            return
        await self.say(
            "Whenever it dies, it makes what is missing. In a test of pytest one line does all this: "
            f'@pytest.mark.fakekube(strategies="{STRATEGY}", extra=[...]). See docs/strategies.md.')

    async def _explored(self, make: type[Shops], seeds: range) -> bool:
        """Explore in another thread, since each run has a loop, and say what came of it: whether a
        seed fails.
        """
        ended = await asyncio.to_thread(explored, make, seeds)
        found = ended.found
        await self.say(f"{ended}." if found is None else f"{ended}: {found.verdict.failure}.")
        if found is not None:
            width = min(shutil.get_terminal_size().columns, MAX_COLUMNS) - len(INDENT)
            command = f"fakekube demo flaky-operator --seed {found.seed}"
            lines = story.told(found, command, [found.verdict.detail])
            self.table.quote("\n".join(
                textwrap.fill(line, width, subsequent_indent=DEEPER, break_on_hyphens=False) for line in lines))
        return found is not None


def _mending() -> list[str]:
    """The lines of the code that differ, and those around them."""
    before, after = (inspect.getsource(make.reconcile).splitlines() for make in (Shops, MendedShops))
    return list(difflib.unified_diff(before, after, lineterm="", n=1))[3:]


def _row(kind: str) -> Row:
    def row(obj: Tree) -> tuple[str, ...]:
        return meta.name_of(obj), (obj.get("status") or {}).get("phase", ""), kind

    return row
