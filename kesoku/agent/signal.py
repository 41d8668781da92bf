"""What ends a step of a turn other than its regular end. Signals carry what has to be said; they are no failures."""

from kesoku.messages import make
from kesoku.messages.kinds import SystemNote
from kesoku.messages.source import NudgeReason


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


class MalformedCall(Again):
    """The model tried to call a tool and failed to write the call."""

    def __init__(self, *, detail: str | None) -> None:
        text = "Your previous response held a tool call that cannot be read. Call one tool, with valid JSON arguments."
        super().__init__(f"{text} ({detail})" if detail else text, why="malformed")


class RepeatedCall(Again):
    """The same call brought the same result again and again."""

    def __init__(self, *, tool: str, times: int) -> None:
        text = (
            f"You have called {tool} {times} times with the same arguments and got the same result each time. "
            "Calling it again will not change it: try something else, or answer with what you have."
        )
        super().__init__(text, why="repeat")


class Ended(Exception):
    """The turn ends here. `text` is the answer: plain, and true."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


class NoAnswer(Ended):
    """The model gave no answer, although it was asked again (K-226)."""

    def __init__(self, *, detail: str | None) -> None:
        reason = f" The provider says: {detail}." if detail else ""
        super().__init__(
            f"The model returned no answer, even after it was asked again.{reason} "
            "Please try again later, or ask in another way."
        )


class NoRoom(Ended):
    """The model used up its output limit without an answer."""

    def __init__(self, *, detail: str | None) -> None:
        reason = f" ({detail})" if detail else ""
        super().__init__(
            f"The model was cut off before it wrote an answer, twice{reason}. Ask for something shorter, let it think "
            "less, or raise its output limit in the config."
        )


class Unreadable(Ended):
    """The model kept writing tool calls that cannot be read."""

    def __init__(self, *, detail: str | None) -> None:
        reason = f": {detail}" if detail else ""
        super().__init__(
            f"The model tried to call a tool several times and never wrote a call that can be read{reason}. "
            "No answer was given. Please try again, or ask in another way."
        )


class Blocked(Ended):
    """A safety rule of the provider refused the prompt or the answer."""

    def __init__(self, *, detail: str | None) -> None:
        super().__init__(
            f"The model's provider blocked this request ({detail or 'it gave no reason'}), so there is no answer. "
            "Please ask in another way; the conversation goes on."
        )


class LimitReached(Ended):
    """A bound of TurnLimits. `done` says what was achieved before."""

    def __init__(self, *, limit: str, done: str) -> None:
        super().__init__(f"I stopped before I was finished: this turn reached its limit of {limit}.\n\n{done}")


class Stuck(Ended):
    """The same call brought the same result until it was pointless to go on."""

    def __init__(self, *, tool: str, times: int, result: str, done: str) -> None:
        super().__init__(
            f"I stopped because I was going in circles: {tool} was called {times} times with the same arguments and "
            f"gave the same result each time.\n\n{done}\n\nThe result was: {result}"
        )
