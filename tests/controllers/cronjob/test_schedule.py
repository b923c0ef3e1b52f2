"""Which run is due, against a walk over every run that there was."""

from hypothesis import given, settings
from hypothesis import strategies as st

from fakekube.apimachinery.times import format_time
from fakekube_controllers.cronjob.schedule import NEVER, missed, plan_of, seconds_to_next
from tests.controllers.cronjob.conftest import START

SCHEDULES = ("* * * * *", "*/5 * * * *", "*/30 * * * *", "@hourly", "@every 90s", "@every 25h")


def every_run(plan, since, now):
    """All runs after a time, up to another."""
    found, due = [], plan.next(since)
    while NEVER < due <= now:
        found.append(due)
        due = plan.next(due)
    return found


@settings(deadline=None)
@given(
    st.sampled_from(SCHEDULES), st.sampled_from(["", "Europe/Berlin", "America/New_York"]),
    st.integers(0, 400 * 86400), st.integers(0, 6 * 3600), st.one_of(st.none(), st.integers(0, 7200)))
def test_the_last_run_that_is_due(schedule, zone, made, passed, deadline):
    """Given a CronJob whose runs are the same time apart / when some time has passed / then the run
    that is due is the last of those that came since, within the deadline; and the next look is at
    the run after it, a moment late.
    """
    created, now = START + made, START + made + passed
    spec = {"schedule": schedule, "timeZone": zone or None, "startingDeadlineSeconds": deadline}
    cron_job = {"metadata": {"creationTimestamp": format_time(created)}, "spec": spec}
    plan = plan_of(cron_job)
    runs = every_run(plan, max(created, now - deadline) if deadline is not None else created, now)
    found = missed(cron_job, plan, now, within_deadline=True)
    assert found.latest == (runs[-1] if runs else None)
    all_runs = every_run(plan, created, now)
    then = plan.next(all_runs[-1] if all_runs else created)
    assert abs(seconds_to_next(cron_job, plan, now) - (then + 0.1 - now)) < 1e-3


def test_uneven_runs_are_guessed_at_as_upstream_does():
    """Given runs at 3:05, 3:10 and 3:50 of every day, none of which was made / when it is 3:52, or
    4:30 / then the last one is found at 3:52; at 4:30 the guess, which takes all runs to be five
    minutes apart, lands behind it, and nothing is due.
    """
    cron_job = {"metadata": {"creationTimestamp": format_time(START)}, "spec": {"schedule": "5,10,50 3 * * *"}}
    three = START + 3 * 3600
    assert missed(cron_job, plan_of(cron_job), three + 52 * 60, within_deadline=True).latest == three + 50 * 60
    assert missed(cron_job, plan_of(cron_job), three + 90 * 60, within_deadline=True).latest is None
