"""One maker a category, so that nobody spells a message by hand (seed 004 table 3)."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from kesoku.errors import AlreadyAnswered
from kesoku.messages.content import (
    AnswerContent,
    Attachment,
    CallContent,
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
)
from kesoku.messages.source import (
    CommandSource,
    CompactionSource,
    CronSource,
    ErrorSource,
    HookSource,
    JobSource,
    ModelSource,
    NoticeSource,
    NudgeSource,
    SystemSource,
    ToolSource,
    UserSource,
)

AGENT = "Kesoku"
"""The sender cell of everything that the assistant says."""

EMPTY_REPLY = (
    "Your previous response had empty content. Please answer the request above, in words for the person who asked."
)
COMPACTION = "[System Notification] The user manually requested compaction of the conversation so far."
ERROR = "⚠️ An error occurred while processing your request: "


def user_prompt(
    text: str,
    *,
    author: str,
    user_id: str | None = None,
    attachments: Iterable[Attachment] = (),
    platform_ids: Mapping[str, Any] | None = None,
) -> UserPrompt:
    """What a person wrote (K-021). `text` carries the platform's header already."""
    return UserPrompt.create(
        content=PromptContent(text=text, attachments=tuple(attachments)),
        source=UserSource(user_id=user_id, platform_ids=freeze(platform_ids or {})),
        author=author,
    )


def cron_prompt(text: str, *, job: str | None = None, marks: Mapping[str, Any] | None = None) -> UserPrompt:
    """What a schedule asks (K-025). `marks` are extra metadata cells (C-27)."""
    source = CronSource(job=job, marks=freeze(marks or {}))
    return UserPrompt.create(content=PromptContent(text=text), source=source, author="Cronjob")


def compaction_prompt(*, user_id: str | None = None) -> UserPrompt:
    """What /compact asks (K-029)."""
    source = CommandSource(command="compact", user_id=user_id)
    return UserPrompt.create(content=PromptContent(text=COMPACTION), source=source, author="System")


def system_prompt(text: str) -> SystemPrompt:
    """The master prompt (K-049)."""
    return SystemPrompt.create(content=TextContent(text=text), source=SystemSource(), author="System")


def wakeup(job_id: str, output: str) -> SystemNote:
    """A background job that ended (K-053, K-070)."""
    text = f"[System Alert] Background Job {job_id} finished\n{output}"
    return SystemNote.create(content=TextContent(text=text), source=JobSource(job_id=job_id), author="System")


def nudge(text: str = EMPTY_REPLY, *, why: str = "empty") -> SystemNote:
    """A push for the model in the middle of a turn (K-057, K-071)."""
    return SystemNote.create(content=TextContent(text=text), source=NudgeSource(why=why), author="System")


def hook_note(text: str, *, hook: str) -> SystemNote:
    """Context that a pre-step hook adds; a message of its own (D-027)."""
    return SystemNote.create(content=TextContent(text=text), source=HookSource(hook=hook), author="System")


def thought(text: str, *, provider: str, model: str, replay_state: Any = None, interim: bool = False) -> Thought:
    """Reasoning of the model, or what it wrote beside a call (K-033, N-09)."""
    source = ModelSource(provider=provider, model=model, replay_state=replay_state, interim=interim)
    return Thought.create(content=TextContent(text=text), source=source, author=AGENT)


def answer(
    text: str, *, provider: str, model: str, replay_state: Any = None, attachments: Iterable[Attachment] = ()
) -> Answer:
    """The final answer of a turn (K-037)."""
    source = ModelSource(provider=provider, model=model, replay_state=replay_state)
    return Answer.create(content=AnswerContent(text=text, attachments=tuple(attachments)), source=source, author=AGENT)


def error_answer(text: str, *, error: str = "") -> Answer:
    """The honest report that a turn failed (K-065, K-068)."""
    return Answer.create(content=AnswerContent(text=ERROR + text), source=ErrorSource(error=error), author=AGENT)


def notice(text: str, *, reason: str = "status", question: Question | None = None) -> Notice:
    """A line for people (K-061). `reason` is `status` (follows the matrix) or `reply` (always shown, C-28)."""
    return Notice.create(
        content=NoticeContent(text=text, question=question), source=NoticeSource(reason=reason), author="Notification"
    )


def tool_call(
    tool: str, arguments: Mapping[str, Any], *, provider: str, model: str, replay_state: Any = None
) -> ToolCall:
    """A request to run a tool (K-041)."""
    content = CallContent(tool=tool, arguments=FrozenDict(freeze(arguments)))
    source = ModelSource(provider=provider, model=model, replay_state=replay_state)
    return ToolCall.create(content=content, source=source, author=AGENT)


def respond(
    call: ToolCall,
    output: Any = None,
    *,
    error: str | None = None,
    summary: str | None = None,
    attachments: Iterable[Attachment] = (),
    synthetic: bool = False,
    replace_result: bool = False,
) -> tuple[ToolCall, ToolResult]:
    """Answer a call: the call's next version and the new result, linked both ways (R-5).

    Raises:
        AlreadyAnswered: the call has a result and `replace_result` is not asked for (C-03).
    """
    if call.content.response_id is not None and not replace_result:
        raise AlreadyAnswered(call_id=call.id, response_id=call.content.response_id)
    content = ResultContent(
        tool=call.content.tool,
        output=output,
        error=error,
        request_id=call.id,
        attachments=tuple(attachments),
    )
    short = content.rendered[: ResultContent.SUMMARY_LENGTH] if summary is None else summary
    result = ToolResult.create(
        content=replace(content, summary=short),
        source=ToolSource(call_id=call.id, synthetic=synthetic),
        author=call.content.tool,
    )
    return call.update(response_id=result.id), result


def interrupted_result(call: ToolCall) -> tuple[ToolCall, ToolResult]:
    """The synthetic result of a call that never finished (K-167, N-04)."""
    text = "The run of this tool was interrupted before it returned. It may have had effects; its output is lost."
    return respond(call, error=text, synthetic=True)


def summary(text: str, *, covered: Iterable[str]) -> Summary:
    """What stands for older messages (R-6)."""
    source = CompactionSource(covered=tuple(covered))
    return Summary.create(content=TextContent(text=text), source=source, author="System")
