"""Bytes from one task to another."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakekube.util import pipe as pipe_module
from fakekube.util.pipe import Pipe


async def test_a_reader_waits_for_what_comes() -> None:
    """Given an empty pipe / when something is put in / then the reader that waited has it, and then
    waits again.
    """
    pipe = Pipe()
    reading = asyncio.ensure_future(pipe.read())
    await asyncio.sleep(0)
    assert not reading.done()
    pipe.feed(b"abc")
    assert await reading == b"abc"
    assert pipe.waiting == 0


async def test_the_end_is_read_as_nothing() -> None:
    """Given a pipe that ended / when it is read / then what was there comes first, then nothing;
    nothing gets in any more.
    """
    pipe = Pipe()
    pipe.feed(b"last")
    pipe.end()
    pipe.end()
    pipe.feed(b"late")
    assert [await pipe.read(), await pipe.read(), await pipe.read_line()] == [b"last", b"", b""]
    assert pipe.ended


async def test_a_line_without_an_end_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a limit of lines / when more comes without an end / then it is read as far as it goes.
    """
    monkeypatch.setattr(pipe_module, "MAX_LINE_BYTES", 10)
    pipe = Pipe()
    pipe.feed(b"x" * 11)
    assert await pipe.read_line() == b"x" * 11


@given(st.lists(st.binary(max_size=6), max_size=8))
def test_lines_are_what_was_put_in(pieces: list[bytes]) -> None:
    """Given bytes in any pieces / when they are read line by line / then the lines are those of the
    whole, and none is cut.
    """
    async def lines() -> list[bytes]:
        pipe, found = Pipe(), []
        for piece in pieces:
            pipe.feed(piece)
        pipe.end()
        while line := await pipe.read_line():
            found.append(line)
        return found

    found = asyncio.run(lines())
    assert b"".join(found) == b"".join(pieces)
    assert all(line.endswith(b"\n") for line in found[:-1])
    assert all(b"\n" not in line[:-1] for line in found)
