"""Definitions as public projects ship them, unchanged, through kubectl: each takes an object,
refuses another in upstream's words, is listed and explained.

The files are not part of this repository. They come from the folder that FAKEKUBE_RECORDINGS names
(``data/crds`` in it), by default ``../shared`` beside the repository, or from Go's module cache,
where a project is a module of somebody's. Where there are none the tests are skipped.
"""

import functools
import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from fakekube.testing import BackgroundCluster

ROOT = Path(__file__).parents[2]
RECORDINGS = Path(os.environ.get("FAKEKUBE_RECORDINGS") or ROOT.parent / "shared") / "data" / "crds"
IN_MODULES = {"jobset": "jobset@*/config/components/crd/bases", "kueue": "kueue@*/config/components/crd/bases",
              "lws": "lws@*/config/crd/bases"}
OVERLAYS = {"jobset": "jobset@*/config/default", "kueue": "kueue@*/config/default", "lws": "lws@*/config/default"}
MODULES = "sigs.k8s.io"
UNCHECKED = (
    "<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing "
    "errors to complete validation")
NAME = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
SUBDOMAIN = rf"^{NAME}(\.{NAME})*$"

pytestmark = [
    pytest.mark.kubectl, pytest.mark.toolchain,
    pytest.mark.skipif(shutil.which("kubectl") is None, reason="no kubectl on this machine"),
    pytest.mark.fake_only(reason="a definition that is there already is somebody's"), pytest.mark.fakekube(nodes=0)]

Kubectl = Callable[..., str]


class Case(NamedTuple):
    """A kind: an object's own fields, those of another that is refused, and every complaint."""

    project: str
    plural: str
    good: dict[str, Any]
    bad: dict[str, Any]
    wrong: tuple[str, ...]


def job(**fields: Any) -> dict[str, Any]:
    return {"name": "w", "template": {"spec": {"template": POD}}, **fields}


