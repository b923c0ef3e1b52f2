"""What somebody meets who has Stages and not the extra that they need."""

import re
import sys

import pytest

from fakekube.composition.cluster import Cluster
from fakekube.composition.options import OptionError

STAGE = {"apiVersion": "kwok.x-k8s.io/v1alpha1", "kind": "Stage", "metadata": {"name": "ready"}, "spec": {
    "resourceRef": {"apiGroup": "v1", "kind": "Pod"}, "next": {"statusTemplate": "phase: Running"}}}
WITH_QUERY = [{"key": ".metadata.deletionTimestamp", "operator": "DoesNotExist"}]


async def test_the_extra_is_named(monkeypatch):
    """Given no package jq / when Stages are loaded / then those without a query are taken, and one
    with a query is refused in a sentence that says what to install.
    """
    monkeypatch.setitem(sys.modules, "jq", None)
    async with Cluster(nodes=1, clock="manual") as cluster:
        await cluster.load([{**STAGE, "spec": STAGE["spec"] | {"selector": {}}}])
        text = 'Stage "ready": spec.selector.matchExpressions[0].key: queries need the package jq: pip install "fakekube[kwok]"'
        with pytest.raises(OptionError, match=f"{re.escape(text)}$"):
            await cluster.load([{**STAGE, "spec": STAGE["spec"] | {"selector": {"matchExpressions": WITH_QUERY}}}])
