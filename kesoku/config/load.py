"""The one validator: `kesoku run`, `kesoku chat` and `kesoku doctor` all load through it."""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar, runtime_checkable

from pydantic import BaseModel, SecretStr, ValidationError

from kesoku import plugins
from kesoku.config.naming import unknown_names
from kesoku.config.problem import Problem, unknown_key
from kesoku.config.read import config_path, overlay, read_file, readable_by_others, resolve_entries, resolve_hooks
from kesoku.config.schema import Config, Entry
from kesoku.errors import ConfigInvalid, PluginError

S = TypeVar("S", bound=BaseModel)

_GROUPS = {"adapters": plugins.ADAPTERS, "models": plugins.MODELS}
_RESERVED = frozenset({"agent", "system"})
"""Names of bots that no adapter may have: of places where no people are."""


_SECRET = re.compile(r"(^|[_-])(key|token|secret|password|authorization|cookie)$|^(headers|url)$", re.IGNORECASE)
"""Keys whose value is not shown, even when it is wrong."""


@runtime_checkable
class HasConfig(Protocol):
    """What the loader needs of a manifest."""

    config: type[BaseModel]


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """A valid configuration, and what was odd about it."""

    config: Config
    warnings: tuple[Problem, ...]
    path: Path | None
    secrets: frozenset[str]
    """Values that must never be shown."""

    @property
    def source(self) -> str:
        """Where the values stand, for messages about them."""
        return str(self.path) if self.path else "defaults"


def load(
    path: Path | None = None,
    *,
    environment: Mapping[str, str] | None = None,
    manifests: Mapping[str, Mapping[str, HasConfig]] | None = None,
) -> Loaded:
    """Read file and environment, validate everything, name everything that is wrong at once.

    `manifests` = {"adapters": {type: manifest}, "models": {...}} stand in for installed ones.

    Raises:
        ConfigMissing: the named file is not there.
        ConfigInvalid: a value has the wrong type, a required key is missing, or an adapter is not installed.
    """
    environment = os.environ if environment is None else environment
    found = config_path(path, environment)
    raw = read_file(found) if found else {}
    source = str(found) if found else "defaults"
    origin = overlay(raw, environment)
    base = found.parent if found else Path()
    referenced = resolve_entries(raw, _GROUPS, source=source, base=base, environment=environment)
    referenced |= resolve_hooks(raw, source=source, base=base, environment=environment)
    validator = _Validator(source=source, origin=origin, manifests=manifests or {})
    config = validator.config(raw)
    secrets = set(_secret_values(config))
    if found and readable_by_others(found):
        validator.warn_about_literals(raw, secrets - referenced)
    if validator.fatal:
        raise ConfigInvalid(problems=tuple(validator.fatal))
    return Loaded(
        config=config,
        warnings=tuple(validator.warnings),
        path=found,
        secrets=frozenset(filter(None, secrets | referenced)),
    )


class _Validator:
    """Collects every problem of one configuration."""

    def __init__(
        self, *, source: str, origin: Mapping[str, str], manifests: Mapping[str, Mapping[str, HasConfig]]
    ) -> None:
        self._source, self._origin, self._manifests = source, origin, manifests
        self.fatal: list[Problem] = []
        self.warnings: list[Problem] = []

    def config(self, raw: dict[str, Any]) -> Config:
        rest = {key: value for key, value in raw.items() if key not in _GROUPS}
        core = self._validate(Config, rest, "") or Config()
        parts = {group: self._group(group, raw.get(group, {})) for group in _GROUPS}
        config = core.model_copy(update=parts)
        if not self.fatal:  # else what is named may stand in a table that was refused
            for key, text in unknown_names(config):
                self._add(key, text)
        return config

    def _group(self, group: str, tables: Any) -> dict[str, Entry]:
        if not isinstance(tables, dict):
            self._add(group, f"must be tables such as [{group}.name], not {type(tables).__name__}")
            return {}
        found = {name: self._one(group, name, table) for name, table in tables.items()}
        return {name: value for name, value in found.items() if value is not None}

    def _one(self, group: str, name: str, table: Any) -> Entry | None:
        key = f"{group}.{name}"
        if not isinstance(table, dict):
            self._add(key, f"must be a table [{key}], not {type(table).__name__}")
            return None
        if group == "adapters" and name.partition(":")[0] in _RESERVED:
            self._add(key, "this name is taken by Kesoku itself; choose another one, and name the adapter with `type`")
            return None
        wanted = str(table.get("type", name))
        try:
            schema = self._schema(group, wanted)
        except PluginError as error:
            self._add(key, str(error))
            return None
        rest = {each: value for each, value in table.items() if each != "type"}
        settings = self._validate(schema, rest, key)
        return None if settings is None else Entry(type=wanted, settings=settings)

    def _schema(self, group: str, name: str) -> type[BaseModel]:
        manifest = self._manifests.get(group, {}).get(name) or plugins.find(_GROUPS[group], name)
        if not isinstance(manifest, HasConfig):
            raise plugins.unfit(_GROUPS[group], name, "it must be a manifest, with the schema of its table as `config`")
        return manifest.config

    def _validate(self, schema: type[S], raw: dict[str, Any], key: str) -> S | None:
        try:
            value = schema.model_validate(raw)
        except ValidationError as error:
            problems = error.errors(include_url=False, include_context=False)
        else:
            for location in _truths(raw, value):
                self._add(_dotted(key, location), "must be a number, not true or false")
            return value
        unknown = [each for each in problems if each["type"] == "extra_forbidden"]
        for each in unknown:
            self._unknown(schema, each["loc"], key)
            _drop(raw, each["loc"])
        if unknown:
            return self._validate(schema, raw, key)
        for each in problems:
            self._invalid(each, key)
        return None

    def _unknown(self, schema: type[BaseModel], location: tuple[Any, ...], key: str) -> None:
        valid = _keys_at(schema, location[:-1])
        dotted = _dotted(key, location)
        self.warnings.append(unknown_key(self._where(dotted), dotted, valid))

    def _invalid(self, error: Any, key: str) -> None:
        text = error["msg"].removeprefix("Value error, ")
        shown = "" if _is_secret(error) or _is_table(error) else f"; found {error.get('input')!r:.80}"
        self._add(_dotted(key, error["loc"]), "required key is missing" if error["type"] == "missing" else text + shown)

    def warn_about_literals(self, raw: dict[str, Any], secrets: set[str]) -> None:
        """Name secrets that stand in a file that others may read."""
        for key in _literal_secrets(raw, secrets, ""):
            text = 'a secret in a file that other users can read; run chmod 600 on it, or use { env = "NAME" }'
            if key not in self._origin:
                self.warnings.append(Problem(source=self._source, key=key, text=text, fatal=False))

    def _add(self, key: str, text: str) -> None:
        self.fatal.append(Problem(source=self._where(key), key=key, text=text))

    def _where(self, key: str) -> str:
        return self._origin.get(key, self._source)


