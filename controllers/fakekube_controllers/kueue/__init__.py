"""Kueue: queues, quotas and priorities for jobs. An add-on, with upstream's kinds, webhooks,
Events, metrics and configuration.

Read ``parts.py`` first: it is the one component, and says what runs in it. ``core`` keeps the
queues and the cache up to date, ``scheduler`` admits Workloads, ``jobframework`` makes Workloads of
jobs, and the folders of ``jobs`` say what each kind of job needs. ``webhooks`` has those of Kueue's
own kinds. Upstream: sigs.k8s.io/kueue v0.19.1; packages have its names.
"""

from functools import partial
from typing import TYPE_CHECKING

from fakekube.runtime import builder
from fakekube.runtime.addon import AddOn
from fakekube.runtime.context import Context
from fakekube_controllers.kueue.configuration import Configuration

if TYPE_CHECKING:
    from fakekube.apimachinery.types import Tree
    from fakekube_controllers.kueue.parts import Manager


def addon(configuration: Configuration | None = None) -> AddOn:
    """Kueue as an add-on; without a configuration it does what the shipped manifest says."""
    from fakekube.runtime import addontables
    from fakekube_controllers.kueue import conversion, webhooks
    from fakekube_controllers.kueue.jobframework import setup
    from fakekube_controllers.kueue.jobs import builtin

    chosen = configuration or Configuration()
    component = builder.controller("kueue").starts_with(is_needed=_always).runs(partial(_manager, chosen))
    return AddOn(
        "kueue", manifests=(*addontables.definitions(__name__), _namespace(chosen.namespace)), controllers=(component,),
        webhooks=(*webhooks.webhooks(chosen), *setup.webhooks_of(builtin.options_of(chosen))),
        conversions=conversion.conversions(chosen.features))


def _namespace(name: str) -> "Tree":
    metadata = {"name": name, "labels": {"app.kubernetes.io/component": "controller", "control-plane": "controller-manager"}}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}


def _always(_: Context) -> bool:
    return True


def _manager(configuration: Configuration) -> "Manager":
    from fakekube_controllers.kueue.parts import Manager

    return Manager(configuration)
