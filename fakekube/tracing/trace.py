"""A trace: what it tells, and its forms for people, for programs, and for tools that show traces.
"""

from fakekube.apimachinery.types import Tree
from fakekube.tracing import chrome, otlp, text
from fakekube.tracing.steps import Causes, Step
from fakekube.util.treediff import MISSING

DEFAULT_LAST = 20


class Trace(Causes):
    """The causes of an object's state. What it has: see ``Causes``.

    ``print`` shows it to people.
    """

    __slots__ = ()

    def tree(self) -> Tree:
        """As JSON."""
        tree: Tree = {
            "object": self.object, "started": self.started, "seed": self.seed, "begins": self.begins, "changes": self.changes,
            "predecessors": self.predecessors, "cut": self.is_cut, "last": self.last}
        if self.field:
            tree["field"] = self.field
            if self.value is not MISSING:
                tree["value"] = self.value
        return {**tree, "steps": [step.tree() for step in self.steps]}

    @classmethod
    def of(cls, tree: Tree) -> "Trace":
        """The trace of a tree that ``tree`` made."""
        return cls(
            tree["object"], tree["started"], tree["seed"], tree["begins"], tree["changes"], tree["predecessors"], tree["cut"],
            tree["last"], tree.get("field", ""), tree.get("value", MISSING), tuple(Step.of(step) for step in tree["steps"]))

    def chrome(self) -> Tree:
        """In Chrome's trace event format: write it as JSON, and open it in Perfetto or
        chrome://tracing.
        """
        return chrome.of(self)

    def send(self, endpoint: str) -> None:
        """Send it over OTLP to a collector: ``http://127.0.0.1:4318``, or the whole path of traces.

        It waits for the answer. Raises OTLPError when that is not there, does not answer or
        refuses, and when the extra ``otlp`` is not installed.
        """
        otlp.send(self, endpoint)

    def __str__(self) -> str:
        return "\n".join(text.lines(self))
