"""The options of a cluster, for the constructor, the command line and the pytest marker alike.

Texts have upstream's syntax (``--feature-gates A=true,B=false``, ``--controllers '*,-scheduler'``);
Python values are accepted too. Nothing here imports the server, so that reading options is fast.
"""

import math
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from typing import Any

from fakekube.apimachinery.releases import NEWEST

DEFAULT_VERSION = NEWEST.name
GRACE_SECONDS = 0.6
COMPACTION_SECONDS = 300.0
DEFAULT_KUBECONFIG = "fakekube.kubeconfig"
MOST_FACTOR = 1_000_000  # beyond it the year 9999 is hours away
MOST_NODES = 100_000  # twenty times what upstream is tested with
AUTHORIZATION_MODES = ("AlwaysAllow", "AlwaysDeny", "Node", "RBAC")
MUTATION_DETECTOR = "KUBE_CACHE_MUTATION_DETECTOR"
TRUE = ("true", "TRUE", "True", "t", "T", "1")
WORKLOAD_AWARE = "workload-aware"
WORKLOAD_AWARE_GATES: Mapping[str, tuple[str, ...]] = {
    "1.35": ("GenericWorkload", "GangScheduling"),
    "1.36": (
        "GenericWorkload", "GangScheduling", "WorkloadAwarePreemption", "TopologyAwareWorkloadScheduling", "WorkloadWithJob",
        "DRAWorkloadResourceClaims"),
    "1.37": (
        "GenericWorkload", "TopologyAwareWorkloadScheduling", "CompositePodGroup", "PodGroupPreemptionPolicy",
        "WorkloadWithJob", "DRAWorkloadResourceClaims"),
}
"""What the preset ``workload-aware`` switches on in each release that has workload-aware
scheduling.
"""
WORKLOAD_AWARE_VERSIONS: Mapping[str, tuple[str, ...]] = {
    "1.35": ("scheduling.k8s.io/v1alpha1",), "1.36": ("scheduling.k8s.io/v1alpha2",),
    "1.37": ("scheduling.k8s.io/v1beta1", "scheduling.k8s.io/v1alpha3"),
}
"""The API versions that these gates are of no use without; the preset serves them too."""
SHORT_NAMES: Mapping[str, str] = {
    "podgarbagecollector": "podgc", "endpoints": "endpoint", "horizontalpodautoscaler": "horizontalpodautoscaling",
    "certificatesigningrequestsigning": "csrsigning", "certificatesigningrequestapproving": "csrapproving",
    "certificatesigningrequestcleaner": "csrcleaner",
}
"""Controllers whose older name is more than a spelling of the newer one."""


class OptionError(ValueError):
    """An option with a value that is not possible; the text says which and why."""


CALLBACKS = ("outcome", "on_exec", "on_connect", "on_metric", "scheduler_plugins")
"""The options that are functions, which every component gets."""


def named(option: str, value: Any) -> Any:
    """What a text ``module:attribute`` names; any other value as it is.

    Raises OptionError for a text that names nothing.
    """
    if not isinstance(value, str):
        return value
    from pkgutil import resolve_name

    try:
        if ":" not in value:
            raise ValueError("say module:attribute")
        return resolve_name(value.strip())
    except (ImportError, AttributeError, ValueError, SyntaxError) as error:
        raise OptionError(f"{option}: {value!r} names nothing that can be imported: {error}") from error


def function_named(option: str, value: Any) -> Any:
    """A function, or the one that a text names; None when there is none. Raises OptionError."""
    found = named(option, value) if value != "" else None
    if found is not None and not callable(found):
        raise OptionError(f"{option}: {value!r} is no function")
    return found


def detects_mutations() -> bool:
    """Whether upstream's environment variable asks to check that cached objects do not change."""
    return os.environ.get(MUTATION_DETECTOR, "") in TRUE


