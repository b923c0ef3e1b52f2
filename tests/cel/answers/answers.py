"""What expressions come to: value, type and cost, or the words of the refusal.

``python -m tests.cel.answers.answers`` writes it down again, for review.
"""

from pathlib import Path

from fakekube.cel import trial
from fakekube.cel.errors import CelError

FOLDER = Path(__file__).parent
DATA = {
    "l": [3, 1, 2], "s": "hello world", "m": {"a": 1, "b": "x"}, "n": None, "d": 1.5, "t": True, "e": [],
    "o": [{"k": "b", "v": 2}, {"k": "a", "v": 1}], "x": [1, "a", None], "words": ["b", "a"],
}


def answer(text: str) -> str:
    """The line that tells of an expression."""
    try:
        tried = trial.run(text, DATA, minor=37)
    except CelError as error:
        return f"{text}  # {type(error).__name__}: {str(error).replace(chr(10), ' / ')}"
    return f"{text}  # {tried.value} ({tried.type}, cost {tried.cost})"


def expressions() -> list[str]:
    """All of them."""
    return (FOLDER / "expressions.txt").read_text().splitlines()


if __name__ == "__main__":
    (FOLDER / "answers.txt").write_text("\n".join(map(answer, expressions())) + "\n")
