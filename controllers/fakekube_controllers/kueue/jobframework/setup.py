"""The controllers and webhooks of all integrations that a configuration enables.

Upstream: pkg/controller/jobframework/setup.go. A controller starts with the first object of its
kind, so that a kind may be served later than Kueue starts.
"""

from collections.abc import Iterator
from functools import partial

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import Tree
from fakekube.runtime import builder
from fakekube.runtime.addon import Webhook
from fakekube.runtime.builder import Declaration
from fakekube_controllers.kueue import names
from fakekube_controllers.kueue.jobframework import webhooks
from fakekube_controllers.kueue.jobframework.integrations import Integration, Options
from fakekube_controllers.kueue.jobframework.reconciler import JobReconciler


def controllers(options: Options) -> Iterator[Declaration]:
    """Those of all integrations."""
    for integration in options.integrations.enabled:
        if integration.controllers is None:
            yield controller(integration, options)
        else:
            yield from integration.controllers(options)


def controller(integration: Integration, options: Options, name: str = "") -> Declaration:
    """The one of every kind of job; it has the integration's name unless it is given one."""
    kind, api_version = integration.resource.kind, integration.resource.api_version

    def is_owned(workload: Tree) -> bool:
        return any(each["kind"] == kind and each["apiVersion"] == api_version for each in meta.owners_of(workload))

    building = builder.controller(name or integration.name).for_(integration.resource).owns(names.WORKLOADS)
    building = building.starts_with(integration.resource, (names.WORKLOADS, is_owned))
    return building.complete(partial(JobReconciler, integration, options))


def webhooks_of(options: Options) -> Iterator[Webhook]:
    """Those of all integrations."""
    for integration in options.integrations.enabled:
        if integration.webhooks is None:
            yield from webhooks.base_webhooks(integration, options)
        else:
            yield from integration.webhooks(options)
