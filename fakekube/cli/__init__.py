"""The command line. Read ``main.py`` first; every command imports what it needs when it runs."""

from typing import Any


def main() -> Any:
    """The console script."""
    from fakekube.cli.main import cli

    return cli(prog_name="fakekube")
