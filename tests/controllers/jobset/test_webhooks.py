"""What a JobSet gets by default, what it may not be, and what may change."""

import re

import pytest

from fakekube.apimachinery.errors import APIError
from fakekube.client.resources import PERSISTENT_VOLUME_CLAIMS, Resource
from fakekube_controllers.jobset.names import JOBSETS
from tests.controllers.jobset.conftest import JobSets, cluster_with, manifest, replicated
from tests.controllers.world import NAMESPACE, pod_template

OTHER = {"managedBy": "example.com/other"}
"""A JobSet that the controller here leaves alone."""
PLAIN = {"spec": {"containers": [{"name": "main", "image": "busybox"}]}}
NO_RESTART_JOB = (
    "RestartJob and RestartJobAndIgnoreMaxRestarts failure policy actions are not allowed when RestartJob feature gate is "
    "disabled")
LONG_RULE_NAME = (
    "invalid failure policy rule name of length 129, the rule name must be at least 1 characters long and at most 128 "
    "characters long")
DENIED = 'admission webhook "vjobset.kb.io" denied the request: JobSet.jobset.x-k8s.io "js" is invalid: '


async def refused(world, *jobs, **spec):
    """What a new JobSet is refused with: the texts of its causes, with their fields."""
    with pytest.raises(APIError) as caught:
        await world.client.create(JOBSETS, manifest(*jobs, **{**OTHER, **spec}))
    assert (caught.value.code, caught.value.reason) == (422, "Invalid")
    return [(cause["field"], cause["message"]) for cause in caught.value.causes]


def internal(*texts):
    return [("<nil>", f"Internal error: {text}") for text in texts]


@pytest.mark.spec("JOB-199")
async def test_defaults(world):
    """Given a JobSet that says what it must / when it is created / then it has defaults, and what
    Go always writes.
    """
    rules = [{"action": "FailJobSet"}, {"action": "RestartJobSet", "name": "r"}]
    created = await world.client.create(JOBSETS, manifest(
        replicated(template=PLAIN, backoffLimit=6), failurePolicy={"rules": rules}, **OTHER))
    job = created["spec"].pop("replicatedJobs")[0]
    assert created["spec"] == {
        **OTHER, "network": {"enableDNSHostnames": True, "publishNotReadyAddresses": True}, "successPolicy": {"operator": "All"},
        "startupPolicy": {"startupPolicyOrder": "AnyOrder"},
        "failurePolicy": {"restartStrategy": "Recreate", "rules": [
            {"action": "FailJobSet", "name": "failurePolicyRule0"}, {"action": "RestartJobSet", "name": "r"}]}}
    assert job == {
        "name": "w", "groupName": "default", "replicas": 1,
        "template": {"metadata": {}, "spec": {"backoffLimit": 6, "completionMode": "Indexed", "template": {
            "metadata": {}, "spec": {
                "restartPolicy": "OnFailure", "containers": [{"name": "main", "image": "busybox", "resources": {}}]}}}}}


@pytest.mark.spec("JOB-199")
async def test_what_is_given_is_no_default(world):
    """Given values for all that has a default / when the JobSet is created / then they stay, and
    claims go by default.
    """
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1024Mi"}}}
    mounting = pod_template("Never")
    mounting["spec"]["containers"][0]["volumeMounts"] = [{"name": "d", "mountPath": "/d"}]
    given = {
        "network": {"enableDNSHostnames": False, "publishNotReadyAddresses": False}, "successPolicy": {"operator": "Any"},
        "startupPolicy": {"startupPolicyOrder": "InOrder"}}
    created = await world.client.create(JOBSETS, manifest(
        replicated(template=mounting, completionMode="NonIndexed"), **given, **OTHER,
        volumeClaimPolicies=[{"templates": [{"metadata": {"name": "d"}, "spec": claim}]}]))
    spec = created["spec"]
    assert {name: spec[name] for name in given} == given
    job = spec["replicatedJobs"][0]["template"]["spec"]
    assert (job["completionMode"], job["template"]["spec"]["restartPolicy"]) == ("NonIndexed", "Never")
    [policy] = spec["volumeClaimPolicies"]
    assert policy["retentionPolicy"] == {"whenDeleted": "Delete"}
    assert policy["templates"][0]["spec"]["resources"]["requests"]["storage"] == "1Gi"