POD = {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}
FLAVOR = {"name": "default", "resources": [{"name": "cpu", "nominalQuota": "9"}]}
QUOTA = [{"coveredResources": ["cpu"], "flavors": [FLAVOR]}]
CASES = [
    Case("jobset", "jobsets", {"replicatedJobs": [job(replicas=2)]},
         {"replicatedJobs": [job()], "successPolicy": {"operator": "Some"}, "ttlSecondsAfterFinished": -1}, (
             'spec.successPolicy.operator: Unsupported value: "Some": supported values: "All", "Any"',
             ("spec.ttlSecondsAfterFinished: Invalid value: -1: spec.ttlSecondsAfterFinished in body should be greater than or "
             "equal to 0"), UNCHECKED)),
    Case("kueue", "admissionchecks", {"controllerName": "example.com/check"},
         {"controllerName": "", "parameters": {"apiGroup": "Example.com", "kind": "1", "name": "A"}}, (
             'spec.controllerName: Invalid value: "": spec.controllerName in body should be at least 1 chars long',
             ('spec.parameters.kind: Invalid value: "1": spec.parameters.kind in body should match '
             "'^(?i)[a-z]([-a-z0-9]*[a-z0-9])?$'"),
             f'spec.parameters.name: Invalid value: "A": spec.parameters.name in body should match \'^{NAME}$\'',
             ('spec.parameters.apiGroup: Invalid value: "Example.com": spec.parameters.apiGroup in body should match '
             f"'{SUBDOMAIN}'"))),
    Case("kueue", "clusterqueues", {"resourceGroups": QUOTA, "cohortName": "all"},
         {"resourceGroups": QUOTA, "queueingStrategy": "LIFO"}, (
             'spec.queueingStrategy: Unsupported value: "LIFO": supported values: "StrictFIFO", "BestEffortFIFO"', UNCHECKED)),
    Case("kueue", "cohorts", {"parentName": "root", "resourceGroups": QUOTA},
         {"parentName": "Root", "resourceGroups": [{"coveredResources": ["cpu", "memory"], "flavors": [FLAVOR]}]}, (
             f'spec.parentName: Invalid value: "Root": spec.parentName in body should match \'{SUBDOMAIN}\'',
             "spec.resourceGroups[0]: Invalid value: flavors must have the same number of resources as the coveredResources")),
    Case("kueue", "localqueues", {"clusterQueue": "all"}, {"clusterQueue": "-", "stopPolicy": "Stop"}, (
        'spec.stopPolicy: Unsupported value: "Stop": supported values: "None", "Hold", "HoldAndDrain"',
        f'spec.clusterQueue: Invalid value: "-": spec.clusterQueue in body should match \'{SUBDOMAIN}\'', UNCHECKED)),
    Case("kueue", "multikueueclusters", {"clusterSource": {"kubeConfig": {"location": "worker", "locationType": "Secret"}}},
         {"clusterSource": {"kubeConfig": {"location": "worker"}, "clusterProfileRef": {"name": "worker"}}}, (
             "spec.clusterSource: Invalid value: exactly one of the fields in [kubeConfig clusterProfileRef] must be set",)),
    Case("kueue", "multikueueconfigs", {"clusters": ["a", "b"]}, {"clusters": ["a", "b", "a"]}, (
        "spec.clusters: Invalid value: must be unique",)),
    Case("kueue", "provisioningrequestconfigs", {"provisioningClassName": "check.example.com", "managedResources": ["cpu"]},
         {"provisioningClassName": "Check", "retryStrategy": {"backoffLimitCount": "3"}}, (
             ('spec.provisioningClassName: Invalid value: "Check": spec.provisioningClassName in body should match '
             f"'{SUBDOMAIN}'"),
             ('spec.retryStrategy.backoffLimitCount: Invalid value: "string": spec.retryStrategy.backoffLimitCount in body must '
             'be of type integer: "string"'))),
    Case("kueue", "resourceflavors", {"nodeLabels": {"zone": "a"}, "topologyName": "racks"},
         {"topologyName": "racks", "tolerations": [{"operator": "Exists", "value": "x"}],
          "nodeTaints": [{"key": "a", "effect": "Never"}]}, (
             ('spec: Invalid value: "object": no such key: nodeLabels evaluating rule: at least one nodeLabel is required when '
             "topology is set"),
             "spec.nodeTaints: Invalid value: supported taint effect values: 'NoSchedule', 'PreferNoSchedule', 'NoExecute'",
             "spec.tolerations: Invalid value: a value must be empty when 'operator' is 'Exists'")),
    Case("kueue", "topologies", {"levels": [{"nodeLabel": "rack"}, {"nodeLabel": "kubernetes.io/hostname"}]},
         {"levels": [{"nodeLabel": "kubernetes.io/hostname"}, {"nodeLabel": "rack"}, {"nodeLabel": "rack"}]}, (
             "spec.levels: Invalid value: must be unique",
             "spec.levels: Invalid value: the kubernetes.io/hostname label can only be used at the lowest level of topology")),
    Case("kueue", "workloadpriorityclasses", {"value": 5, "description": "d"}, {"value": "high"}, (
        'value: Invalid value: "string": value in body must be of type integer: "string"',)),
    Case("kueue", "workloads", {"queueName": "main", "podSets": [{"name": "main", "count": 2, "template": POD}]},
         {"podSets": [{"name": "Main", "count": -1, "template": POD},
                      {"name": "b", "count": 2, "minCount": 3, "template": POD}]}, (
             "spec.podSets[0].count: Invalid value: -1: spec.podSets[0].count in body should be greater than or equal to 0",
             f'spec.podSets[0].name: Invalid value: "Main": spec.podSets[0].name in body should match \'^{NAME}$\'',
             "spec.podSets[1]: Invalid value: minCount should be positive and less or equal to count")),
    Case("lws", "leaderworkersets", {"replicas": 2, "leaderWorkerTemplate": {"size": 3, "workerTemplate": POD}},
         {"leaderWorkerTemplate": {"restartPolicy": "Sometimes", "workerTemplate": POD}, "startupPolicy": "Never"}, (
             'spec.startupPolicy: Unsupported value: "Never": supported values: "LeaderCreated", "LeaderReady"',
             ('spec.leaderWorkerTemplate.restartPolicy: Unsupported value: "Sometimes": supported values: "Default", '
             '"RecreateGroupOnPodRestart", "RecreateGroupAfterStart", "None"'))),
]


@functools.cache
def module_folder() -> Path | None:
    """Where Go keeps modules, if there is Go."""
    if shutil.which("go") is None:
        return None
    done = subprocess.run(["go", "env", "GOMODCACHE"], capture_output=True, text=True, timeout=60, check=False)
    return Path(done.stdout.strip()) / MODULES if done.returncode == 0 and done.stdout.strip() else None


