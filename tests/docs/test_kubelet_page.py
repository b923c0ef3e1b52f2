"""What docs/kubelet.md shows of pods comes true, and it shows every word of the vocabulary."""

import re
from typing import NamedTuple

import pytest
import yaml

from fakekube.apimachinery import meta
from fakekube.client.resources import PODS
from fakekube.composition.cluster import Cluster
from fakekube.util.durations import seconds_of
from fakekube_controllers.kubelet.outcomes import annotations
from tests.docs.test_readme import ROOT, python

PAGE = (ROOT / "docs/kubelet.md").read_text()
EXAMPLE = re.compile(
    r"<!-- run: pod(?:, deleted after (?P<deleted>\w+))? -->\n```yaml\n(?P<pod>.*?)```\n(?P<becomes>After .*?)\n", re.DOTALL)


class Example(NamedTuple):
    """A pod, when it is deleted, and what becomes of it: (seconds, text)."""

    pod: dict
    deleted: float | None
    becomes: list[tuple[float, str]]


def examples() -> list[Example]:
    result = []
    for match in EXAMPLE.finditer(PAGE):
        moments = [(seconds_of(after), text) for after, text in re.findall(r"After (\w+): ([^.]*)\.", match["becomes"])]
        deleted = seconds_of(match["deleted"]) if match["deleted"] else None
        result.append(Example(yaml.safe_load(match["pod"]), deleted, moments))
    return result


def annotations_of(example: Example) -> dict[str, str]:
    return example.pod.get("metadata", {}).get("annotations", {})


def told(pod: dict | None) -> str:
    """A pod as the page tells it: ``Running, main CrashLoopBackOff``."""
    if pod is None:
        return "gone"
    parts = [pod["status"]["phase"]]
    for status in pod["status"].get("containerStatuses") or ():
        [(kind, detail)] = status["state"].items()
        if kind == "running":
            word = "running" if status["ready"] and not meta.is_deleting(pod) else "unready"
        elif kind == "terminated":
            word = detail["reason"] if detail["reason"] == "OOMKilled" else str(detail["exitCode"])
        else:
            word = detail["reason"]
        parts.append(f"{status['name']} {word}")
    return ", ".join(parts)


@pytest.mark.parametrize("example", examples(), ids=lambda example: ",".join(annotations_of(example)))
async def test_what_it_shows_comes_true(example: Example) -> None:
    """Given a pod that the page shows / when so much time has passed / then it is as the page says.
    """
    spec = {"restartPolicy": "Never", "containers": [{"name": "main", "image": "busybox"}], **example.pod.get("spec", {})}
    async with Cluster(nodes=1, clock="manual") as cluster:
        await cluster.client.create(PODS, {
            "metadata": {"name": "p", "namespace": "default", **example.pod.get("metadata", {})}, "spec": spec})
        await cluster.settle()
        now = 0.0
        moments = [*example.becomes, *([(example.deleted, "")] if example.deleted is not None else [])]
        for at, text in sorted(moments):
            await cluster.advance(at - now)
            now = at
            if not text:
                await cluster.client.delete(PODS, "p", "default")
                continue
            seen = told(await cluster.client.get(PODS, "p", "default", missing_ok=True))
            assert seen == text or seen.startswith(f"{text}, main ContainerCreating"), f"after {at:g} s"


def test_it_shows_every_word() -> None:
    """Given the vocabulary / then the page has each word of it."""
    assert [word for word in (*annotations.CONTAINER_KEYS, *annotations.POD_KEYS) if f"`{word}" not in PAGE] == []
    assert len(examples()) >= 15


def test_the_tests_that_it_shows_pass(tmp_path) -> None:
    """Given the tests that the page shows, when pytest runs them in an empty project, then all
    pass.
    """
    for number, code in enumerate(re.findall(r"<!-- run: pytest -->\n```python\n(.*?)```", PAGE, re.DOTALL)):
        (tmp_path / f"test_{number}.py").write_text(code)
    printed = python(tmp_path, "-m", "pytest", "-q", "-o", "asyncio_default_fixture_loop_scope=function")
    assert "3 passed" in printed