@pytest.mark.spec("JOB-199")
@pytest.mark.parametrize("replicas", [0, -1])
async def test_no_jobs_and_less_than_none_are_accepted(world, replicas):
    """Given no replicas, or fewer / when the JobSet is created / then it is, and makes no Jobs."""
    await world.create(replicated(replicas=replicas))
    assert await world.jobs() == {}


@pytest.mark.spec("JOB-199")
async def test_unknown_jobs_are_refused(world):
    """Given policies for a replicated job that is not there / when the JobSet is created / then it
    is refused, with the name of the webhook.
    """
    with pytest.raises(APIError, match=re.escape(f"{DENIED}[<nil>: Internal error: invalid")):
        await world.client.create(JOBSETS, manifest(
            replicated(), successPolicy={"operator": "All", "targetReplicatedJobs": ["x"]},
            failurePolicy={"rules": [{"action": "FailJobSet", "targetReplicatedJobs": ["x"]}]}))


@pytest.mark.parametrize(("policy", "texts"), [
    ({"rules": [{"name": "r", "action": "RestartJob"}]}, [NO_RESTART_JOB]),
    ({"rules": [{"name": "x" * 129, "action": "FailJobSet"}]}, [LONG_RULE_NAME]),
    ({"rules": [{"name": "r", "action": "FailJobSet", "onJobFailureReasons": ["Why"]}]}, [
        "invalid job failure reason 'Why' in failure policy is not a recognized job failure reason"]),
    ({"rules": [{"name": name, "action": "FailJobSet"} for name in ("r", "s", "r")]}, [
        "rule names are not unique, rules with indices [0 2] all have the same name 'r'"]),
    ({"restartStrategy": "InPlaceRestart"}, [
        "InPlaceRestart restart strategy cannot be set when InPlaceRestart feature gate is disabled"]),
])
async def test_failure_policies_that_are_refused(world, policy, texts):
    """Given a failure policy / when the JobSet is created / then it is refused, and says why."""
    assert await refused(world, replicated(), failurePolicy=policy) == internal(*texts)


@pytest.mark.spec("JOB-200")
async def test_names_that_are_too_long(world):
    """Given names whose Jobs, pods, group or Service would have longer ones than they may / when
    the JobSet is created / then it is refused for each.
    """
    long = "x" * 60
    job, pod = "JobSet name is too long, job", "JobSet name is too long, pod"
    end = "names generated for this JobSet will exceed 63 characters"
    shown, limit = f'Invalid value: "{long * 2}":', "is too long, must be less than 63 characters"
    assert await refused(world, replicated(long, groupName=long * 2), network={"subdomain": long * 2}) == [
        ("spec.network.subdomain", f"{shown} .spec.network.subdomain {limit}"),
        ("spec.replicatedJobs[0].groupName", f"{shown} .spec.replicatedJob[].groupName {limit}"),
        ("spec.replicatedJobs[0].name", f'Invalid value: "js-{long}-0": {job} {end}'),
    ]
    assert await refused(world, replicated("x" * 56, completions=100, completionMode="Indexed")) == [
        ("spec.replicatedJobs[0].name", f'Invalid value: "js-{"x" * 56}-0": {pod} {end}')]
    assert (await refused(world, replicated(), managedBy=f"example.com/{long}"))[0] == (
        "spec.managedBy", "Too long: may not be more than 63 bytes")


@pytest.mark.spec("JOB-200")
@pytest.mark.parametrize(("coordinator", "text"), [
    ({"replicatedJob": "x"}, "coordinator replicatedJob x does not exist"),
    ({"replicatedJob": "w", "jobIndex": 1}, "coordinator job index 1 is invalid for replicatedJob w"),
    ({"replicatedJob": "w", "podIndex": 2}, "coordinator pod index 2 is invalid for replicatedJob w job index 0"),
    ({"replicatedJob": "n"}, "job for coordinator pod must be indexed completion mode, and completions number must be set"),
])
async def test_a_coordinator_that_there_will_not_be(world, coordinator, text):
    """Given a coordinator / when there will be no such pod / then the JobSet is refused."""
    jobs = replicated(completions=2), replicated("n", completions=2, completionMode="NonIndexed")
    assert await refused(world, *jobs, coordinator=coordinator) == internal(text)


