"""The files that a server writes while it runs, and the options that cannot be meant together."""

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
import pytest

from fakekube.cli import configuration, serve, servefiles
from fakekube.cli.servefiles import ServeFiles
from fakekube.composition.options import OptionError
from fakekube.util.files import NotReplaced


class Server:
    """A server at an address, whose kubeconfig is one line, or cannot be written."""

    url = "http://127.0.0.1:1"

    def __init__(self, error: OSError | None = None) -> None:
        self.error = error

    def write_kubeconfig(self, path: Path) -> None:
        if self.error is not None:
            raise self.error
        path.write_text("a kubeconfig")


def files(folder: Path, kubeconfig: str = "config", ready: str = "ready") -> ServeFiles:
    return ServeFiles(str(folder / kubeconfig) if kubeconfig else "", str(folder / ready) if ready else "")


async def write(made: ServeFiles, server: Server) -> bool:
    found: Any = server
    return await made.write(found)


async def test_both_files(tmp_path: Path) -> None:
    """Given names / when a server writes its files / then they are there, and it is told whether
    there is a kubeconfig; an empty name is no file.
    """
    for kubeconfig, ready in (("config", "ready"), ("config", ""), ("", "ready"), ("", "")):
        folder = tmp_path / f"{kubeconfig}-{ready}"
        folder.mkdir()
        made = files(folder, kubeconfig, ready)
        made.check()
        assert await write(made, Server()) is bool(kubeconfig)
        assert {each.name: each.read_text() for each in folder.iterdir()} == {
            **({"config": "a kubeconfig"} if kubeconfig else {}), **({"ready": "http://127.0.0.1:1\n"} if ready else {})}
        made.remove_ready()
        assert not (folder / "ready").exists()


async def test_a_kubeconfig_that_cannot_be_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Given a kubeconfig that cannot be written / when a server writes it / then there is a warning
    and no kubeconfig; one that is not ours is an error.
    """
    assert await write(files(tmp_path), Server(PermissionError(13, "Permission denied", "config"))) is False
    assert capsys.readouterr().err == "Warning: there is no kubeconfig: config: Permission denied\n"
    assert (tmp_path / "ready").read_text() == "http://127.0.0.1:1\n"
    with pytest.raises(OptionError) as refused:
        await write(files(tmp_path), Server(NotReplaced("config is theirs")))
    assert str(refused.value) == "kubeconfig: config is theirs"


async def test_a_kubeconfig_whose_server_lives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a kubeconfig of another server of ours / when one writes its own / then it is refused
    as long as the other answers.
    """
    (tmp_path / "config").write_text("theirs")
    owner = SimpleNamespace(url="http://127.0.0.1:2", token="t", has_died=False)
    monkeypatch.setattr(servefiles, "_owner", lambda path: owner if path.read_text() == "theirs" else None)
    for lives in (True, False):
        monkeypatch.setattr(servefiles, "_answers", lambda _, lives=lives: lives)
        if lives:
            with pytest.raises(OptionError) as refused:
                await write(files(tmp_path), Server())
            assert str(refused.value) == (
                f"kubeconfig: the cluster fakekube in {tmp_path / 'config'} belongs to the server at http://127.0.0.1:2, which "
                "still answers: name another file by --kubeconfig")
        else:
            assert await write(files(tmp_path), Server())
    assert (tmp_path / "config").read_text() == "a kubeconfig"


async def test_a_ready_file_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a folder that cannot be written, or goes away / when a server is to say there that it
    is ready / then that is an error, before it starts or afterwards.
    """
    with monkeypatch.context() as patch:
        patch.setattr(os, "access", lambda path, mode: (str(path), mode) != (str(tmp_path), os.W_OK))
        with pytest.raises(OptionError) as refused:
            files(tmp_path).check()
    assert str(refused.value) == f"ready-file: {tmp_path} cannot be written"
    made = files(tmp_path)
    made.check()
    (tmp_path / "ready").mkdir()
    with pytest.raises(OptionError) as refused:
        await write(made, Server())
    assert str(refused.value).startswith("ready-file: ")


@pytest.mark.parametrize(("kubeconfig", "said"), [
    ("nowhere/config", "kubeconfig: there is no directory {folder}/nowhere"), (".", "kubeconfig: {folder} is a directory"),
    ("a\0/b", "kubeconfig: "), ("x" * 300 + "/b", "kubeconfig: ")])
def test_names_that_no_file_can_have(tmp_path: Path, kubeconfig: str, said: str) -> None:
    """Given a name that no file can have / when it is looked at / then the option is named."""
    with pytest.raises(OptionError) as refused:
        files(tmp_path, kubeconfig)
    assert str(refused.value).startswith(said.replace("{folder}", str(tmp_path)))


def test_configurations_of_add_ons_are_beside_the_file(tmp_path: Path) -> None:
    """Given a file of the configuration of a server / when it names files for add-ons / then they
    are looked for where it stands.
    """
    (tmp_path / "serve.yaml").write_text("addonConfig: [kueue=k.yaml]\n")
    (tmp_path / "k.yaml").write_text("a: 1\n")
    found = configuration.read(tmp_path / "serve.yaml")
    assert found == {"addon_config": {"kueue": str(tmp_path / "k.yaml")}}


def test_a_fleet_goes_on_from_no_snapshot(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Given several clusters / when they are to go on from one snapshot / then that is refused; one
    goes on with the options that were said, and the clock.
    """
    seen: list[Any] = []

    def options_with(values: Any) -> str:
        seen.append(values)
        return "options"

    state = SimpleNamespace(options_with=options_with)
    monkeypatch.setattr(serve, "_read", lambda _: state)
    monkeypatch.setattr(serve, "_serve", lambda *arguments: seen.append(arguments[0]))
    monkeypatch.setattr(serve, "_runner", lambda _: lambda _: None)
    monkeypatch.setattr(serve, "_log", lambda _: None)
    values: dict[str, Any] = {
        "config": None, "verbosity": 0, "port": 0, "bind_address": "127.0.0.1", "insecure": False, "snapshot": "file",
        "files": (), "kubeconfig": "", "ready_file": "", "fleet": ("a", "b"), "schedule": None, "clock": "real", "nodes": 3,
        "seed": 5}
    with pytest.raises(click.ClickException) as refused:
        serve.run(dict(values), ["fleet"])
    assert refused.value.message == "fleet: several clusters cannot go on from one snapshot"
    assert seen == []
    serve.run({**values, "fleet": ()}, ["nodes", "from_"])
    assert seen == [{"clock": "real", "nodes": 3}, {"options": "options", "state": state, "schedule": None}]
