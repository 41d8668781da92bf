"""How a prompt asks for an answer of a certain form, and how it says so in its text (L-059..L-065)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol


class Structure(Protocol):
    """What renders a response format. A class of your own is called with the format as its only argument."""

    @property
    def schema(self) -> Any:
        """JSON values that describe the answer; empty if there is nothing to describe."""

    @property
    def instruction(self) -> str:
        """What the model is told to do with the schema; may be empty."""


@dataclass(frozen=True, slots=True)
class JsonStructure:
    """Asks for one JSON value. `response_format` is a schema or an example of it, or a pydantic model class."""

    response_format: Any

    @property
    def schema(self) -> Any:
        """The JSON Schema of a model class; a mapping as it is."""
        described = getattr(self.response_format, "model_json_schema", None)
        return self.response_format if described is None else described()

    @property
    def instruction(self) -> str:
        """The same for every format."""
        return "Answer with one JSON value of the form of ResponseSchema, in a block of code, and with nothing else."


def structure_class(structure: object) -> type[Structure]:
    """The class that renders a response format: the given one, `JsonStructure` for None and every text."""
    return structure if isinstance(structure, type) else JsonStructure


def response_format_of(given: object) -> Any:
    """The response format as a frozen prompt holds it: a mapping, or a model class, also for an instance of one.

    None for everything else, which is ignored.
    """
    if isinstance(given, Mapping):
        return given
    model = given if isinstance(given, type) else type(given)
    return model if hasattr(model, "model_json_schema") else None