@pytest.mark.spec("JOB-200")
async def test_a_coordinator_whose_address_is_no_label(world):
    """Given a long name / when the coordinator's address is longer than a label / then the JobSet
    is refused.
    """
    name = "j" * 40
    [(_, text)] = await refused(world, replicated(completions=1), name=name, coordinator={"replicatedJob": "w"})
    assert text == (
        f'Internal error: spec will lead to invalid label value "{name}-w-0-0.{name}" for coordinator label '
        '"jobset.sigs.k8s.io/coordinator" (long JobSet / ReplicatedJob / SubDomain name?): must be no more than 63 bytes')


@pytest.mark.spec("JOB-200")
async def test_dependencies_that_are_refused(world):
    """Given dependencies / when they are of the first, on a later one, in another state or beside
    an order / then the JobSet is refused; beside any order it is not.
    """
    on = {"name": "a", "status": "Ready"}
    first = await refused(world, replicated("a", dependsOn=[on]))
    assert first == internal("DependsOn can't be set for the first ReplicatedJob")
    later = await refused(world, replicated("a"), replicated("b", dependsOn=[{"name": "c", "status": "Ready"}]), replicated("c"))
    assert later == internal("replicatedJob: b cannot depend on replicatedJob: c")
    [(field, text), _] = await refused(world, replicated("a"), replicated("b", dependsOn=[{**on, "status": "Running"}]))
    assert (field, text) == (
        "spec.replicatedJobs[1].dependsOn[0].status", 'Unsupported value: "Running": supported values: "Ready", "Complete"')
    jobs = replicated("a"), replicated("b", dependsOn=[on])
    [(field, text)] = await refused(world, *jobs, startupPolicy={"startupPolicyOrder": "InOrder"})
    assert (field, text) == ("spec", "Invalid value: StartupPolicy and DependsOn APIs are mutually exclusive")
    await world.client.create(JOBSETS, manifest(*jobs, startupPolicy={"startupPolicyOrder": "AnyOrder"}, **OTHER))


def claims(*names, **fields):
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    return {"templates": [{"metadata": {"name": name}, "spec": spec} for name in names], **fields}


def mounting(*names, **fields):
    template = pod_template(**fields)
    template["spec"]["containers"][0]["volumeMounts"] = [{"name": name, "mountPath": f"/{name}"} for name in names]
    return replicated(template=template)


@pytest.mark.spec("JOB-200")
async def test_claims_that_are_refused(world):
    """Given claims / when they are twice of one name, in a namespace, mounted nowhere, in the way
    of a volume, or too many / then the JobSet is refused.
    """
    found = await refused(world, mounting("d"), volumeClaimPolicies=[claims("d", "d")])
    assert found == [(
        "spec.volumeClaimPolicies[0].template[1].name",
        'Invalid value: "d": names must be unique for VolumeClaimPolicies template')]
    policy = claims("d")
    policy["templates"][0]["metadata"]["namespace"] = "other"
    assert await refused(world, mounting("d"), volumeClaimPolicies=[policy]) == [
        ("spec.volumeClaimPolicies[0]", "Invalid value: namespace cannot be set for VolumeClaimPolicies templates")]
    [(field, text)] = await refused(world, replicated(), volumeClaimPolicies=[claims("d")])
    assert field == "spec.replicatedJobs"
    assert text == (
        'Invalid value: [{"name":"w","groupName":"default","template":{"metadata":{},"spec":{"backoffLimit":0,'
        '"template":{"metadata":{},"spec":'
        '{"containers":[{"name":"main","image":"busybox","resources":{}}],"restartPolicy":"Never"}},"completionMode":"Indexed"}},'
        '"replicas":1}]: '
        "replicatedJob containers don't have a matching volumeMount: d from VolumeClaimPolicies")
    volumes = [{"name": "d", "emptyDir": {}}]
    assert await refused(world, mounting("d", volumes=volumes), volumeClaimPolicies=[claims("d")]) == [(
        "spec.replicatedJobs[0].template.spec.template.spec.volumes[0].name",
        'Invalid value: "d": volume name conflicts with VolumeClaimPolicy template name: d')]
    many = [f"d{number}" for number in range(51)]
    found = await refused(world, mounting("d0"), volumeClaimPolicies=[claims(*many)])
    assert ("spec.volumeClaimPolicies[0].templates", "Too many: 51: must have at most 50 items") in found
    found = await refused(world, mounting("d0"), volumeClaimPolicies=[claims(name) for name in many])
    assert ("spec.volumeClaimPolicies", "Too many: 51: must have at most 50 items") in found


