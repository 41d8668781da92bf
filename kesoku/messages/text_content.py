"""What is only text, and what a content is at all: frozen, able to render itself, and at home in a plain dict."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, ClassVar, Self

from kesoku.messages.freeze import Form, changed_fields, current_fields, defaults_of, known_fields

Rendered = str | list[dict[str, Any]]
"""Text; beside images a list of parts, the text first."""
_NO_NAMES: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Content(Form, ABC):
    """Base of all contents. `other_names` are accepted on input for a field, and readable as properties."""

    other_names: ClassVar[Mapping[str, str]] = _NO_NAMES

    @property
    @abstractmethod
    def rendered(self) -> Rendered:
        """What the message says, as stored rows, exports and models are given it."""

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """The content that `to_dict` wrote; unknown keys are ignored."""
        if len(data) == 1 and type(data.get("text")) is str and "text" in defaults_of(cls):
            return cls(**data)  # what most messages are, and nothing in it has to be looked at
        return cls(**cls._arguments(data))

    def updated(self, changes: Mapping[str, Any]) -> Self:
        """The content with other values in these fields; a field set to None is set to None.

        Raises:
            TypeError: this content has no such field.
        """
        self.admit(changes)
        return self.__class__(**{**current_fields(self), **self._arguments(changes)})

    @classmethod
    def admit(cls, names: Iterable[str]) -> None:
        """Raise TypeError for names of what this content does not have: a slip of the pen would lose what it says."""
        if unknown := [name for name in names if not cls._knows(name)]:
            raise TypeError(f"{cls.__name__} has no field {', '.join(map(str, unknown))}")

    @classmethod
    def _knows(cls, name: str) -> bool:
        return name in defaults_of(cls) or name in cls.other_names

    @classmethod
    def _arguments(cls, data: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of the constructor that a plain dict stands for."""
        known = known_fields(cls, data)
        if len(known) < len(data):
            for other, name in cls.other_names.items():
                if other in data and name not in known:
                    known[name] = data[other]
        return known


@dataclass(frozen=True, slots=True, kw_only=True)
class TextContent(Content):
    """Plain text: notes, thoughts, summaries."""

    text: str = ""

    @property
    def rendered(self) -> str:
        """The text."""
        return self.text


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemContent(TextContent):
    """The master prompt. `datetime` is told to the model before the text: True stands for the current minute (L-045),
    False for none."""

    other_names: ClassVar[Mapping[str, str]] = {"system_message": "text", "system_datetime": "datetime"}

    text: str = "You are a helpful AI assistant. Let's think step by step."
    datetime: str | bool | None = None

    def __post_init__(self) -> None:
        if isinstance(self.datetime, bool):
            now = datetime.now(UTC).isoformat(timespec="minutes") if self.datetime else None
            object.__setattr__(self, "datetime", now)
        Form.__post_init__(self)

    @property
    def rendered(self) -> str:
        """The time, if there is one, and the text (L-047, L-048)."""
        return f"System Time: {self.datetime}\n\n{self.text}" if self.datetime else self.text

    @property
    def is_typed(self) -> bool:
        """Whether more than the rendered text must be kept to say the same again."""
        return self.datetime is not None

    @property
    def system_message(self) -> str:
        """The text."""
        return self.text

    @property
    def system_datetime(self) -> str | bool | None:
        """The time, as text."""
        return self.datetime

    def to_dict(self) -> dict[str, Any]:
        """JSON-able form; the text always, so that what was said does not hang on a default."""
        return {"text": self.text, **changed_fields(self)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Question(Form):
    """Something to choose, shown as buttons or numbers. `deadline` is a Unix time in seconds."""

    id: str
    text: str
    choices: tuple[str, ...]
    deadline: float | None = None
