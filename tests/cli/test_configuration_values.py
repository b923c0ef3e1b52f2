"""What is made of the keys of a configuration file, all of them."""

import json
from pathlib import Path
from typing import Any

import pytest

from fakekube.cli import configuration
from fakekube.composition.options import OptionError

AS_SAID: dict[str, Any] = {
    "nodes": 2, "kubernetesVersion": "1.36", "featureGates": {"GenericWorkload": True}, "runtimeConfig": {"api/all": True},
    "controllers": ["job"], "disableAdmissionPlugins": ["LimitRanger"], "enableAdmissionPlugins": ["AlwaysPullImages"],
    "authorizationMode": ["RBAC"], "metricsServer": False, "defaultStorageClass": True, "warnUnmodelled": True,
    "eventTTL": "5m", "etcdCompactionInterval": "1m", "advertiseAddress": "10.0.0.1", "anonymousAuth": False, "tls": True,
    "resourceQuotaSyncPeriod": "1m", "seed": 3, "v": 4, "port": 8080, "bindAddress": "0.0.0.0", "insecure": True,
    "allowHost": ["a.example"], "allowOrigin": ["http://127.0.0.1:3000"],
    "webhookServices": ["shop/hooks=https://127.0.0.1:9443"], "clock": "auto", "start": "2026-02-01T00:00:00Z",
    "grace": "1s", "cacheMutationDetector": True, "outcome": "nothing:a", "onExec": "nothing:b", "onConnect": "nothing:c",
    "onMetric": "nothing:d", "schedulerPlugins": "nothing:e", "extra": ["nothing:f"], "fleet": "a,b", "schedule": "1:17",
}
NAMED_OTHERWISE = {
    "kubernetesVersion": "kubernetes_version", "featureGates": "feature_gates", "runtimeConfig": "runtime_config",
    "disableAdmissionPlugins": "disable_admission_plugins", "enableAdmissionPlugins": "enable_admission_plugins",
    "authorizationMode": "authorization_mode", "metricsServer": "metrics_server",
    "defaultStorageClass": "default_storage_class", "warnUnmodelled": "warn_unmodelled", "eventTTL": "event_ttl",
    "etcdCompactionInterval": "etcd_compaction_interval", "advertiseAddress": "advertise_address",
    "anonymousAuth": "anonymous_auth", "resourceQuotaSyncPeriod": "resource_quota_sync_period", "v": "verbosity",
    "bindAddress": "bind_address", "allowHost": "allow_host", "allowOrigin": "allow_origin",
    "webhookServices": "webhook_services", "cacheMutationDetector": "cache_mutation_detector", "onExec": "on_exec",
    "onConnect": "on_connect", "onMetric": "on_metric", "schedulerPlugins": "scheduler_plugins",
}
FILES = {
    "from": "snapshot", "kubeconfig": "kubeconfig", "readyFile": "ready_file", "clientCAFile": "client_ca_file",
    "admissionControlConfigFile": "admission_control_config_file", "schedulerConfig": "scheduler_config",
    "tokenAuthFile": "token_auth_file", "auditLog": "audit_log", "faults": "faults", "record": "record",
}
CONTENTS = {
    "admissionControlConfigFile": "apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\n",
    "schedulerConfig": "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n",
    "tokenAuthFile": "token,user,uid\n", "faults": "faults: []\n",
}


def read(folder: Path, said: Any) -> dict[str, Any]:
    """What is made of a file that says so."""
    file = folder / "fakekube.json"
    file.write_text(json.dumps(said))
    return configuration.read(file)


@pytest.mark.parametrize("key", AS_SAID)
def test_a_value_is_what_the_file_says(tmp_path: Path, key: str) -> None:
    """Given a file with one option, when it is read, then the parameter of the command has the
    value, and no other is said.
    """
    assert read(tmp_path, {key: AS_SAID[key]}) == {NAMED_OTHERWISE.get(key, key): AS_SAID[key]}