async def test_a_claim_that_is_there_must_be_kept_and_be_the_same(world):
    """Given a claim of the name / when a JobSet would delete it, or wants another / then it is
    refused.
    """
    spec = {**claims("d")["templates"][0]["spec"], "volumeMode": "Filesystem"}
    await world.client.create(PERSISTENT_VOLUME_CLAIMS, {"metadata": {"name": "d-js", "namespace": NAMESPACE}, "spec": spec})
    found = await refused(world, mounting("d"), volumeClaimPolicies=[claims("d")])
    assert [field for field, _ in found] == [
        "spec.volumeClaimPolicies[0].template[0].spec", "spec.volumeClaimPolicies[0].retentionPolicy.whenDeleted"]
    policy = claims("d", retentionPolicy={"whenDeleted": "Retain"})
    policy["templates"][0]["spec"] = spec
    await world.client.create(JOBSETS, manifest(mounting("d"), volumeClaimPolicies=[policy], **OTHER))


@pytest.mark.spec("JOB-200")
@pytest.mark.parametrize(("change", "field", "text"), [
    ({"successPolicy": {"operator": "Any"}}, "spec.successPolicy", "Invalid value: Value is immutable"),
    ({"failurePolicy": {"maxRestarts": 2}}, "spec.failurePolicy", "Invalid value: Value is immutable"),
    ({"startupPolicy": {"startupPolicyOrder": "InOrder"}}, "spec.startupPolicy", "Invalid value: Value is immutable"),
    ({"network": {"subdomain": "x"}}, "spec.network", "Invalid value: Value is immutable"),
    ({"volumeClaimPolicies": [{"templates": []}]}, "spec.volumeClaimPolicies", "Invalid value: Value is immutable"),
    ({"managedBy": "example.com/next"}, "spec.managedBy", 'Invalid value: "example.com/next": field is immutable'),
])
async def test_what_may_not_change(world, change, field, text):
    """Given a JobSet / when it is changed where it must not be / then that is refused."""
    policy = claims("d")
    await world.client.create(JOBSETS, manifest(mounting("d"), failurePolicy={}, volumeClaimPolicies=[policy], **OTHER))
    with pytest.raises(APIError) as caught:
        await world.change(**change)
    assert [(cause["field"], cause["message"]) for cause in caught.value.causes] == [(field, text)]


@pytest.mark.spec("JOB-200")
@pytest.mark.parametrize(("path", "value", "when"), [
    ("spec/template/spec/nodeSelector", {"zone": "a"}, "suspended"),
    ("spec/template/spec/tolerations", [{"key": "k", "operator": "Exists"}], "suspended"),
    ("spec/template/spec/schedulingGates", [{"name": "example.com/gate"}], "suspended"),
    ("spec/template/metadata/labels", {"x": "y"}, "suspended"),
    ("spec/template/metadata/annotations", {"x": "y"}, "suspended"),
    ("spec/template/spec/hostNetwork", True, "never"),
    ("spec/parallelism", 3, "never"),
    ("metadata/labels", {"x": "y"}, "never"),
])
async def test_what_may_change_in_a_template_while_it_is_suspended(world, path, value, when):
    """Given a field of a template / when it is changed, while the JobSet runs or not / then it may
    be changed then or never.
    """
    await world.client.create(JOBSETS, manifest(replicated(), **OTHER))
    patch = [{"op": "add", "path": f"/spec/replicatedJobs/0/template/{path}", "value": value}]

    async def complaints():
        try:
            await world.client.patch(JOBSETS, "js", NAMESPACE, patch, type="json", dry_run=True)
        except APIError as error:
            return [cause["field"] for cause in error.causes]
        return []

    assert await complaints() == ["spec.replicatedJobs"]
    await world.change(suspend=True)
    assert await complaints() == ([] if when == "suspended" else ["spec.replicatedJobs"])


