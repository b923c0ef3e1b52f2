"""What every test may need: the choice of the server that client tests speak to, and proof that
nobody changes what is shared.
"""

import os
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

# a busy machine is no fault
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")

# for every cluster, those in processes that a test starts included: controllers change no cached
# object, the server no stored one
os.environ.setdefault("KUBE_CACHE_MUTATION_DETECTOR", "true")
os.environ.setdefault("FAKEKUBE_CHECK_TREES", "true")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--authorization-mode", default="", help=(
            "the authorization mode of clusters whose test says none; a component of ours that is refused fails its test"))
    parser.addoption("--kubeconfig", default="", help="run the client tests against this cluster instead of one of ours")


def pytest_configure(config: pytest.Config) -> None:
    if config.getini("fakekube_tls"):
        # clients leave it to the collector to close their connections, and those of TLS complain
        config.addinivalue_line("filterwarnings", "ignore::pytest.PytestUnraisableExceptionWarning")
        config.addinivalue_line("filterwarnings", "ignore::ResourceWarning")


COMPONENTS = ("system:serviceaccount:kube-system:", "system:kube-", "system:node:")


@pytest.fixture(autouse=True)
def _components_may_do_their_work(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """With ``--authorization-mode``: clusters have that mode, and none of our own components is
    refused anything.
    """
    mode = request.config.getoption("--authorization-mode")
    if not mode:
        yield
        return
    from fakekube.apiserver import apiserver
    from fakekube.composition.options import ClusterOptions

    make, denial, refused = ClusterOptions.of, apiserver.denial_of, []

    def of(**values: Any) -> ClusterOptions:
        return make(**{"authorization_mode": mode, **values})

    def noted(*args: Any) -> Any:
        error, user = denial(*args), args[2].user
        if error is not None and user is not None and user.name.startswith(COMPONENTS):
            refused.append(error.message)
        return error

    monkeypatch.setattr(ClusterOptions, "of", of)
    monkeypatch.setattr(apiserver, "denial_of", noted)
    yield
    assert refused == []


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Against a real cluster only the client tests make sense, and of them those that can hold
    there.
    """
    if not config.getoption("--kubeconfig"):
        return
    # throw-away clusters have certificates that nobody has signed
    config.addinivalue_line("filterwarnings", "ignore::urllib3.exceptions.InsecureRequestWarning")
    for item in items:
        fake_only = item.get_closest_marker("fake_only")
        if fake_only is not None:
            reason = fake_only.kwargs.get("reason") or fake_only.args[0]
            item.add_marker(pytest.mark.skip(reason=f"cannot hold on a real cluster: {reason}"))
        elif "tests/clients/" not in item.nodeid and item.get_closest_marker("real") is None:
            item.add_marker(pytest.mark.skip(reason="not a client test"))
