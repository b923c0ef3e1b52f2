"""Builds the tables of facts that ship with fakekube, or says whether they are what would be built.

    python -m tools.facts                     write the tables
    python -m tools.facts --check             write nothing; fail when a table differs
    python -m tools.facts --fetch             fetch the Go modules of all releases first (1 GB)
    python -m tools.facts schemas gates       these tables only

``make facts`` calls it. What has no source on this machine is left out, and one line says so.
Tables are compared by what is in them: compressors may differ in their output from one zlib to the
next.
"""

import argparse
import gzip
import logging
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

from tools import addon_tables as addons
from tools import bootstrap, gates, go_facts, internal_types, protobuf, releases, schemas, template_types, typed_models
from tools.releases import ROOT, MissingSource, Sources

Files = dict[Path, bytes]


class Table(NamedTuple):
    """One table.

    ``build`` makes the bytes of its files (before compression), ``files`` says which files belong
    to it.
    """

    name: str
    build: Callable[[Sources], Files]
    files: str
    by_hand: tuple[str, ...] = ()  # names among them that nobody builds


PACKAGES = "controllers/fakekube_controllers"
ADDONS = {"jobset": addons.JOBSET, "lws": addons.LWS, "kueue": addons.KUEUE, "ray": addons.RAY}
TABLES = (  # in this order: schemas need the Go facts, protobuf and types need the schemas
    Table("go-facts", go_facts.build, "tools/go-facts.json.gz"),
    Table("schemas", schemas.build, "fakekube/schema/tables/*"),
    Table("protobuf", protobuf.build, "fakekube/schema/protobuf/messages.gz"),
    Table("gates", gates.build, "fakekube/apis/gates.txt"),
    Table("bootstrap", bootstrap.build, "fakekube/apis/bootstrap.txt"),
    Table("internal-types", internal_types.build, "fakekube/apis/internal_types.txt"),
    Table("template-types", template_types.build, "fakekube/runtime/template_types.txt"),
    *(Table(f"{name}-definitions", partial(addons.definitions, addon), f"{PACKAGES}/{addon.package}/*.gz")
      for name, addon in ADDONS.items()),
    *(Table(f"{name}-structs", partial(addons.structs, addon), f"{PACKAGES}/{addon.package}/*.txt")
      for name, addon in ADDONS.items() if addon.structs),
    Table("types", typed_models.build, "fakekube/types/*.py", tuple(f"{name}.py" for name, _ in typed_models.BY_HAND)),
)


def content(path: Path) -> bytes | None:
    """What a file holds, uncompressed; None when there is no such file."""
    if not path.exists():
        return None
    data = path.read_bytes()
    return gzip.decompress(data) if path.suffix == ".gz" else data


def write(path: Path, data: bytes) -> None:
    """Write a file, compressed where its name says so; the same bytes each time."""
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(gzip.compress(data, 9, mtime=0) if path.suffix == ".gz" else data)


def stale(table: Table, built: Files) -> list[Path]:
    """The files that are not what was built, and those that belong to the table and were not built.
    """
    different = [path for path, data in built.items() if content(path) != data]
    return different + [path for path in sorted(ROOT.glob(table.files)) if path not in built and path.name not in table.by_hand]


def renew(table: Table, built: Files) -> None:
    """Make the files what was built."""
    for path in stale(table, built):
        if path in built:
            write(path, built[path])
        else:
            path.unlink()


def main() -> int:
    """Exit code 1 when a table differs that is only checked, or when a module was not to be had."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = [table.name for table in TABLES]
    parser.add_argument("tables", nargs="*", metavar="TABLE", help=f"some of: {', '.join(names)}")
    parser.add_argument("--check", action="store_true", help="write nothing, fail on a difference")
    parser.add_argument("--fetch", action="store_true", help="fetch the Go modules of all releases first")
    parser.add_argument("--modules", type=Path, help="the folder of k8s.io's Go modules; by default that of the module cache")
    parser.add_argument("--recordings", type=Path, help="the folder of what was recorded on a real control plane")
    options = parser.parse_args()
    if unknown := sorted(set(options.tables) - set(names)):
        parser.error(f"no table {', '.join(unknown)}: there are {', '.join(names)}")
    if options.fetch and (missing := list(releases.fetch())):
        print(f"not to be had: {' '.join(missing)}", file=sys.stderr)
        return 1
    sources = Sources(options.modules or releases.module_cache(), options.recordings)
    wanted = [table for table in TABLES if not options.tables or table.name in options.tables]
    logging.basicConfig(level=logging.WARNING if options.check else logging.INFO, format="%(message)s")
    skipped: list[str] = []
    failed = False
    for table in wanted:
        try:
            built = table.build(sources)
        except MissingSource as missing_source:
            skipped.append(f"{table.name} ({missing_source})")
            continue
        different = [str(path.relative_to(ROOT)) for path in stale(table, built)]
        if not options.check:
            renew(table, built)
        failed = failed or bool(options.check and different)
        outcome = f"{'stale' if options.check else 'written'}: {' '.join(different)}" if different else "unchanged"
        print(f"{table.name}: {outcome}")
    if skipped:
        print(f"skipped for want of sources: {', '.join(skipped)}")
    return int(failed)


if __name__ == "__main__":
    raise SystemExit(main())
