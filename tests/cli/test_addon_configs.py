"""Configurations of add-ons on the command line."""

import pytest
from click.testing import CliRunner

from fakekube.cli.main import cli

WRONG = "kind: Other\napiVersion: v1\n"
SAID = 'kueue: no kind "Other" is registered for version "v1"'


@pytest.mark.parametrize("spelling", [["--kueue-config", "{}"], ["--kueue-config={}"], ["--addon-config", "kueue={}"]])
@pytest.mark.parametrize("command", [["serve"], ["run", "kueue", "--server", "http://127.0.0.1:1"]])
def test_an_add_on_has_an_option_of_its_name(command, spelling, tmp_path):
    """Given a file that is no configuration When an add-on is given it by either spelling Then the
    command reads it, and says what is wrong."""
    file = tmp_path / "kueue.yaml"
    file.write_text(WRONG)
    result = CliRunner().invoke(cli, [*command, *(each.format(file) for each in spelling)])
    assert (result.exit_code, SAID in result.output) == (1, True)


@pytest.mark.parametrize(("arguments", "code", "text"), [
    (["serve", "--kueue-config"], 2, "'--kueue-config' requires an argument"),
    (["serve", "--nobody-config", "x"], 2, "No such option '--nobody-config'"),
    (["serve", "--lws-config", "x"], 1, "lws takes no configuration"),
    (["serve", "--addon-config", "x"], 1, "say NAME=FILE"),
    (["serve", "--addon-config", "nobody=x"], 1, "there is no add-on 'nobody'"),
    (["run", "jobset", "--kueue-config", "x"], 1, "there is a configuration for kueue, which is not to run"),
])
def test_what_cannot_be_meant(arguments, code, text):
    """Given options without a file, for no add-on, or for one that takes none or does not run When
    the command is called Then it says so in a sentence."""
    result = CliRunner().invoke(cli, arguments)
    assert (result.exit_code, text in result.output) == (code, True)
