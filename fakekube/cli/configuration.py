"""The configuration file of ``fakekube serve --config FILE``: what the command line can say, and
how a cluster is made.

YAML or JSON. Keys are the options' names in camelCase, as in the configuration files of Kubernetes'
own components; paths in it are relative to the file. Values mean what they mean on the command
line: ``ClusterOptions`` reads them, here as there.
Upstream: k8s.io/component-base/config. Left out: apiVersion and kind, as there is one version of
this file.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, Strict, ValidationError, WithJsonSchema
from pydantic.alias_generators import to_camel

from fakekube.apimachinery import yamlfiles
from fakekube.composition import options
from fakekube.composition.options import ClusterOptions, OptionError

TEXTS = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}
SWITCHES = {"anyOf": [{"type": "object", "additionalProperties": {"type": "boolean"}}, *TEXTS["anyOf"]]}
OF_SERVE = ("verbosity", "port", "bind_address", "insecure", "load", "from", "kubeconfig", "ready_file", "fleet", "schedule")
"""Options of the command alone."""

NO_VALUES = (*OF_SERVE, *options.CALLBACKS, "extra")
"""The rest is values that say what the cluster is like."""


def _version(value: Any) -> Any:
    if isinstance(value, float | int):
        raise ValueError(f'{value} is a number: put the version in quotes, as "{options.DEFAULT_VERSION}"')
    return value


def _texts(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


def _switches(value: Any) -> Any:
    return options.switches(value) if isinstance(value, str | list) else value


Int = Annotated[int, Strict()]
Bool = Annotated[bool, Strict()]
Texts = Annotated[list[str], BeforeValidator(_texts), WithJsonSchema(TEXTS)]
Switches = Annotated[dict[str, Bool], BeforeValidator(_switches), WithJsonSchema(SWITCHES)]


class ServeConfiguration(BaseModel):
    """What ``fakekube serve --config`` reads."""

    model_config = ConfigDict(extra="forbid", alias_generator=to_camel)

    nodes: Annotated[Int, Field(ge=0)] = 1
    kubernetes_version: Annotated[str, BeforeValidator(_version)] = options.DEFAULT_VERSION
    feature_gates: Switches = {}
    runtime_config: Switches = {}
    controllers: Texts = ["*"]
    disable_admission_plugins: Texts = []
    enable_admission_plugins: Texts = []
    admission_control_config_file: str = ""
    scheduler_config: str = ""
    addon_config: Texts = []
    authorization_mode: Texts = ["AlwaysAllow"]
    metrics_server: Bool = True
    default_storage_class: Bool = False
    warn_unmodelled: Bool = False
    event_ttl: Annotated[str | Int | float, Field(alias="eventTTL")] = "1h0m0s"
    etcd_compaction_interval: str | Int | float = ""
    advertise_address: str = ""
    client_ca_file: Annotated[str, Field(alias="clientCAFile")] = ""
    token_auth_file: str = ""
    anonymous_auth: Bool | None = None
    tls: Bool = False
    audit_log: str = ""
    faults: str = ""
    record: str = ""
    resource_quota_sync_period: str | Int | float = "5m0s"
    seed: Int = 0
    verbosity: Annotated[Int, Field(ge=0, le=10, alias="v")] = 0
    port: Annotated[Int, Field(ge=0, le=65535)] = 0
    bind_address: str = "127.0.0.1"
    insecure: Bool = False
    allow_host: Texts = []
    allow_origin: Texts = []
    webhook_services: Texts = []
    clock: str | Int | float = "real"
    start: str = ""
    grace: str | Int | float = "600ms"
    cache_mutation_detector: Bool = False
    outcome: str = ""
    on_exec: str = ""
    on_connect: str = ""
    on_metric: str = ""
    scheduler_plugins: str = ""
    extra: Texts = []
    load: Texts = []
    from_: Annotated[str, Field(alias="from")] = ""
    kubeconfig: str = options.DEFAULT_KUBECONFIG
    ready_file: str = ""
    fleet: str = ""
    schedule: str = ""


PARAMETERS = {"load": "files", "from_": "snapshot"}
"""Fields whose parameter of ``serve`` has another name."""


def read(path: Path) -> dict[str, Any]:
    """The options that a file says, by the names of the parameters of ``serve``.

    Raises OptionError, one sentence.
    """
    try:
        content = yamlfiles.read(path)
    except yamlfiles.FileError as error:
        raise OptionError(str(error)) from error
    try:
        found = ServeConfiguration.model_validate({} if content is None else content)
    except ValidationError as error:
        raise OptionError(f"{path}: {_sentence(error)}") from None
    said = found.model_fields_set
    values: dict[str, Any] = {name: getattr(found, name) for name in ServeConfiguration.model_fields if name in said}
    for name in (
        "from_", "kubeconfig", "ready_file", "client_ca_file", "admission_control_config_file", "scheduler_config",
        "token_auth_file", "audit_log", "faults", "record",
    ):
        if values.get(name) and values[name] != "-":
            values[name] = str(path.parent / values[name])
    if "addon_config" in values:
        values["addon_config"] = {
            name: str(path.parent / file) for name, file in options.addon_configs(values["addon_config"]).items()}
    if "load" in values:
        values["load"] = tuple(name if name == "-" or "://" in name else str(path.parent / name) for name in values["load"])
    _check({name: value for name, value in values.items() if name.rstrip("_") not in NO_VALUES}, path)
    return {PARAMETERS.get(name, name): value for name, value in values.items()}


def json_schema(helps: Mapping[str, str]) -> dict[str, Any]:
    """The JSON schema of the file.

    ``helps`` are the help texts of the parameters of ``serve``, by name.
    """
    schema = ServeConfiguration.model_json_schema()
    for name, field in ServeConfiguration.model_fields.items():
        described = schema["properties"][field.alias]
        described.pop("title", None)
        described["description"] = helps[PARAMETERS.get(name, name)]
    return schema


def _check(values: dict[str, Any], path: Path) -> None:
    """Let the options of a cluster be read as they will be.

    Raises OptionError with the file, and the key for the name.
    """
    for name, value in values.items():
        try:
            ClusterOptions.of(**{name: value})
        except OptionError as error:
            key = ServeConfiguration.model_fields[name].alias
            raise OptionError(f"{path}: {key}: {str(error).removeprefix(f'{name}: ')}") from None


def _sentence(error: ValidationError) -> str:
    """The first of what is wrong, as ``place: what``."""
    first = error.errors(include_url=False)[0]
    place = ".".join(str(part) for part in first["loc"] if not str(part).startswith(("str", "int", "float")))
    if first["type"] == "extra_forbidden":
        known = ", ".join(str(field.alias) for field in ServeConfiguration.model_fields.values())
        return f"{place}: there is no such option: known are {known}"
    if not place:
        return "it is no mapping of options"
    text = first["msg"].removeprefix("Value error, ").removeprefix("feature_gates: ")
    return f"{place}: {text[:1].lower()}{text[1:]}"
