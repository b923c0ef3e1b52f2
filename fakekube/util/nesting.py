"""How deep a JSON value may be, so that no code that walks trees needs to care.

Upstream accepts 10,000 levels and has a growing stack to walk them; here each level of a walk takes
some of Python's own stack, and the encoder stops at 254. What is deeper in a JSON body is left out
before it is walked; where a kind has no field for it that makes no difference.
"""

from typing import Any

MAX_LEVELS = 200
"""So many containers may stand in one another.

A CustomResourceDefinition's schema, the deepest of what is in use, has a tenth of them.
"""


def is_deep(value: Any, levels: int = MAX_LEVELS) -> bool:
    """Whether more than so many dicts and lists are nested; other values are no level."""
    return measured(value, levels)[0]


def measured(value: Any, levels: int = MAX_LEVELS) -> tuple[bool, int]:
    """Whether a value is deep, and how many items were looked at to find out."""
    containers, items = [value] if isinstance(value, dict | list) else [], 0
    for _ in range(levels):
        if not containers:
            return False, items
        items += sum(map(len, containers))
        containers = [
            item for each in containers for item in (each.values() if isinstance(each, dict) else each)
            if isinstance(item, dict | list)
        ]
    return bool(containers), items


def may_be_deep(body: bytes, levels: int = MAX_LEVELS) -> bool:
    """Whether a JSON body can be deep at all, by its count of brackets; few bodies have so many."""
    return body.count(b"{") + body.count(b"[") > levels