@dataclass(frozen=True, slots=True)
class ClusterOptions:
    """The options of one cluster.

    ``clock`` is ``real``, ``manual``, ``auto``, or a factor: how much faster than real time.
    """

    nodes: int = 1
    controllers: str = "*"
    kubernetes_version: str = DEFAULT_VERSION
    feature_gates: Mapping[str, bool] = field(default_factory=dict)
    runtime_config: Mapping[str, bool] = field(default_factory=dict)
    clock: str | float = "auto"
    seed: int = 0
    start: datetime | None = None  # where virtual time begins
    disable_admission_plugins: tuple[str, ...] = ()
    enable_admission_plugins: tuple[str, ...] = ()  # besides those that are on by default
    admission_control_config_file: str = ""  # an AdmissionConfiguration, for plugins that take one
    # a KubeSchedulerConfiguration: a file of it, or its tree
    scheduler_config: "str | Mapping[str, Any]" = ""
    # of add-ons, by their names: a file with a configuration, its tree, or True for the add-on's
    # default; those named here run
    addon_config: "Mapping[str, str | bool | Mapping[str, Any]]" = field(default_factory=dict)
    authorization_mode: tuple[str, ...] = ("AlwaysAllow",)
    metrics_server: bool = True  # metrics.k8s.io is served where a kubelet runs
    # there is a StorageClass ``standard``, whose volumes are made at once
    default_storage_class: bool = False
    warn_unmodelled: bool = False  # answers warn of what is stored and has no effect here
    # seconds that an Event is kept after its last write; 0 is for ever, as upstream
    event_ttl: float = 3600.0
    # real seconds that clients outside must be quiet before virtual time moves; 0: none
    grace: float = GRACE_SECONDS
    # seconds until old states expire; 0 is never; see compaction_seconds
    etcd_compaction_interval: float | None = None
    resource_quota_sync_period: float = 300.0  # seconds between counts of all quotas
    # the IP address of the endpoints of the service kubernetes; none unless it is said
    advertise_address: str = ""
    # PEM of those whose client certificates are believed, which the ConfigMap
    # extension-apiserver-authentication publishes; none unless it is said
    client_ca_file: str = ""
    # speak TLS, with a certificate authority of the cluster's own
    tls: bool = False
    # static tokens: a file of ``token,user,uid,"group1,group2"`` a line
    token_auth_file: str = ""
    # who asks without credentials is system:anonymous, or is refused; None: the administrator,
    # while everybody may do everything
    anonymous_auth: bool | None = None
    # where audit events are written as lines of JSON; "-" is standard output
    audit_log: str = ""
    # what goes wrong on purpose: a file, a mapping with ``faults``, or a list of rules
    faults: Any = ""
    # where what clients ask is recorded: a file, or a fakekube.recording.recorder.Recorder
    record: Any = ""
    # names by which clients reach a served cluster, besides its own; "*" is any
    allow_host: tuple[str, ...] = ()
    # web origins whose pages may use a served cluster; "*" is any
    allow_origin: tuple[str, ...] = ()
    # where webhooks behind services listen: namespace/name, or namespace/name:port, to a URL
    webhook_services: Mapping[str, str] = field(default_factory=dict)
    # whoever changes a cached object fails the test
    cache_mutation_detector: bool = field(default_factory=detects_mutations)

    @property
    def compaction_seconds(self) -> float:
        """Seconds from one compaction to the next, 0 for never.

        Unless it is said, that is five minutes, as upstream's; on the clocks ``auto`` and
        ``manual``, where time leaps while a client turns its pages, it is never.
        """
        if self.etcd_compaction_interval is not None:
            return self.etcd_compaction_interval
        return 0.0 if self.clock in ("auto", "manual") else COMPACTION_SECONDS

    @classmethod
    def of(cls, **values: Any) -> "ClusterOptions":
        """Options from keyword arguments as people write them.

        The name of an installed add-on is one, too: what it is configured with. Raises OptionError,
        naming the option.
        """
        known = [f.name for f in fields(cls)]
        values = _with_addons(values, known)
        for name in values:
            if name not in known:
                raise OptionError(f"unknown option {name!r}: known are {', '.join(known)}")
        made = cls(**{name: _CONVERTERS.get(name, _as_it_is)(value) for name, value in values.items()})
        return made if WORKLOAD_AWARE not in made.feature_gates else _with_workload_aware(made)