def _truths(raw: Any, value: Any) -> Iterator[tuple[str, ...]]:
    """Where pydantic took true or false for a number."""
    if isinstance(raw, bool) and isinstance(value, (int, float)) and not isinstance(value, bool):
        yield ()
    elif isinstance(raw, dict):
        for name, item in raw.items():
            inner = value.get(name) if isinstance(value, dict) else getattr(value, name, None)
            yield from ((name, *location) for location in _truths(item, inner))
    elif isinstance(raw, list) and isinstance(value, tuple):
        for number, (item, inner) in enumerate(zip(raw, value, strict=False)):
            yield from ((str(number), *location) for location in _truths(item, inner))


def _is_secret(error: Any) -> bool:
    return any(_SECRET.search(str(part)) for part in error["loc"])


def _is_table(error: Any) -> bool:
    """Whether a whole table is wrong: it is too much to show, and may hold secrets."""
    given = error.get("input")
    return isinstance(given, dict) or (isinstance(given, list) and any(isinstance(each, dict) for each in given))


def _dotted(key: str, location: tuple[Any, ...]) -> str:
    return ".".join(str(part) for part in (key, *location) if part != "")


def _drop(raw: Any, location: tuple[Any, ...]) -> None:
    for part in location[:-1]:
        raw = raw[part]
    raw.pop(location[-1], None)


def _keys_at(schema: Any, location: tuple[Any, ...]) -> set[str]:
    for part in location:
        field = schema.model_fields.get(str(part))
        if field is not None:
            schema = field.annotation
        arguments = [each for each in getattr(schema, "__args__", ()) if each is not ...]
        schema = arguments[-1] if arguments else schema
    keys = set(getattr(schema, "model_fields", ()))
    return keys | set(_GROUPS) if schema is Config else keys


def _secret_values(value: Any) -> list[str]:
    if isinstance(value, SecretStr):
        return [value.get_secret_value()]
    if isinstance(value, BaseModel):
        return [each for name in type(value).model_fields for each in _secret_values(getattr(value, name))]
    if isinstance(value, dict):
        # Of headers only those whose name says so: to hide every "application/json" would tear words apart.
        return [each for name, item in value.items() if _is_confidential(name, item) for each in _secret_values(item)]
    if isinstance(value, tuple):
        return [each for item in value for each in _secret_values(item)]
    return []


def _is_confidential(name: str, value: Any) -> bool:
    return not isinstance(value, SecretStr) or bool(_SECRET.search(name))


def _literal_secrets(raw: Any, secrets: set[str], key: str) -> list[str]:
    if isinstance(raw, dict):
        return [found for name, item in raw.items() for found in _literal_secrets(item, secrets, _dotted(key, (name,)))]
    if isinstance(raw, list):
        return [found for n, item in enumerate(raw) for found in _literal_secrets(item, secrets, _dotted(key, (n,)))]
    return [key] if isinstance(raw, str) and raw in secrets else []
