"""What a cluster serves: groups, versions and resources of a release, and what gates and
runtime-config change.
"""

import csv
from pathlib import Path

import pytest

from fakekube.apimachinery import releases
from fakekube.apimachinery.gvk import version_order
from fakekube.apimachinery.releases import minor_of
from fakekube.apis.catalog import Catalog, InvalidRuntimeConfig, catalog, definitions_of
from fakekube.apis.gates import Gates
from fakekube.registry.strategy import Strategy

RECORDED = Path(__file__).resolve().parents[3] / "shared" / "data"
EVERYTHING = {"api/all": True}

# What is served without runtime-config, in the order of discovery.
STABLE_1_37 = [
    "v1", "apiregistration.k8s.io/v1", "apps/v1", "events.k8s.io/v1", "authentication.k8s.io/v1",
    "authorization.k8s.io/v1", "autoscaling/v2", "autoscaling/v1", "batch/v1", "certificates.k8s.io/v1",
    "networking.k8s.io/v1", "policy/v1", "rbac.authorization.k8s.io/v1", "storage.k8s.io/v1",
    "admissionregistration.k8s.io/v1", "apiextensions.k8s.io/v1", "scheduling.k8s.io/v1",
    "coordination.k8s.io/v1", "node.k8s.io/v1", "discovery.k8s.io/v1", "resource.k8s.io/v1",
    "flowcontrol.apiserver.k8s.io/v1", "storagemigration.k8s.io/v1",
]  # fmt: skip


def served(release: str, gates: dict[str, bool] | None = None, config: dict[str, bool] | None = None) -> Catalog:
    return catalog(release, Gates(release, gates), config)


def group_versions(found: Catalog) -> list[str]:
    return list(dict.fromkeys(kind.api_version for kind in found.kinds))


def resources(found: Catalog, group: str, version: str) -> list[str]:
    return [kind.plural for kind in found.kinds if (kind.group, kind.version) == (group, version)]


@pytest.mark.spec("API-003", "API-006")
def test_the_newest_release_serves_stable_versions_in_order_of_priority():
    """Given defaults / when 1.37 is asked / then only stable versions are there, in the order of
    discovery.
    """
    found = served("1.37")
    assert group_versions(found) == STABLE_1_37
    assert found.group_order[:5] == ("", "apiregistration.k8s.io", "apps", "events.k8s.io", "authentication.k8s.io")
    assert found.versions("autoscaling") == ("v2", "v1")
    assert found.preferred("autoscaling") == "v2"
    assert found.versions("no.such.group") == ()
    with pytest.raises(KeyError):
        found.preferred("no.such.group")


@pytest.mark.parametrize(
    ("release", "extra", "missing"),
    [
        ("1.36", [], ["storagemigration.k8s.io/v1"]),
        ("1.33", [], ["storagemigration.k8s.io/v1", "resource.k8s.io/v1"]),
        ("1.28", ["flowcontrol.apiserver.k8s.io/v1beta3", "flowcontrol.apiserver.k8s.io/v1beta2"],
         ["storagemigration.k8s.io/v1", "resource.k8s.io/v1", "flowcontrol.apiserver.k8s.io/v1"]),
        ("1.25", ["autoscaling/v2beta2", "storage.k8s.io/v1beta1", "flowcontrol.apiserver.k8s.io/v1beta2",
                  "flowcontrol.apiserver.k8s.io/v1beta1"],
         ["storagemigration.k8s.io/v1", "resource.k8s.io/v1", "flowcontrol.apiserver.k8s.io/v1"]),
    ],
)  # fmt: skip
def test_older_releases_serve_what_they_served(release: str, extra: list[str], missing: list[str]):
    """Given an older release / when asked / then old betas are on, and what came later is not
    there.
    """
    found = group_versions(served(release))
    assert sorted(found) == sorted({*STABLE_1_37, *extra} - {*missing})


def test_kinds_of_a_version_are_in_alphabetical_order():
    """Given core v1 / when listed / then in the order of the resource list."""
    found = resources(served("1.37"), "", "v1")
    assert found == sorted(found)
    assert len(found) == 17


def test_a_kind_is_found_by_its_path():
    """Given a catalog / when a resource is named / then its kind comes back, or None."""
    found = served("1.37")
    job = found.kind("batch", "v1", "jobs")
    assert job is not None
    assert (job.kind, job.namespaced, job.categories, job.tracks_generation) == ("Job", True, ("all",), True)
    assert job.orphan_by_default
    assert found.kind("batch", "v1beta1", "jobs") is None


@pytest.mark.spec("API-005")
@pytest.mark.parametrize(
    ("plural", "name", "kind"),
    [
        ("pods", "log", None),
        ("pods", "eviction", "policy/v1 Eviction"),
        ("pods", "exec", "v1 PodExecOptions"),
        ("serviceaccounts", "token", "authentication.k8s.io/v1 TokenRequest"),
        ("replicationcontrollers", "scale", "autoscaling/v1 Scale"),
        ("namespaces", "finalize", None),
    ],
)
def test_sub_resources_name_what_travels_over_them(plural: str, name: str, kind: str | None):
    """Given a core resource / when its sub-resource is asked / then it has the kind that discovery
    shows.
    """
    parent = served("1.37").kind("", "v1", plural)
    assert parent is not None
    sub = parent.subresource(name)
    assert sub is not None
    assert (f"{sub.kind.api_version} {sub.kind.kind}" if sub.kind else None) == kind