def _with_addons(values: Mapping[str, Any], known: Iterable[str]) -> dict[str, Any]:
    """The same, with the options that are names of add-ons in ``addon_config``."""
    names = [name for name in values if name not in known]
    if not names:
        return dict(values)
    from fakekube.composition.installed import installed

    addons = {name: values[name] for name in names if name in installed().addons}
    rest = {name: value for name, value in values.items() if name not in addons}
    return {**rest, "addon_config": {**addon_configs(values.get("addon_config")), **addons}} if addons else rest


def _with_workload_aware(options: ClusterOptions) -> ClusterOptions:
    """The preset in terms of the release; what is said of a single gate or version goes before it.
    """
    release, gates = options.kubernetes_version, dict(options.feature_gates)
    if not gates.pop(WORKLOAD_AWARE):
        return replace(options, feature_gates=gates)
    if release not in WORKLOAD_AWARE_GATES:
        known = ", ".join(WORKLOAD_AWARE_GATES)
        raise OptionError(f"feature_gates: Kubernetes {release} has no workload-aware scheduling: {known} have")
    return replace(
        options, feature_gates={**dict.fromkeys(WORKLOAD_AWARE_GATES[release], True), **gates},
        runtime_config={**dict.fromkeys(WORKLOAD_AWARE_VERSIONS[release], True), **options.runtime_config})


def switches(value: str | Mapping[str, bool] | Iterable[str] | None, option: str = "feature_gates") -> dict[str, bool]:
    """``A=true,B=false`` (or a mapping, or several such texts) as a mapping;

    ``A`` alone is true.
    """
    if value is None:
        return {}
    if isinstance(value, Mapping):
        return {str(name): on if isinstance(on, bool) else _switch(str(name), str(on), option) for name, on in value.items()}
    result: dict[str, bool] = {}
    for part in (value if isinstance(value, str) else ",".join(value)).split(","):
        name, equals, text = part.strip().partition("=")
        if name:
            result[name] = not equals or _switch(name, text, option)
    return result


def _switch(name: str, text: str, option: str) -> bool:
    """Go's ParseBool. Raises OptionError in upstream's words."""
    if text in TRUE:
        return True
    if text in ("false", "FALSE", "False", "f", "F", "0"):
        return False
    raise OptionError(f'{option}: invalid value of {name}={text}, err: strconv.ParseBool: parsing "{text}": invalid syntax')


def _version(value: Any) -> str:
    text = str(value).removeprefix("v")
    parts = text.split(".")
    if len(parts) < 2 or not all(part.isdecimal() for part in parts[:2]):
        raise OptionError(f"kubernetes_version: {value!r} is no version: say {DEFAULT_VERSION}")
    return ".".join(parts[:2])


def _clock(value: Any) -> str | float:
    if value in ("real", "manual", "auto"):
        return str(value)
    try:
        factor = float(str(value).removeprefix("scaled:").removesuffix("x"))
    except ValueError:
        factor = 0.0
    if not 0 < factor < math.inf:
        raise OptionError(f"clock: {value!r} is none of real, manual, auto, or a factor above 0")
    if factor > MOST_FACTOR:
        raise OptionError(f"clock: {value!r} is too fast: a factor is at most {MOST_FACTOR:,}")
    return factor


def _nodes(value: Any) -> int:
    number = _integer(value)
    if number is None or number < 0:
        raise OptionError(f"nodes: {value!r} is no number of nodes")
    if number > MOST_NODES:
        raise OptionError(f"nodes: {value!r} are too many: at most {MOST_NODES:,}")
    return number


def port_of(value: Any) -> int:
    """A port, 0 for one that is free. Raises OptionError."""
    number = _integer(value)
    if number is None or not 0 <= number <= 65535:
        raise OptionError(f"port: {value!r} is no port: say one from 0 to 65535")
    return number


def _seed(value: Any) -> int:
    number = _integer(value)
    if number is None:
        raise OptionError(f"seed: {value!r} is no whole number")
    return number


def _integer(value: Any) -> int | None:
    try:
        return int(str(value))
    except ValueError:
        return None


