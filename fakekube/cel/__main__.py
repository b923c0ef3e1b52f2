"""``python -m fakekube.cel 'self.spec.replicas > 1' --data deployment.yaml``: try an expression.

The value goes to standard output. What is wrong with the expression goes to standard error, with
upstream's words; the exit code is 1 then, and 2 for a command line that cannot be read.
"""

import argparse
import sys
from pathlib import Path

from fakekube.apimachinery import yaml
from fakekube.apimachinery.releases import BY_NAME, NEWEST, OLDEST
from fakekube.cel import errors, trial


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m fakekube.cel", description="Evaluate an expression of CEL as Kubernetes would.")
    parser.add_argument("expression", help="the expression")
    parser.add_argument("--data", metavar="FILE", help=(
        "YAML or JSON: an object, which is self and object, or variables by their names; - is standard input"))
    parser.add_argument("--kubernetes-version", default=NEWEST.name, metavar="R", choices=list(BY_NAME), help=(
        f"the release whose functions there are, {OLDEST.name} to {NEWEST.name} (default: %(default)s)"))
    parser.add_argument("--new", action="store_true", help=(
        "take the expression as one that is written anew, which may use less than one that is stored already"))
    parser.add_argument("--verbose", action="store_true", help="print type and cost as well")
    options = parser.parse_args(arguments)
    try:
        found = trial.run(
            options.expression, read(options.data), minor=BY_NAME[options.kubernetes_version].minor, stored=not options.new)
    except (errors.CelError, ValueError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    print(found.value)
    if options.verbose:
        print(f"type: {found.type}\ncost: {found.cost}", file=sys.stderr)
    return 0


def read(name: str | None) -> object:
    """What a file says; nothing without one. Raises ValueError and OSError."""
    if name is None:
        return None
    return yaml.load(sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes())[0]


if __name__ == "__main__":
    sys.exit(main())
