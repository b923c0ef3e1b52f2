"""Operators in kopf."""

import kopf
from kubernetes import client

from fakekube.runtime.builder import Declaration
from fakekube.testing.operators import kopf_operator, operator_kubeconfig
from tests.exploration.buggy.base import version
from tests.exploration.buggy.plain import CONFLICT, NOT_FOUND, but, connected
from tests.exploration.operators import POD, is_web

AT_ONCE = {"backoff": 0.02}
"""kopf tries again after so much real time."""


def web(name: str, **_: object) -> bool:
    return is_web(name)


def quick(settings: kopf.OperatorSettings, **_: object) -> None:
    settings.posting.enabled = False
    settings.watching.reconnect_backoff = 0.02
    settings.queueing.error_delays = settings.networking.error_backoffs = [0.02] * 10
    settings.persistence.consistency_timeout = 0.05  # for its own writes, in real time, where a watch does not tell of them


def declared(name: str, registry: kopf.OperatorRegistry) -> Declaration:
    kopf.on.startup(registry=registry)(quick)
    return kopf_operator(name, registry, namespaces=["default"])


def core() -> client.CoreV1Api:
    return connected(operator_kubeconfig())


# makes a pod, and then a Secret

one_by_one, each = kopf.OperatorRegistry(), kopf.OperatorRegistry()


@kopf.on.create("configmaps", when=web, registry=one_by_one, **AT_ONCE)
def pod_then_secret(name: str, **_: object) -> None:
    """Where there is a pod, it takes the Secret as made.

    Dies between the two: the Secret is never made (Sieve: intermediate states, as an operator of
    Cassandra that makes several Secrets and looks for the first).
    """
    api = core()
    if but(CONFLICT, api.create_namespaced_pod, "default", {"metadata": {"name": name}, "spec": POD}) is not None:
        but(CONFLICT, api.create_namespaced_secret, "default", {"metadata": {"name": name}})


@kopf.on.create("configmaps", when=web, registry=each, **AT_ONCE)
def pod_and_secret(name: str, **_: object) -> None:
    api = core()
    but(CONFLICT, api.create_namespaced_pod, "default", {"metadata": {"name": name}, "spec": POD})
    but(CONFLICT, api.create_namespaced_secret, "default", {"metadata": {"name": name}})


# deletes the Secret of a map that is gone

by_event, by_finalizer = kopf.OperatorRegistry(), kopf.OperatorRegistry()


@kopf.on.event("configmaps", when=web, registry=by_event)
def follow(event: kopf.RawEvent, name: str, **_: object) -> None:
    """Deletes it when it hears of the end.

    Looks away when the map is deleted: nobody deletes the Secret (Sieve: unobserved states, as an
    operator of Cassandra that deletes the volumes of the scale-down that it sees).
    """
    if event["type"] == "DELETED":
        but(NOT_FOUND, core().delete_namespaced_secret, name, "default")
    else:
        but(CONFLICT, core().create_namespaced_secret, "default", {"metadata": {"name": name}})


@kopf.on.create("configmaps", when=web, registry=by_finalizer, **AT_ONCE)
def make(name: str, **_: object) -> None:
    but(CONFLICT, core().create_namespaced_secret, "default", {"metadata": {"name": name}})


@kopf.on.delete("configmaps", when=web, registry=by_finalizer, **AT_ONCE)
def clean(name: str, **_: object) -> None:
    """The map stays until this has succeeded."""
    but(NOT_FOUND, core().delete_namespaced_secret, name, "default")


# makes one pod for a map

generated, named = kopf.OperatorRegistry(), kopf.OperatorRegistry()


@kopf.on.create("configmaps", when=web, registry=generated, **AT_ONCE)
def make_some_pod(name: str, **_: object) -> None:
    """A pod of a generated name; kopf calls a handler again that has failed.

    Told of an error, when the pod was made: it makes another (Acto: a step that is not the same
    when it is done again).
    """
    core().create_namespaced_pod("default", {"metadata": {"generateName": f"{name}-"}, "spec": POD})


@kopf.on.create("configmaps", when=web, registry=named, **AT_ONCE)
def make_the_pod(name: str, **_: object) -> None:
    """A name that the server takes once only."""
    but(CONFLICT, core().create_namespaced_pod, "default", {"metadata": {"name": f"{name}-0"}, "spec": POD})


# brings a Secret to the version that a map names

final, passing = kopf.OperatorRegistry(), kopf.OperatorRegistry()


def bring(name: str, body: kopf.Body) -> None:
    wanted = body.get("data", {}).get("version")
    if wanted:
        api = core()
        but(CONFLICT, api.create_namespaced_secret, "default", {"metadata": {"name": name}})
        secret = api.read_namespaced_secret(name, "default")
        secret.data = version(wanted)
        api.replace_namespaced_secret(name, "default", secret)


@kopf.on.create("configmaps", when=web, registry=final, **AT_ONCE)
@kopf.on.update("configmaps", when=web, registry=final, **AT_ONCE)
def bring_or_give_up(name: str, body: kopf.Body, **_: object) -> None:
    """Takes what the server refuses for a mistake of the user's, and waits for another version.

    Somebody was faster: the version is never reached (Acto: no recovery from an error, where one
    that passes is taken for input that is invalid).
    """
    try:
        bring(name, body)
    except client.ApiException as error:
        raise kopf.PermanentError(f"{name} cannot be: {error.reason}") from error


@kopf.on.create("configmaps", when=web, registry=passing, **AT_ONCE)
@kopf.on.update("configmaps", when=web, registry=passing, **AT_ONCE)
def bring_at_last(name: str, body: kopf.Body, **_: object) -> None:
    """Lets kopf try again."""
    bring(name, body)


pod_first, both = declared("pod-first", one_by_one), declared("both", each)
hears_of_ends, has_finalizers = declared("hears-of-ends", by_event), declared("has-finalizers", by_finalizer)
some_pod, the_pod = declared("some-pod", generated), declared("the-pod", named)
gives_up, tries_again = declared("gives-up", final), declared("tries-again", passing)
