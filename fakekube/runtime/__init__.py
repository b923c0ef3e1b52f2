"""What turns events into reconciles: controllers, and the manager that runs them.

Read ``reconcile.py``, then ``builder.py``. Upstream: sigs.k8s.io/controller-runtime, with
kube-controller-manager's way of claiming and counting. The names that a controller's author needs
come from here.
"""

from fakekube.client.resources import Resource
from fakekube.runtime.addon import AddOn, AggregatedAPI, Webhook
from fakekube.runtime.builder import Declaration, controller
from fakekube.runtime.component import Component, Runnable
from fakekube.runtime.context import Context
from fakekube.runtime.manager import Manager
from fakekube.runtime.reconcile import ExpectedError, Reconciler, Request, Result, TerminalError

__all__ = [
    "AddOn", "AggregatedAPI", "Component", "Context", "Declaration", "ExpectedError", "Manager", "Reconciler", "Request",
    "Resource", "Result", "Runnable", "TerminalError", "Webhook", "controller",
]
