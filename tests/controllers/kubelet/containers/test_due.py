"""When something happens next to a container by itself."""

import pytest

from fakekube_controllers.kubelet.containers.container import Container
from fakekube_controllers.kubelet.containers.timers import Timer
from fakekube_controllers.kubelet.outcomes.outcome import Outcome


def container(
    *later: float, ends_at: float | None = None, ready_at: float | None = None, restarts_at: float | None = None,
) -> Container:
    made = Container("c", "image", lambda _: Outcome(), "Always")
    made.ends_at, made.ready_at, made.restarts_at = ends_at, ready_at, restarts_at
    made.later = dict(zip(Timer, later, strict=False))
    return made


@pytest.mark.parametrize(("made", "due"), [
    (container(), None), (container(ends_at=5.0), 5.0), (container(ready_at=5.0), 5.0), (container(restarts_at=5.0), 5.0),
    (container(ends_at=5.0, ready_at=3.0, restarts_at=4.0), 3.0), (container(ends_at=3.0, ready_at=4.0, restarts_at=5.0), 3.0),
    (container(7.0), 7.0), (container(9.0, 7.0, 8.0), 7.0), (container(7.0, ends_at=5.0), 5.0),
    (container(3.0, ends_at=5.0), 3.0), (container(5.0, ends_at=5.0), 5.0),
])
def test_the_first_of_all_is_due(made: Container, due: float | None) -> None:
    """Given times at which a container ends, is ready, starts again, and those of probes and hooks
    / then the first of them is due, if there is any.
    """
    assert made.due == due
