"""The command line as data: help texts, flags that exclude each other, exit codes."""

import argparse
import inspect
import subprocess
import sys

import pytest

from kesoku import errors
from kesoku.cli.exit import EXIT, Exit, code_of
from kesoku.cli.main import build_parser, main


def commands() -> dict[str, argparse.ArgumentParser]:
    (found,) = (each for each in build_parser()._actions if isinstance(each, argparse._SubParsersAction))
    return dict(found.choices)


def leaves() -> list[type[errors.KesokuError]]:
    """Every error that can be raised."""
    kinds = [kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, errors.KesokuError)]
    return [kind for kind in kinds if not kind.__subclasses__()]


def test_every_argument_is_explained() -> None:
    assert set(commands()) == {"announce", "chat", "run", "import", "doctor", "pair"}
    for name, command in commands().items():
        assert command.description, name
        for action in command._actions:
            assert action.help, f"{name} {action.dest}"


def test_without_a_command_it_helps(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    shown = capsys.readouterr().out
    assert "Start with: kesoku chat" in shown
    assert "exit codes:" in shown


def test_the_version_is_that_of_the_distribution(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["--version"])
    name, version = capsys.readouterr().out.split()
    assert name == "kesoku"
    assert version[0].isdigit()


INTERRUPTED = """
import sys
class Finder:
    def find_spec(self, name, *_):
        if name == "kesoku.cli.main":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Finder())
from kesoku.cli.entry import run
run()
"""


def test_ctrl_c_while_it_starts_ends_it_without_a_word() -> None:
    done = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (Exit.INTERRUPTED, "", "")


def test_a_wrong_flag_is_told_with_the_usage_of_its_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["announce", "a", "notice", "--loud"])
    shown = capsys.readouterr().err
    assert shown.startswith("usage: kesoku announce [-h]")
    assert shown.endswith("unrecognized arguments: notice --loud\n")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("chat --resume --session x", "not allowed with argument"),
        ("chat --nosuch", "unrecognized arguments"),
        ("chat --session", "expected one argument"),
        ("run hello", "unrecognized arguments"),
        ("run --only", "expected one argument"),
        ("dance", "invalid choice: 'dance'"),
    ],
)
def test_a_wrong_command_line_is_exit_code_2(line: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(line.split())
    assert said in capsys.readouterr().err


def test_what_follows_two_dashes_is_the_question() -> None:
    given = build_parser().parse_args(["chat", "--yes", "--", "--help", "-"])
    assert given.question == ["--help", "-"]
    assert given.yes


def test_every_exit_code_is_explained_and_in_the_help() -> None:
    assert set(EXIT) == set(Exit)
    helped = build_parser().format_help()
    for code, text in EXIT.items():
        assert f"{code.value:>3}  {text}" in helped


def test_every_error_has_a_documented_exit_code_that_is_no_success() -> None:
    for kind in leaves():
        assert code_of(kind.__new__(kind)) in set(Exit) - {Exit.OK, Exit.USAGE}, kind


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("ConfigInvalid", Exit.CONFIG),
        ("ModelKeyMissing", Exit.CONFIG),
        ("ModelProjectMissing", Exit.CONFIG),
        ("ModelKeyRejected", Exit.UNAVAILABLE),
        ("StoreFull", Exit.CANNOT_STORE),
        ("ServedElsewhere", Exit.BUSY),
    ],
)
def test_an_error_gives_the_code_of_its_kind(name: str, code: Exit) -> None:
    kind = getattr(errors, name)
    assert code_of(kind.__new__(kind)) is code
