"""Images that run until they are stopped: pause containers, and servers whose image starts them
without a command.

Known are those that manifests, lessons and upstream's own tests use most, by the last segment of
the image's name. ``docs/kubelet.md`` lists them. Left out: what an image that nobody lists would
do.
"""

from collections.abc import Mapping, Sequence
from typing import Any

PAUSE = "pause"
AGNHOST = "agnhost"
"""The image of upstream's tests: its first argument says what it is, and without any it pauses."""
AGNHOST_SERVERS = ("pause", "netexec", "nettest", "porter", "serve-hostname", "test-webserver")
PORTS_OF_SERVERS: Mapping[str, tuple[int, ...]] = {
    "caddy": (80, 443), "cassandra": (), "echoserver": (8080,), "envoy": (), "haproxy": (), "hello-app": (8080,),
    "hello-kubernetes": (8080,), "hello-node": (8080,), "http-echo": (5678,), "httpd": (80,), "jetty": (8080,),
    "kubernetes-bootcamp": (8080,), "mariadb": (), "memcached": (), "mongo": (), "mysql": (), "nats": (), "nginx": (80,),
    "nginx-unprivileged": (8080,), "podinfo": (9898,), "postgres": (), "rabbitmq": (), "redis": (), "registry": (),
    "tomcat": (8080,), "traefik": (80,), "valkey": (), "whoami": (80,),
}
"""Images whose server runs until it is stopped, and the ports on which it answers over HTTP."""


def runs_until_stopped(container: Mapping[str, Any]) -> bool:
    """Whether a container's image is known to start something that does not end by itself.

    A command replaces what the image starts; so do arguments, unless they are options.
    """
    if container.get("command"):
        return False
    name = image_name(container.get("image") or "")
    arguments: Sequence[str] = container.get("args") or ()
    if name == PAUSE or name.startswith(f"{PAUSE}-"):  # pause-amd64
        return True
    if name == AGNHOST:
        return not arguments or arguments[0] in AGNHOST_SERVERS
    return name in PORTS_OF_SERVERS and (not arguments or arguments[0].startswith("-"))


def http_ports(container: Mapping[str, Any]) -> tuple[int, ...]:
    """The ports on which the server in a container's image answers over HTTP, if that is what
    runs.
    """
    return () if container.get("command") else PORTS_OF_SERVERS.get(image_name(container.get("image") or ""), ())


def image_name(image: str) -> str:
    """The last segment of an image's name: ``nginx`` of
    ``registry:5000/library/nginx:1.29@sha256:...``.
    """
    return image.partition("@")[0].rpartition("/")[2].partition(":")[0]
