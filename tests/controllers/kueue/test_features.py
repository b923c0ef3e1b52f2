"""The gates of Kueue: what is on by default."""

from fakekube_controllers.kueue.features import KEP_DRAFTS, LOCKED, Features


def test_gates_have_upstreams_defaults():
    """Given nothing, when features are made, then they are as Kueue 0.19.1 has them, and ours are
    off."""
    features = Features()
    assert features.ElasticJobsViaWorkloadSlices
    assert not features.UnadmittedWorkloadsObservability
    assert not features.MultiKueueAllowInsecureKubeconfigs
    assert not any(getattr(features, name) for name in KEP_DRAFTS)
    assert set(LOCKED) <= set(Features._fields)
