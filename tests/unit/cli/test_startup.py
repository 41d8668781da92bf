"""What a command imports and needs before it does anything: a start-up that nobody waits for."""

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from kesoku.testing.waiting import PATIENCE

KESOKU = str(Path(sys.executable).with_name("kesoku"))
HELP = ("--help",)
SHARED = frozenset(
    [
        "annotated_types",
        "cython_runtime",
        "greenlet",
        "markdown_it",
        "mdurl",
        "pydantic",
        "pydantic_core",
        "sqlalchemy",
        "typing_extensions",
        "typing_inspection",
        "tzdata",
        "uuid_utils",
        "wcwidth",
    ]
)
IMPORTS = {
    HELP: (0, frozenset(("uuid_utils",))),
    ("chat", "what is 6 * 7?"): (0, SHARED),
    ("run",): (78, SHARED),
    ("doctor", "--offline"): (0, SHARED),
}
"""The exit code of each command where nothing is configured, and every foreign package that it may import until then.

A new name costs every start its time and memory; the SDK of a model, rich and prompt_toolkit wait until they are used.
"""
UNNEEDED = frozenset(("kesoku.llm.gemini.model", "kesoku.llm.gemini.check", "tomllib"))
"""What a chat does without as long as there is neither a key nor a config file."""
PROBE = r"""
import atexit, re, sys
def note():
    with open("/proc/self/status") as file:  # ru_maxrss would count the parent's memory too
        peak = re.search("VmHWM: *(.*) kB", file.read().replace("\t", " "))[1]
    with open({notes!r}, "w") as file:
        print(peak, *sys.modules, file=file)
atexit.register(note)
sys.argv = ["kesoku", *{arguments!r}]
from kesoku.cli.main import run
run()
"""


pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the peak of memory is read from /proc")


class Started:
    """What a command left behind."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        notes = folder / "notes"
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "XDG_DATA_HOME": str(folder / "data"),
            "XDG_CONFIG_HOME": str(folder / "config"),
        }
        done = subprocess.run(
            [sys.executable, "-c", PROBE.format(notes=str(notes), arguments=arguments)],
            env=environment,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        self.code = done.returncode
        kilobytes, *modules = notes.read_text(encoding="utf-8").split()
        self.megabytes = int(kilobytes) / 1024
        self.output = done.stdout
        self.modules = frozenset(modules)
        packages = frozenset(name.partition(".")[0] for name in modules) - sys.stdlib_module_names
        self.foreign = frozenset(name for name in packages if not name.startswith(("_", "kesoku")))


def seconds(*command: str) -> float:
    """Of work, not of waiting for others; the best of three runs."""

    def worked() -> float:
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    def once() -> float:
        before = worked()
        subprocess.run(command, check=True, capture_output=True, timeout=PATIENCE)
        return worked() - before

    return min(once() for _ in range(3))


@pytest.mark.parametrize("arguments", [pytest.param(each, id=each[0].strip("-")) for each in IMPORTS])
def test_a_command_imports_no_more_than_it_needs(arguments: tuple[str, ...], tmp_path: Path) -> None:
    code, may_import = IMPORTS[arguments]
    started = Started(tmp_path, *arguments)
    assert (started.code, started.foreign - may_import) == (code, frozenset())
    if arguments[0] == "chat":
        assert not started.modules & UNNEEDED
    if arguments == HELP:
        assert "usage: kesoku" in started.output
        assert "asyncio" not in started.modules
        assert started.megabytes < 45
        assert list(tmp_path.iterdir()) == [tmp_path / "notes"]


@pytest.mark.slow
def test_help_takes_a_few_times_what_python_itself_takes() -> None:
    """A ratio, since absolute times move with the load of the machine; those are in benchmarks/startup.py."""
    assert seconds(KESOKU, *HELP) < 20 * seconds(sys.executable, "-c", "pass")


HASTY = """
import sys
from kesoku.cli.main import run
class Hasty:
    def find_spec(self, name, path=None, target=None):
        if name == "sqlalchemy":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Hasty())
sys.argv = ["kesoku", "chat", "hi"]
run()
"""


@pytest.mark.slow
def test_ctrl_c_while_it_still_loads_ends_it_quietly(tmp_path: Path) -> None:
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", HASTY], env=environment, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")
