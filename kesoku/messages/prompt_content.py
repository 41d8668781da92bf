"""What someone asks of the agent: text as it came in, or typed parts that are rendered as sections (L-050..L-072)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from kesoku.errors import FormatBroken, PromptInvalid
from kesoku.messages import image
from kesoku.messages.dialogue_content import DialogueContent, attachments_of
from kesoku.messages.freeze import Form, changed_fields
from kesoku.messages.section import sections
from kesoku.messages.structure import Structure, response_format_of, structure_class
from kesoku.messages.text_content import Rendered

_EXTEND, _REPLACE = "extend", "replace"
_DETAILS = (None, "low", "high", "auto")


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptContent(DialogueContent):
    """A prompt. `text` is what an adapter hands in; if there is any, it stands for all of the typed fields.

    `images` are http(s) addresses, inline data, or base64 of a JPEG, and none of them is fetched. A `response_format`
    that is a mapping is stored; a model class is not, nor is `structure`: both live as long as this value.

    On input `context` is added to what there is, or takes its place with `handle_context="replace"`; a single value
    stands for a list of one, and so it does in `tool_schemas` and `images`.

    Raises:
        PromptInvalid: an unknown `handle_context` or `image_detail`.
        ImageRefused: a reference to an image that is not safe to hand on.
        FormatBroken: the class of a response format or of a structure fails.
        FieldMistyped: a field was given what it does not take.
    """

    other_names: ClassVar[Mapping[str, str]] = {"plain_content": "text"}

    instruction: str | None = None
    guidance: str | None = None
    context: tuple[Any, ...] = ()
    tool_schemas: tuple[Any, ...] = ()
    response_format: Any = None
    structure: type | str | None = None
    images: tuple[str, ...] = ()
    image_detail: str | None = None

    def __post_init__(self) -> None:
        if self._is_plain():
            return
        if self.image_detail not in _DETAILS:
            raise PromptInvalid(field="image_detail", value=self.image_detail, valid=_DETAILS[1:])
        settled = {
            "attachments": attachments_of(self.attachments),
            "context": _listed(self.context),
            "tool_schemas": _schemas(self.tool_schemas),
            "images": tuple([image.checked(each) for each in _listed(self.images)]),
            "response_format": response_format_of(self.response_format),
        }
        for name, value in settled.items():
            object.__setattr__(self, name, value)
        Form.__post_init__(self)
        if self.response_format is not None:
            self._try_format()

    def _try_format(self) -> None:
        """Whoever asks for a form that cannot be described learns it here, and not when the prompt is read."""
        try:
            self._structured()
        except Exception as error:
            raise FormatBroken(response_format=self.response_format, structure=self.structure, error=error) from error

    def _is_plain(self) -> bool:
        """Whether there is nothing but text: the common case, and the one that must be quick."""
        return (
            type(self.text) is str
            and (
                self.attachments,
                self.instruction,
                self.guidance,
                self.context,
                self.tool_schemas,
                self.response_format,
                self.structure,
                self.images,
                self.image_detail,
            )
            == _ABSENT
        )

    @property
    def rendered(self) -> Rendered:
        """The text, else the sections; with images a list of parts, of which that is the first."""
        text = self.text or self._structured()
        return image.parts(text, self.images, self.image_detail) if self.images else text

    @property
    def plain_content(self) -> str:
        """The text."""
        return self.text

    @property
    def prompt_context(self) -> tuple[Any, ...]:
        """The context."""
        return self.context

    @property
    def structured(self) -> Structure | None:
        """What renders the response format; None without one."""
        if self.response_format is None:
            return None
        made: Any = structure_class(self.structure)
        return made(self.response_format)  # type: ignore[no-any-return]

    @property
    def is_typed(self) -> bool:
        """Whether more than text and files must be kept to say the same again."""
        return not self.to_dict().keys() <= {"text", "attachments"}

    def _structured(self) -> str:
        structure = self.structured
        return sections(
            {
                "Guidance": self.guidance,
                "Instruction": self.instruction,
                "Context": self.context,
                "Tools": self.tool_schemas,
                "ResponseSchema": structure and structure.schema,
                "ResponseFormat": structure and structure.instruction,
            }
        )

    def to_dict(self) -> dict[str, Any]:
        """JSON-able form, without what lives only in this process."""
        if self._is_plain():
            return {"text": self.text}
        plain = {**changed_fields(self), **DialogueContent.to_dict(self)}
        plain.pop("structure", None)
        if isinstance(self.response_format, type):
            del plain["response_format"]
        return plain

    def updated(self, changes: Mapping[str, Any]) -> Self:
        """The content with other values in these fields; `context` is added to or replaced by `handle_context`."""
        if "prompt_context" not in changes and ("context" in changes or "handle_context" in changes):
            changes = {**changes, "prompt_context": self.context}
        return super(PromptContent, self).updated(changes)

    @classmethod
    def _knows(cls, name: str) -> bool:
        return name in _ON_INPUT or super(PromptContent, cls)._knows(name)

    @classmethod
    def _arguments(cls, data: Mapping[str, Any]) -> dict[str, Any]:
        known = super(PromptContent, cls)._arguments(data)
        if not _ON_INPUT.isdisjoint(data):
            known["context"] = _context(data)
        if "text" in known and known["text"] is None:
            known["text"] = ""
        return known


_ABSENT = ((), None, None, (), (), None, None, (), None)
_ON_INPUT = frozenset(("prompt_context", "handle_context"))


def _context(data: Mapping[str, Any]) -> tuple[Any, ...]:
    """`prompt_context`, and `context` behind it or in its place; a `context` of None takes everything away."""
    mode = data.get("handle_context", _EXTEND)
    if mode not in (_EXTEND, _REPLACE):
        raise PromptInvalid(field="handle_context", value=mode, valid=(_EXTEND, _REPLACE))
    before = _listed(data.get("prompt_context"))
    if "context" not in data:
        return before
    given = data["context"]
    return (*(before if mode == _EXTEND and given is not None else ()), *_listed(given))


def _listed(given: Any) -> tuple[Any, ...]:
    """A list as a tuple; a single value as a tuple of one; nothing for None."""
    if given is None:
        return ()
    return tuple(given) if isinstance(given, (list, tuple)) else (given,)


def _schemas(given: Any) -> tuple[Any, ...]:
    """Schemas of tools, without the wrapper {"tools": [...]} that some put around them."""
    if isinstance(given, Mapping) and set(given) == {"tools"}:
        return _listed(given["tools"])
    return _listed(given)
