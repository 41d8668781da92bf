"""One maker a category, so that nobody spells a message by hand (seed 004 table 3)."""

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from kesoku.errors import AlreadyAnswered, NotACall
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
    SystemContent,
    TextContent,
)
from kesoku.messages.freeze import EMPTY, FrozenDict, freeze
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
    RelaySource,
    Source,
    SystemSource,
    ToolSource,
    UserSource,
)
from kesoku.messages.tool_content import result_text

M = TypeVar("M", bound=Message)

EMPTY_REPLY = f"{phrase.EMPTY} Please answer the request above, in words for the person who asked."
COMPACTION = (
    f"{phrase.COMPACTION} of the conversation so far. Write the summary that will stand in its place: what was asked "
    "and decided, facts, figures and names that still matter, files, and what is not finished. Be complete and brief. "
    "Answer nothing in it and address nobody."
)
ERROR = f"{phrase.ERROR} "
INTERRUPTED = (
    "The run of this tool was interrupted before it returned, perhaps before it began. It may have had effects; its "
    "output is lost."
)
NOT_RUN = "This tool was not run: its turn ended before anybody allowed it."


def user_prompt(
    text: str,
    *,
    author: str,
    user_id: str | None = None,
    attachments: Iterable[Attachment] = (),
    platform_ids: Mapping[str, Any] | None = None,
    model: str = "",
    role: str = "",
) -> UserPrompt:
    """What a person wrote (K-021). `text` carries the platform's header already.

    `model` and `role` are asked for where it was said; empty: the bot's own.
    """
    ids = FrozenDict(platform_ids) if platform_ids else EMPTY
    source = UserSource(user_id=user_id, platform_ids=ids, model=model, role=role)
    return _made(UserPrompt, source, PromptContent(text=text, attachments=tuple(attachments)), author=author)


def cron_prompt(text: str, *, job: str | None = None, marks: Mapping[str, Any] | None = None) -> UserPrompt:
    """What a schedule asks (K-025). `marks` are extra metadata cells (C-27)."""
    source = CronSource(job=job, marks=FrozenDict(marks) if marks else EMPTY)
    return _made(UserPrompt, source, PromptContent(text=text))


def compaction_prompt(*, user_id: str | None = None) -> UserPrompt:
    """What /compact asks (K-029)."""
    source = CommandSource(command="compact", user_id=user_id)
    return _made(UserPrompt, source, PromptContent(text=COMPACTION))


def system_prompt(text: str) -> SystemPrompt:
    """The master prompt (K-049)."""
    return _made(SystemPrompt, SystemSource(), SystemContent(text=text))


def wakeup(job_id: str, output: str) -> SystemNote:
    """A background job that ended (K-053, K-070)."""
    text = f"{phrase.JOB}{job_id} finished\n{output}"
    return _made(SystemNote, JobSource(job_id=job_id), TextContent(text=text))


def mail_note(text: str, *, mail_id: str | None = None) -> SystemNote:
    """Mail that wakes the agent, what became of mail that it sent, or who gave it its task."""
    return _made(SystemNote, RelaySource(mail_id=mail_id), TextContent(text=text))


def task(text: str) -> UserPrompt:
    """What one agent asks of another one, which has no other conversation."""
    return _made(UserPrompt, RelaySource(), PromptContent(text=text))


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


def notice(
    text: str,
    *,
    reason: NoticeReason = "status",
    question: Question | None = None,
    attachments: Iterable[Attachment] = (),
) -> Notice:
    """A line for people (K-061)."""
    content = NoticeContent(text=text, question=question, attachments=tuple(attachments))
    return _made(Notice, NoticeSource(reason=reason), content)


def tool_call(
    tool: Any, arguments: Mapping[str, Any] | str, *, provider: str, model: str, replay_state: Any = None
) -> ToolCall:
    """A request to run a tool (K-041). The tool is a name, a callable or an object with a `function`.

    Raises:
        CallInvalid: no name, or no arguments, can be made of what is given.
    """
    content = CallContent(tool=tool, arguments=arguments)  # type: ignore[arg-type]
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
    existing: ToolResult | None = None,
) -> tuple[ToolCall, ToolResult]:
    """Answer a call: the call's next version and the new result, linked both ways (R-5).

    With an `existing` result, its next version says what is given here instead; no link is made on either side, and
    the call stays as it is (L-103).

    Raises:
        NotACall: `call` is something else.
        AlreadyAnswered: the call has a result and `replace` is not asked for (C-03).
    """
    if not isinstance(call, ToolCall):
        raise NotACall(given=call)
    asked: CallContent = call.content
    output = freeze(output)
    short = result_text(output, error)[: ResultContent.SUMMARY_LENGTH] if summary is None else summary
    if existing is not None:
        return call, existing.update(output=output, error=error, summary=short, attachments=tuple(attachments))
    if asked.response_id is not None and not replace:
        raise AlreadyAnswered(call_id=call.id, response_id=asked.response_id)
    content = ResultContent(
        tool=asked.tool,
        arguments=asked.arguments,
        output=output,
        error=error,
        summary=short,
        request_id=call.id,
        attachments=tuple(attachments),
    )
    result = _made(ToolResult, ToolSource(call_id=call.id, synthetic=synthetic), content, author=asked.tool)
    return call.update(response_id=result.id), result


def interrupted_result(call: ToolCall, *, ran: bool = True) -> tuple[ToolCall, ToolResult]:
    """The synthetic result of a call that never finished (K-167, N-04); `ran` says that it may have begun."""
    return respond(call, error=INTERRUPTED if ran else NOT_RUN, synthetic=True)


def summary(text: str, *, covered: Iterable[str]) -> Summary:
    """What stands for older messages (R-6)."""
    source = CompactionSource(covered=tuple(covered))
    return _made(Summary, source, TextContent(text=text))


def _made(kind: type[M], source: Source, content: Content, *, author: str | None = None) -> M:
    """A new message; its category names the author unless that is a person or a tool."""
    named = category(kind.kind, source.kind).author if author is None else author
    return kind.create(source=source, content=content, author=named)
