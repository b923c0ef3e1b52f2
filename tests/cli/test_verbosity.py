"""How much a server tells on stderr."""

import logging
from collections.abc import Iterator

import pytest

from fakekube.cli.serve import _log

LOGGERS = ("fakekube", "fakekube_controllers")


@pytest.fixture(autouse=True)
def _levels_as_before() -> Iterator[None]:
    before = [logging.getLogger(name).level for name in LOGGERS]
    yield
    for name, level in zip(LOGGERS, before, strict=True):
        logging.getLogger(name).setLevel(level)


@pytest.mark.parametrize(("verbosity", "level"), [
    (0, "WARNING"), (1, "WARNING"), (2, "INFO"), (3, "INFO"), (4, "DEBUG"), (10, "DEBUG")])
def test_verbosity_is_upstreams(verbosity: int, level: str) -> None:
    """Given a number for ``-v``, when a server logs, then warnings are told, progress from 2 on,
    harmless races from 4 on.
    """
    _log(verbosity)
    for name in ("fakekube.runtime.controller", "fakekube_controllers.podgc"):
        assert logging.getLevelName(logging.getLogger(name).getEffectiveLevel()) == level
