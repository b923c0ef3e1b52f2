"""Kueue: queues, quotas and priorities for jobs. An add-on, with upstream's kinds, webhooks,
Events, metrics and configuration.

Read ``parts.py`` first: it is the one component, and says what runs in it. ``core`` keeps the
queues and the cache up to date, ``scheduler`` admits Workloads, ``jobframework`` makes Workloads of
jobs, and the folders of ``jobs`` say what each kind of job needs. ``webhooks`` has those of Kueue's
own kinds. Upstream: sigs.k8s.io/kueue v0.19.1; packages have its names.
"""

from functools import partial
from typing import TYPE_CHECKING, Any

from fakekube.runtime import builder
from fakekube.runtime.addon import AddOn, FindComponent
from fakekube.runtime.context import Context
from fakekube_controllers.kueue.configuration import Configuration

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fakekube.apimachinery.types import Tree
    from fakekube.runtime.addon import AggregatedAPI
    from fakekube_controllers.kueue.manager import Kueue
    from fakekube_controllers.kueue.parts import Manager


def addon(configuration: "Configuration | Mapping[str, Any] | None" = None) -> AddOn:
    """Kueue as an add-on.

    ``configuration`` is the tree of a Configuration of config.kueue.x-k8s.io, or what was made of
    it; without any, Kueue does what the shipped manifest says. Raises WrongOption.
    """
    from fakekube.runtime import addontables
    from fakekube_controllers.kueue import conversion, webhooks
    from fakekube_controllers.kueue.jobframework import setup
    from fakekube_controllers.kueue.jobs import builtin

    chosen = _chosen(configuration)
    component = builder.controller("kueue").starts_with(is_needed=_always).runs(partial(_manager, chosen))
    return AddOn(
        "kueue", manifests=(*addontables.definitions(__name__), _namespace(chosen.namespace)), controllers=(component,),
        webhooks=(*webhooks.webhooks(chosen), *setup.webhooks_of(builtin.options_of(chosen))),
        apis=_apis(chosen), conversions=conversion.conversions(chosen.features))


def _apis(configuration: Configuration) -> "tuple[AggregatedAPI, ...]":
    if not configuration.features.VisibilityOnDemand:
        return ()
    from fakekube_controllers.kueue import visibility

    return tuple(visibility.apis(lambda find: partial(_running, find)))


def _running(find: FindComponent) -> "Kueue | None":
    """What the controllers of the present run share; None where Kueue does not run."""
    from fakekube_controllers.kueue.parts import Manager

    manager = find("kueue")
    return manager.kueue if isinstance(manager, Manager) else None


def _chosen(configuration: "Configuration | Mapping[str, Any] | None") -> Configuration:
    if configuration is None or isinstance(configuration, Configuration):
        return configuration or Configuration()
    from fakekube_controllers.kueue.configfile import reading
    from fakekube_controllers.kueue.jobframework import integrations

    return reading.read(configuration, [each.name for each in integrations.of_packages()])


def _namespace(name: str) -> "Tree":
    metadata = {"name": name, "labels": {"app.kubernetes.io/component": "controller", "control-plane": "controller-manager"}}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}


def _always(_: Context) -> bool:
    return True


def _manager(configuration: Configuration) -> "Manager":
    from fakekube_controllers.kueue.parts import Manager

    return Manager(configuration)
