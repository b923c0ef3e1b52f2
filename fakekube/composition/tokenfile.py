"""Static tokens: a file of ``token,user,uid,"group1,group2"`` a line, as --token-auth-file reads.

Upstream: apiserver/pkg/authentication/token/tokenfile, whose words for what is wrong these are.
"""

import csv
import logging
from pathlib import Path

from fakekube.apimachinery.http import UserInfo
from fakekube.composition.options import OptionError

log = logging.getLogger(__name__)
COLUMNS = 3


def read(name: str) -> dict[str, UserInfo]:
    """Users by their tokens. Raises OptionError."""
    try:
        with Path(name).open(newline="", encoding="utf-8") as file:
            rows = list(csv.reader(file, strict=True))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise OptionError(f"token_auth_file: {name}: {error}") from error
    found: dict[str, UserInfo] = {}
    for number, row in enumerate(rows, 1):
        if not row:
            continue
        if len(row) < COLUMNS:
            raise OptionError(
                f"token_auth_file: token file '{name}' must have at least {COLUMNS} columns (token, user name, user uid), "
                f"found {len(row)}")
        token, user, uid, *groups = row
        if not token:
            log.warning("empty token has been found in token file '%s', record number '%d'", name, number)
            continue
        if token in found:
            log.warning("duplicate token has been found in token file '%s', record number '%d'", name, number)
        found[token] = UserInfo(user, tuple(groups[0].split(",")) if groups and groups[0] else (), uid)
    return found
