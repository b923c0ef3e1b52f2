"""The list of releases that everything else goes by."""

from fakekube.apimachinery import releases


def test_the_list_has_no_gap_and_one_order() -> None:
    """Given the list of releases / when read / then minor follows minor, and the newest one is
    tested and the last.
    """
    minors = [release.minor for release in releases.RELEASES]
    assert minors == list(range(minors[0], minors[0] + len(minors)))
    assert releases.NEWEST.name == releases.TESTED[-1]


def test_what_was_recorded_is_tested_too() -> None:
    """Given the releases with recorded answers / when compared with those that the suites run on /
    then all are among them.
    """
    assert set(releases.RECORDED) <= set(releases.TESTED)
