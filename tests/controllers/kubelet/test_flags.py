"""Annotations that are true or false, and what becomes of anything else."""

import pytest

from fakekube_controllers.kubelet.outcomes.annotations import ContainerAnnotations, InvalidOutcome


def flag(text, **more):
    return ContainerAnnotations({"fakekube.dev/oom": text, **more}, "main", is_init=False).flag("oom")


def test_a_flag_is_true_or_false():
    """Given an annotation / then ``true`` and ``false`` are read, and its absence is false."""
    assert flag("true") is True
    assert flag("false") is False
    assert ContainerAnnotations({}, "main", is_init=False).flag("oom") is False


@pytest.mark.parametrize("text", ["True", "yes", "1", "", "falsex"])
def test_anything_else_is_refused(text):
    """Given another text / then it is refused, and named."""
    with pytest.raises(InvalidOutcome) as caught:
        flag(text)
    assert str(caught.value) == f"annotation fakekube.dev/oom: {text!r} is neither true nor false"
    assert caught.value.reason == "InvalidAnnotation"


def test_what_names_the_container_goes_before_what_is_for_all():
    """Given both / then the container's own counts; an init container has only its own."""
    assert flag("false", **{"fakekube.dev/oom.main": "true"}) is True
    assert ContainerAnnotations({"fakekube.dev/oom": "true"}, "main", is_init=True).flag("oom") is False
    assert ContainerAnnotations({"fakekube.dev/oom.main": "true"}, "main", is_init=True).flag("oom") is True