def _start(value: Any) -> datetime | None:
    try:
        start = datetime.fromisoformat(value) if isinstance(value, str) else value
    except ValueError:
        start = ""
    if start is not None and (not isinstance(start, datetime) or start.tzinfo is None):
        raise OptionError(f"start: {value!r} is no time with a time zone: say 2026-01-01T00:00:00Z")
    if start is None:
        return None
    from fakekube.util.durations import EARLIEST, LATEST  # the help is told without it

    if not EARLIEST <= start <= LATEST:
        raise OptionError(f"start: {value!r}: a clock holds the times from {EARLIEST:%F} to {LATEST:%F}")
    return start


def _names(value: Any) -> tuple[str, ...]:
    texts = [value] if isinstance(value, str) else list(value or ())
    return tuple(name.strip() for text in texts for name in text.split(",") if name.strip())


def _modes(value: Any) -> tuple[str, ...]:
    modes = _names(value)
    if not modes:
        raise OptionError("authorization_mode: at least one authorization-mode must be passed")
    for mode in modes:
        if mode not in AUTHORIZATION_MODES:
            known = ", ".join(AUTHORIZATION_MODES)
            raise OptionError(f'authorization_mode: authorization-mode "{mode}" is not a valid mode: known are {known}')
    if len(dict.fromkeys(modes)) < len(modes):
        listed = " ".join(f'"{mode}"' for mode in modes)
        raise OptionError(f"authorization_mode: authorization-mode [{listed}] has mode specified more than once")
    return modes


def _allow_host(value: Any) -> tuple[str, ...]:
    from fakekube.apimachinery.origins import ANY, plain_host

    try:
        return tuple(name if name == ANY else plain_host(name) for name in _names(value))
    except ValueError as error:
        raise OptionError(f"allow_host: {error}") from None


def _allow_origin(value: Any) -> tuple[str, ...]:
    from fakekube.apimachinery.origins import origin_of

    try:
        return tuple(origin_of(name) for name in _names(value))
    except ValueError as error:
        raise OptionError(f"allow_origin: {error}") from None


def _webhook_services(value: Any) -> dict[str, str]:
    pairs = value.items() if isinstance(value, Mapping) else (name.partition("=")[::2] for name in _names(value))
    found: dict[str, str] = {}
    for name, url in pairs:
        service, _, port = str(name).strip().partition(":")
        namespace, slash, rest = service.partition("/")
        if not (namespace and slash and rest) or "/" in rest or (port and not port.isdecimal()):
            raise OptionError(f"webhook_services: {name!r} is no service: say namespace/name or namespace/name:port")
        found[str(name).strip()] = _webhook_url(str(url).strip())
    return found


def _webhook_url(text: str) -> str:
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(text)
        usable = parts.scheme in ("http", "https") and parts.hostname and (parts.port or 1) and parts.path in ("", "/")
    except ValueError:
        usable = False
    if not usable:
        raise OptionError(f"webhook_services: {text!r} is no URL of a server: say https://127.0.0.1:9443")
    return text


def boolean_of(name: str, value: Any) -> bool:
    """True or False, also as a text. Raises OptionError."""
    return value if isinstance(value, bool) else _switch(name, str(value), name)


def _boolean(name: str) -> Callable[[Any], bool]:
    return lambda value: boolean_of(name, value)


def _seconds(name: str, *, above_zero: bool = False) -> Callable[[Any], float]:
    """What reads a duration. OptionError for what is none."""
    def read(value: Any) -> float:
        from fakekube.util.durations import seconds_of

        try:
            seconds = seconds_of(value)
        except (ValueError, TypeError, AttributeError) as error:
            raise OptionError(f"{name}: {error}") from None
        if above_zero and not seconds:
            raise OptionError(f"{name}: {value!r} is not above zero")
        return seconds

    return read


def _anonymous_auth(value: Any) -> bool | None:
    return None if value in (None, "") else boolean_of("anonymous_auth", value)


def _compaction_interval(value: Any) -> float | None:
    return None if value in (None, "") else _seconds("etcd_compaction_interval")(value)


def _address(value: Any) -> str:
    import ipaddress

    try:
        return str(ipaddress.ip_address(value)) if value else ""
    except ValueError:
        raise OptionError(f"advertise_address: {value!r} is no IP address") from None