def test_sub_resources_come_with_releases_and_gates():
    """Given releases around in-place resize / when pods are asked / then resize is there from its
    gate on.
    """
    def has_resize(release: str, gates: dict[str, bool]) -> bool:
        pods = served(release, gates).kind("", "v1", "pods")
        assert pods is not None
        return pods.subresource("resize") is not None

    assert not has_resize("1.31", {})
    assert not has_resize("1.32", {})
    assert has_resize("1.32", {"InPlacePodVerticalScaling": True})
    assert has_resize("1.33", {})


def test_kinds_with_a_status_leave_it_to_their_status_endpoint():
    """Given kinds without rules of their own / when created through the main endpoint / then the
    status is fresh.
    """
    for kind in catalog("1.37", {}, EVERYTHING).kinds:
        sub = kind.subresource("status")
        assert sub is None or type(kind.strategy) is not Strategy, kind
        assert sub is None or kind.strategy is not None, kind
    requests = catalog("1.37", {}, EVERYTHING).kind("resource.k8s.io", "v1alpha3", "resourcepoolstatusrequests")
    assert requests is not None
    assert requests.strategy is not None
    asked = {"spec": {}, "status": {"poolCount": 1}}
    requests.strategy.prepare_for_create(asked, None)  # type: ignore[arg-type]
    assert asked == {"spec": {}}


class TestGates:
    def test_an_alpha_version_needs_its_gate_and_runtime_config(self):
        """Given Workloads of 1.37 / when only one of gate and version is on / then they are not
        served.
        """
        version = {"scheduling.k8s.io/v1beta1": True}
        assert resources(served("1.37", {}, version), "scheduling.k8s.io", "v1beta1") == []
        assert resources(served("1.37", {"GenericWorkload": True}), "scheduling.k8s.io", "v1beta1") == []
        both = served("1.37", {"GenericWorkload": True}, version)
        assert resources(both, "scheduling.k8s.io", "v1beta1") == ["podgroups", "workloads"]
        assert both.versions("scheduling.k8s.io") == ("v1", "v1beta1")

    @pytest.mark.parametrize(
        ("release", "version", "expected"),
        [
            ("1.35", "v1alpha1", ["workloads"]),
            ("1.36", "v1alpha2", ["podgroups", "workloads"]),
            ("1.37", "v1alpha3", ["podgroups", "workloads"]),
        ],
    )
    def test_workload_aware_scheduling_has_another_version_every_release(self, release, version, expected):
        """Given the gate / when a release's own version is on / then it has that release's kinds.
        """
        found = served(release, {"GenericWorkload": True}, {f"scheduling.k8s.io/{version}": True})
        assert resources(found, "scheduling.k8s.io", version) == expected

    def test_the_service_name_rule_follows_its_gate(self):
        """Given the relaxed service names / when the gate is off / then names are those of old."""
        def rule(release: str) -> str:
            services = served(release).kind("", "v1", "services")
            assert services is not None
            return services.name_rule

        assert rule("1.37") == "label"
        assert rule("1.35") == "label1035"


class TestRuntimeConfig:
    def test_the_most_particular_key_wins(self):
        """Given keys of all sizes / when they disagree / then resource beats version beats stage
        beats all.
        """
        config = {
            "api/all": True,
            "api/alpha": False,
            "resource.k8s.io/v1alpha3": True,
            "resource.k8s.io/v1alpha3/devicetaintrules": False,
        }
        found = served("1.37", {}, config)
        assert resources(found, "resource.k8s.io", "v1alpha3") == ["resourcepoolstatusrequests"]
        assert resources(found, "internal.apiserver.k8s.io", "v1alpha1") == []
        assert resources(found, "coordination.k8s.io", "v1beta1") == ["leasecandidates"]

    def test_a_single_resource_can_be_switched_on(self):
        """Given a version that is off / when one resource of it is on / then only that is served.
        """
        found = served("1.37", {}, {"resource.k8s.io/v1beta1/deviceclasses": True})
        assert resources(found, "resource.k8s.io", "v1beta1") == ["deviceclasses"]

    def test_the_core_group_is_slash_v1(self):
        """Given the key /v1/configmaps / when off / then config maps are gone and the rest stays.
        """
        found = resources(served("1.37", {}, {"/v1/configmaps": False}), "", "v1")
        assert "configmaps" not in found
        assert "pods" in found

    @pytest.mark.parametrize(
        ("config", "text"),
        [
            ({"api/all": False}, "invalid runtime-config with only api/all=false"),
            ({"v1": True}, "runtime-config invalid key v1"),
            ({"foo.io/v1": True, "bar.io/v1": True}, "unknown api groups bar.io/v1,foo.io/v1"),
            ({"batch/v9": True}, "group version batch/v9 that has not been registered"),
            ({"scheduling.k8s.io/v1alpha1": True},
             "group version scheduling.k8s.io/v1alpha1 that has not been registered"),
            ({"batch/v1/Jobs": True},
             'invalid key batch/v1/Jobs: group/version/resource and resource is always lowercase plural, not "Jobs"'),
        ],
    )  # fmt: skip
    def test_keys_that_name_nothing_are_refused(self, config, text):
        """Given a bad key / when the catalog is built / then the text is upstream's."""
        with pytest.raises(InvalidRuntimeConfig) as raised:
            served("1.37", {}, config)
        assert str(raised.value) == text


