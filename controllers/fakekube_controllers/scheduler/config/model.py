"""The fields of a KubeSchedulerConfiguration (kubescheduler.config.k8s.io/v1), as models.

A field that does not exist is refused, as upstream's strict decoding does. Left out: what
configures the process rather than the scheduling (client connection, leader election, profiling);
such fields are accepted, and have no effect.
"""

from typing import Annotated, Any

from pydantic import BaseModel, Field, ValidationError

from fakekube.runtime.component import WrongOption
from fakekube.runtime.configmodels import STRICT, Int32, decoding_error, without_nulls

API_VERSION, KIND = "kubescheduler.config.k8s.io/v1", "KubeSchedulerConfiguration"

Int64 = Annotated[int, Field(strict=True, ge=-(2**63), lt=2**63)]


class Model(BaseModel):
    """With what every model has."""

    model_config = STRICT


class PluginChoice(Model):
    """A plugin that is enabled or disabled."""

    name: str = ""
    weight: Int32 | None = None


class PluginSet(Model):
    """What is enabled and disabled at one extension point; ``*`` disables all."""

    enabled: list[PluginChoice] = []
    disabled: list[PluginChoice] = []


class Plugins(Model):
    """The extension points; ``multi_point`` is every one that a plugin extends."""

    pre_enqueue: PluginSet = PluginSet()
    queue_sort: PluginSet = PluginSet()
    pre_filter: PluginSet = PluginSet()
    filter: PluginSet = PluginSet()
    post_filter: PluginSet = PluginSet()
    pre_score: PluginSet = PluginSet()
    score: PluginSet = PluginSet()
    reserve: PluginSet = PluginSet()
    permit: PluginSet = PluginSet()
    pre_bind: PluginSet = PluginSet()
    bind: PluginSet = PluginSet()
    post_bind: PluginSet = PluginSet()
    multi_point: PluginSet = PluginSet()
    placement_generate: PluginSet = PluginSet()
    placement_score: PluginSet = PluginSet()
    pod_group_post_filter: PluginSet = PluginSet()


class PluginConfig(Model):
    """The arguments of a plugin."""

    name: str = ""
    args: dict[str, Any] = {}


class Profile(Model):
    """The plugins for pods that ask for this scheduler."""

    scheduler_name: str | None = None
    percentage_of_nodes_to_score: Int32 | None = None
    plugins: Plugins = Plugins()
    plugin_config: list[PluginConfig] = []


class ManagedResource(Model):
    """An extended resource that an extender manages."""

    name: str = ""
    ignored_by_scheduler: bool = False


class ExtenderTLS(Model):
    """How an extender is reached by TLS."""

    insecure: bool = False
    server_name: str = ""
    cert_file: str = ""
    key_file: str = ""
    ca_file: Annotated[str, Field(alias="caFile")] = ""
    cert_data: str = ""
    key_data: str = ""
    ca_data: Annotated[str, Field(alias="caData")] = ""


class ExtenderConfig(Model):
    """A process that is asked, too; a verb that is empty is not asked."""

    url_prefix: str = ""
    filter_verb: str = ""
    preempt_verb: str = ""
    prioritize_verb: str = ""
    weight: Int64 = 0
    bind_verb: str = ""
    enable_https: Annotated[bool, Field(alias="enableHTTPS")] = False
    tls_config: ExtenderTLS | None = None
    http_timeout: str = ""
    node_cache_capable: bool = False
    managed_resources: list[ManagedResource] = []
    ignorable: bool = False


class Configuration(Model):
    """The whole."""

    api_version: str = API_VERSION
    kind: str = KIND
    parallelism: Int32 = 16
    leader_election: dict[str, Any] = {}
    client_connection: dict[str, Any] = {}
    enable_profiling: bool | None = None
    enable_contention_profiling: bool | None = None
    delay_cache_until_active: bool = False
    percentage_of_nodes_to_score: Int32 | None = None
    pod_initial_backoff_seconds: Int64 = 1
    pod_max_backoff_seconds: Int64 = 10
    profiles: list[Profile] = []
    extenders: list[ExtenderConfig] = []


class ConfigurationError(WrongOption):
    """The configuration is wrong; the text says where and why, as upstream's does."""

    option = "scheduler_config"


def decode(tree: Any) -> Configuration:
    """The models of a tree. Raises ConfigurationError."""
    version, kind = (tree.get(name) if isinstance(tree, dict) else None for name in ("apiVersion", "kind"))
    if not isinstance(tree, dict) or not kind:
        raise ConfigurationError("Object 'Kind' is missing in the configuration")
    if (version, kind) != (API_VERSION, KIND):
        raise ConfigurationError(f'no kind "{kind}" is registered for version "{version or ""}" in scheme of the scheduler')
    try:
        return Configuration.model_validate(without_nulls(tree, "args"))
    except ValidationError as error:
        raise ConfigurationError(decoding_error(error, Configuration)) from None
