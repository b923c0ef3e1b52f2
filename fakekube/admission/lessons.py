"""What admission did with one object of a template, for the next ones.

Pods of one template come by the hundred, and most plugins do with each what they did with the first. Once all plugins
say what they look at (``Plugin.reads``), their work is remembered beside the spec that it was done on, and holds until
one of the resources that they look at changes. What is remembered makes no difference to any answer but its speed.
Upstream has nothing of the kind.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import orjson

from fakekube.admission.plugin import Plugin, Resource
from fakekube.registry.attributes import Attributes
from fakekube.util.memory import remember

if TYPE_CHECKING:
    from fakekube.apimachinery.types import Tree

REMEMBERED = 16  # lessons of one spec: namespaces and annotations are few


class Lesson:
    """The spec that came out, and how often the resources that decided it had changed by then."""

    __slots__ = ("_counts", "_data", "_plugins", "_resources", "_spec", "_warnings", "essence", "learnt")

    def __init__(self, plugins: Sequence[Plugin], resources: Sequence[Resource], attrs: Attributes) -> None:
        assert attrs.obj is not None, "nothing is learnt of deletions"
        self._plugins = [plugin for plugin in plugins if type(plugin).redraw is not Plugin.redraw]
        self._resources, self._counts = resources, attrs.ctx.cluster.changes(resources)
        self._warnings = len(attrs.ctx.warnings)
        self._data = orjson.dumps(attrs.obj["spec"])
        self._spec: Tree = {}
        self.essence = b""
        self.learnt = False

    def holds(self, attrs: Attributes) -> bool:
        """Whether nothing has changed that the plugins look at."""
        return attrs.ctx.cluster.changes(self._resources) == self._counts

    def apply(self, attrs: Attributes) -> None:
        """Do with an object what was done with the first one."""
        spec = self._spec
        for plugin in self._plugins:
            spec = plugin.redraw(spec, attrs)
        assert attrs.obj is not None, "nothing is learnt of deletions"
        attrs.obj["spec"] = dict(spec) if spec is self._spec else spec
        attrs.ctx.essence = self.essence

    def confirm(self, attrs: Attributes) -> bool:
        """Whether the object was accepted as it was when admission had changed it, and without a warning."""
        if attrs.obj is None or len(attrs.ctx.warnings) != self._warnings or orjson.dumps(attrs.obj["spec"]) != self._data:
            return False
        self._spec, self.essence, self.learnt = orjson.loads(self._data), attrs.ctx.essence, True
        return True


class Before:
    """An object as it was before admission."""

    def __init__(self, attrs: Attributes) -> None:
        assert attrs.obj is not None, "nothing is learnt of deletions"
        self._metadata = dict(attrs.obj["metadata"])

    def lesson(self, plugins: Sequence[Plugin], attrs: Attributes) -> Lesson | None:
        """What can be learnt of it: None when a plugin looks at more than it can say, or changed more than the spec."""
        assert attrs.obj is not None, "nothing is learnt of deletions"
        if attrs.obj["metadata"] != self._metadata:
            return None
        seen: dict[Resource, None] = {}
        for plugin in plugins:
            read = plugin.reads(attrs)
            if read is None:
                return None
            seen |= dict.fromkeys(read)
        return Lesson(plugins, tuple(seen), attrs)


def recall(chain: object, attrs: Attributes) -> Lesson | None:
    """The lesson that holds for an object, if there is one."""
    origin = attrs.ctx.origin
    known = origin.memory.get(chain) if origin is not None else None
    lesson: Lesson | None = known.get(_key(attrs)) if known else None
    return lesson if lesson is not None and lesson.holds(attrs) else None


def learn(chain: object, lesson: Lesson, attrs: Attributes) -> None:
    """Remember a lesson, if it is confirmed."""
    origin = attrs.ctx.origin
    if origin is None or not lesson.confirm(attrs):
        return
    remember(origin.memory.setdefault(chain, {}), _key(attrs), lesson, REMEMBERED)


def _key(attrs: Attributes) -> tuple[str, bytes]:
    """What plugins may look at beside the spec."""
    assert attrs.obj is not None, "nothing is learnt of deletions"
    annotations = attrs.obj["metadata"].get("annotations")
    return attrs.namespace, orjson.dumps(annotations, option=orjson.OPT_SORT_KEYS) if annotations else b""
