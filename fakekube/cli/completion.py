"""``fakekube completion``: what a shell runs to complete our commands and options, by click's own
means.
"""

import click
from click.shell_completion import get_completion_class

NAME = "fakekube"
VARIABLE = "_FAKEKUBE_COMPLETE"


def script(shell: str, cli: click.Command) -> str:
    """The script for ``bash``, ``zsh`` or ``fish``."""
    found = get_completion_class(shell)
    assert found is not None, shell
    return found(cli, {}, NAME, VARIABLE).source()
