"""``fakekube explore``: a run of pytest with very many seeds, over processes or over machines."""

from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Iterator
    from concurrent.futures import Executor

    from fakekube.exploration.sweeping import Sweep


@click.command()
@click.option("--seeds", default="1000", show_default=True, metavar="SEEDS", help="How many seeds, or which: 1000, 1001-2000.")
@click.option("--strategies", default="", metavar="NAMES", help=(
    "What goes wrong with the operator that is tested, in place of a schedule: intermediate-states, stale-states, "
    "unobserved-states, slow-deliveries, duplicate-deliveries, conflicts, ambiguous-writes; several with commas, or all."))
@click.option("--workers", type=click.IntRange(1), metavar="N", help="How many processes. [default: one for each core]")
@click.option("--dask", metavar="ADDRESS", help=(
    "Use the workers of a Dask cluster, tcp://127.0.0.1:8786 say, in place of processes; needs fakekube[dask]. Each has the "
    "project in the directory that this one has it in."))
@click.argument("command", nargs=-1, required=True, metavar="-- pytest ...")
@click.pass_context
def explore(
    context: click.Context, seeds: str, strategies: str, workers: int | None, dask: str | None, command: tuple[str, ...],
) -> None:
    """Run a command in which pytest runs, its tests first calm and then with very many seeds.

    Exits with 1 when a test fails, with its seed shrunk and told.
    """
    from shutil import which

    from fakekube.exploration.seeds import SeedsError, seeds_of
    from fakekube.exploration.strategies import StrategyError, strategies_of
    from fakekube.exploration.sweeping import sweep

    try:
        wanted = seeds_of(seeds)
    except SeedsError as error:
        raise click.UsageError(f"--seeds: {error}") from error
    try:
        named = ",".join(strategies_of(strategies)) if strategies else ""
    except StrategyError as error:
        raise click.UsageError(f"--strategies: {error}") from error
    if which(command[0]) is None:
        raise click.ClickException(f"there is no command {command[0]!r} here")
    try:
        with _executor(workers, dask) as (executor, count):
            found = sweep(command, wanted, executor, count, (f"--fakekube-strategies={named}",) if named else ())
    except (ImportError, OSError, ValueError) as error:
        raise click.ClickException(str(error)) from error
    context.exit(_show(found))


@contextmanager
def _executor(workers: int | None, dask: str | None) -> "Iterator[tuple[Executor, int]]":
    """What runs the parts, and how many at a time. Raises ImportError, OSError, ValueError."""
    if dask is not None:
        from fakekube.exploration.dask import connected

        with connected(dask) as (executor, count):
            yield executor, count
        return
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context
    from os import cpu_count

    count = workers or cpu_count() or 1
    with ProcessPoolExecutor(count, get_context("spawn")) as executor:
        yield executor, count


def _show(found: "Sweep") -> int:
    """Print what came of it; the exit code."""
    for test in found.tests:
        click.echo(str(test))
        for failure in test.failures:
            click.echo(f"\n{failure.story}\n")
    for text in found.problems:
        click.echo(f"\n{text}", err=True)
    if not found.tests and not found.problems:
        click.echo("nothing was explored: no test of the command has a cluster of its own", err=True)
    return 0 if found.tests and not found.problems and not any(test.failures for test in found.tests) else 1
