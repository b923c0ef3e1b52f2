"""What a Configuration of Kueue says, what it may not say, and how a cluster is given one."""

import logging

import pytest

from fakekube.composition.cluster import Cluster
from fakekube.composition.options import OptionError
from fakekube.runtime.component import WrongOption
from fakekube_controllers.kueue import addon
from fakekube_controllers.kueue.configfile.reading import read
from fakekube_controllers.kueue.configuration import FRAMEWORKS, Configuration, WaitForPodsReady

OLD = {"apiVersion": "config.kueue.x-k8s.io/v1beta1", "kind": "Configuration"}
SHIPPED = {"integrations": {"frameworks": [*FRAMEWORKS]}, "clientConnection": {"qps": 300}, "webhook": {"port": 9443}}


def test_without_a_file_it_is_what_upstream_ships():
    """Given the configuration that upstream ships When it is read Then it is that of no file; and a
    file that names no frameworks enables Jobs alone."""
    assert read(SHIPPED) == Configuration()
    assert read({}).integrations.frameworks == ("batch/job",)


def test_fields_become_what_kueue_goes_by():
    """Given fields of all kinds When they are read Then times are seconds, and gates are on or off.
    """
    found = read({
        "waitForPodsReady": {"timeout": "8s", "blockAdmission": True, "requeuingStrategy": {"backoffLimitCount": 1}},
        "multiKueue": {"gcInterval": "0s", "origin": "me"}, "featureGates": {"PriorityBoost": True, "kep-drafts": True},
        "objectRetentionPolicies": {"workloads": {"afterFinished": "1h30m"}},
        "fairSharing": {"preemptionStrategies": ["LessThanInitialShare"]},
        "resources": {"transformations": [{"input": "a", "strategy": "Replace", "outputs": {"b": 1, "c": "5Gi"}}]}})
    waits = found.wait_for_pods_ready
    assert waits is not None
    assert (waits.timeout_seconds, waits.recovery_timeout_seconds, waits.block_admission) == (8.0, 8.0, True)
    assert waits.requeuing_strategy.backoff_limit_count == 1
    assert (found.multi_kueue.gc_interval_seconds, found.multi_kueue.origin) == (0.0, "me")
    assert found.features.PriorityBoost
    assert found.features.PodGroupSets
    assert found.workload_retention.after_finished_seconds == 5400.0
    assert found.fair_sharing is not None
    assert found.fair_sharing.preemption_strategies == ("LessThanInitialShare",)
    assert dict(found.resources.transformations[0].outputs) == {"b": "1", "c": "5Gi"}


def test_the_older_version_has_switches():
    """Given v1beta1, where waiting for pods and fair sharing are switched on When it is read Then
    without the switch there is neither, and with it there are that version's defaults."""
    assert read(OLD).wait_for_pods_ready is None
    assert read({**OLD, "fairSharing": {"enable": False}}).fair_sharing is None
    found = read({**OLD, "waitForPodsReady": {"enable": True}, "fairSharing": {"enable": True}})
    assert found.wait_for_pods_ready == WaitForPodsReady(300.0, 300.0, block_admission=True)
    assert found.fair_sharing is not None
    assert len(found.fair_sharing.preemption_strategies) == 2


def test_a_gate_switches_waiting_off():
    """Given the gate DisableWaitForPodsReady When the configuration is read Then nobody waits."""
    assert read({"featureGates": {"DisableWaitForPodsReady": True}}).wait_for_pods_ready is None


