"""The file of ``--admission-control-config-file``: what admission plugins are configured with.

Upstream: apiserver/pkg/admission/config.go.
"""

from pathlib import Path
from typing import Any

from fakekube.apimachinery.types import Tree
from fakekube.composition.options import OptionError

OPTION = "admission_control_config_file"


def read(name: str) -> dict[str, Tree]:
    """The configuration of each plugin that an AdmissionConfiguration names.

    Raises OptionError for a file that is none.
    """
    path = Path(name)
    found = parsed(path, OPTION)
    if not isinstance(found, dict) or found.get("kind") != "AdmissionConfiguration":
        raise OptionError(f"{OPTION}: {name} holds no AdmissionConfiguration")
    plugins: dict[str, Tree] = {}
    for each in found.get("plugins") or ():
        if not isinstance(each, dict) or not isinstance(each.get("name"), str):
            raise OptionError(f"{OPTION}: {name}: a plugin needs a name")
        tree = each.get("configuration")
        if tree is None and each.get("path"):
            tree = parsed(path.parent / str(each["path"]), OPTION)
        if tree is not None and not isinstance(tree, dict):
            raise OptionError(f"{OPTION}: {name}: the configuration of {each['name']} is no object")
        plugins[each["name"]] = tree or {}
    return plugins


def parsed(path: Path, option: str) -> Any:
    """The tree that stands in a file of YAML. Raises OptionError, which names the option."""
    from fakekube.apimachinery import yamlfiles

    try:
        return yamlfiles.read(path)
    except yamlfiles.FileError as error:
        raise OptionError(f"{option}: {error}") from error
