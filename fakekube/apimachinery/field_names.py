"""What is wrong with words of several parts, as errors of fields. ``names.py`` has the simple ones.

Upstream: apimachinery/pkg/util/validation/validation.go.
"""

from fakekube.apimachinery import names
from fakekube.apimachinery.field_errors import FieldError, invalid, required


def domain_prefixed_path(path: str, text: str) -> list[FieldError]:
    """``acme.io/foo``."""
    if not text:
        return [required(path)]
    host, slash, rest = text.partition("/")
    if not (host and slash and rest):
        return [invalid(path, text, 'must be a domain-prefixed path (such as "acme.io/foo")')]
    found = [invalid(path, host, wrong) for wrong in names.dns1123_subdomain(host)]
    if not names.matches(names.HTTP_PATH, rest):
        found.append(invalid(path, rest, names.mismatch("Invalid path", names.HTTP_PATH)))
    return found