@pytest.mark.parametrize("key", FILES)
def test_a_file_lies_beside_the_one_that_names_it(tmp_path: Path, key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a file that names another one, when it is read from elsewhere, then the other one is
    looked for beside it, by the option's name or none.
    """
    (tmp_path / "other").write_text(CONTENTS.get(key, "x"))
    monkeypatch.chdir("/")
    assert read(tmp_path, {key: "other"}) == {FILES[key]: str(tmp_path / "other")}
    assert read(tmp_path, {key: ""}) == {FILES[key]: ""}


def test_what_is_loaded_lies_beside_it_too(tmp_path: Path) -> None:
    """Given what is to be loaded, and configurations of add-ons, when they are read, then files lie
    beside the one that names them; - and addresses stay as they are, here and for the audit log.
    """
    assert read(tmp_path, {"load": ["a.yaml", "-", "https://example.com/x"], "auditLog": "-"}) == {
        "files": (str(tmp_path / "a.yaml"), "-", "https://example.com/x"), "audit_log": "-"}
    assert read(tmp_path, {"load": "a.yaml"}) == {"files": (str(tmp_path / "a.yaml"),)}


def test_short_ways_to_say_it(tmp_path: Path) -> None:
    """Given texts in place of lists and mappings, numbers as durations, and nothing at all, when
    they are read, then they mean the same.
    """
    assert read(tmp_path, {
        "controllers": "job", "featureGates": "GenericWorkload=true", "runtimeConfig": ["api/all=true"], "eventTTL": 60,
        "clock": 2.5}) == {
            "controllers": ["job"], "feature_gates": {"GenericWorkload": True}, "runtime_config": {"api/all": True},
            "event_ttl": 60, "clock": 2.5}
    assert read(tmp_path, None) == read(tmp_path, {}) == {}


@pytest.mark.parametrize(("said", "text"), [
    ({"nodes": "2"}, "nodes: input should be a valid integer"),
    ({"nodes": True}, "nodes: input should be a valid integer"),
    ({"nodes": -1}, "nodes: input should be greater than or equal to 0"),
    ({"v": -1}, "v: input should be greater than or equal to 0"),
    ({"v": 11}, "v: input should be less than or equal to 10"),
    ({"port": -1}, "port: input should be greater than or equal to 0"),
    ({"port": 65536}, "port: input should be less than or equal to 65535"),
    ({"seed": "x"}, "seed: input should be a valid integer"),
    ({"tls": "yes"}, "tls: input should be a valid boolean"),
    ({"anonymousAuth": 1}, "anonymousAuth: input should be a valid boolean"),
    ({"kubernetesVersion": 1.3}, 'kubernetesVersion: 1.3 is a number: put the version in quotes, as "1.37"'),
    ({"kubernetesVersion": 1}, 'kubernetesVersion: 1 is a number: put the version in quotes, as "1.37"'),
    ({"controllers": [1]}, "controllers.0: input should be a valid string"),
    ({"controllers": {}}, "controllers: input should be a valid list"),
    ({"runtimeConfig": {"api/all": "x"}}, "runtimeConfig.api/all: input should be a valid boolean"),
    ({"start": "yesterday"}, "start: 'yesterday' is no time with a time zone: say 2026-01-01T00:00:00Z"),
    ([], "it is no mapping of options"),
    ("x", "it is no mapping of options"),
])
def test_what_is_wrong_is_told_with_file_and_key(tmp_path: Path, said: Any, text: str) -> None:
    """Given a file with one mistake, when it is read, then the whole sentence is file, key and what
    is wrong.
    """
    with pytest.raises(OptionError) as told:
        read(tmp_path, said)
    assert str(told.value) == f"{tmp_path / 'fakekube.json'}: {text}"


@pytest.mark.parametrize("value", [0, 1, 10])
def test_verbosities_from_none_to_the_most(tmp_path: Path, value: int) -> None:
    """Given a verbosity at an edge, when it is read, then it counts; so do the edges of ports."""
    assert read(tmp_path, {"v": value}) == {"verbosity": value}
    assert [read(tmp_path, {"port": port})["port"] for port in (0, 65535)] == [0, 65535]
    assert read(tmp_path, {"nodes": 0}) == {"nodes": 0}


def test_an_option_that_there_is_not(tmp_path: Path) -> None:
    """Given a file with a key that is none, when it is read, then all keys that there are are told,
    in their order.
    """
    with pytest.raises(OptionError) as told:
        read(tmp_path, {"node": 1})
    assert str(told.value) == (
        f"{tmp_path / 'fakekube.json'}: node: there is no such option: known are nodes, kubernetesVersion, featureGates, "
        "runtimeConfig, controllers, disableAdmissionPlugins, enableAdmissionPlugins, admissionControlConfigFile, "
        "schedulerConfig, addonConfig, authorizationMode, metricsServer, defaultStorageClass, warnUnmodelled, eventTTL, "
        "etcdCompactionInterval, advertiseAddress, clientCAFile, tokenAuthFile, anonymousAuth, tls, auditLog, faults, record, "
        "resourceQuotaSyncPeriod, seed, v, port, bindAddress, insecure, allowHost, allowOrigin, webhookServices, clock, start, "
        "grace, cacheMutationDetector, outcome, onExec, onConnect, onMetric, schedulerPlugins, extra, load, from, kubeconfig, "
        "readyFile, fleet, schedule")
