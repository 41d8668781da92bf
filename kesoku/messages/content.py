"""What a message says, typed by class. Contents are frozen, render themselves, and travel as plain dicts."""

import json
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from kesoku.messages.freeze import EMPTY, Form, FrozenDict, changed_fields, known_fields, thaw


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Question(Form):
    """Something to choose, shown as buttons or numbers. `deadline` is a Unix time in seconds."""

    id: str
    text: str
    choices: tuple[str, ...]
    deadline: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Content(Form, ABC):
    """Base of all contents."""

    @property
    @abstractmethod
    def rendered(self) -> str:
        """The text form, as stored rows and exports print it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextContent(Content):
    """Plain text: system prompts, notes, thoughts, summaries."""

    text: str = ""

    @property
    def rendered(self) -> str:
        """The text."""
        return self.text


@dataclass(frozen=True, slots=True, kw_only=True)
class DialogueContent(Content):
    """Text with files: what a person asked or an assistant answered."""

    text: str = ""
    attachments: tuple[Attachment, ...] = ()

    @property
    def rendered(self) -> str:
        """The text, header included; attachments are named in the metadata cell."""
        return self.text

    def to_dict(self) -> dict[str, Any]:
        """JSON-able form."""
        return {"text": self.text} | (
            {"attachments": [a.to_dict() for a in self.attachments]} if self.attachments else {}
        )

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """The content that `to_dict` wrote."""
        return cls(
            text=data.get("text", ""),
            attachments=tuple(Attachment.from_dict(each) for each in data.get("attachments", ())),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptContent(DialogueContent):
    """What someone asks, with the files that came along."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerContent(DialogueContent):
    """What the assistant answers, in Markdown, with the files that go along."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoticeContent(Content):
    """A line of the machinery for people, with a question if something is to be chosen."""

    text: str = ""
    question: Question | None = None

    @property
    def rendered(self) -> str:
        """The text."""
        return self.text

    def to_dict(self) -> dict[str, Any]:
        """JSON-able form."""
        asked = {"question": self.question.to_dict()} if self.question else {}
        return {"text": self.text, **asked}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """The content that `to_dict` wrote."""
        asked = data.get("question")
        return cls(text=data.get("text", ""), question=Question.from_dict(asked) if asked else None)


@dataclass(frozen=True, slots=True, kw_only=True)
class CallContent(Content):
    """A tool call. `response_id` names the result once there is one (R-5)."""

    tool: str = ""
    arguments: FrozenDict = EMPTY
    response_id: str | None = None

    @property
    def rendered(self) -> str:
        """The long form of trajectory 6.1 (K-232)."""
        arguments = json.dumps(thaw(self.arguments), indent=2, ensure_ascii=False)
        return f"Calling tool `{self.tool}` with arguments:\n```json\n{arguments}\n```"

    @property
    def summary(self) -> str:
        """The one-line form (K-069, C-29)."""
        return f"Calling tool {self.tool} with args: {thaw(self.arguments)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultContent(Content):
    """What a tool returned. It failed exactly if `error` is not None; `summary` is the metadata cell (N-12)."""

    tool: str = ""
    output: Any = None
    error: str | None = None
    summary: str = ""
    request_id: str | None = None
    attachments: tuple[Attachment, ...] = ()

    SUMMARY_LENGTH: ClassVar[int] = 200

    @property
    def success(self) -> bool:
        """Whether the tool worked."""
        return self.error is None

    @property
    def rendered(self) -> str:
        """The output as text; of a failed call the error, behind what there was of output."""
        shown = "" if self.output is None else self.output
        text = shown if isinstance(shown, str) else json.dumps(thaw(shown), ensure_ascii=False, indent=2)
        if self.error is None:
            return text
        return f"{text}\n{self.error}" if text else self.error

    def to_dict(self) -> dict[str, Any]:
        """JSON-able form."""
        plain = changed_fields(self)
        if self.attachments:
            plain["attachments"] = [each.to_dict() for each in self.attachments]
        return plain

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """The content that `to_dict` wrote."""
        known = known_fields(cls, data)
        known["attachments"] = tuple(Attachment.from_dict(each) for each in data.get("attachments", ()))
        return cls(**known)
