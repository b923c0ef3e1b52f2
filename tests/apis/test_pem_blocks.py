"""PEM blocks of a trust bundle, as Go's encoding/pem finds them."""

import pytest

from fakekube.apis.certificates.der import Block, pem_blocks

A, B = Block("A", headers=False, content=b"a"), Block("B", headers=False, content=b"b")


@pytest.mark.parametrize(("text", "found"), [
    ("-----BEGIN A-----\nYQ==\n-----END A-----", [A]),
    ("-----BEGIN A----- \t\r\nYQ==\r\n-----END A----- \r\n", [A]),
    ("-----BEGIN A-----\nY Q\t==\n-----END A-----\n", [A]),
    ("-----BEGIN A-----\n-----END A-----\n", [Block("A", headers=False, content=b"")]),
    ("-----BEGIN -----\nYQ==\n-----END -----\n", [Block("", headers=False, content=b"a")]),
    ("-----BEGIN A-----\nK: v\n\nYQ==\n-----END A-----\n", [Block("A", headers=True, content=b"a")]),
    ("-----BEGIN A-----\nK: v\n-----END A-----\n", []),
    ("-----BEGIN A-----\n-----BEGIN A-----\nYQ==\n-----END A-----\n", [A]),
    ("-----BEGIN A-----\nYQ==\n-----BEGIN B-----\nYg==\n-----END B-----\n-----END A-----\n", [B]),
    ("-----BEGIN A-----\nYQ==\n-----END B-----\n-----BEGIN B-----\nYg==\n-----END B-----\n", [B]),
    ("-----BEGIN A-----\nYQ==\n-----END B-----\nYQ==\n-----END A-----\n", []),
    ("-----BEGIN A-----\nYQ==\n-----END A-----x\n-----BEGIN A-----\nYQ==\n-----END A-----\n", [A]),
    ("-----BEGIN A-----\nYQ\n-----END A-----\n-----BEGIN B-----\nYg==\n-----END B-----\n", [B]),
    ("-----BEGIN A-----\nYQ==\n-----BEGIN x\n-----END A-----\n", []),
    ("-----BEGIN A-----\nYQ==\n x-----BEGIN x\n-----END A-----\n", []),
    ("-----BEGIN A-----\nYQ==-----END A-----\n", []),
    ("-----BEGIN A----\nYQ==\n-----END A-----\n", []),
    ("x -----BEGIN A-----\nYQ==\n-----END A-----", []),
    ("-----BEGIN A-----\nY\x0bQ==\n-----END A-----\n", []),
    ("-----BEGIN A-----\nY\xa0Q==\n-----END A-----\n", []),
    ("-----BEGIN A-----\nYé==\n-----END A-----\n", []),
    ("", []),
])
def test_blocks_of_a_text(text: str, found: list[Block]) -> None:
    """Given a text, when its blocks are asked for, then they are those that Go finds; what is not
    well formed is passed over.
    """
    assert pem_blocks(text) == found


def test_beginnings_without_an_end() -> None:
    """Given a text as long as a bundle may be, all of it beginnings of which one has an end, when
    its blocks are asked for, then there is the one: a beginning does not look for its end.
    """
    assert pem_blocks("-----BEGIN A-----\n" * 58_000 + "YQ==\n-----END A-----\n") == [A]