@pytest.mark.parametrize(("tree", "text"), [
    ([], "Object 'Kind' is missing"),
    ({"kind": "Configuration"}, 'no kind "Configuration" is registered for version ""'),
    ({"featuregates": {}}, 'unknown field "featuregates": did you mean featureGates?'),
    ({"waitForPodsReady": {"requeuingStrategy": {"timestmp": ""}}},
     'unknown field "waitForPodsReady.requeuingStrategy.timestmp": did you mean timestamp?'),
    ({"waitForPodsReady": {"enable": True}}, 'unknown field "waitForPodsReady.enable": v1beta1 has it'),
    ({**OLD, "visibilityServer": {}}, 'unknown field "visibilityServer": v1beta2 has it'),
    ({"featureGates": {"ElasticJobs": True}},
     "unrecognized feature gate: ElasticJobs: did you mean ElasticJobsViaWorkloadSlices"),
    ({"featureGates": {"ObjectRetentionPolicies": False}},
     "cannot set feature gate ObjectRetentionPolicies to false, feature is locked to true"),
    ({"featureGates": {"UnadmittedWorkloadsExplicitStatus": True}},
     "UnadmittedWorkloadsExplicitStatus requires UnadmittedWorkloadsObservability to be enabled"),
    ({"integrations": {"frameworks": ["batch/jobs"]}}, 'integrations.frameworks[0]: Unsupported value: "batch/jobs"'),
    ({"integrations": {"frameworks": ["pod", "pod"]}}, 'integrations.frameworks[1]: Duplicate value: "pod"'),
    ({"integrations": {"externalFrameworks": ["Foo"]}}, "must be format, 'Kind.version.group.com'"),
    ({"waitForPodsReady": {"timeout": "5x"}}, 'waitForPodsReady.timeout: time: invalid duration "5x"'),
    ({"waitForPodsReady": {"timeout": "-5s"}},
     "waitForPodsReady.timeout: Invalid value: -5s: must be greater than or equal to 0"),
    ({"waitForPodsReady": {"requeuingStrategy": {"timestamp": "Now"}}},
     'timestamp: Unsupported value: "Now": supported values: "Creation", "Eviction"'),
    ({"fairSharing": {}}, "fairSharing.preemptionStrategies: Required value: must be specified"),
    ({"managedJobsNamespaceSelector": {}}, 'should not match the "kube-system" namespace'),
    ({"multiKueue": {"incrementalDispatcherConfig": {"stepSize": 0}}}, "only valid when dispatcherName is set"),
    ({"multiKueue": {"externalFrameworks": [{"name": "Web"}]}},
     'multiKueue.externalFrameworks[0].name: Invalid value: "Web": must be in \'kind.version.group\' format'),
    ({"multiKueue": {"externalFrameworks": [{"name": "Web.v1.example.com"}, {"name": "Web.v1.example.com"}]}},
     'multiKueue.externalFrameworks[1].name: Duplicate value: "Web.v1.example.com"'),
    ({"multiKueue": {"externalFrameworks": [{"name": "Job.v1.batch"}]}},
     'externalFrameworks[0].name: Invalid value: "Job.v1.batch": conflicts with a built-in MultiKueue adapter'),
    ({"resources": {"quotaCheckStrategy": "IgnoreUndeclared", "excludeResourcePrefixes": ["a"]}},
     "excludeResourcePrefixes is not allowed when quotaCheckStrategy is IgnoreUndeclared"),
    ({"resources": {"transformations": [{"input": "a"}, {"input": "a"}]}}, 'transformations[1].input: Duplicate value: "a"'),
    ({"metrics": {"customLabels": [{"name": "a", "sourceKind": "Pod"}]}}, "unknown source kind: Pod"),
    ({"visibilityServer": {"bindPort": 0}}, "must be a valid port number"),
    ({"objectRetentionPolicies": {"workloads": {"afterFinished": "-1s"}}}, "afterFinished: Invalid value: -1s"),
    ({"manageJobsWithoutQueueName": "yes"}, "manageJobsWithoutQueueName: Input should be a valid boolean"),
])
def test_what_is_wrong_is_said(tree, text):
    """Given a configuration that is wrong When it is read Then the error says where, and which word
    may be meant."""
    with pytest.raises(WrongOption) as caught:
        read(tree)
    assert text in str(caught.value)


@pytest.mark.parametrize("make", [dict, lambda tree: [tree], lambda tree: {"x": tree}])
def test_any_tree_is_read_or_refused(make):
    """Given trees of all shapes in the place of every field When they are read Then each is taken
    or refused, and nothing else is raised."""
    for value in (0, -1.5, "", "x", True, None, [], [None], [{}], {}, {"a": {"b": []}}):
        for field in ("namespace", "metrics", "integrations", "multiKueue", "resources", "featureGates", "waitForPodsReady",
                      "managedJobsNamespaceSelector", "fairSharing", "admissionFairSharing", "objectRetentionPolicies"):
            try:
                read({field: value})
                read(make({field: value}))
            except WrongOption:
                pass


async def test_a_cluster_is_given_a_configuration(tmp_path):
    """Given a tree, a file or True When a cluster is made with it as the option of the add-on's
    name Then Kueue runs there and goes by it; a wrong one is an error of the option."""
    file = tmp_path / "kueue.yaml"
    file.write_text("apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\nnamespace: elsewhere\n")
    for config, namespace in (({"namespace": "there"}, "there"), (file, "elsewhere"), (True, "kueue-system")):
        async with Cluster(nodes=0, clock="manual", controllers="namespace", kueue=config) as cluster:
            assert cluster.component("kueue").kueue.configuration.namespace == namespace
            found = await cluster.client.get(await cluster.client.resource("namespaces"), namespace)
            assert found["metadata"]["name"] == namespace
    with pytest.raises(OptionError, match='kueue: strict decoding error: unknown field "nmespace": did you mean namespace'):
        Cluster(kueue={"nmespace": "x"})
    with pytest.raises(OptionError, match="no-such-file"):
        Cluster(kueue=tmp_path / "no-such-file")
    with pytest.raises(OptionError, match="lws takes no configuration"):
        Cluster(lws={"a": 1})
    with pytest.raises(OptionError, match="unknown option 'kueueue'"):
        Cluster(kueueue=True)


async def test_frameworks_that_are_not_here_are_said_to_be_absent(caplog):
    """Given a configuration that names a framework that nobody here knows When Kueue starts Then a
    warning says that its jobs are not managed."""
    config = {"integrations": {"frameworks": ["batch/job", "kubeflow.org/mpijob"]}}
    with caplog.at_level(logging.WARNING, "fakekube_controllers"):
        async with Cluster(nodes=0, clock="manual", controllers="", extra=[addon(config)]) as cluster:
            await cluster.settle()
    assert ["kubeflow.org/mpijob" in record.getMessage() for record in caplog.records] == [True]


def test_a_marker_configures_it(pytester):
    """Given a test whose marker configures Kueue When it runs Then Kueue runs in its cluster, and
    goes by it."""
    pytester.makeini("[pytest]\nasyncio_default_fixture_loop_scope = function")
    pytester.makepyfile("""
        import pytest

        @pytest.mark.asyncio
        @pytest.mark.fakekube(kueue={"namespace": "x"})
        async def test_namespace(fake_cluster):
            assert fake_cluster.component("kueue").kueue.configuration.namespace == "x"
    """)
    pytester.runpytest_subprocess("-q").assert_outcomes(passed=1)
