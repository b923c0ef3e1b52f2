"""The options that several commands share: what a cluster is like, and where a served one is.

Option texts are upstream's where upstream has the option.
"""

from collections.abc import Callable
from typing import Any

import click

from fakekube.apimachinery.releases import NEWEST, OLDEST
from fakekube.composition.options import DEFAULT_KUBECONFIG, DEFAULT_VERSION


def _written_in_python() -> list[Any]:
    return [
        click.option("--outcome", metavar="MODULE:FUNCTION", help="A Python function that says how containers end."),
        click.option("--on-exec", metavar="MODULE:FUNCTION", help="One that says what commands in containers answer."),
        click.option("--on-connect", metavar="MODULE:FUNCTION", help="One that says what ports of containers answer."),
        click.option("--on-metric", metavar="MODULE:FUNCTION", help="One that says what autoscalers measure."),
        click.option("--scheduler-plugins", metavar="MODULE:FUNCTION", help=(
            "One that makes the plugins of the scheduler, given its context.")),
        click.option("--extra", multiple=True, metavar="MODULE:NAME", help="Controllers of your own that run besides."),
    ]


def cluster_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """The options that say what a cluster is like, by the names that they have for ``Cluster``."""
    for option in reversed([
        click.option("--nodes", type=int, default=1, show_default=True, help=(
            "Nodes of the cluster; 0 is a cluster without nodes.")),
        click.option("--kubernetes-version", default=DEFAULT_VERSION, show_default=True, help=(
            f"Kubernetes release to be, {OLDEST.name} to {NEWEST.name}.")),
        click.option("--feature-gates", multiple=True, metavar="A=true,B=false", help=(
            "A set of key=value pairs that describe feature gates for alpha/experimental features. "
            "'workload-aware' alone switches on all of workload-aware scheduling, and serves its API versions.")),
        click.option("--runtime-config", multiple=True, metavar="GROUP/VERSION=true", help=(
            "A set of key=value pairs that enable or disable built-in APIs: v1=true|false, <group>/<version>=true|false, "
            "api/all=true|false, api/ga=true|false, api/beta=true|false, api/alpha=true|false.")),
        click.option("--controllers", default="*", show_default=True, help=(
            "A list of controllers to enable. '*' enables all on-by-default controllers, 'foo' enables the controller named "
            "'foo', '-foo' disables the controller named 'foo'.")),
        click.option("--disable-admission-plugins", multiple=True, metavar="NAMES", help=(
            "Admission plugins that should be disabled although they are in the default enabled plugins list.")),
        click.option("--enable-admission-plugins", multiple=True, metavar="NAMES", help=(
            "Admission plugins that should be enabled in addition to default enabled ones.")),
        click.option("--authorization-mode", default="AlwaysAllow", metavar="MODES", show_default=True, help=(
            "Ordered list of plug-ins to do authorization: AlwaysAllow, AlwaysDeny, Node, RBAC. With any but AlwaysAllow, who "
            "has no token is anonymous.")),
        click.option("--metrics-server/--no-metrics-server", default=True, show_default=True, help=(
            "Serve metrics.k8s.io where a kubelet runs.")),
        click.option("--default-storage-class/--no-default-storage-class", default=False, show_default=True, help=(
            "Have a default StorageClass, whose volumes are made at once.")),
        click.option("--warn-unmodelled/--no-warn-unmodelled", default=False, show_default=True, help=(
            "Warn, in a header that kubectl shows, when an object or a field is stored that has no effect here.")),
        click.option("--event-ttl", default="1h0m0s", show_default=True, metavar="DURATION", help=(
            "Amount of time to retain events.")),
        click.option("--grace", default="600ms", show_default=True, metavar="DURATION", help=(
            "How long clients must be quiet, in real time, before the time of a manual or automatic clock moves.")),
        click.option("--etcd-compaction-interval", metavar="DURATION", help=(
            "The interval of compaction requests: lists at versions from before the last but one get 410. 0 is never. "
            "[default: 5m0s; never on the clocks auto and manual]")),
        click.option("--advertise-address", metavar="IP", help=(
            "The IP address on which to advertise the apiserver to members of the cluster: that of the endpoints of the "
            "service kubernetes, which has none without it.")),
        click.option("--client-ca-file", type=click.Path(dir_okay=False), metavar="FILE", help=(
            "If set, any request presenting a client certificate signed by one of the authorities in the client-ca-file is "
            "authenticated with an identity corresponding to the CommonName of the client certificate; needs --tls. The "
            "ConfigMap extension-apiserver-authentication in kube-system publishes it.")),
        click.option("--token-auth-file", type=click.Path(dir_okay=False), metavar="FILE", help=(
            "If set, the file that will be used to secure the secure port of the API server via token authentication: "
            'token,user,uid,"group1,group2" a line.')),
        click.option("--anonymous-auth/--no-anonymous-auth", default=None, help=(
            "Let who asks without credentials be system:anonymous, or refuse them. [default: they are the administrator where "
            "everybody may do everything, else system:anonymous]")),
        click.option("--tls/--no-tls", default=False, show_default=True, help=(
            "Speak TLS, with a certificate authority of the cluster's own, whose certificate the kubeconfig carries. "
            "Needs fakekube[tls].")),
        click.option("--audit-log", metavar="FILE", help=(
            "A file to which audit events are added, one line of JSON each; - is standard output.")),
        click.option("--faults", type=click.Path(dir_okay=False), metavar="FILE", help=(
            "A plan of faults, YAML or JSON: which requests fail, and how. `fakekube schema faults` has what it may say.")),
        click.option("--record", metavar="FILE", help=(
            "A file to which what clients ask, and what they are answered, is added as lines of JSON; without values of Secrets "
            "and credentials. `fakekube replay` plays it.")),
        click.option("--resource-quota-sync-period", default="5m0s", show_default=True, metavar="DURATION", help=(
            "The period for syncing quota usage status in the system.")),
        click.option("--seed", type=int, default=0, show_default=True, help="Seed of names, uids and jitter."),
        click.option("--start", metavar="TIME", help="Where virtual time begins, 2026-01-01T00:00:00Z."),
        click.option("--cache-mutation-detector/--no-cache-mutation-detector", default=None, help=(
            "Prove that no controller changes an object of a cache.")),
        *_written_in_python(),
    ]):
        function = option(function)
    return function


def addon_config(function: Callable[..., Any]) -> Callable[..., Any]:
    """The option that configures add-ons."""
    return click.option("--addon-config", multiple=True, metavar="NAME=FILE", help=(
        "File with the configuration of an add-on, which runs then; --NAME-config FILE says the same."))(function)


def where(function: Callable[..., Any]) -> Callable[..., Any]:
    """The options that lead to a served cluster."""
    for option in (
        click.option("--kubeconfig", type=click.Path(dir_okay=False), help=(
            f"A kubeconfig that leads to the cluster; else $KUBECONFIG, ./{DEFAULT_KUBECONFIG}, ~/.kube/config.")),
        click.option("--server", metavar="URL", help="The address of the cluster, in place of a kubeconfig.")):
        function = option(function)
    return function
