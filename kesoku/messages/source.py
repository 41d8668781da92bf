"""Where a message comes from, as a typed value (D-052). `source.kind == "user"` says that a person typed it (D-X14)."""

from dataclasses import dataclass, field, fields
from typing import Any, ClassVar

from kesoku.errors import UnknownKind
from kesoku.messages.freeze import EMPTY, FrozenDict, freeze, thaw


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Base of all sources; open for more kinds, closed for stored data (`SOURCES`)."""

    kind: ClassVar[str] = ""

    def __post_init__(self) -> None:
        for each in fields(self):
            object.__setattr__(self, each.name, freeze(getattr(self, each.name)))

    def to_dict(self) -> dict[str, Any]:
        """JSON-able form: `kind` and every field that differs from its default."""
        plain: dict[str, Any] = {"kind": self.kind}
        for each in fields(self):
            value = getattr(self, each.name)
            if value != each.default and value != EMPTY:
                plain[each.name] = thaw(value)
        return plain


@dataclass(frozen=True, slots=True, kw_only=True)
class UserSource(Source):
    """A person on a platform. `platform_ids` are metadata cells such as {"discord_message_id": "1"} (K-024)."""

    kind: ClassVar[str] = "user"
    user_id: str | None = None
    platform_ids: FrozenDict = field(default=EMPTY)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSource(Source):
    """A chat model. `replay_state` is opaque and goes back to the same provider only (C-34, D-053).

    `interim` marks text that the model wrote beside a call (N-09).
    """

    kind: ClassVar[str] = "model"
    provider: str
    model: str
    replay_state: Any = None
    interim: bool = False


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
    marks: FrozenDict = field(default=EMPTY)


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
    """The turn loop, after an empty reply or a repeated call. `why` is `empty`, `repeat` or `cut`."""

    kind: ClassVar[str] = "nudge"
    why: str = "empty"


@dataclass(frozen=True, slots=True, kw_only=True)
class NoticeSource(Source):
    """The machinery, speaking to people. `reason` is `status` (follows the matrix) or `reply` (always shown, C-28)."""

    kind: ClassVar[str] = "notice"
    reason: str = "status"


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
    """A turn that failed; `error` is the name of the error class."""

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


def source_from_dict(data: dict[str, Any]) -> Source:
    """The source that `to_dict` wrote.

    Raises:
        UnknownKind: the stored kind is none of `SOURCES`.
    """
    rest = dict(data)
    kind = rest.pop("kind", None)
    if kind not in SOURCES:
        raise UnknownKind(what="source", kind=kind, valid=tuple(SOURCES))
    known = {each.name for each in fields(SOURCES[kind])}
    return SOURCES[kind](**{name: freeze(value) for name, value in rest.items() if name in known})
