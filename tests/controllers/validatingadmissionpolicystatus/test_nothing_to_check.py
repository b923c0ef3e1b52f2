"""Policies that nobody checks: those that are gone, and all where there is no checker."""

from types import SimpleNamespace
from typing import Any

import pytest

from fakekube.runtime.reconcile import Request
from fakekube_controllers.validatingadmissionpolicystatus.controller import PolicyStatusReconciler


@pytest.mark.parametrize(("policy", "has_checker", "written"), [
    ({"metadata": {"name": "p", "generation": 2}}, True, 1), ({"metadata": {"name": "p", "generation": 2}}, False, 0),
    (None, True, 0), ({"metadata": {"name": "p", "generation": 2}, "status": {"observedGeneration": 2}}, True, 0),
    ({"metadata": {"name": "p", "generation": 2}, "status": {"observedGeneration": 1}}, True, 1),
])
async def test_a_generation_is_checked_once(policy: Any, has_checker: bool, written: int) -> None:
    """Given a policy / then its status is written for a generation that was not checked yet, where
    there is something that checks it.
    """
    done: list[Any] = []

    async def patch(*_: Any, **options: Any) -> None:
        done.append(options["body"]["status"])

    options: Any = {"expression_warnings": lambda _: []} if has_checker else {}
    ctx: Any = SimpleNamespace(
        client=SimpleNamespace(patch=patch), options=options, lister=lambda _: SimpleNamespace(get=lambda *_: policy))
    await PolicyStatusReconciler(ctx).reconcile(Request("", "p"))
    assert done == [{"observedGeneration": 2, "typeChecking": {}}] * written
