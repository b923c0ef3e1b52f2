"""Files of one volume that lie upon each other.

Upstream: warningsForOverlappingVirtualPaths in pkg/api/pod/warnings.go.
"""

from typing import NamedTuple

from fakekube.apimachinery.field_errors import go_quote
from fakekube.apimachinery.types import Tree

CERTIFICATE_PATHS = {
    "certificateChainPath": "PodCertificate chain", "keyPath": "PodCertificate key",
    "credentialBundlePath": "PodCertificate credential bundle",
}
LISTED = ("configMap", "secret", "downwardAPI")


class File(NamedTuple):
    """A path, and in a projected volume the source that it comes from."""

    path: str
    source: str = ""

    def __str__(self) -> str:
        return f"{go_quote(self.path)} ({self.source})" if self.source else go_quote(self.path)


def is_free_of_overlaps(volume: Tree) -> bool:
    """Whether each file of a volume plainly has a name of its own and is in no folder of it.

    Whoever gets False has to ask ``overlap_warnings``.
    """
    paths: list[str] = []
    for kind in LISTED:
        if kind in volume and "items" in volume[kind]:
            paths += [item.get("path", "") for item in volume[kind]["items"]]
    if "projected" in volume:
        for projection in volume["projected"].get("sources") or ():
            if not projection or "podCertificate" in projection:
                return False
            for part in projection.values():
                if "path" in part:
                    paths.append(part["path"])
                elif "items" in part:
                    paths += [item.get("path", "") for item in part["items"]]
    return len(paths) < 2 or ("/" not in "".join(paths) and len(dict.fromkeys(paths)) == len(paths))


def overlap_warnings(volumes: list[Tree]) -> list[str]:
    """One text for each file that collides with one before it."""
    found: list[str] = []
    for volume in volumes:
        for kind, shown, name_field in (
            ("configMap", "ConfigMap", "name"), ("secret", "Secret", "secretName"), ("downwardAPI", "DownwardAPI", ""),
        ):
            source = volume.get(kind)
            if source and source.get("items"):
                what = f"{shown} {go_quote(source.get(name_field, ''))}" if name_field else shown
                files = [File(item.get("path", "")) for item in source["items"]]
                found += _collisions(volume.get("name", ""), what, files)
        if "projected" in volume:
            found += _projected(volume.get("name", ""), volume["projected"])
    return found


def _projected(name: str, source: Tree) -> list[str]:
    empty = [f"volume {go_quote(name)} (Projected) has no sources provided" for each in source.get("sources") or ()
             if not each]
    files = [file for each in source.get("sources") or () for file in _projected_files(each)]
    return empty + _collisions(name, "Projected", files)


def _projected_files(source: Tree) -> list[File]:
    for kind, shown in (("configMap", "ConfigMap"), ("secret", "Secret")):
        if source.get(kind, {}).get("items"):
            what = f"{shown} {go_quote(source[kind].get('name', ''))}"
            return [File(item.get("path", ""), what) for item in source[kind]["items"]]
    if source.get("downwardAPI", {}).get("items"):
        return [File(item.get("path", ""), "DownwardAPI") for item in source["downwardAPI"]["items"]]
    if "serviceAccountToken" in source:
        return [File(source["serviceAccountToken"].get("path", ""), "ServiceAccountToken")]
    if "clusterTrustBundle" in source:
        bundle = source["clusterTrustBundle"]
        what = f"ClusterTrustBundle {go_quote(bundle.get('name') or bundle.get('signerName', ''))}"
        return [File(bundle.get("path", ""), what)]
    certificate = source.get("podCertificate", {})
    return [File(certificate[field], what) for field, what in CERTIFICATE_PATHS.items() if certificate.get(field)]


def _collisions(name: str, what: str, files: list[File]) -> list[str]:
    found: list[str] = []
    before: list[File] = []
    for file in files:
        here = File(file.path.rstrip("/"), file.source)
        if here.path:
            found += [
                f"volume {go_quote(name)} ({what}): overlapping paths: {here} with {other}"
                for other in before if other.path and _overlap(here.path, other.path)
            ]
        before.append(here)
    return found


def _overlap(one: str, other: str) -> bool:
    return f"{one}/".startswith(f"{other}/") or f"{other}/".startswith(f"{one}/")
