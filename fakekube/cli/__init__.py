"""The command line. Read ``main.py`` first; every command imports what it needs when it runs."""

import gc
from typing import Any


def main() -> Any:
    """The console script.

    The process is ours alone, so that its cyclic collector is ours to tune: modules while they are
    imported, and decoded trees afterwards, hold few cycles, and looking for some is rarely worth
    it.
    """
    gc.set_threshold(50_000, 50, 1000)
    from fakekube.cli.main import cli

    return cli(prog_name="fakekube")
