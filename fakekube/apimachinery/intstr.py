"""Numbers that may be shares: ``3`` or ``25%``. Upstream: apimachinery/pkg/util/intstr/intstr.go.
"""

from fakekube.apimachinery import strconv
from fakekube.apimachinery.types import Json


def scaled(value: Json, total: int, *, round_up: bool) -> int:
    """The number that an IntOrString stands for, a share being one of ``total``.

    ValueError for any other text.
    """
    if isinstance(value, int):
        return value
    if not isinstance(value, str) or not value.endswith("%"):
        raise ValueError(f"invalid value for IntOrString: invalid type: string is not a percentage {value!r}")
    share = strconv.parse_int(value.removesuffix("%"))
    return -(-share * total // 100) if round_up else share * total // 100
