"""CronJobs with a time zone in their schedule, which no new one may have."""

from typing import Any

from tests.apis.strategies_a.hooks import CONTAINER, NOW, update


def stored(schedule: str, **spec: Any) -> dict[str, Any]:
    template = {"spec": {"restartPolicy": "Never", "containers": [CONTAINER]}}
    return {
        "apiVersion": "batch/v1", "kind": "CronJob",
        "metadata": {"name": "x", "namespace": "t", "uid": "u", "creationTimestamp": NOW, "generation": 1},
        "spec": {"schedule": schedule, "jobTemplate": {"spec": {"template": template}}, **spec}, "status": {}}  # fmt: skip


def test_a_zone_in_a_schedule_may_stay() -> None:
    """Given an old object with a zone in its schedule / when it changes / then it is accepted with
    a warning; with a zone of its own besides, and in one that had none, it is refused.
    """
    old = "TZ=UTC 0 0 * * *"
    warning = (
        "cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see "
        "https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details")
    accepted = update(stored(old), stored("TZ=UTC 1 0 * * *"))
    assert accepted.errors == []
    assert accepted.warnings == [warning]
    assert update(stored(old), stored(old, timeZone="UTC")).errors == [
        f'spec.schedule: Invalid value: "{old}": cannot use both timeZone field and TZ or CRON_TZ in schedule']
    assert update(stored("0 0 * * *"), stored(old)).errors == [
        f'spec.schedule: Invalid value: "{old}": cannot use TZ or CRON_TZ in schedule, use timeZone field instead']
