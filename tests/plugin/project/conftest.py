"""The official client, connected to this test's cluster."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from kubernetes import client, config


@pytest.fixture
def api(fakekube_kubeconfig: Path) -> Iterator[client.ApiClient]:
    settings = client.Configuration()
    config.load_kube_config(str(fakekube_kubeconfig), client_configuration=settings)
    with client.ApiClient(settings) as connected:
        yield connected
