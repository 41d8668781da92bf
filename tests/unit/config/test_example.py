"""config.example.toml holds every key of the schemas, at its default, and nothing else."""

import inspect
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import BaseModel

from kesoku.adapter import AdapterConfig
from kesoku.config import Loaded, load
from kesoku.config.schema import Config, HookTable, PriceTable, RoleTable, ToolTable
from kesoku.llm.gemini import GeminiConfig
from kesoku.llm.offline import OfflineConfig
from kesoku_cli.config import CliConfig
from kesoku_discord.config import ChannelConfig, DiscordConfig

EXAMPLE = Path(__file__).parents[3] / "config.example.toml"
TEXT = EXAMPLE.read_text(encoding="utf-8")
MANIFESTS: Any = {"adapters": {"PLATFORM": SimpleNamespace(config=AdapterConfig)}}

SITTING = frozenset({"question", "attach", "channel", "target", "banner"})
"""What `kesoku chat` sets for one sitting; no business of a config file."""
EXTENDED: dict[str, type[BaseModel]] = {
    "tools.run_shell_command": ToolTable,
    "models.gemini": GeminiConfig,
    "prices.gemini": PriceTable,
    "models.offline": OfflineConfig,
    "adapters.cli": CliConfig,
    "adapters.NAME": AdapterConfig,
    "adapters.discord": DiscordConfig,
    "adapters.discord.channels.1234567890": ChannelConfig,
    "roles.NAME": RoleTable,
}
"""Tables whose names are free, as the example calls them."""
HOOKS = {"hooks.0": set(HookTable.model_fields) - {"command"}, "hooks.1": {"name", "command"}}
"""What the two hooks of the example show: no hook has both an address and a command."""


def uncommented() -> str:
    return re.sub(r"^#(?=[\[a-z])", "", TEXT, flags=re.MULTILINE)


def read(tmp_path: Path, text: str) -> Loaded:
    path = tmp_path / "config.toml"
    path.write_text(text, encoding="utf-8")
    environment = dict.fromkeys(("GEMINI_API_KEY", "OPS_TOKEN", "DISCORD_TOKEN"), "secret")
    return load(path, environment=environment, manifests=MANIFESTS)


def flat(tables: dict[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in tables.items():
        if isinstance(value, list) and all(isinstance(each, dict) for each in value) and value:
            for number, each in enumerate(value):
                yield from flat(each, f"{above}{name}.{number}.")
        elif isinstance(value, dict) and set(value) != {"env"} and name != "headers":
            yield from flat(value, f"{above}{name}.")
        else:
            yield above + name, value


def fields(schema: type[BaseModel], above: str = "") -> Iterator[tuple[str, Any]]:
    for name, field in schema.model_fields.items():
        default = None if field.is_required() else field.get_default(call_default_factory=True)
        if isinstance(default, BaseModel):
            yield from fields(type(default), f"{above}{name}.")
        elif default != {}:
            yield above + name, default


def expected() -> dict[str, Any]:
    """Every key that there is, with its default."""
    found = dict(fields(Config))
    del found["hooks"]
    defaults = {"headers": None} | dict(fields(HookTable))
    found |= {f"{table}.{name}": defaults[name] for table, names in HOOKS.items() for name in names}
    for table, schema in EXTENDED.items():
        own = {f"{table}.{name}": default for name, default in fields(schema)}
        if table in {"adapters.cli", "adapters.discord"}:  # what every adapter has stands in the table NAME
            hidden = SITTING | set(AdapterConfig.model_fields)
            own = {key: value for key, value in own.items() if key.rpartition(".")[2] not in hidden}
        found |= own
    for table in ("models.gemini", "models.offline", "adapters.NAME"):
        found[f"{table}.type"] = table.partition(".")[2]
    return found | {"adapters.NAME.type": "PLATFORM"}


def shown() -> dict[str, Any]:
    return dict(flat(tomllib.loads(uncommented())))


def test_it_loads_as_it_is_and_changes_nothing(tmp_path: Path) -> None:
    # N-16
    loaded = read(tmp_path, TEXT)
    assert loaded.warnings == ()
    core = {"tools", "prices", "models", "adapters"}  # of hooks there are none
    assert loaded.config.model_dump(exclude=core) == Config().model_dump(exclude=core)
    assert loaded.config.models["gemini"].settings == GeminiConfig()
    assert loaded.config.adapters["cli"].settings == CliConfig()


VERTEX = re.compile(r"^(?:project|location) = .+$", re.MULTILINE)


@pytest.mark.parametrize("vertex", [False, True], ids=["by-key", "on-vertex"])
def test_it_loads_with_every_key_in_use(tmp_path: Path, vertex: bool) -> None:
    text = VERTEX.sub("", uncommented())
    if vertex:
        text = uncommented().replace("vertex = false", "vertex = true")
        text = re.sub("^api_key = .+$", "", text, flags=re.MULTILINE)
    assert read(tmp_path, text).warnings == ()


LINES = TEXT[: TEXT.index("\n#[")].splitlines()
KEYS = {number: line[1:] for number, line in enumerate(LINES) if re.match(r"#[a-z_]+ = ", line)}


@pytest.mark.parametrize("number", KEYS, ids=[line.partition(" = ")[0] for line in KEYS.values()])
def test_it_loads_with_any_one_key_in_use(tmp_path: Path, number: int) -> None:
    needed = ["vertex = true"] if VERTEX.match(KEYS[number]) else []
    text = "\n".join([*LINES[:number], *needed, KEYS[number], *LINES[number + 1 :]])
    assert read(tmp_path, text).warnings == ()


def test_it_has_every_key_and_no_other() -> None:
    assert sorted(shown()) == sorted(expected())


def test_it_shows_the_defaults() -> None:
    defaults = {key: default for key, default in expected().items() if default is not None}
    assert len(defaults) > 30
    assert {key: value for key, value in shown().items() if key in defaults} == {
        key: list(default) if isinstance(default, tuple) else default for key, default in defaults.items()
    }


def test_it_explains_every_key_in_one_line_above_it() -> None:
    explained = re.findall(r"^# (.+)\n#([a-z_]+) = ", TEXT, re.MULTILINE)
    assert len(explained) == len(shown())
    without = {key.rpartition(".")[2] for key, default in expected().items() if default is None}
    assert {key for text, key in explained if "No default" in text} == without


@pytest.mark.parametrize("name", sorted(SITTING))
def test_what_is_left_out_is_marked_as_set_for_one_sitting(name: str) -> None:
    assert re.search(rf'    {name}: .+\n    """.*Set by', inspect.getsource(CliConfig))
