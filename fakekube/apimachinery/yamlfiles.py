"""Files of YAML or JSON that somebody gives us: manifests, configurations, kubeconfigs.

They are read by the one reader that bodies have, so that a text means the same wherever it stands;
what is wrong is one sentence, with the file and its line.
"""

from pathlib import Path

from fakekube.apimachinery import yaml
from fakekube.apimachinery.types import Json


class FileError(ValueError):
    """What a file holds cannot be read: ``config.yaml:3: did not find expected key``."""


def read(path: Path) -> Json:
    """What a file of one document says; None for an empty one. Raises FileError."""
    return one(text_of(path), str(path))


def text_of(path: Path) -> str:
    """The text of a file. Raises FileError."""
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise FileError(f"{path}: it is binary, and no YAML") from None
    except OSError as error:
        raise FileError(f"{path}: {error.strerror}") from error


def one(text: str, name: str) -> Json:
    """What a text of one document says; ``name`` stands for the file. Raises FileError."""
    found = documents(text, name)
    if len(found) > 1:
        raise FileError(f"{name}: there are {len(found)} documents in it, and one is expected")
    return found[0] if found else None


def documents(text: str, name: str) -> list[Json]:
    """All documents of a text; ``name`` stands for the file. Raises FileError."""
    try:
        return yaml.load_all(text.encode())
    except yaml.YAMLError as error:
        line = min(error.line, len(text.splitlines()))  # libyaml counts one more at the end
        raise FileError(f"{name}{f':{line}' if line else ''}: {error.problem}") from error
    except ValueError as error:  # half of a surrogate pair
        raise FileError(f"{name}: {error}") from error
