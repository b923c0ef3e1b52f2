"""The webhooks of LeaderWorkerSets that are Kueue's.

Upstream: pkg/controller/jobs/leaderworkerset/leaderworkerset_webhook.go.
"""

from fakekube.apimachinery import field_errors, meta
from fakekube.apimachinery.admission_requests import AdmissionRequest
from fakekube.apimachinery.field_errors import FieldError, invalid
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.client.client import Client
from fakekube_controllers.kueue import names
from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.jobframework import defaults, objects, validation
from fakekube_controllers.kueue.jobframework.integrations import Options
from fakekube_controllers.kueue.jobs import serving
from fakekube_controllers.kueue.jobs.kinds import LEADER_WORKER_SET, LEADER_WORKER_SETS
from fakekube_controllers.kueue.jobs.leaderworkerset import groups
from fakekube_controllers.kueue.topology import validation as topology_validation
from fakekube_controllers.kueue.topology.requests import TopologyRequestError
from fakekube_controllers.kueue.webhooks import declaring

TEMPLATE = "spec.leaderWorkerTemplate"
LEADER, WORKER = f"{TEMPLATE}.leaderTemplate", f"{TEMPLATE}.workerTemplate"
REPLICAS, SIZE = "spec.replicas", f"{TEMPLATE}.size"


async def default(request: AdmissionRequest, *, client: Client, options: Options) -> None:
    """Let the pods of a LeaderWorkerSet wait, where Kueue manages it."""
    lws: Tree = request.object
    if not await serving.apply_defaults(client, lws, options):
        return
    template, features = groups.template_of(lws), options.configuration.features
    leader, worker = template.get("leaderTemplate"), template["workerTemplate"]
    for each in (leader, worker):
        if each is not None:
            serving.put_queue_and_class(each, lws)
            objects.put_metadata(each, "annotations", names.SUSPENDED_BY_PARENT_ANNOTATION, LEADER_WORKER_SET)
            objects.put_metadata(each, "annotations", names.POD_GROUP_SERVING_ANNOTATION, "true")
    is_apart = names.PODSET_GROUP_NAME_ANNOTATION not in meta.annotations_of(worker)
    if features.TopologyAwareScheduling and leader is not None and is_apart:
        objects.put_metadata(worker, "annotations", names.POD_INDEX_OFFSET_ANNOTATION, "1")


async def validate(request: AdmissionRequest, *, client: Client, options: Options) -> None:
    """Look at a new LeaderWorkerSet, or at a change. Raises Denied."""
    lws, old, features = request.object, request.old_object, options.configuration.features
    found = serving.errors_of(request, LEADER_WORKER_SETS.gvk, features)
    replicas = groups.replicas_of(lws)
    if not 0 <= replicas <= groups.MAX_REPLICAS:
        bound = "must be >= 0" if replicas < 0 else f"must be <= {groups.MAX_REPLICAS}"
        found.append(invalid(REPLICAS, replicas, f"invalid LeaderWorkerSet replicas: {bound}, got {replicas}"))
    if features.TopologyAwareScheduling:
        found += _topology_errors(lws, features)
    if old is not None and await defaults.workload_should_be_suspended(client, lws, options, tolerates_deleting=True):
        found += _shape_errors(old, lws, features)
    declaring.refuse(found)


def _shape_errors(old: ReadOnlyTree, lws: ReadOnlyTree, features: Features) -> list[FieldError]:
    found: list[FieldError] = []
    for field, path in (("leaderTemplate", LEADER), ("workerTemplate", WORKER)):
        before, now = (groups.template_of(each).get(field) for each in (old, lws))
        if before is None or now is None:
            if before != now:
                found.append(invalid(path, now, validation.IMMUTABLE))
        else:
            found += serving.shape_errors(field_errors.child(path, "spec"), before["spec"], now["spec"])
    size = groups.size_of(lws)
    if features.LWSImmutableGroupSize and groups.size_of(old) != size:
        found.append(invalid(SIZE, size, validation.IMMUTABLE))
    return found


def _topology_errors(lws: ReadOnlyTree, features: Features) -> list[FieldError]:
    """The complaints about topologies."""
    try:
        made = {each["name"]: each for each in groups.pod_sets(lws, features)}
    except TopologyRequestError:
        made = {}  # of which the template's errors tell
    found, paths = list[FieldError](), dict[str, str]()
    for field, path in (("leaderTemplate", LEADER), ("workerTemplate", WORKER)):
        template = groups.template_of(lws).get(field)
        if template is None:
            continue
        name = groups.LEADER if path == LEADER else next((each for each in made if each != groups.LEADER), "")
        where, metadata = field_errors.child(path, "metadata"), template.get("metadata") or meta.EMPTY
        paths[name] = field_errors.child(where, "annotations")
        found += topology_validation.of_template(where, metadata, features)
        found += topology_validation.slice_size(where, metadata, made.get(name))
    return found + topology_validation.groups([*made.values()], paths)
