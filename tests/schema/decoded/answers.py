"""What bodies become, and why they are refused, in one table.

Each line of ``answers.txt`` is a way of reading, a kind, a body (for a change: the one before and
the one after it) and what comes of it. ``python -m tests.schema.decoded.answers`` writes the
answers down again, for review; a line may end after the body.
"""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import orjson

from fakekube.schema.decode import Decoded, DecodeError
from fakekube.schema.protobuf.codec import ProtobufCodec
from fakekube.schema.protobuf.wire import WireError
from tests.schema.releases import codec, release

FILE = Path(__file__).with_name("answers.txt")


def _tree(body: str) -> Any:
    return json.loads(body) if "e400" in body else orjson.loads(body)


def _told(found: Decoded) -> list[Any]:
    return [found.tree, found.unknown]


def _changed(kind: str, body: str) -> list[Any]:
    """A body that was made from another one, with which it shares what is equal."""
    before, after = json.loads(body)
    old = codec(*kind.split()).decode(before).tree
    kept = json.dumps(old)
    found = _told(codec(*kind.split()).decode(_sharing(after, old), old=old))
    assert json.dumps(old) == kept, "what stood there before is nobody's to change"
    return found


def _sharing(new: Any, old: Any) -> Any:
    if new == old and json.dumps(new) == json.dumps(old):
        return old
    if isinstance(new, dict) and isinstance(old, dict):
        return {key: _sharing(value, old.get(key)) for key, value in new.items()}
    if isinstance(new, list) and isinstance(old, list):
        return [next((one for one in old if json.dumps(one) == json.dumps(value)), value) for value in new]
    return new


def _protobuf(_: str, body: str) -> Any:
    """A body in hexadecimal digits, to be read, or one in JSON, to be written."""
    found = ProtobufCodec(release())
    if not body.startswith("{"):
        return found.decode(bytes.fromhex(body))
    data = found.encode(json.loads(body))
    return None if data is None else data.hex()


WAYS: Mapping[str, Callable[[str, str], Any]] = {
    "decode": lambda kind, body: _told(codec(*kind.split()).decode(_tree(body), body.encode())),
    "without body": lambda kind, body: _told(codec(*kind.split()).decode(_tree(body))),
    "convert": lambda kind, body: _told(codec(*kind.split()).decode(_tree(body), converter=True)),
    "change": _changed,
    "strict": lambda kind, body: codec(*kind.split()).strict(body.encode()),
    "protobuf": _protobuf,
}


def answer(way: str, kind: str, body: str) -> Any:
    """What comes of a body, or the words in which it is refused."""
    try:
        return WAYS[way](kind, body)
    except (DecodeError, WireError) as error:
        return str(error)


def main() -> None:
    """Write them down."""
    rows = [json.loads(line)[:3] for line in FILE.read_text().splitlines()]
    FILE.write_text("".join(f"{json.dumps([*row, answer(*row)])}\n" for row in rows))


if __name__ == "__main__":
    main()
