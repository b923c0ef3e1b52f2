import subprocess
import sys
from pathlib import Path

import pytest

from fakekube.apimachinery import yamlfiles

LEVELS = 100_000


def test_documents_are_read_as_kubernetes_reads_them() -> None:
    """Given several documents, when they are read, then each is a JSON value: times and minutes are
    texts, keys stand in their order, anchors end with their document.
    """
    text = "b: 2026-01-01T00:00:00Z\na: 22:22\n---\n# nothing\n---\n- &x 1.0\n- *x\n---\n{1: on}\n"
    found = yamlfiles.documents(text, "f.yaml")
    assert found == [{"b": "2026-01-01T00:00:00Z", "a": "22:22"}, None, [1, 1], {"1": True}]
    assert list(found[0]) == ["b", "a"]  # type: ignore[arg-type]  # it is a mapping
    assert yamlfiles.documents('{"b":\t1, "a": 2}', "f.json") == [{"b": 1, "a": 2}]
    assert yamlfiles.documents("", "f.yaml") == []


@pytest.mark.parametrize(("text", "complaint"), [
    ("a: 1\nb: {", "f.yaml:2: did not find expected node content"),
    ("a: 1\n---\nb: c: d", "f.yaml:3: mapping values are not allowed in this context"),
    ("a: &x 1\n---\nb:\n- *x", "f.yaml:4: unknown anchor 'x' referenced"),
    ("a: 1\n---\n" + "- " * LEVELS, "f.yaml:3: exceeded max depth of 10000"),
    ("[" * LEVELS, "f.yaml:1: exceeded max depth of 10000"),
    ('{"a":' * 300 + "1" + "}" * 300, "f.yaml: exceeded max depth of 10000"),
    ("a: \x00", "f.yaml: control characters are not allowed"),
    ("a: .nan", "f.yaml: unsupported value: NaN"),
    ("a: \ud800", "f.yaml: 'utf-8' codec can't encode character"),
])
def test_what_is_wrong_has_its_file_and_line(text: str, complaint: str) -> None:
    """Given a text that is no YAML, in its first document or a later one, when it is read, then one
    sentence says where and what.
    """
    with pytest.raises(yamlfiles.FileError) as caught:
        yamlfiles.documents(text, "f.yaml")
    assert str(caught.value).startswith(complaint)


def test_files_that_hold_no_document(tmp_path: Path) -> None:
    """Given files that are empty, missing, binary, or hold two documents, when one document is
    wanted, then it is none, or a sentence.
    """
    file = tmp_path / "f.yaml"
    file.write_text("# nothing\n")
    assert yamlfiles.read(file) is None
    for content, complaint in ((b"\xff\xfe\x00", "it is binary, and no YAML"),
                               (b"a: 1\n---\nb: 1\n", "there are 2 documents in it, and one is expected")):
        file.write_bytes(content)
        with pytest.raises(yamlfiles.FileError, match=complaint):
            yamlfiles.read(file)
    with pytest.raises(yamlfiles.FileError, match="missing: No such file or directory"):
        yamlfiles.read(tmp_path / "missing")


@pytest.mark.parametrize("statement", [
    "from fakekube.composition.manifests import read_files; read_files(path)",
    "from fakekube.composition.admissionconfiguration import read; read(str(path))",
    "from fakekube.composition.controllermanager import component; component('kueue', str(path))",
    "from fakekube.cli.configuration import read; read(path)",
    "from fakekube.client.kubeconfig import load_client; load_client(path)",
    "from fakekube.server.kubeconfigfile import KubeconfigFile; KubeconfigFile(path).owner()",
    "from fakekube_controllers.kueue.multikueue.kubeconfigs import _validated; _validated(path.read_text())",
    "from fakekube_controllers.kueue.jobs.pod import sets, groups; sets.parse(path.read_text(), groups.Features())",
])
def test_a_deep_text_is_an_error_and_no_crash(tmp_path: Path, statement: str) -> None:
    """Given a text nested a hundred thousand deep, when any of those reads it that read what
    somebody wrote, then it is refused in a sentence, and the process lives.
    """
    file = tmp_path / "deep.yaml"
    file.write_text("a:\n" + "- " * LEVELS)
    code = f"import sys, pathlib; path = pathlib.Path(sys.argv[1])\n{statement}"
    done = subprocess.run([sys.executable, "-c", code, str(file)], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert "exceeded max depth" in last or last.endswith("deep.yaml is no kubeconfig, and is left as it is")


def test_a_file_of_one_document() -> None:
    """Given texts that are to be one document, when they are read, then one is, none is nothing,
    and two are refused with their number.
    """
    assert yamlfiles.one("a: 1\n", "f.yaml") == {"a": 1}
    assert yamlfiles.one("", "f.yaml") is None
    with pytest.raises(yamlfiles.FileError) as caught:
        yamlfiles.one("a: 1\n---\nb: 2\n", "f.yaml")
    assert str(caught.value) == "f.yaml: there are 2 documents in it, and one is expected"
