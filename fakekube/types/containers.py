"""Typed models of core/v1: parts that several kinds share."""

# Made by tools/typed_models.py: change that, and run make facts.

from fakekube.types.base import Model, empty, wire
from fakekube.types.values import Bool, Int, IntOrString, Quantity
from fakekube.types.volumes import ObjectFieldSelector, ResourceFieldSelector


class ContainerPort(Model):
    """In Container.ports, EphemeralContainer.ports."""

    name: str = ""
    host_port: Int = 0
    container_port: Int = 0
    protocol: str = ""
    host_ip: str = wire("hostIP", "")


class ConfigMapEnvSource(Model):
    """In EnvFromSource.configMapRef."""

    name: str = ""
    optional: Bool | None = None


class SecretEnvSource(Model):
    """In EnvFromSource.secretRef."""

    name: str = ""
    optional: Bool | None = None


class EnvFromSource(Model):
    """In Container.envFrom, EphemeralContainer.envFrom."""

    prefix: str = ""
    config_map_ref: ConfigMapEnvSource | None = None
    secret_ref: SecretEnvSource | None = None


class ConfigMapKeySelector(Model):
    """In EnvVarSource.configMapKeyRef."""

    name: str = ""
    key: str = ""
    optional: Bool | None = None


class SecretKeySelector(Model):
    """In EnvVarSource.secretKeyRef."""

    name: str = ""
    key: str = ""
    optional: Bool | None = None


class FileKeySelector(Model):
    """In EnvVarSource.fileKeyRef."""

    volume_name: str = ""
    path: str = ""
    key: str = ""
    optional: Bool | None = None


class EnvVarSource(Model):
    """In EnvVar.valueFrom."""

    field_ref: ObjectFieldSelector | None = None
    resource_field_ref: ResourceFieldSelector | None = None
    config_map_key_ref: ConfigMapKeySelector | None = None
    secret_key_ref: SecretKeySelector | None = None
    file_key_ref: FileKeySelector | None = None


class EnvVar(Model):
    """In Container.env, EphemeralContainer.env."""

    name: str = ""
    value: str = ""
    value_from: EnvVarSource | None = None


class ResourceClaim(Model):
    """In ResourceRequirements.claims."""

    name: str = ""
    request: str = ""


class ResourceRequirements(Model):
    """In Container.resources, EphemeralContainer.resources, PodSpec.resources and others."""

    limits: dict[str, Quantity] = empty(dict)
    requests: dict[str, Quantity] = empty(dict)
    claims: list[ResourceClaim] = empty(list)


class ContainerResizePolicy(Model):
    """In Container.resizePolicy, EphemeralContainer.resizePolicy."""

    resource_name: str = ""
    restart_policy: str = ""


class ContainerRestartRuleOnExitCodes(Model):
    """In ContainerRestartRule.exitCodes."""

    operator: str = ""
    values: list[Int] = empty(list)


class ContainerRestartRule(Model):
    """In Container.restartPolicyRules, EphemeralContainer.restartPolicyRules."""

    action: str = ""
    exit_codes: ContainerRestartRuleOnExitCodes | None = None


class VolumeMount(Model):
    """In Container.volumeMounts, EphemeralContainer.volumeMounts."""

    name: str = ""
    read_only: Bool = False
    recursive_read_only: str | None = None
    mount_path: str = ""
    sub_path: str = ""
    mount_propagation: str | None = None
    sub_path_expr: str = ""
    bind_mount_options: list[str] = empty(list)


class VolumeDevice(Model):
    """In Container.volumeDevices, EphemeralContainer.volumeDevices."""

    name: str = ""
    device_path: str = ""


class ExecAction(Model):
    """In Probe.exec, LifecycleHandler.exec."""

    command: list[str] = empty(list)


class HTTPHeader(Model):
    """In HTTPGetAction.httpHeaders."""

    name: str = ""
    value: str = ""


class HTTPGetAction(Model):
    """In Probe.httpGet, LifecycleHandler.httpGet."""

    path: str = ""
    port: IntOrString = 0
    host: str = ""
    scheme: str = ""
    http_headers: list[HTTPHeader] = empty(list)
    protocol: str | None = None


class TCPSocketAction(Model):
    """In Probe.tcpSocket, LifecycleHandler.tcpSocket."""

    port: IntOrString = 0
    host: str = ""


class GRPCAction(Model):
    """In Probe.grpc."""

    port: Int = 0
    service: str | None = None
    mode: str | None = None


class Probe(Model):
    """In Container.livenessProbe, Container.readinessProbe and others."""

    exec: ExecAction | None = None
    http_get: HTTPGetAction | None = None
    tcp_socket: TCPSocketAction | None = None
    grpc: GRPCAction | None = None
    initial_delay_seconds: Int = 0
    timeout_seconds: Int = 0
    period_seconds: Int = 0
    success_threshold: Int = 0
    failure_threshold: Int = 0
    termination_grace_period_seconds: Int | None = None


