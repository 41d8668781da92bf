"""What ends a step of a turn other than its regular end. Signals carry what has to be said; they are no failures."""

from kesoku.agent.seam import open_fence
from kesoku.messages import make
from kesoku.messages.kinds import SystemNote
from kesoku.messages.source import ANSWER_BLOCKED, PROMPT_BLOCKED, NudgeReason
from kesoku.messages.turn import Finish, Reply

_NO_REASON, _GOES_ON = "it gave no reason", "The conversation goes on."
_CURE = "Please try again, or ask in another way."
_HINTS = {
    Finish.MALFORMED: "held a tool call that cannot be read. Call one tool, with valid JSON arguments.",
    Finish.GARBLED: "cannot be read. Answer again: in words, or with one tool call.",
}
_TRIED = {
    Finish.MALFORMED: "to call a tool several times and never wrote a call that can be run",
    Finish.GARBLED: "to answer several times and never wrote an answer that can be read",
}


class Again(Exception):
    """The model is asked again, after it was told something. `note` is what."""

    def __init__(self, text: str, *, why: NudgeReason) -> None:
        super().__init__(text)
        self.note: SystemNote = make.nudge(text, why=why)


class EmptyReply(Again):
    """The model said nothing (K-225)."""

    def __init__(self) -> None:
        super().__init__(make.EMPTY_REPLY, why="empty")


class CutReply(Again):
    """The model reached its output limit before it said anything."""

    def __init__(self) -> None:
        text = "Your previous response reached the output limit before its first word. Think less and answer briefly."
        super().__init__(text, why="cut")


class CutAnswer(Again):
    """The answer was cut off in the middle: the model goes on with it. `text` is the part that is there.

    `joined` says that a person wrote something meanwhile: then another paragraph begins.
    """

    def __init__(self, *, text: str, joined: bool = False) -> None:
        how = "Go on exactly where it stopped, in the middle of a word if need be. "
        inside = " It stopped inside a code block: go on with the code, without a new fence."
        if joined:
            how = "The part that is there stays. Go on in a new paragraph, as the latest message asks. "
        super().__init__(
            f"Your previous response was cut off. {how}Repeat nothing, and do not mention the interruption."
            f"{inside if open_fence(text) and not joined else ''}",
            why="continue",
        )


class UnreadableReply(Again):
    """The model did not get out what it meant: a call, or an answer."""

    def __init__(self, reply: Reply) -> None:
        hint = reply.hint or f"Your previous response {_HINTS[reply.finish]}"
        super().__init__(f"{hint} ({reply.detail})" if reply.detail else hint, why="malformed")


class RepeatedCall(Again):
    """The same call brought the same result again and again."""

    def __init__(self, *, tool: str, times: int) -> None:
        text = (
            f"You have called {tool} {times} times with the same arguments and got the same result each time. "
            "Calling it again will not change it: try something else, or answer with what you have."
        )
        super().__init__(text, why="repeat")


class Ended(Exception):
    """The turn ends here without what was asked for. `text` says so: plain, and true.

    `reason` is the end of an answer that was begun before. `error` is the name of a failure, where it is one; a limit
    is none.
    """

    def __init__(self, text: str, *, reason: str = "", error: str = "") -> None:
        super().__init__(text)
        self.text, self.reason, self.error = text, reason, error


class NoAnswer(Ended):
    """The model gave no answer, although it was asked again (K-226)."""

    def __init__(self, reply: Reply) -> None:
        super().__init__(
            f"The model returned no answer, even after it was asked again{_why(reply)}. {reply.cure or _CURE}",
            error="NoAnswer",
        )


class NoRoom(Ended):
    """The model used up its output limit without an answer; `bound` is the budget that set the limit, in words."""

    def __init__(self, reply: Reply, *, bound: str) -> None:
        said = "; ".join(filter(None, (reply.detail, bound)))
        why = f" ({said})" if said else ""
        super().__init__(
            f"The model was cut off before it wrote an answer, twice{why}. Ask for something shorter, let it think "
            f"less, or raise {'that limit' if bound else 'its output limit'} in the config.",
            error="NoRoom",
        )


class Unreadable(Ended):
    """The model kept writing tool calls, or answers, that cannot be read."""

    def __init__(self, reply: Reply) -> None:
        tried = f"The model tried {_TRIED[reply.finish]}{_why(reply)}."
        super().__init__(f"{tried} No answer was given. {reply.cure or _CURE}", error="Unreadable")


class PromptRefused(Ended):
    """A rule of the provider refused the prompt: an error that names the rule.

    `again`: the prompt before was refused as well, so what was said earlier may be what is refused.
    """

    def __init__(self, reply: Reply, *, again: bool) -> None:
        goes_on = "If it was harmless, something earlier is refused: /new begins a new conversation."
        super().__init__(
            f"The model's provider did not take your message: {reply.detail or _NO_REASON}. {reply.cure or _CURE} "
            f"The model will not be shown this message again. {goes_on if again else _GOES_ON}",
            error=PROMPT_BLOCKED,
        )


class AnswerWithheld(Ended):
    """A rule of the provider withheld the answer: an error that names the rule."""

    def __init__(self, reply: Reply) -> None:
        super().__init__(
            f"The model's provider withheld the answer: {reply.detail or _NO_REASON}. {reply.cure or _CURE} {_GOES_ON}",
            error=ANSWER_BLOCKED,
        )


class LimitReached(Ended):
    """A bound of TurnLimits. `done` says what was achieved before."""

    def __init__(self, *, limit: str, done: str) -> None:
        why = f"the limit of {limit} was reached"
        super().__init__(f"I stopped before I was finished: {why}.\n\n{done}", reason=why)


class Stuck(Ended):
    """The same call brought the same result until it was pointless to go on."""

    def __init__(self, *, tool: str, times: int, result: str, done: str) -> None:
        super().__init__(
            f"I stopped because I was going in circles: {tool} was called {times} times with the same arguments and "
            f"gave the same result each time.\n\n{done}\n\nThe result was: {result}"
        )


def _why(reply: Reply) -> str:
    return f": {reply.detail}" if reply.detail else ""
