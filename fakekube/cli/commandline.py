"""How the command line fails: with one sentence on standard error, and never with a traceback.

What click calls a usage error ends with 2, all else with 1. Who closes the pipe that is written to
ends the command quietly.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click
from click.exceptions import NoArgsIsHelpError

from fakekube.cli.echo import forget_output
from fakekube.composition.options import OptionError


class Misuse(click.ClickException):
    """A command line that cannot be read, in one sentence."""

    exit_code = 2


class CommandLine(click.Group):
    """The group of all commands."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any,
    ) -> click.Context:
        """As the base, with errors in one sentence."""
        with _told_in_a_sentence():
            return super().make_context(info_name, args, parent, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        """As the base, with errors in one sentence."""
        with _told_in_a_sentence():
            return super().invoke(ctx)


@contextmanager
def _told_in_a_sentence() -> Iterator[None]:
    try:
        yield
    except NoArgsIsHelpError:
        raise
    except click.UsageError as error:
        raise Misuse(_line(error.format_message())) from error
    except BrokenPipeError:
        forget_output()
        raise click.exceptions.Exit(1) from None
    except (OptionError, OSError, UnicodeError) as error:
        raise click.ClickException(_line(str(error))) from error


def _line(text: str) -> str:
    return " ".join(text.split())
