"""The chain: who is asked, in which order, and what a refusal is."""

import pytest

from fakekube.admission.chain import PLUGINS, Chain, build_chain, check_names
from fakekube.admission.plugin import Plugin
from fakekube.registry.attributes import Attributes
from tests.admission.world import World, kind


class Recorder(Plugin):
    """Says what it was asked."""

    def __init__(self, name: str, log: list[str], plural: str = "configmaps") -> None:
        self.name, self.log, self.plural = name, log, plural

    def handles(self, kind, operation, subresource):
        self.log.append(f"{self.name} handles {kind.plural} {operation}")
        return kind.plural == self.plural

    def admit(self, attrs):
        self.log.append(f"{self.name} admits")

    def validate(self, attrs):
        self.log.append(f"{self.name} validates")


async def test_plugins_run_in_order_and_are_asked_what_they_handle_once():
    """Given two plugins / when two writes pass / then each runs in order, and ``handles`` was asked
    once.
    """
    log: list[str] = []
    chain = Chain([Recorder("a", log), Recorder("b", log)])
    attrs = World().attributes(kind("", "v1", "configmaps"), {"metadata": {"name": "x"}})
    for _ in range(2):
        await chain.admit(attrs)
        await chain.validate(attrs)
    assert log == [
        "a handles configmaps CREATE",
        "b handles configmaps CREATE",
        *["a admits", "b admits", "a validates", "b validates"] * 2,
    ]


async def test_a_plugin_may_wait():
    """Given a plugin whose pass is a coroutine / when a write passes / then the chain awaits it."""

    class Waits(Plugin):
        name = "waits"

        def handles(self, kind, operation, subresource):
            return True

        async def admit(self, attrs: Attributes) -> None:
            attrs.obj["seen"] = True

    obj = {"metadata": {"name": "x"}}
    await Chain([Waits()]).admit(World().attributes(kind("", "v1", "configmaps"), obj))
    assert obj["seen"] is True


def test_unknown_plugins_are_an_error():
    """Given a name that no plugin has / when it is disabled / then the error names it as upstream
    does.
    """
    with pytest.raises(ValueError, match=r'^disable-admission-plugins plugin "Nope" is unknown$'):
        build_chain(disabled=["Nope"])
    with pytest.raises(ValueError, match='"A" is unknown, disable-admission-plugins plugin "B" is unknown'):
        check_names(["A", "B"])


def test_the_built_in_plugins_follow_upstreams_order():
    """Given the default chain / then its names are known, in order; disabled ones are gone."""
    names = [plugin.name for plugin in build_chain().plugins]
    assert names == sorted(names, key=[*PLUGINS].index)
    assert "NamespaceLifecycle" not in [plugin.name for plugin in build_chain(disabled=["NamespaceLifecycle"]).plugins]
