"""Which models and roles the tables of roles and bots name, and which of these names are unknown.

A bot's table names them by its keys `model` and `role`, and so does every table inside it.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel

from kesoku import plugins
from kesoku.config.schema import Config

Kind = Literal["model", "role"]
_KINDS: tuple[Kind, ...] = ("model", "role")


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """One name in the config."""

    key: str
    """The dotted key that holds it."""
    kind: Kind
    name: str


def known_models(config: Config) -> list[str]:
    """Every name that a model may be called by: of its table, or of its provider where there is no table."""
    return sorted({*config.models, *plugins.names(plugins.MODELS)})


def unknown_names(config: Config) -> Iterator[tuple[str, str]]:
    """(key, what is wrong) of each name that no table has."""
    for each in _all(config):
        valid = sorted(config.roles) if each.kind == "role" else known_models(config)
        if each.name not in valid:
            there = f"there are {', '.join(valid)}; or " if valid else ""
            yield each.key, f"there is no {each.kind} {each.name!r}; {there}add a table [{each.kind}s.{each.name}]"


def models_of(config: Config, bots: Iterable[str]) -> dict[str, str]:
    """The models that answer in these bots beside those of `[agent]`, each with the key that names it."""
    found: dict[str, str] = {}
    for bot in bots:
        for each in _of_bot(config, bot):
            role = config.roles.get(each.name) if each.kind == "role" else None
            if each.kind == "model":
                found.setdefault(each.name, each.key)
            elif role is not None and role.model:
                found.setdefault(role.model, f"roles.{each.name}.model")
    return found


def _all(config: Config) -> Iterator[Named]:
    for name, role in config.roles.items():
        if role.model:
            yield Named(key=f"roles.{name}.model", kind="model", name=role.model)
    for bot in config.adapters:
        yield from _of_bot(config, bot)


def _of_bot(config: Config, bot: str) -> Iterator[Named]:
    entry = config.adapters.get(bot)
    return iter(()) if entry is None else _within(entry.settings, f"adapters.{bot}")


def _within(value: Any, key: str) -> Iterator[Named]:
    """The names in a table and in those inside it."""
    if isinstance(value, BaseModel):
        yield from _own(value, key)
        value = {name: getattr(value, name) for name in type(value).model_fields}
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, (list, tuple)) else ()
    for name, item in items:
        yield from _within(item, f"{key}.{name}")


def _own(table: BaseModel, key: str) -> Iterator[Named]:
    for kind in _KINDS:
        name = getattr(table, kind, "")
        if isinstance(name, str) and name:
            yield Named(key=f"{key}.{kind}", kind=kind, name=name)
