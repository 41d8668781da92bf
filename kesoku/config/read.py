"""Read the raw configuration: the TOML file, then environment variables over it, then secrets by reference."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from kesoku.config.problem import Problem
from kesoku.errors import ConfigInvalid, ConfigMissing

_PREFIX = "KESOKU_"
_NOT_TABLES = {"KESOKU_CONFIG", "KESOKU_PLAIN"}


def config_path(explicit: Path | None, environment: Mapping[str, str]) -> Path | None:
    """The file to read: the one named, KESOKU_CONFIG, ./config.toml, the user's config folder; None if none is there.

    Raises:
        ConfigMissing: a file was named and is not there.
    """
    named = explicit or (Path(environment["KESOKU_CONFIG"]) if environment.get("KESOKU_CONFIG") else None)
    if named is not None:
        if not named.is_file():
            raise ConfigMissing(path=named)
        return named
    # A user without a home has none of this, and no error either.
    home = Path(environment.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config"))  # noqa: PTH111
    found = (path for path in (Path("config.toml"), home / "kesoku" / "config.toml") if path.is_file())
    return next(found, None)


def read_file(path: Path) -> dict[str, Any]:
    """The file as nested dicts.

    Raises:
        ConfigInvalid: it is no TOML or no UTF-8; the text names line and column.
    """
    import tomllib  # a start without a file does without it

    try:
        return tomllib.loads(path.read_bytes().decode("utf-8-sig"))
    except tomllib.TOMLDecodeError as error:
        text = f"this is no valid TOML: {error}"
    except UnicodeDecodeError as error:
        text = f"this is no UTF-8 text: byte {error.start} cannot be read"
    except OSError as error:
        text = f"cannot be read: {error.strerror}"
    raise ConfigInvalid(problems=(Problem(source=str(path), key="(file)", text=text),))


def overlay(raw: dict[str, Any], environment: Mapping[str, str]) -> dict[str, str]:
    """Put `KESOKU_<TABLE>__<KEY>` variables over the file, in place; returns dotted key -> variable.

    A value that reads as TOML is taken as such (`5`, `true`, `["a"]`), anything else as text.
    """
    origin: dict[str, str] = {}
    for name in sorted(environment):
        if not name.startswith(_PREFIX) or name in _NOT_TABLES:
            continue
        path = name.removeprefix(_PREFIX).lower().split("__")
        if not all(path):
            continue
        table = raw
        for part in path[:-1]:
            below = table.setdefault(part, {})
            if not isinstance(below, dict):
                break
            table = below
        else:
            table[path[-1]] = _value(environment[name])
            origin[".".join(path)] = name
    return origin


def resolve_entries(
    raw: dict[str, Any], groups: Iterable[str], *, source: str, base: Path, environment: Mapping[str, str]
) -> set[str]:
    """Replace `{ env = "NAME" }` and `{ file = "path" }` in `[models.*]` and `[adapters.*]`, in place.

    Returns the values that came so. Only there may a key hold a secret; elsewhere such a table means itself.

    Raises:
        ConfigInvalid: the variable is not set, or the file cannot be read.
    """
    found: set[str] = set()
    for group in groups:
        tables = raw.get(group)
        for name, table in tables.items() if isinstance(tables, dict) else ():
            found |= _resolve(table, f"{group}.{name}", source=source, base=base, environment=environment)
    return found


def resolve_hooks(raw: dict[str, Any], *, source: str, base: Path, environment: Mapping[str, str]) -> set[str]:
    """The same in `[[hooks]]`, for their own keys and for `headers`. Raises ConfigInvalid as `resolve_entries` does."""
    found: set[str] = set()
    hooks = raw.get("hooks")
    for number, hook in enumerate(hooks if isinstance(hooks, list) else ()):
        headers = hook.get("headers") if isinstance(hook, dict) else None
        for table, key in ((headers, f"hooks.{number}.headers"), (hook, f"hooks.{number}")):
            found |= _resolve(table, key, source=source, base=base, environment=environment)
    return found


def _resolve(table: Any, key: str, *, source: str, base: Path, environment: Mapping[str, str]) -> set[str]:
    found: set[str] = set()
    for name, value in table.items() if isinstance(table, dict) else ():
        if _is_reference(value):
            table[name] = _secret(value, key=f"{key}.{name}", source=source, base=base, environment=environment)
            found.add(table[name])
    return found


def _is_reference(value: Any) -> bool:
    return isinstance(value, dict) and len(value) == 1 and set(value) <= {"env", "file"}


def _secret(value: dict[str, Any], *, key: str, source: str, base: Path, environment: Mapping[str, str]) -> str:
    if "env" in value:
        secret = environment.get(str(value["env"]), "").strip()
        text = f"the environment variable {value['env']} is not set"
    else:
        path = base / Path(str(value["file"])).expanduser()
        try:
            secret = path.read_text(encoding="utf-8").strip()
            text = f"the file {path} is empty"
        except (OSError, UnicodeDecodeError) as error:
            secret, text = "", f"the file {path} cannot be read: {getattr(error, 'strerror', None) or 'no UTF-8 text'}"
    if not secret:
        raise ConfigInvalid(problems=(Problem(source=source, key=key, text=text),))
    return secret


def _value(text: str) -> Any:
    import tomllib

    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def readable_by_others(path: Path) -> bool:
    """Whether people other than the owner may read this file."""
    return os.name == "posix" and bool(path.stat().st_mode & 0o044)
