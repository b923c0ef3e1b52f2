"""The first text of KEP-4671, which no release has: groups with gangMode, a timeout, selectors.

An add-on brings the kind (``definition.py``) and writes on new pods which group they are in
(``webhooks.py``); the gate DraftWorkload has the scheduler hold their gangs together, as 1.35 does
it (``plugin.py``). docs/draft-workload.md has what becomes of each of the text's notions.
"""

from typing import Any

from fakekube.runtime.addon import AddOn, Webhook

GATE = "DraftWorkload"


def addon() -> AddOn:
    """The kind and its webhooks."""
    from fakekube_controllers.scheduler.draft import webhooks
    from fakekube_controllers.scheduler.draft.definition import GROUP, VERSION, definition

    return AddOn("draftworkload", manifests=(definition(),), webhooks=(
        _webhook("mpod", webhooks.name_group, ("", "v1", "pods"), ("CREATE",), mutating=True, has_client=True),
        _webhook("vworkload", webhooks.validate, (GROUP, VERSION, "workloads"), ("CREATE", "UPDATE"))))


def _webhook(
    name: str, function: Any, of: tuple[str, str, str], operations: tuple[str, ...], *, mutating: bool = False,
    has_client: bool = False,
) -> Webhook:
    group, version, plural = of
    rule = {"apiGroups": [group], "apiVersions": [version], "operations": [*operations], "resources": [plural]}
    return Webhook(
        function, (), operations, mutating, f"{name}.scheduling.fakekube.dev", {"rules": [rule]}, "draft-workload",
        has_client)
