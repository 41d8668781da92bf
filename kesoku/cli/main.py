"""The command line: parses, then hands over to one module a command. Nothing heavy is imported before it is needed."""

import argparse
import errno
import gc
import importlib
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from kesoku.cli.exit import EXIT, Exit, code_of
from kesoku.cli.say import complain
from kesoku.errors import KesokuError

_MODULES = {"import": "imports"}
"""The modules of commands whose names no module can have."""
_UNWRITTEN = {errno.ENOSPC, errno.EDQUOT, errno.EIO}
_EPILOG = "exit codes:\n" + "\n".join(f"  {code.value:>3}  {text}" for code, text in EXIT.items())


def run() -> None:
    """Run the command line of this process. Raises SystemExit with the exit code."""
    _open_streams()
    raise SystemExit(main(sys.argv[1:]))


def _open_streams() -> None:
    """Give a standard stream that came closed (`kesoku chat <&-`) nowhere to go, before a file takes its number."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115


def main(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code."""
    parser = build_parser()
    options, unknown = parser.parse_known_args(arguments)
    if unknown:
        getattr(options, "usage", parser).error(f"unrecognized arguments: {' '.join(unknown)}")
    if options.command is None:
        parser.print_help()
        return Exit.OK
    return _guarded(options)


def _guarded(options: argparse.Namespace) -> int:
    try:
        with _ungrouped():
            return int(_module(options.command).run(options))
    except KeyboardInterrupt:
        return Exit.INTERRUPTED
    except BrokenPipeError:
        # The reader went away; say nothing more, not even at exit.
        sys.stdout = None
        return Exit.BROKEN_PIPE
    except KesokuError as error:
        complain(str(error))
        return code_of(error)
    except OSError as error:
        if error.errno not in _UNWRITTEN:
            raise
        complain(f"the output cannot be written ({error.strerror})")
        return Exit.CANNOT_STORE


def _module(command: str) -> ModuleType:
    """The module of a command. What it imports stays: to look through it for garbage, again and again, takes a tenth of
    a start."""
    gc.disable()
    try:
        return importlib.import_module(f"kesoku.cli.{_MODULES.get(command, command)}")
    finally:
        gc.freeze()
        gc.enable()


@contextmanager
def _ungrouped() -> Iterator[None]:
    """Raise what ended a task as itself, not in the groups of tasks that it went through."""
    try:
        yield
    except BaseExceptionGroup as group:
        first: BaseException = group
        while isinstance(first, BaseExceptionGroup):
            first = first.exceptions[0]
        raise first from group


def build_parser() -> argparse.ArgumentParser:
    """The whole command line as data, for help texts, the reference page and tests."""
    parser = argparse.ArgumentParser(
        prog="kesoku",
        description="AI bots on many platforms at once. Start with: kesoku chat",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=_version())
    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument("--config", type=Path, metavar="FILE", help="the config file (default: ./config.toml)")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    _chat(commands.add_parser("chat", parents=[shared], help="talk in this terminal", description=_CHAT))
    _run(commands.add_parser("run", parents=[shared], help="serve every configured adapter", description=_RUN))
    _import(commands.add_parser("import", parents=[shared], help="take in conversations", description=_IMPORT))
    _doctor(commands.add_parser("doctor", parents=[shared], help="check the set-up", description=_DOCTOR))
    _announce(commands.add_parser("announce", parents=[shared], help="tell everybody", description=_ANNOUNCE))
    _pair(commands.add_parser("pair", parents=[shared], help="let somebody in", description=_PAIR))
    for command in commands.choices.values():
        command.set_defaults(usage=command)  # a wrong flag is told with the usage of the command that it was given to
    return parser


_CHAT = (
    "Talk in this terminal. With a question: answer it and leave. With piped input: the input is the question, or goes "
    "along with it. Without a key the built-in offline model answers."
)
_RUN = "Serve every adapter of the config file until SIGTERM or Ctrl-C, then finish what runs and leave."
_IMPORT = (
    "Take in conversations from files: those that /export raw wrote, rows of other databases as a JSON array, as an "
    "object with `records`, or as one JSON object a line. Nothing of it is answered or sent. The same file twice "
    "changes nothing. Exit code 1 if some rows were refused, 65 if nothing could be imported."
)
_DOCTOR = (
    "Check config, database, every model and every adapter, and say how to fix what is wrong. A model is asked for a "
    "few tokens. Exit code 1 if anything is wrong."
)
_ANNOUNCE = (
    "Say something in every channel of every live conversation. It is stored, and whoever serves a channel shows it "
    "there, now or at the next start."
)

