"""How EndpointSlices print."""

from fakekube.apimachinery.types import Tree
from fakekube.apis.printing import AGE, NAME, column, limited, table

SHOWN = 3


def _ports(obj: Tree) -> str:
    ports = [str(port.get("port", port.get("name", "*"))) for port in obj.get("ports") or ()]
    return limited(ports, SHOWN)


def _endpoints(obj: Tree) -> str:
    return limited(
        [address for endpoint in obj.get("endpoints") or () for address in endpoint.get("addresses") or ()], SHOWN
    )


ENDPOINT_SLICE = table(
    NAME, column("AddressType", "addressType"), column("Ports", _ports), column("Endpoints", _endpoints), AGE
)
