"""`[[hooks]]` in the config file: what is valid, what is said about the rest, and what is secret."""

from pathlib import Path
from typing import Any

import pytest

from kesoku.config import Loaded, load
from kesoku.config.hook_event import DEFAULT_EVENTS, HOOK_EVENTS
from kesoku.config.schema import HookTable
from kesoku.errors import ConfigInvalid
from kesoku.messages.enums import MessageStatus
from kesoku.messages.kinds import KINDS
from kesoku.messages.lifecycle import ChangeKind

POST = '[[hooks]]\nname = "ops"\nurl = "https://example.org/take"\n'


def read(folder: Path, text: str, **environment: str) -> Loaded:
    path = folder / "config.toml"
    path.write_text(text, encoding="utf-8")
    path.chmod(0o600)
    return load(path, environment=environment)


def wrong(folder: Path, text: str, **environment: str) -> str:
    with pytest.raises(ConfigInvalid) as caught:
        read(folder, text, **environment)
    return str(caught.value)


def test_a_hook_needs_a_name_and_a_target_and_has_defaults_for_the_rest(tmp_path: Path) -> None:
    (hook,) = read(tmp_path, POST).config.hooks
    assert hook == HookTable(name="ops", url="https://example.org/take")
    assert (hook.events, hook.attempts, hook.first_pause, hook.timeout) == (DEFAULT_EVENTS, 8, 5.0, 10.0)


def test_by_default_nothing_is_told_of_what_the_model_thinks_and_does() -> None:
    assert not {"thought", "tool_call", "tool_result", "note"} & set(DEFAULT_EVENTS)


def test_a_hook_may_be_a_command_with_arguments(tmp_path: Path) -> None:
    (hook,) = read(tmp_path, '[[hooks]]\nname = "log"\ncommand = ["tee", "-a", "file"]\n').config.hooks
    assert hook.command == ("tee", "-a", "file")


WRONG: dict[str, tuple[str, str]] = {
    "a word that is nearly one": (f'{POST}events = ["anwser"]', "hooks.0.events: nothing that happens is called"),
    "names the nearest word": (f'{POST}events = ["anwser"]', "did you mean 'answer'?"),
    "names all words where none is near": (f'{POST}events = ["xyz"]', "valid are prompt, answer, error"),
    "no word at all": (f"{POST}events = []", "hooks.0.events"),
    "no target": ('[[hooks]]\nname = "ops"\n', "hooks.0: either url or command"),
    "two targets": (f'{POST}command = ["true"]', "hooks.0: either url or command"),
    "another scheme": ('[[hooks]]\nname = "x"\nurl = "ftp://x"', "an address that begins with http:// or https://"),
    "an address that cannot be read": ('[[hooks]]\nname = "x"\nurl = "http://[x"', "begins with http://"),
    "a command line": ('[[hooks]]\nname = "x"\ncommand = "rm -rf x"', "hooks.0.command"),
    "an empty command": ('[[hooks]]\nname = "x"\ncommand = []', "hooks.0.command"),
    "a name with a space": ('[[hooks]]\nname = "a b"\nurl = "http://x"', "hooks.0.name"),
    "a name twice": (POST + POST, "more than one is called ops"),
    "one table": ('[hooks]\nname = "x"\nurl = "http://x"', "write [[hooks]], one such table a hook"),
    "a channel without its bot": (f'{POST}channels = ["1234"]', "channels such as 'discord:1234'"),
    "headers of a command": ('[[hooks]]\nname = "x"\ncommand = ["x"]\nheaders = { A = "b" }', "headers go with url"),
    "a header of two lines": (f'{POST}headers = {{ A = "b\\nc" }}', "values of printable ASCII"),
    "true for a number": (f"{POST}attempts = true", "hooks.0.attempts: must be a number"),
    "an address with a space": ('[[hooks]]\nname = "x"\nurl = "http://h /x"', "begins with http://"),
    "an address of two lines": ('[[hooks]]\nname = "x"\nurl = "http://h/\\nx"', "begins with http://"),
    "an address that is read in two ways": ('[[hooks]]\nname = "x"\nurl = "http://h\\\\@i/"', "begins with http://"),
    "a program without a name": ('[[hooks]]\nname = "x"\ncommand = [""]', "a program, and its arguments, without NUL"),
    "a NUL in an argument": ('[[hooks]]\nname = "x"\ncommand = ["x", "\\u0000"]', "without NUL"),
    "a header that is not theirs": (
        f'{POST}headers = {{ Content-Length = "5" }}',
        "no Content-Length: it says how long",
    ),
    "no attempt": (f"{POST}attempts = 0", "hooks.0.attempts"),
}