def in_modules(pattern: str) -> Path | None:
    """The newest folder of a module that is there."""
    folder = module_folder()
    return max(folder.glob(pattern), default=None) if folder is not None and folder.is_dir() else None


def definition_file(case: Case) -> Path:
    """The file of a definition; the test is skipped where there is none."""
    for folder in (RECORDINGS / case.project, in_modules(IN_MODULES[case.project])):
        for file in sorted(folder.glob("*.yaml")) if folder is not None else ():
            if file.stem.endswith(f"_{case.plural}"):
                return file
    pytest.skip(f"no definition of {case.plural}: FAKEKUBE_RECORDINGS names a folder with data/crds/{case.project}")


@pytest.mark.parametrize("case", CASES, ids=[case.plural for case in CASES])
def test_a_definition_of_a_public_project(kubectl: Kubectl, case: Case) -> None:
    """Given a project's definition, unchanged / when kubectl creates it and objects of it, lists
    and explains them / then the good one is taken, the bad one gets every complaint that the real
    server has, the columns are the definition's, and each of its fields is explained.
    """
    file = definition_file(case)
    kubectl("create", "-f", str(file))
    spec = yaml.safe_load(file.read_text())["spec"]
    [stored] = [version for version in spec["versions"] if version["storage"]]
    schema = stored["schema"]["openAPIV3Schema"]["properties"]
    field = "spec" if "spec" in schema else ""
    name = f"{case.plural}.{spec['group']}"

    def body(name: str, content: dict[str, Any]) -> str:
        return json.dumps({
            "apiVersion": f"{spec['group']}/{stored['name']}", "kind": spec["names"]["kind"], "metadata": {"name": name},
            **({"spec": content} if field else content)})

    assert kubectl("create", "-f", "-", stdin=body("good", case.good)).endswith("/good created\n")
    refused = kubectl("create", "-f", "-", stdin=body("bad", case.bad), code=1)
    head, _, told = refused.strip().partition(" is invalid: ")
    assert head == f'The {spec["names"]["kind"]} "bad"'
    assert sorted(line.removeprefix("* ") for line in told.strip().splitlines()) == sorted(case.wrong)
    shown = kubectl("get", name).splitlines()
    columns = [column["name"].upper() for column in stored.get("additionalPrinterColumns") or () if not column.get("priority")]
    assert [each.strip() for each in shown[0].split("  ") if each.strip()] == ["NAME", *(columns or ["AGE"])]
    assert [line.split()[0] for line in shown[1:]] == ["good"]
    explained = kubectl("explain", f"{name}.{field}" if field else name)
    assert f"KIND:       {spec['names']['kind']}\nVERSION:    {stored['name']}\n" in explained
    for each in schema[field]["properties"] if field else schema:
        assert f"\n  {each}\t<" in explained


@pytest.mark.parametrize("project", OVERLAYS)
def test_a_project_as_kustomize_builds_it(
    kubectl: Kubectl, fakekube_server: BackgroundCluster, tmp_path: Path, project: str) -> None:
    """Given what kubectl builds of a project's default overlay, with definitions, roles, webhooks
    and its Deployment / when a cluster loads it / then all of it is there, under the names that
    kustomize gave.
    """
    folder = in_modules(OVERLAYS[project])
    if folder is None:
        pytest.skip(f"no module of {project} in Go's cache")
    file = tmp_path / "bundle.yaml"
    file.write_text(kubectl("kustomize", str(folder)))
    trees = [tree for tree in yaml.load_all(file.read_text(), Loader=yaml.CSafeLoader) if tree]
    loaded = fakekube_server.call(lambda cluster: cluster.load(file))
    assert [(tree["kind"], tree["metadata"]["name"]) for tree in loaded] == [
        (tree["kind"], tree["metadata"]["name"]) for tree in trees]
    for tree in trees:
        if tree["kind"] == "CustomResourceDefinition":
            served = f"{tree['spec']['names']['plural']}.{tree['spec']['group']}"
            assert kubectl("get", served, "-A", "-o", "name") == ""
    assert f"{project}-controller-manager" in kubectl("get", "deployments", "-n", f"{project}-system")
