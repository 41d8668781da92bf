"""Text with files: what an assistant answers, and what is common to everything that carries files."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from kesoku.messages.field_type import mistyped
from kesoku.messages.freeze import Form
from kesoku.messages.text_content import Content, Question


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment(Form):
    """A file that came in or goes out. `path` lies in staging; `size` counts bytes.

    `skipped` says why the bytes are not there (too big, blocked type); the model is told the name and the reason.
    """

    name: str
    path: str | None = None
    mime_type: str = "application/octet-stream"
    size: int | None = None
    skipped: str | None = None


def attachments_of(given: Iterable[Attachment | Mapping[str, Any]] | None) -> tuple[Attachment, ...]:
    """Files, each as the value or as the plain dict of it. Raises FieldMistyped."""
    if given is None:
        return ()
    if isinstance(given, (str, bytes, Mapping)) or not isinstance(given, Iterable):
        raise mistyped(DialogueContent, "attachments", given, tuple)
    return tuple([each if isinstance(each, Attachment) else _attachment(each) for each in given])


def _attachment(given: Any) -> Attachment:
    if not isinstance(given, Mapping):
        raise mistyped(DialogueContent, "attachments", given, Attachment, dict)
    return Attachment.from_dict(given)


@dataclass(frozen=True, slots=True, kw_only=True)
class DialogueContent(Content):
    """Text, header included, and files, which are named in the metadata cell."""

    text: str = ""
    attachments: tuple[Attachment, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """JSON-able form."""
        return {"text": self.text} | (
            {"attachments": [each.to_dict() for each in self.attachments]} if self.attachments else {}
        )

    @classmethod
    def _arguments(cls, data: Mapping[str, Any]) -> dict[str, Any]:
        known = super(DialogueContent, cls)._arguments(data)
        if "attachments" in known:
            known["attachments"] = attachments_of(known["attachments"])
        return known


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerContent(DialogueContent):
    """What the assistant answers, in Markdown, with the files that go along."""

    other_names: ClassVar[Mapping[str, str]] = {"assistant_response": "text"}

    @property
    def rendered(self) -> str:
        """The text."""
        return self.text

    @property
    def assistant_response(self) -> str:
        """The text."""
        return self.text


@dataclass(frozen=True, slots=True, kw_only=True)
class NoticeContent(DialogueContent):
    """A line of the machinery for people, with a question if something is to be chosen, and files that go along."""

    question: Question | None = None

    @property
    def rendered(self) -> str:
        """The text."""
        return self.text

    def to_dict(self) -> dict[str, Any]:
        """JSON-able form."""
        asked = {"question": self.question.to_dict()} if self.question else {}
        return super(NoticeContent, self).to_dict() | asked

    @classmethod
    def _arguments(cls, data: Mapping[str, Any]) -> dict[str, Any]:
        known = super(NoticeContent, cls)._arguments(data)
        asked = known.get("question")
        if isinstance(asked, Mapping):
            known["question"] = Question.from_dict(dict(asked))
        return known
