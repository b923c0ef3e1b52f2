"""How the kinds of apps print."""

from fakekube.apimachinery import labels
from fakekube.apimachinery.gvk import GroupKind, split_api_version
from fakekube.apimachinery.meta import controller_of
from fakekube.apimachinery.types import Tree
from fakekube.apis.printing import AGE, NAME, NONE, column, containers_of, dig, format_labels, selector_of, table


def _ready(obj: Tree) -> str:
    return f"{dig(obj, 'status', 'readyReplicas') or 0}/{dig(obj, 'spec', 'replicas') or 0}"


def _deployment_selector(obj: Tree) -> str:
    try:
        return str(labels.from_label_selector(dig(obj, "spec", "selector")))
    except labels.SelectorError:
        return "<invalid>"


def _controller(obj: Tree) -> str:
    owner = controller_of(obj)
    if owner is None:
        return NONE
    kind = GroupKind(split_api_version(owner.get("apiVersion", ""))[0], owner.get("kind", ""))
    return f"{str(kind).lower()}/{owner.get('name', '')}"


CONTROLLER_REVISION = table(NAME, column("Controller", _controller), column("Revision", "revision", 0), AGE)
DAEMON_SET = table(
    NAME,
    column("Desired:integer", "status.desiredNumberScheduled", 0),
    column("Current:integer", "status.currentNumberScheduled", 0),
    column("Ready:integer", "status.numberReady", 0),
    column("Up-to-date:integer", "status.updatedNumberScheduled", 0),
    column("Available:integer", "status.numberAvailable", 0),
    column("Node Selector", lambda obj: format_labels(dig(obj, "spec", "template", "spec", "nodeSelector"))),
    AGE,
    *containers_of("spec.template.spec"),
    selector_of("spec.selector"),
)
DEPLOYMENT = table(
    NAME,
    column("Ready", _ready),
    column("Up-to-date", "status.updatedReplicas", 0),
    column("Available", "status.availableReplicas", 0),
    AGE,
    *containers_of("spec.template.spec"),
    column("Selector+", _deployment_selector),
)
REPLICA_SET = table(
    NAME,
    column("Desired:integer", "spec.replicas", 0),
    column("Current:integer", "status.replicas", 0),
    column("Ready:integer", "status.readyReplicas", 0),
    AGE,
    *containers_of("spec.template.spec"),
    selector_of("spec.selector"),
)
STATEFUL_SET = table(NAME, column("Ready", _ready), AGE, *containers_of("spec.template.spec"))
