"""Where a message comes from, as a typed value (D-052). `source.kind == "user"` says that a person typed it (D-X14)."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, Literal

from kesoku.errors import FieldMistyped, UnknownKind
from kesoku.messages.freeze import EMPTY, Form, FrozenDict, changed_fields

NudgeReason = Literal["empty", "cut", "continue", "malformed", "repeat"]
"""Why the model is asked again: it said nothing, was cut off before its first word or in the middle of its answer,
wrote a call that cannot be read, or repeats itself."""

PROMPT_BLOCKED = "PromptBlocked"
"""`ErrorSource.error` of a turn whose prompt the provider refused: the model is not shown that prompt again."""
ANSWER_BLOCKED = "AnswerBlocked"
"""`ErrorSource.error` of a turn whose answer the provider withheld."""

NoticeReason = Literal["status", "reply"]
"""Why people are told: what goes on, which follows the matrix, or what they did, which is always shown (C-28)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source(Form):
    """Base of all sources; open for more kinds, closed for stored data (`SOURCES`)."""

    kind: ClassVar[str] = ""

    def to_dict(self) -> dict[str, Any]:
        """JSON-able form: `kind` and every field that differs from its default."""
        return {"kind": self.kind, **changed_fields(self)}


@dataclass(frozen=True, slots=True, kw_only=True)
class UserSource(Source):
    """A person on a platform. `platform_ids` are metadata cells such as {"discord_message_id": "1"} (K-024).

    `model` and `role` are what the adapter asks for where this was said; empty: the bot's own.
    """

    kind: ClassVar[str] = "user"
    user_id: str | None = None
    platform_ids: FrozenDict = EMPTY
    model: str = ""
    role: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSource(Source):
    """A chat model. `replay_state` is opaque and goes back to the same provider only (C-34, D-053).

    `interim` marks text that is not the final answer (N-09), such as what the model wrote beside a call. `cut` marks
    the beginning of an answer that was cut off and goes on: people read it in the answer, the model reads it here.
    """

    kind: ClassVar[str] = "model"
    provider: str
    model: str
    replay_state: Any = None
    interim: bool = False
    cut: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSource(Source):
    """A tool that answered the call `call_id`. `synthetic` marks a result that the machinery made (K-167)."""

    kind: ClassVar[str] = "tool"
    call_id: str
    synthetic: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CronSource(Source):
    """A schedule. `marks` are the metadata cells of bots that had their own, such as wechat_cronjob (C-27)."""

    kind: ClassVar[str] = "cron"
    job: str | None = None
    marks: FrozenDict = EMPTY


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandSource(Source):
    """A command that someone gave, such as /compact."""

    kind: ClassVar[str] = "command"
    command: str
    user_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class JobSource(Source):
    """A background job that ended."""

    kind: ClassVar[str] = "job"
    job_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NudgeSource(Source):
    """The turn loop, which asks the model again."""

    kind: ClassVar[str] = "nudge"
    why: NudgeReason = "empty"


@dataclass(frozen=True, slots=True, kw_only=True)
class NoticeSource(Source):
    """The machinery, speaking to people."""

    kind: ClassVar[str] = "notice"
    reason: NoticeReason = "status"


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionSource(Source):
    """A summary; `covered` are the ids of the messages that it stands for."""

    kind: ClassVar[str] = "compaction"
    covered: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RelaySource(Source):
    """Another session or agent; `mail_id` names the mail."""

    kind: ClassVar[str] = "relay"
    mail_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemSource(Source):
    """The framework itself."""

    kind: ClassVar[str] = "system"


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorSource(Source):
    """A turn that failed; `error` is the name of the error class, or one of the words above."""

    kind: ClassVar[str] = "error"
    error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class HookSource(Source):
    """A pre-step hook that added context."""

    kind: ClassVar[str] = "hook"
    hook: str = ""


SOURCES: dict[str, type[Source]] = {
    each.kind: each
    for each in (
        UserSource,
        ModelSource,
        ToolSource,
        CronSource,
        CommandSource,
        JobSource,
        NudgeSource,
        NoticeSource,
        CompactionSource,
        RelaySource,
        SystemSource,
        ErrorSource,
        HookSource,
    )
}


def source_from_dict(data: Mapping[str, Any]) -> Source:
    """The source that `to_dict` wrote.

    Raises:
        UnknownKind: the stored kind is none of `SOURCES`.
        FieldMistyped: it is no mapping, or a field of it holds what it does not take.
    """
    if type(data) is not dict and not isinstance(data, Mapping):
        raise FieldMistyped(owner="a message", field="source", given=data, wanted="a mapping")
    if _TEXT.issuperset(map(type, data.values())):
        return _remembered(tuple(data.items()))
    return _source(data)


_TEXT = frozenset((str,))


@lru_cache(1024)
def _remembered(items: tuple[tuple[str, str], ...]) -> Source:
    """A source of nothing but texts, of which many messages have an equal one."""
    return _source(dict(items))


def _source(data: Mapping[str, Any]) -> Source:
    kind = data.get("kind")
    cls = SOURCES.get(kind) if isinstance(kind, str) else None
    if cls is None:
        raise UnknownKind(what="source", kind=kind, valid=tuple(SOURCES))
    return cls.from_dict({name: value for name, value in data.items() if name != "kind"})
