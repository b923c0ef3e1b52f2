"""Expressions of all libraries, answered by upstream's own code.

``upstream/main.go`` evaluates expressions with the libraries of apiserver v0.37.1; what it said
stands in ``upstream/answers.jsonl``: the expression, its data, then its type with a value or an
error, or why it does not compile, and what it costs. Where Go is, random expressions are asked too.
"""

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cel import shown
from tests.cel.expressions import Generator
from tests.cel.unknown_types import Unknown
from tests.clients import toolchains

FOLDER = Path(__file__).parent / "upstream"
ANSWERS = [json.loads(line) for line in (FOLDER / "answers.jsonl").read_text().splitlines()]
QUESTION = ("expr", "data", "minor", "stored")
VALUES = {
    "i": "3", "j": "-7", "f": "2.5", "t": "'héllo wörld'", "b": "true", "ns": "[3, 1, 2]", "ts": "['a', '', 'b,c']",
    "m": "{'a': 1, 'b': 2}",
}
"""The variables of random expressions, as expressions."""

Ask = Callable[[list[dict[str, Any]]], list[dict[str, Any]]]


def name_of(answer: dict[str, Any]) -> str:
    """A name for a test: the expression, and the data if there is some."""
    return f"{answer['expr']} {json.dumps(answer['data']) if 'data' in answer else ''}"[:100]


def ours(question: dict[str, Any]) -> dict[str, Any]:
    """What we say of an expression."""
    return shown.answer(
        question["expr"], question.get("data", {}), minor=question.get("minor", 37), stored=question.get("stored", True))


@pytest.mark.spec("API-158")
@pytest.mark.parametrize("answer", ANSWERS, ids=name_of)
def test_an_expression_is_what_upstream_says(answer: dict[str, Any]) -> None:
    """given an expression, when it is compiled and evaluated, then all is as upstream has it"""
    expected = {key: value for key, value in answer.items() if key not in QUESTION}
    found = ours(answer)
    assert {key: found.get(key) for key in (*expected, *({"value", "error", "compile"} & found.keys()))} == expected


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Ask:
    """Upstream's code, built and asked."""
    binary = tmp_path_factory.mktemp("go") / "upstream"
    toolchains.prepare(["go", "mod", "download"], FOLDER, fetches=True)
    toolchains.prepare(["go", "build", "-o", str(binary), "."], FOLDER, fetches=False)

    def asked(questions: list[dict[str, Any]]) -> list[dict[str, Any]]:
        lines = "".join(json.dumps({"minor": 37, "stored": True} | question) + "\n" for question in questions)
        done = subprocess.run([binary], input=lines, capture_output=True, text=True, check=True)
        return [json.loads(line) for line in done.stdout.splitlines()]

    return asked


@pytest.mark.toolchain
@pytest.mark.timeout(1200)
@toolchains.needs("go")
def test_the_answers_are_upstreams(ask: Ask) -> None:
    """given the expressions, when upstream is asked again, then it says the same"""
    questions = [{key: answer[key] for key in QUESTION if key in answer} for answer in ANSWERS]
    for answer, said in zip(ANSWERS, ask(questions), strict=True):
        assert {key: said.get(key) for key in answer if key not in QUESTION} == {
            key: value for key, value in answer.items() if key not in QUESTION}


def question_of(seed: int) -> dict[str, Any]:
    """A random expression, with the variables that it has bound in it."""
    text = Generator(seed, ("strings", "optionals", "bindings", "kubernetes")).any(3)
    for name, value in VALUES.items():
        if re.search(rf"\b{name}\b", text):
            text = f"cel.bind({name}, {value}, {text})"
    return {"expr": text}


@pytest.mark.toolchain
@pytest.mark.timeout(1200)
@toolchains.needs("go")
@pytest.mark.parametrize("part", range(5))
def test_random_expressions_are_what_upstream_says(ask: Ask, part: int) -> None:
    """given random expressions, when both are asked, then all but the costs agree"""
    questions = [question_of(seed) for seed in range(part * 2000, (part + 1) * 2000)]
    found = []
    for question, said in zip(questions, ask(questions), strict=True):
        if "internal error" in said.get("error", "") or "program: " in said.get("compile", ""):
            continue
        keys = ("compile",) if "compile" in said else ("type", "value", "error", "min", "max")
        mine = ours(question)
        differing = {key: (mine.get(key), said.get(key)) for key in keys if mine.get(key) != said.get(key)}
        if differing:
            found.append((question["expr"], differing))
    assert found == []


KNOWN = re.compile(
    r"^-|"  # a duration whose type is not known can be negated
    r"matches\(dyn\(''\)\)|"  # an optional matches what matches everything
    r"optional\.none\(\)\)\[\??dyn"  # what is not there is not indexed: the key costs nothing
)
"""Where we differ, and say so."""


def compared(answer: dict[str, Any]) -> dict[str, Any]:
    """What is compared: no cost of an error, and nothing of a map that cannot be printed."""
    told = {key: value for key, value in answer.items() if key in ("type", "value", "error", "min", "max", "cost")}
    if "error" in told:
        told.pop("cost", None)
    if "value" in told:
        told["value"] = told["value"].replace("map ?", "?")
    return told


@pytest.mark.toolchain
@pytest.mark.timeout(1200)
@toolchains.needs("go")
@pytest.mark.parametrize("seed", range(5))
def test_values_of_unknown_types_are_used_as_upstream_does(ask: Ask, seed: int) -> None:
    """given operators, methods and functions that get anything at all, when both are asked, then
    values, errors and costs agree
    """
    draw = Unknown(seed)
    questions = [{"expr": draw.expression()} for _ in range(2000)]
    found = []
    for question, said in zip(questions, ask(questions), strict=True):
        if "internal error" in said.get("error", "") or "compile" in said or KNOWN.search(question["expr"]):
            continue
        mine, theirs = compared(ours(question)), compared(said)
        if mine != theirs:
            found.append((question["expr"], mine, theirs))
    assert found == []
