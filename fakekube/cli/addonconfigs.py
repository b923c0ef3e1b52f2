"""The configurations of add-ons on the command line: ``--NAME-config FILE``.

Which add-ons there are is known only where the command runs: each has such an option, which is
another way to say ``--addon-config NAME=FILE``.
"""

from collections.abc import Iterator, Sequence

import click

ENDING = "-config"


class WithAddOnConfigs(click.Command):
    """A command that takes them."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """The arguments that are left, as click has it."""
        known = [name for option in self.params for name in option.opts]
        return super().parse_args(ctx, [*_spelled_out(args, known)])


def _spelled_out(args: Sequence[str], known: Sequence[str]) -> Iterator[str]:
    waiting = ""
    for arg in args:
        option, equals, value = arg.partition("=")
        name = option.removeprefix("--").removesuffix(ENDING)
        if waiting:
            yield from ("--addon-config", f"{waiting}={arg}")
            waiting = ""
        elif option == f"--{name}{ENDING}" and option not in known and _is_addon(name):
            if equals:
                yield from ("--addon-config", f"{name}={value}")
            else:
                waiting = name
        else:
            yield arg
    if waiting:
        raise click.BadOptionUsage(f"--{waiting}{ENDING}", f"Option '--{waiting}{ENDING}' requires an argument.")


def _is_addon(name: str) -> bool:
    from fakekube.composition.installed import installed

    return name in installed().addons
