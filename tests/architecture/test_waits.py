"""A wait that was computed is never rounded to none."""

import ast
from pathlib import Path

import fakekube_controllers

ROOT = Path(fakekube_controllers.__path__[0])


def computed_waits(text):
    """The lines in which a timedelta is made of a difference, or of a variable."""
    return [
        call.lineno for call in ast.walk(ast.parse(text))
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "timedelta"
        and any(not isinstance(word.value, ast.Constant | ast.Attribute) for word in call.keywords)]


def test_a_controller_asks_for_a_computed_wait_in_seconds():
    """Given what is left until a moment, in all controllers, then it is asked for by Result.after:
    a timedelta of less than half a microsecond is none, and a reconcile that waits so is done again
    and again at one instant of virtual time.
    """
    found = {
        str(path.relative_to(ROOT)): lines for path in sorted(ROOT.rglob("*.py"))
        if (lines := computed_waits(path.read_text()))}
    assert found == {}


def test_it_is_found():
    """Given such a wait, then it is found; a constant and a setting are none."""
    assert computed_waits("timedelta(seconds=left)\ntimedelta(seconds=until - now)") == [1, 2]
    assert computed_waits("timedelta(seconds=5)\ntimedelta(seconds=self.settings.timeout_seconds)") == []