class TestVersions:
    def test_versions_are_ranked_as_upstream_ranks_them(self):
        """Given versions of all kinds / when sorted / then stable before beta before alpha before
        odd names.
        """
        names = ["foo", "v1alpha1", "v1", "v2", "v1beta2", "v11alpha2", "v1beta1", "v10"]
        ordered = sorted(names, key=version_order, reverse=True)
        assert ordered == ["v10", "v2", "v1", "v1beta2", "v1beta1", "v11alpha2", "v1alpha1", "foo"]

    def test_a_release_is_written_like_kubernetes_does(self):
        """Given texts / when read as a release / then only 1.x ones are."""
        assert (minor_of("1.37"), minor_of("v1.35.2")) == (37, 35)
        with pytest.raises(ValueError, match="not a Kubernetes release"):
            minor_of("2.0")


@pytest.mark.parametrize("release", releases.RECORDED)
def test_the_catalog_is_that_of_a_real_server(release: str):
    """Given what a real server lists with everything on / when compared / then every fact agrees.
    """
    table = RECORDED / f"resources-{release}.tsv"
    if not table.exists():
        pytest.skip(f"no recorded resource lists here ({table})")
    with table.open() as lines:
        expected = {
            ("" if row["group"] == "core" else row["group"], row["version"], row["resource"]): (
                row["kind"], row["scope"], row["verbs"], row["short_names"], row["categories"], row["singular"],
            )
            for row in csv.DictReader(lines, delimiter="\t")
        }  # fmt: skip
    found = catalog(release, {}, EVERYTHING)
    got = {}
    for kind in found.kinds:
        scope = "Namespaced" if kind.namespaced else "Cluster"
        key = (kind.group, kind.version, kind.plural)
        got[key] = (
            kind.kind, scope, ",".join(kind.verbs), ",".join(kind.short_names), ",".join(kind.categories),
            kind.singular,
        )  # fmt: skip
        for sub in kind.subresources:
            name = kind.kind
            if sub.kind is not None:
                own = (sub.kind.group, sub.kind.version) == (kind.group, kind.version)
                name = sub.kind.kind if own else "/".join(filter(None, sub.kind))
            got[(*key[:2], f"{kind.plural}/{sub.name}")] = (name, scope, ",".join(sub.verbs), "", "", "")
    assert got == expected
    assert [key for key in got if "/" not in key[2]] == [key for key in expected if "/" not in key[2]]


@pytest.mark.parametrize("release", [each.name for each in releases.RELEASES])
def test_every_stored_version_is_one_that_other_versions_convert_to(release: str):
    """Given a release with everything on / when versions are converted / then they agree on where
    objects are kept.
    """
    found = catalog(release, {}, EVERYTHING)
    stored: dict[object, object] = {}
    for kind in found.kinds:
        target = kind.conversion.stored if kind.conversion else kind.gvk
        assert stored.setdefault(kind.storage_resource, target) == target
    for kind in found.kinds:
        if kind.conversion:
            back = kind.conversion.from_stored(kind.conversion.to_stored({"kind": kind.kind, "metadata": {}}))
            assert back["apiVersion"] == kind.api_version


# Kinds with a definition that are no resource of their own: what travels over sub-resources, and
# answers of the server.
NO_RESOURCES = {"APIGroup", "APIVersions", "Eviction", "Scale", "Status", "TokenRequest"}


@pytest.mark.parametrize("release", [each.name for each in releases.RELEASES])
def test_a_release_has_the_kinds_that_its_definitions_name(release: str):
    """Given the definitions of a release / when compared with the catalog / then both name the same
    kinds.

    A kind that fails here stands in one of the two only: its ``since`` or ``until`` is wrong, it is
    not declared, or no release has it and its declaration lacks ``fields``.
    """
    named = {gvk for gvk in definitions_of(release).kinds() if not gvk.kind.endswith(("List", "Options", "Event"))}
    declared = {kind.gvk for kind in catalog(release, {}, EVERYTHING).kinds}
    assert {gvk for gvk in declared if gvk.kind not in ("Event", "Eviction")} - named == set()
    assert {gvk for gvk in named - declared if gvk.kind not in NO_RESOURCES} == set()
