"""How StorageVersions print."""

from fakekube.apimachinery.types import Tree
from fakekube.apis.printing import AGE, NAME, UNSET, column, dig, limited, table


def _versions(obj: Tree) -> str:
    versions = dig(obj, "status", "storageVersions") or ()
    return limited([f"{each.get('apiServerID', '')}={each.get('encodingVersion', '')}" for each in versions], 3)


STORAGE_VERSION = table(
    NAME,
    column("CommonEncodingVersion", "status.commonEncodingVersion", UNSET),
    column("StorageVersions", _versions),
    AGE,
)