@pytest.mark.parametrize(("text", "said"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_named_with_its_key(tmp_path: Path, text: str, said: str) -> None:
    assert said in wrong(tmp_path, text)


def test_an_unknown_key_is_named_with_the_nearest_one(tmp_path: Path) -> None:
    loaded = read(tmp_path, f'{POST}evens = ["answer"]')
    assert ["hooks.0.evens: unknown key; did you mean 'events'?" in str(each) for each in loaded.warnings] == [True]
    assert loaded.config.hooks[0].events == DEFAULT_EVENTS


def test_address_and_headers_may_come_from_elsewhere_and_are_secret_then(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("Bearer of-a-file\n", encoding="utf-8")
    text = """
        [[hooks]]
        name = "ops"
        url = { env = "OPS_URL" }
        headers = { Authorization = { file = "token" }, X-Api-Key = "a-literal", Accept = "application/json" }
    """
    loaded = read(tmp_path, text, OPS_URL="https://example.org/s3cret")
    (hook,) = loaded.config.hooks
    assert hook.url == "https://example.org/s3cret"
    assert {name: value.get_secret_value() for name, value in hook.headers.items()} == {
        "Authorization": "Bearer of-a-file",
        "X-Api-Key": "a-literal",
        "Accept": "application/json",
    }
    assert loaded.secrets == {"https://example.org/s3cret", "Bearer of-a-file", "a-literal"}
    assert "of-a-file" not in repr(loaded.config)


def test_a_literal_secret_in_a_file_that_others_read_is_warned_about(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text(f'{POST}headers = {{ Authorization = "Bearer x", Accept = "text/plain" }}', encoding="utf-8")
    path.chmod(0o644)
    (warning,) = load(path, environment={}).warnings
    assert warning.key == "hooks.0.headers.Authorization"


SILENT: dict[str, str] = {
    "an address that came from elsewhere": '[[hooks]]\nname = "x"\nurl = { env = "OPS_URL" }\n',
    "a wrong header": f'{POST}headers = {{ Authorization = "Bearer s3cret\\n" }}',
    "a header that is no text": f"{POST}headers = {{ Authorization = {{ s3cret = 1, b = 2 }} }}",
    "a table that is wrong as a whole": f'{POST}command = ["x"]\nheaders = {{ A = "s3cret" }}',
    "two of one name": f'{POST}headers = {{ A = "s3cret" }}\n{POST}',
}


@pytest.mark.parametrize("text", SILENT.values(), ids=SILENT)
def test_what_is_said_about_mistakes_holds_no_secret(tmp_path: Path, text: str) -> None:
    assert "s3cret" not in wrong(tmp_path, text, OPS_URL="example.org/s3cret")


def test_a_secret_that_is_not_there_is_named_by_its_key(tmp_path: Path) -> None:
    text = f'{POST}headers = {{ Authorization = {{ env = "NO_SUCH" }} }}'
    said = wrong(tmp_path, text)
    assert "hooks.0.headers.Authorization: the environment variable NO_SUCH is not set" in said


def test_every_word_is_made_of_what_messages_are() -> None:
    known: dict[str, Any] = {"change": set(ChangeKind), "after": {*MessageStatus, ""}}
    for event in HOOK_EVENTS:
        assert event.kinds <= KINDS.keys()
        assert all(getattr(event, name) in values for name, values in known.items()), event.word
    assert len({event.word for event in HOOK_EVENTS}) == len(HOOK_EVENTS) == 17
