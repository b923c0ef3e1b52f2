"""YAML is read in one place, which refuses what is nested too deep for libyaml."""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
READER = ROOT / "fakekube/apimachinery/yaml.py"
WRITES = ("dump", "safe_dump", "safe_dump_all", "CSafeDumper", "SafeDumper", "ScalarNode")


def others(path: Path) -> Iterator[str]:
    """What a module takes of PyYAML besides what writes."""
    tree = ast.parse(path.read_text())
    names = {
        alias.asname or alias.name for node in ast.walk(tree) if isinstance(node, ast.Import)
        for alias in node.names if alias.name.split(".")[0] == "yaml"}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "yaml" and not node.level:
            yield from (f"{path.relative_to(ROOT)}: {alias.name}" for alias in node.names if alias.name not in WRITES)
        elif isinstance(node, ast.Attribute) and ast.unparse(node.value) in names and node.attr not in WRITES:
            yield f"{path.relative_to(ROOT)}: {node.attr}"


def test_yaml_is_read_in_one_module() -> None:
    """Given all modules of ours, when they are read, then none but the reader calls PyYAML for more
    than to write: its own loaders overrun the stack on what is nested deep.
    """
    modules = [path for folder in ("fakekube", "controllers") for path in sorted((ROOT / folder).rglob("*.py"))]
    assert READER in modules
    assert list(others(READER))
    assert [each for path in modules if path != READER for each in others(path)] == []