class SleepAction(Model):
    """In LifecycleHandler.sleep."""

    seconds: Int = 0


class LifecycleHandler(Model):
    """In Lifecycle.postStart, Lifecycle.preStop."""

    exec: ExecAction | None = None
    http_get: HTTPGetAction | None = None
    tcp_socket: TCPSocketAction | None = None
    sleep: SleepAction | None = None


class Lifecycle(Model):
    """In Container.lifecycle, EphemeralContainer.lifecycle."""

    post_start: LifecycleHandler | None = None
    pre_stop: LifecycleHandler | None = None
    stop_signal: str | None = None


class Capabilities(Model):
    """In SecurityContext.capabilities."""

    add: list[str] = empty(list)
    drop: list[str] = empty(list)


class SELinuxOptions(Model):
    """In SecurityContext.seLinuxOptions, PodSecurityContext.seLinuxOptions."""

    user: str = ""
    role: str = ""
    type: str = ""
    level: str = ""


class WindowsSecurityContextOptions(Model):
    """In SecurityContext.windowsOptions, PodSecurityContext.windowsOptions."""

    gmsa_credential_spec_name: str | None = None
    gmsa_credential_spec: str | None = None
    run_as_user_name: str | None = None
    host_process: Bool | None = None


class SeccompProfile(Model):
    """In SecurityContext.seccompProfile, PodSecurityContext.seccompProfile."""

    type: str = ""
    localhost_profile: str | None = None


class AppArmorProfile(Model):
    """In SecurityContext.appArmorProfile, PodSecurityContext.appArmorProfile."""

    type: str = ""
    localhost_profile: str | None = None


class SecurityContext(Model):
    """In Container.securityContext, EphemeralContainer.securityContext."""

    capabilities: Capabilities | None = None
    privileged: Bool | None = None
    se_linux_options: SELinuxOptions | None = None
    windows_options: WindowsSecurityContextOptions | None = None
    run_as_user: Int | None = None
    run_as_group: Int | None = None
    run_as_non_root: Bool | None = None
    read_only_root_filesystem: Bool | None = None
    allow_privilege_escalation: Bool | None = None
    proc_mount: str | None = None
    seccomp_profile: SeccompProfile | None = None
    app_armor_profile: AppArmorProfile | None = None


class Container(Model):
    """In PodSpec.initContainers, PodSpec.containers."""

    name: str = ""
    image: str = ""
    command: list[str] = empty(list)
    args: list[str] = empty(list)
    working_dir: str = ""
    ports: list[ContainerPort] = empty(list)
    env_from: list[EnvFromSource] = empty(list)
    env: list[EnvVar] = empty(list)
    resources: ResourceRequirements = empty(ResourceRequirements)
    resize_policy: list[ContainerResizePolicy] = empty(list)
    restart_policy: str | None = None
    restart_policy_rules: list[ContainerRestartRule] = empty(list)
    volume_mounts: list[VolumeMount] = empty(list)
    volume_devices: list[VolumeDevice] = empty(list)
    liveness_probe: Probe | None = None
    readiness_probe: Probe | None = None
    startup_probe: Probe | None = None
    lifecycle: Lifecycle | None = None
    termination_message_path: str = ""
    termination_message_policy: str = ""
    image_pull_policy: str = ""
    security_context: SecurityContext | None = None
    stdin: Bool = False
    stdin_once: Bool = False
    tty: Bool = False


class EphemeralContainer(Model):
    """In PodSpec.ephemeralContainers."""

    name: str = ""
    image: str = ""
    command: list[str] = empty(list)
    args: list[str] = empty(list)
    working_dir: str = ""
    ports: list[ContainerPort] = empty(list)
    env_from: list[EnvFromSource] = empty(list)
    env: list[EnvVar] = empty(list)
    resources: ResourceRequirements = empty(ResourceRequirements)
    resize_policy: list[ContainerResizePolicy] = empty(list)
    restart_policy: str | None = None
    restart_policy_rules: list[ContainerRestartRule] = empty(list)
    volume_mounts: list[VolumeMount] = empty(list)
    volume_devices: list[VolumeDevice] = empty(list)
    liveness_probe: Probe | None = None
    readiness_probe: Probe | None = None
    startup_probe: Probe | None = None
    lifecycle: Lifecycle | None = None
    termination_message_path: str = ""
    termination_message_policy: str = ""
    image_pull_policy: str = ""
    security_context: SecurityContext | None = None
    stdin: Bool = False
    stdin_once: Bool = False
    tty: Bool = False
    target_container_name: str = ""
