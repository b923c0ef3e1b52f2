"""CSIDriver: what a storage driver can do.

Upstream: pkg/apis/storage/v1/defaults.go, pkg/apis/storage/validation.
"""

from fakekube.apimachinery.equality import same
from fakekube.apimachinery.field_errors import FieldError, child, duplicate, index, invalid
from fakekube.apimachinery.types import Tree
from fakekube.apimachinery.validation import IMMUTABLE, one_of
from fakekube.registry.strategy import Strategy, WriteContext

GROUP_POLICIES = ("File", "None", "ReadWriteOnceWithFSType")
MIN_SECONDS, MAX_SECONDS = 600, 2**32
TOKENS_IN_PLAIN = (
    "spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible logging "
    "of tokens in volume attributes"
)
PREVENTION_SINCE = 36  # the minor number of the release that has the field, one after its gate's


class CSIDriverStrategy(Strategy):
    """What is particular to CSIDrivers."""

    def default(self, obj: Tree, ctx: WriteContext) -> None:
        """A driver attaches volumes that persist, and no more."""
        spec = obj.setdefault("spec", {})
        defaults = {
            "attachRequired": True, "podInfoOnMount": False, "storageCapacity": False,
            "fsGroupPolicy": "ReadWriteOnceWithFSType", "requiresRepublish": False,
        }
        for name, value in defaults.items():
            spec.setdefault(name, value)
        if not spec.get("volumeLifecycleModes"):
            spec["volumeLifecycleModes"] = ["Persistent"]
        gated = {"seLinuxMount": "SELinuxMountReadWriteOncePod", "preventPodSchedulingIfMissing": "VolumeLimitScaling"}
        for name, gate in gated.items():
            if ctx.cluster.gate(gate) and (name != "preventPodSchedulingIfMissing" or ctx.minor >= PREVENTION_SINCE):
                spec.setdefault(name, False)

    def prepare_for_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> None:
        """A changed spec counts the generation, which new drivers are without."""
        if self.spec_changed(obj, old):
            obj["metadata"]["generation"] = old["metadata"].get("generation", 0) + 1

    def spec_changed(self, obj: Tree, old: Tree) -> bool:
        """No requests for tokens are the same as an empty list of them."""
        new, before = ({**tree["spec"], "tokenRequests": tree["spec"].get("tokenRequests") or []} for tree in (obj, old))
        return not same(new, before)

    def validate(self, obj: Tree, ctx: WriteContext) -> list[FieldError]:
        """Policies, tokens and modes."""
        spec = obj["spec"]
        found = one_of("spec.fsGroupPolicy", spec.get("fsGroupPolicy", ""), GROUP_POLICIES)
        requests = spec.get("tokenRequests") or []
        found += _tokens("spec.tokenRequests", requests)
        for mode in spec.get("volumeLifecycleModes") or ():
            found += one_of("spec.volumeLifecycleModes", mode, ("Persistent", "Ephemeral"))
        period = spec.get("nodeAllocatableUpdatePeriodSeconds")
        if period is not None and period < 10:
            path = "spec.nodeAllocatableUpdatePeriodSeconds"
            found.append(invalid(path, period, "must be greater than or equal to 10 seconds"))
        in_secrets = spec.get("serviceAccountTokenInSecrets")
        if in_secrets is not None and not requests:
            text = "serviceAccountTokenInSecrets is set but no tokenRequests are specified"
            found.append(invalid("spec.serviceAccountTokenInSecrets", in_secrets, text))
        return found

    def validate_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> list[FieldError]:
        """As for a new one; attaching and life cycle stay."""
        found = self.validate(obj, ctx)
        kept = {"attachRequired": "spec.attachedRequired", "volumeLifecycleModes": "spec.volumeLifecycleModes"}
        for name, path in kept.items():
            if not same(obj["spec"].get(name), old["spec"].get(name)):
                found.append(invalid(path, obj["spec"].get(name), IMMUTABLE))
        return found

    def warnings(self, obj: Tree, old: Tree | None, ctx: WriteContext) -> list[str]:
        """Tokens that are new, of which nothing says where a driver takes them from."""
        requests, before = (((tree or {}).get("spec") or {}).get("tokenRequests") or [] for tree in (obj, old))
        told = "serviceAccountTokenInSecrets" in obj["spec"] or not ctx.cluster.gate("CSIServiceAccountTokenSecrets")
        return [] if told or not requests or same(requests, before) else [TOKENS_IN_PLAIN]


def _tokens(path: str, requests: list[Tree]) -> list[FieldError]:
    found: list[FieldError] = []
    audiences: list[str] = []
    for number, request in enumerate(requests):
        where, audience = index(path, number), request.get("audience", "")
        if audience in audiences:
            found.append(duplicate(child(where, "audience"), audience))
            continue
        audiences.append(audience)
        if "expirationSeconds" in request:
            found += token_seconds(child(where, "expirationSeconds"), request["expirationSeconds"])
    return found


def token_seconds(path: str, seconds: int) -> list[FieldError]:
    """How long a token may live."""
    if seconds < MIN_SECONDS:
        return [invalid(path, seconds, "may not specify a duration less than 10 minutes")]
    if seconds > MAX_SECONDS:
        return [invalid(path, seconds, "may not specify a duration larger than 2^32 seconds")]
    return []


STRATEGY = CSIDriverStrategy()