@pytest.mark.spec("JOB-200")
async def test_dependencies_and_numbers_may_not_change(world):
    """Given a JobSet / when replicas or dependencies change, or a job is added / then that is
    refused, suspended or not.
    """
    await world.client.create(JOBSETS, manifest(
        replicated("a"), replicated("b", dependsOn=[{"name": "a", "status": "Ready"}]), suspend=True, **OTHER))
    for path, value in (("0/replicas", 2), ("1/dependsOn/0/status", "Complete"), ("-", replicated("c"))):
        patch = [{"op": "add", "path": f"/spec/replicatedJobs/{path}", "value": value}]
        with pytest.raises(APIError, match=r"spec\.replicatedJobs"):
            await world.client.patch(JOBSETS, "js", NAMESPACE, patch, type="json")


async def test_the_same_written_otherwise_is_no_change(world):
    """Given a JobSet / when it is written back without what Go always writes, and amounts in
    another way / then nothing is refused.
    """
    template = pod_template()
    template["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "1", "memory": "1Gi"}}
    created = await world.client.create(JOBSETS, manifest(replicated(template=template), **OTHER))
    del created["spec"]["replicatedJobs"][0]["template"]["metadata"]
    pods = created["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
    pods["containers"][0] |= {"resources": {"requests": {"cpu": "1000m", "memory": "1024Mi"}, "limits": {}}, "tty": False}
    pods["nodeSelector"] = {}
    await world.client.update(JOBSETS, created)


@pytest.mark.spec("JOB-198")
async def test_without_the_gate_sizes_stay(world):
    """Given no gate / when the number of pods changes / then it is refused; suspending is not."""
    await world.create(replicated(parallelism=2, completions=2))
    patch = [{"op": "replace", "path": f"/spec/replicatedJobs/0/template/spec/{field}", "value": 3}
             for field in ("parallelism", "completions")]
    with pytest.raises(APIError, match="field is immutable"):
        await world.client.patch(JOBSETS, "js", NAMESPACE, patch, type="json")
    assert (await world.change(suspend=True))["spec"]["suspend"] is True


@pytest.fixture
async def elastic():
    """A cluster with the gate ElasticJobSet, and a JobSet of two pods in it."""
    async with cluster_with(ElasticJobSet=True) as cluster:
        world = JobSets(cluster)
        await world.create(replicated(parallelism=2, completions=2), replicated("x"))
        yield world


async def resize(world, **numbers):
    patch = [{"op": "replace", "path": f"/spec/replicatedJobs/0/template/spec/{field}", "value": number}
             for field, number in numbers.items()]
    await world.client.patch(JOBSETS, "js", NAMESPACE, patch, type="json")
    await world.advance(2)


@pytest.mark.spec("JOB-198", "JOB-200")
async def test_jobs_grow_and_shrink_with_their_template(elastic):
    """Given the gate / when a template wants more pods, and then fewer / then its Jobs have them.
    """
    await resize(elastic, parallelism=4, completions=4)
    job = (await elastic.jobs())["js-w-0"]
    assert (job["spec"]["parallelism"], job["spec"]["completions"]) == (4, 4)
    assert len(await elastic.pods_of("js-w-0")) == 4
    await resize(elastic, parallelism=1, completions=1)
    assert (await elastic.jobs())["js-w-0"]["spec"]["completions"] == 1


@pytest.mark.spec("JOB-200")
@pytest.mark.parametrize(("numbers", "field", "text"), [
    ({"parallelism": 0, "completions": 0}, "parallelism", "Invalid value: 0: parallelism must be >= 1"),
    ({"parallelism": 3}, "completions", "Invalid value: 2: completions must be equal to parallelism for Elastic Indexed Jobs"),
])
async def test_sizes_that_are_refused(elastic, numbers, field, text):
    """Given the gate / when a size is none, or not all pods would run at once / then it is refused.
    """
    with pytest.raises(APIError) as caught:
        await resize(elastic, **numbers)
    cause = caught.value.causes[0]
    assert (cause["field"], cause["message"]) == (f"spec.replicatedJobs[0].template.spec.{field}", text)


@pytest.mark.spec("JOB-200")
async def test_a_finished_jobset_keeps_its_size(elastic):
    """Given the gate and a completed JobSet / when its size changes / then it is refused."""
    await elastic.finish("js-w-0", "js-x-0")
    text = "Cannot mutate parallelism or completions when JobSet is in a terminal state (Completed or Failed)"
    with pytest.raises(APIError, match=re.escape(text)):
        await resize(elastic, parallelism=3, completions=3)


async def test_in_place_needs_a_job_that_never_fails():
    """Given the gate InPlaceRestart / when a Job might fail, or make pods before others are gone
    / then the JobSet is refused for each.
    """
    async with cluster_with(InPlaceRestart=True) as cluster:
        found = await refused(JobSets(cluster), replicated(), failurePolicy={"restartStrategy": "InPlaceRestart"})
    start, when = "replicatedJob w:", "when in-place restart is enabled"
    assert found == [
        ("spec.replicatedJobs[0].template.spec.backoffLimit",
         f"Invalid value: 0: {start} must be set to 2147483647 (MaxInt32) {when}"),
        ("spec.replicatedJobs[0].template.spec.podReplacementPolicy",
         f"Invalid value: null: {start} must be set to Failed {when}"),
        ("spec.replicatedJobs[0].template.spec.completions",
         f"Invalid value: null: {start} completions and parallelism must be set and equal to each other {when}")]


async def test_too_many_jobs_to_restart_alone(restarting_jobs):
    """Given the gate RestartJob / when a rule is to restart single Jobs of more than 1024 / then
    the JobSet is refused.
    """
    policy = {"rules": [{"name": "r", "action": "RestartJob"}]}
    assert await refused(restarting_jobs, replicated(replicas=1025), failurePolicy=policy) == internal(
        "JobSet cannot have a failure policy rule with RestartJob or RestartJobAndIgnoreMaxRestarts action and a replicated job "
        "with replicas > 1024")


@pytest.mark.parametrize("spec", [
    "text", {"replicatedJobs": 5}, {"replicatedJobs": ["a"]}, {"replicatedJobs": [{"name": 5}]}, {"network": []},
    {"replicatedJobs": [{"name": "w", "template": {"spec": {"template": {"spec": {"containers": [{"resources": {
        "requests": {"cpu": "much"}}}]}}}}}]},
    {"replicatedJobs": [{"name": "w", "replicas": "one", "template": {}}]},
])
async def test_nonsense_is_a_bad_request(world, spec):
    """Given a spec of other types than it has / when the JobSet is created / then it is refused, as
    a webhook refuses that cannot read it.
    """
    with pytest.raises(APIError) as caught:
        await world.client.create(JOBSETS, {"metadata": {"name": "js", "namespace": NAMESPACE}, "spec": spec})
    assert caught.value.code == 400
    assert caught.value.message.startswith('admission webhook "mjobset.kb.io" denied the request: ')


@pytest.mark.spec("JOB-199")
async def test_the_configurations_have_upstreams_names(world):
    """Given a cluster with JobSet / when its webhooks are looked at / then they stand in two
    configurations.
    """
    found = {}
    for kind in ("Mutating", "Validating"):
        name = f"jobset-{kind.lower()}-webhook-configuration"
        plural = f"{kind.lower()}webhookconfigurations"
        resource = Resource("admissionregistration.k8s.io", "v1", plural, f"{kind}WebhookConfiguration", namespaced=False)
        hooks = (await world.client.get(resource, name))["webhooks"]
        found[kind] = [(hook["name"], hook["rules"][0]["resources"], hook["failurePolicy"]) for hook in hooks]
    assert found == {
        "Mutating": [("mjobset.kb.io", ["jobsets"], "Fail"), ("mpod.kb.io", ["pods"], "Fail")],
        "Validating": [("vjobset.kb.io", ["jobsets"], "Fail"), ("vpod.kb.io", ["pods"], "Fail")]}
