"""Tool calls that cannot run; they become results, never a crash."""

from kesoku.errors.root import KesokuError


class ToolError(KesokuError):
    """A tool call that cannot run."""


class ToolMalformed(ToolError, TypeError):
    """A function or a value that cannot become a tool; a mistake of the programmer, found when the tool is made."""

    def __init__(self, *, tool: str, reason: str) -> None:
        self.tool, self.reason = tool, reason
        super().__init__(f"{tool!r} cannot be a tool: {reason}")


class ToolDuplicate(ToolError, ValueError):
    """Two tools of one toolbox have the same name."""

    def __init__(self, *, tool: str) -> None:
        self.tool = tool
        super().__init__(f"two tools are named {tool!r}; rename one or leave one out")


class ToolUnknown(ToolError, LookupError):
    """The model, or a table of policies, names a tool that does not exist."""

    def __init__(self, *, tool: str, known: tuple[str, ...]) -> None:
        self.tool, self.known = tool, known
        super().__init__(f"there is no tool {tool!r}; known are {', '.join(known) or '(none)'}")


class ToolArguments(ToolError, ValueError):
    """Arguments that a tool does not take. Each problem says which argument, what was given and what is valid."""

    def __init__(self, *, tool: str, problems: tuple[str, ...]) -> None:
        self.tool, self.problems = tool, problems
        super().__init__(f"{tool} was not run, its arguments are wrong: {'; '.join(problems)}")


class ToolRefused(ToolError, ValueError):
    """The arguments are well formed, but what they ask for cannot be done. `advice` says what can."""

    def __init__(self, *, what: str, reason: str, advice: str = "") -> None:
        self.what, self.reason, self.advice = what, reason, advice
        super().__init__(f"{what}: {reason}" + (f"; {advice}" if advice else ""))


class ToolTimeout(ToolError, TimeoutError):
    """A tool did not end in its time and was stopped."""

    def __init__(self, *, tool: str, seconds: float) -> None:
        self.tool, self.seconds = tool, seconds
        super().__init__(f"{tool} did not end within {seconds:g} s and was stopped")


class ToolReturn(ToolError, TypeError):
    """A tool returned something that is neither text nor JSON."""

    def __init__(self, *, tool: str, reason: str) -> None:
        self.tool, self.reason = tool, reason
        super().__init__(f"{tool} ran, but what it returned is no text and no JSON value: {reason}")
