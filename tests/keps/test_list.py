"""The list of examples names what there is."""

import re

import pytest
import yaml

from tests.keps.examples import FOLDER, example

NAMES = sorted(path.stem for path in FOLDER.glob("*.yaml"))
WORLDS = ("nodes", "queues")
"""What examples run on."""
LINE = re.compile(r"^\| `([\w.-]+)\.yaml` \| (KEP-\d{2,4})[^|]*\| (\d\.\d\d|draft)", re.MULTILINE)


def test_every_example_is_listed_with_its_release() -> None:
    """Given the folder, when its page is read, then it has a line for each file, whose KEP and
    release are those of the name.
    """
    listed = LINE.findall((FOLDER / "README.md").read_text())
    assert sorted(name for name, _, _ in listed) == [name for name in NAMES if name not in WORLDS]
    assert [f"{kep[4:]}-{release}" for _, kep, release in listed] == ["-".join(name.split("-")[:2]) for name, _, _ in listed]


@pytest.mark.parametrize("name", NAMES)
def test_an_example_says_what_it_is(name: str) -> None:
    """Given a file, when it is read, then a comment of whole sentences stands above its objects,
    and it has no merge keys or anchors, which kubectl does not take.
    """
    text = (FOLDER / f"{name}.yaml").read_text()
    comment = [line for line in text.splitlines() if line.startswith("#")]
    assert text.startswith("# ")
    assert comment[-1].endswith(".")
    assert name in WORLDS or re.search(r"^# KEP-\d{2,4}, ", text)
    assert "<<:" not in text
    assert not any(isinstance(token, yaml.AnchorToken) for token in yaml.scan(text))
    assert all({"apiVersion", "kind", "metadata"} <= found.keys() for found in example(name))
