"""One maker a category, so that nobody spells a message by hand (seed 004 table 3)."""

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from kesoku.errors import AlreadyAnswered
from kesoku.messages import phrase
from kesoku.messages.content import (
    AnswerContent,
    Attachment,
    CallContent,
    Content,
    NoticeContent,
    PromptContent,
    Question,
    ResultContent,
    TextContent,
)
from kesoku.messages.freeze import FrozenDict, freeze
from kesoku.messages.kinds import (
    Answer,
    Notice,
    Summary,
    SystemNote,
    SystemPrompt,
    Thought,
    ToolCall,
    ToolResult,
    UserPrompt,
    category,
)
from kesoku.messages.message import Message
from kesoku.messages.source import (
    CommandSource,
    CompactionSource,
    CronSource,
    ErrorSource,
    HookSource,
    JobSource,
    ModelSource,
    NoticeReason,
    NoticeSource,
    NudgeReason,
    NudgeSource,
    Source,
    SystemSource,
    ToolSource,
    UserSource,
)

M = TypeVar("M", bound=Message)

EMPTY_REPLY = f"{phrase.EMPTY} Please answer the request above, in words for the person who asked."
COMPACTION = "[System Notification] The user manually requested compaction of the conversation so far."
ERROR = f"{phrase.ERROR} "


def user_prompt(
    text: str,
    *,
    author: str,
    user_id: str | None = None,
    attachments: Iterable[Attachment] = (),
    platform_ids: Mapping[str, Any] | None = None,
) -> UserPrompt:
    """What a person wrote (K-021). `text` carries the platform's header already."""
    source = UserSource(user_id=user_id, platform_ids=freeze(platform_ids or {}))
    return _made(UserPrompt, source, PromptContent(text=text, attachments=tuple(attachments)), author=author)


def cron_prompt(text: str, *, job: str | None = None, marks: Mapping[str, Any] | None = None) -> UserPrompt:
    """What a schedule asks (K-025). `marks` are extra metadata cells (C-27)."""
    source = CronSource(job=job, marks=freeze(marks or {}))
    return _made(UserPrompt, source, PromptContent(text=text))


def compaction_prompt(*, user_id: str | None = None) -> UserPrompt:
    """What /compact asks (K-029)."""
    source = CommandSource(command="compact", user_id=user_id)
    return _made(UserPrompt, source, PromptContent(text=COMPACTION))


def system_prompt(text: str) -> SystemPrompt:
    """The master prompt (K-049)."""
    return _made(SystemPrompt, SystemSource(), TextContent(text=text))


def wakeup(job_id: str, output: str) -> SystemNote:
    """A background job that ended (K-053, K-070)."""
    text = f"{phrase.JOB}{job_id} finished\n{output}"
    return _made(SystemNote, JobSource(job_id=job_id), TextContent(text=text))


def nudge(text: str = EMPTY_REPLY, *, why: NudgeReason = "empty") -> SystemNote:
    """A push for the model in the middle of a turn (K-057, K-071)."""
    return _made(SystemNote, NudgeSource(why=why), TextContent(text=text))


def hook_note(text: str, *, hook: str) -> SystemNote:
    """Context that a pre-step hook adds; a message of its own (D-027)."""
    return _made(SystemNote, HookSource(hook=hook), TextContent(text=text))


def thought(
    text: str, *, provider: str, model: str, replay_state: Any = None, interim: bool = False, cut: bool = False
) -> Thought:
    """Reasoning of the model, what it wrote beside a call, or an answer that was cut and goes on (K-033, N-09)."""
    source = ModelSource(provider=provider, model=model, replay_state=replay_state, interim=interim, cut=cut)
    return _made(Thought, source, TextContent(text=text))


def answer(
    text: str, *, provider: str, model: str, replay_state: Any = None, attachments: Iterable[Attachment] = ()
) -> Answer:
    """The final answer of a turn (K-037)."""
    source = ModelSource(provider=provider, model=model, replay_state=replay_state)
    return _made(Answer, source, AnswerContent(text=text, attachments=tuple(attachments)))


def error_answer(text: str, *, error: str = "") -> Answer:
    """The honest report that a turn failed (K-065, K-068)."""
    return _made(Answer, ErrorSource(error=error), AnswerContent(text=ERROR + text))


def notice(text: str, *, reason: NoticeReason = "status", question: Question | None = None) -> Notice:
    """A line for people (K-061)."""
    return _made(Notice, NoticeSource(reason=reason), NoticeContent(text=text, question=question))


def tool_call(
    tool: str, arguments: Mapping[str, Any], *, provider: str, model: str, replay_state: Any = None
) -> ToolCall:
    """A request to run a tool (K-041)."""
    content = CallContent(tool=tool, arguments=FrozenDict(arguments))
    source = ModelSource(provider=provider, model=model, replay_state=replay_state)
    return _made(ToolCall, source, content)


def respond(
    call: ToolCall,
    output: Any = None,
    *,
    error: str | None = None,
    summary: str | None = None,
    attachments: Iterable[Attachment] = (),
    synthetic: bool = False,
    replace: bool = False,
) -> tuple[ToolCall, ToolResult]:
    """Answer a call: the call's next version and the new result, linked both ways (R-5).

    Raises:
        AlreadyAnswered: the call has a result and `replace` is not asked for (C-03).
    """
    if call.is_responded() and not replace:
        raise AlreadyAnswered(call_id=call.id, response_id=call.content.response_id)
    content = ResultContent(
        tool=call.content.tool,
        output=output,
        error=error,
        request_id=call.id,
        attachments=tuple(attachments),
    )
    short = content.rendered[: ResultContent.SUMMARY_LENGTH] if summary is None else summary
    source = ToolSource(call_id=call.id, synthetic=synthetic)
    result = _made(ToolResult, source, dataclasses.replace(content, summary=short), author=call.content.tool)
    return call.update(response_id=result.id), result


def interrupted_result(call: ToolCall) -> tuple[ToolCall, ToolResult]:
    """The synthetic result of a call that never finished (K-167, N-04)."""
    text = "The run of this tool was interrupted before it returned. It may have had effects; its output is lost."
    return respond(call, error=text, synthetic=True)


def summary(text: str, *, covered: Iterable[str]) -> Summary:
    """What stands for older messages (R-6)."""
    source = CompactionSource(covered=tuple(covered))
    return _made(Summary, source, TextContent(text=text))


def _made(kind: type[M], source: Source, content: Content, *, author: str | None = None) -> M:
    """A new message; its category names the author unless that is a person or a tool."""
    named = category(kind.kind, source.kind).author if author is None else author
    return kind.create(source=source, content=content, author=named)
