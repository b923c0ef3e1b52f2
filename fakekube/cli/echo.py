"""Printing for those who may have gone: a server serves on when nobody reads what it prints any
more.
"""

import os
import sys

import click


def say(text: str) -> None:
    """Print a text, unless standard output is closed."""
    try:
        click.echo(text)
    except (BrokenPipeError, ValueError):
        forget_output()


def forget_output() -> None:
    """Let what is printed from now on, and what was not written yet, go nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, sys.stdout.fileno())
    except (OSError, ValueError, AttributeError):
        sys.stdout = None
    finally:
        os.close(nowhere)
