"""What declarations name is there, is what it is said to be, and is loaded by nobody who does not
need it.
"""

import subprocess
import sys

import pytest

from fakekube.apimachinery import releases
from fakekube.apis import late
from fakekube.apis.catalog import catalog
from fakekube.registry.kind import Kind, Printer
from fakekube.registry.lazy import Lazy
from fakekube.registry.strategy import Strategy

RELEASES = [release.name for release in releases.RELEASES]
ALL_ON = {"api/all": True}


@pytest.mark.parametrize("release", RELEASES)
def test_every_declared_name_leads_to_what_it_should(release: str) -> None:
    """Given all kinds of a release, when everything that is named is looked at, then each is of its
    type.
    """
    for kind in catalog(release, {}, ALL_ON).kinds:
        assert kind.strategy is None or isinstance(kind.strategy, Strategy), kind.gvk
        assert kind.printer is None or isinstance(kind.printer, Printer), kind.gvk
        for sub in kind.subresources:
            assert sub.strategy is None or isinstance(sub.strategy, Strategy), (kind.gvk, sub.name)


def test_a_value_is_loaded_once_a_kind() -> None:
    """Given a kind with a strategy yet to be loaded, when it is asked for twice, then it was loaded
    once.
    """
    loads: list[Strategy] = []

    def load() -> Strategy:
        loads.append(Strategy())
        return loads[-1]

    kind = Kind(
        group="", version="v1", kind="Thing", plural="things", singular="thing", namespaced=True, strategy=Lazy(load))
    assert not loads
    assert kind.strategy is kind.strategy is loads[0]
    assert len(loads) == 1


def test_a_name_of_something_else_is_refused() -> None:
    """Given a name that leads to no strategy, when it is loaded, then a TypeError names it."""
    with pytest.raises(TypeError, match=r"base:keep is no Strategy"):
        late.strategy("base:keep").load()


def test_a_cluster_that_is_not_used_loads_no_rules() -> None:
    """Given a fresh process, when fakekube.composition.cluster is imported, then no kind's rules
    and no HTTP library are.
    """
    heavy = "('fakekube.apis.core.pod', 'fakekube.apis.batch.printers', 'aiohttp', 'yaml')"
    code = f"import fakekube.composition.cluster, sys; print([name for name in {heavy} if name in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
