"""Images of containers: which names are valid, and what a failed pull says. No image is pulled.

Upstream: pkg/kubelet/images, pkg/util/parsers, and containerd's texts.
"""

import re

from fakekube.workqueue.ratelimit import doubled_seconds

PULL_BACK_OFF_SECONDS, MAX_PULL_BACK_OFF_SECONDS = 10.0, 300.0
PULL_ERROR_SECONDS = 1.0  # how long ErrImagePull is shown before ImagePullBackOff

ABSENT = "does-not-exist"

_REFERENCE = re.compile(
    r"[a-z0-9][a-z0-9._-]*(?:/[a-z0-9._-]+)*(?::[\w][\w.-]{0,127})?(?:@[A-Za-z0-9.+_-]+:[0-9a-fA-F]{32,})?", re.ASCII)
_HOST = re.compile(r"(?:[A-Za-z0-9.-]+\.[A-Za-z0-9.-]+|localhost|[A-Za-z0-9.-]+:\d+)(?::\d+)?/", re.ASCII)


def does_not_exist(image: str) -> bool:
    """Whether an image is one that no registry has: by convention its name or its tag ends in
    ``does-not-exist``.
    """
    return image.endswith(ABSENT)


def name_error(image: str) -> str:
    """Why an image's name cannot be parsed, in upstream's words; empty when it can."""
    if _REFERENCE.fullmatch(_HOST.sub("host/", image, count=1)):
        return ""
    why = "invalid reference format"
    if _REFERENCE.fullmatch(image.lower()):
        why += f": repository name ({_repository(image)}) must be lowercase"
    return f'Failed to apply default image tag "{image}": couldn\'t parse image name "{image}": {why}'


def _repository(image: str) -> str:
    name = re.sub(r"(@.*|:[^/:]*)$", "", image)
    return name if "/" in name else f"library/{name}"


def not_found(image: str) -> str:
    """What a pull says of an image that no registry has."""
    tagged = image if ":" in image.rpartition("/")[2] or "@" in image else f"{image}:latest"
    first, slash, _ = tagged.partition("/")
    if not slash:
        tagged = f"docker.io/library/{tagged}"
    elif not any(mark in first for mark in ".:") and first != "localhost":
        tagged = f"docker.io/{tagged}"
    return (f'failed to pull and unpack image "{tagged}": failed to resolve reference "{tagged}": '
            f"{tagged}: not found")


def back_off_seconds(pulls: int) -> float:
    """How long after this pull, the first being 1, the next comes."""
    return doubled_seconds(PULL_BACK_OFF_SECONDS, pulls - 1, MAX_PULL_BACK_OFF_SECONDS)