_PAIR = (
    "Let in somebody to whom a bot gave a code, list who was let in so, or put somebody out again. A bot that runs "
    "knows it with the next message. Exit code 1 if nobody has the code."
)


def _chat(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("question", nargs="*", type=_words, help="ask this and leave; '-' reads standard input")
    place = parser.add_mutually_exclusive_group()
    place.add_argument("--resume", action="store_true", help="go on with the last conversation of this terminal")
    place.add_argument(
        "--session",
        metavar="WHERE",
        type=_words,
        help="go on with a session id, or speak into a channel such as discord:1234",
    )
    parser.add_argument(
        "--attach",
        metavar="FILE",
        type=_file,
        action="append",
        default=[],
        help="a file that goes along with the first message (may be repeated)",
    )
    parser.add_argument("--model", metavar="NAME", type=_words, help="a model of the config file, or offline")
    parser.add_argument("--yes", action="store_true", help="run tools with side effects without asking")
    parser.add_argument("--json", action="store_true", help="one JSON event a line, for programs")
    parser.add_argument("--plain", action="store_true", help="no colour, no live screen")


def _words(given: str) -> str:
    """What was given, whatever bytes it is. Nothing, as from an empty variable of a script, is a mistake."""
    words = os.fsencode(given).decode("utf-8", "replace")
    if not words.strip():
        raise argparse.ArgumentTypeError("it is empty")
    return words


def _file(given: str) -> str:
    """The absolute path of a file that can be read."""
    try:
        path = Path(given).expanduser().resolve(strict=True)
        if not path.is_file():
            raise argparse.ArgumentTypeError(f"{given!r} is no file")
        with path.open("rb"):
            return str(path)
    except (OSError, ValueError, RuntimeError) as error:
        why = getattr(error, "strerror", None) or error
        raise argparse.ArgumentTypeError(f"{given!r} cannot be read: {why}") from None


def _run(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--only", action="append", metavar="NAME", help="serve only this adapter (may be repeated)")


def _import(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="+", metavar="FILE", type=_file, help="a file of messages")
    parser.add_argument(
        "--session", metavar="ID", type=_words, help="the conversation to add to (default: the ids in the file)"
    )
    parser.add_argument(
        "--channel", metavar="BOT:CHANNEL", type=_channel, help="the channel in which it was said, and goes on"
    )
    parser.add_argument("--dry-run", action="store_true", help="check everything and store nothing")
    parser.add_argument("--json", action="store_true", help="the report as JSON, with every row that was refused")


def _channel(given: str) -> str:
    """A place on a platform."""
    bot, colon, channel = _words(given).partition(":")
    if not (bot.strip() and colon and channel.strip()):
        raise argparse.ArgumentTypeError(f"{given!r} is no BOT:CHANNEL, such as discord:1234")
    return _words(given)


def _doctor(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--offline", action="store_true", help="do not ask the models over the network")
    parser.add_argument("--json", action="store_true", help="one finding as JSON a line")


def _announce(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("text", type=_words, help="what everybody shall read, in Markdown")
    parser.add_argument("--json", action="store_true", help="the id of the mail and the channels as JSON")


def _pair(parser: argparse.ArgumentParser) -> None:
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("code", nargs="?", metavar="CODE", type=_words, help="what the bot told them")
    what.add_argument("--list", action="store_true", help="who was let in by a code, and which codes are open")
    what.add_argument("--remove", metavar="user:ID", type=_person, help="let this person in no more")
    parser.add_argument("--bot", metavar="NAME", type=_words, help="of this bot only (default: every bot)")
    parser.add_argument("--json", action="store_true", help="what was done, or the list, as JSON")


def _person(given: str) -> str:
    """A person as the lists of the config name them."""
    if not given.startswith("user:") or not given.removeprefix("user:").strip():
        raise argparse.ArgumentTypeError(f"{given!r} is no user:ID")
    return _words(given)


def _version() -> str:
    from importlib.metadata import version

    return f"kesoku {version('kesoku')}"