def _path(value: Any) -> str:
    return str(value) if value else ""


def _controllers(value: Any) -> str:
    return value if isinstance(value, str) else ",".join(value)


def _as_it_is(value: Any) -> Any:
    return value


def _record(value: Any) -> Any:
    return _path(value) if isinstance(value, str | os.PathLike) else value or ""


def _tree_or_path(value: Any) -> Any:
    return value if isinstance(value, Mapping) else _path(value)


def addon_configs(value: Any) -> dict[str, Any]:
    """``NAME=FILE`` (several, or a mapping) by the name of the add-on."""
    pairs = value.items() if isinstance(value, Mapping) else (text.partition("=")[::2] for text in _names(value))
    found = {}
    for name, config in pairs:
        if config is None or config is False:
            continue
        if not name or not config:
            raise OptionError(f"addon_config: {name!r} is no configuration of an add-on: say NAME=FILE")
        found[str(name)] = config if config is True or isinstance(config, Mapping) else str(config)
    return found


_CONVERTERS: Mapping[str, Callable[[Any], Any]] = {
    "kubernetes_version": _version, "clock": _clock, "nodes": _nodes, "controllers": _controllers, "seed": _seed,
    "start": _start, "feature_gates": lambda value: switches(value, "feature_gates"),
    "runtime_config": lambda value: switches(value, "runtime_config"),
    "disable_admission_plugins": _names, "enable_admission_plugins": _names, "authorization_mode": _modes,
    "metrics_server": _boolean("metrics_server"),
    "event_ttl": _seconds("event_ttl"),
    "advertise_address": _address, "client_ca_file": _path, "admission_control_config_file": _path,
    "scheduler_config": _tree_or_path, "addon_config": addon_configs,
    "tls": _boolean("tls"), "token_auth_file": _path,
    "anonymous_auth": _anonymous_auth, "audit_log": _path, "record": _record,
    "default_storage_class": _boolean("default_storage_class"), "warn_unmodelled": _boolean("warn_unmodelled"),
    "grace": _seconds("grace"),
    "etcd_compaction_interval": _compaction_interval,
    "resource_quota_sync_period": _seconds("resource_quota_sync_period", above_zero=True),
    "webhook_services": _webhook_services, "allow_host": _allow_host, "allow_origin": _allow_origin,
    "cache_mutation_detector": _boolean("cache_mutation_detector"),
}


def selected(text: str, known: Iterable[str], optional: Iterable[str] = ()) -> list[str]:
    """The controllers that ``*,-scheduler`` or ``namespace,serviceaccount`` names.

    They come in the order of ``known``. ``*`` stands for all but the ``optional`` ones. Upstream's
    names are accepted too: ``garbage-collector-controller`` is ``garbagecollector``. Raises
    OptionError for an unknown name, in kube-controller-manager's words.
    """
    names, extra = list(known), list(optional)
    spellings = _spellings(names)
    wanted: dict[str, bool] = {}
    everything = False
    for part in text.split(","):
        word = part.strip()
        if not word:
            continue
        if word == "*":
            everything = True
            continue
        wanted[_spelled(word.removeprefix("-"), spellings)] = not word.startswith("-")
    return [name for name in names if wanted.get(name, everything and name not in extra)]


def controller_name(text: str, known: Iterable[str]) -> str:
    """The one controller that ``scheduler`` or ``garbage-collector-controller`` names.

    Raises OptionError for an unknown name, as ``selected``.
    """
    return _spelled(text.strip(), _spellings(known))


def _spellings(names: Iterable[str]) -> dict[str, str]:
    return {_plain(name): name for name in names}


def _spelled(word: str, spellings: Mapping[str, str]) -> str:
    name = spellings.get(_plain(word))
    if name is None:
        raise OptionError(f'controllers: "{word}" is not in the list of known controllers: {", ".join(spellings.values())}')
    return name


def _plain(name: str) -> str:
    """A controller's name without what its spellings differ in."""
    plain = name.removesuffix("-controller").replace("-", "")
    return SHORT_NAMES.get(plain, plain)
