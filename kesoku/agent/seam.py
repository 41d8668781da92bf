"""Two parts of one answer: a text that was cut off, and the text in which the model went on. Pure."""

import re

_LEAST = 12
"""Characters that must be the same before they count as a repetition."""
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})(.*)$", re.MULTILINE)
_OPENS_AGAIN = re.compile(r"\s*(`{3,}|~{3,})[ \t]*[\w+#.-]+[ \t]*\r?\n")
"""A fence with a language: it cannot end a block, so inside of one it begins the same block once more."""
_MAY_OPEN = re.compile(r"\s*(?:`{1,2}|~{1,2}|(?:`{3,}|~{3,})[^\n]*)?")


def joined(before: str, after: str, *, running: bool = False) -> str:
    """Both as one text, without what `after` repeats of the end of `before`, and without a fence opened twice.

    While `after` is `running`, it is held back as long as it may be a repetition: the text only ever grows.
    """
    if open_fence(before):
        if running and _MAY_OPEN.fullmatch(after):
            return before
        after = _unopened(before, after)
    if running and after in before:
        return before
    return before + after[_repeated(before, after) :]


def closed(text: str) -> str:
    """The text with an end to the code block that it leaves open."""
    fence = open_fence(text)
    return f"{text.rstrip()}\n{fence}" if fence else text.rstrip()


def open_fence(text: str) -> str:
    """The fence of the code block in which the text ends; empty outside of one."""
    fence = ""
    for mark, rest in _FENCE.findall(text):
        if not fence:
            fence = "" if mark[0] == "`" and "`" in rest else mark
        elif mark.startswith(fence) and not rest.strip():
            fence = ""
    return fence


def _unopened(before: str, after: str) -> str:
    """`after` without a fence that opens the block of `before` again, and without the line that it then repeats."""
    opening = _OPENS_AGAIN.match(after)
    if opening is None:
        return after
    return after[opening.end() :].removeprefix(before[before.rfind("\n") + 1 :])


def _repeated(before: str, after: str) -> int:
    """The length of the longest beginning of `after` that is the end of `before`."""
    head = after[:_LEAST]
    start = before.find(head, max(0, len(before) - len(after))) if len(head) == _LEAST else -1
    while start >= 0 and not after.startswith(before[start:]):
        start = before.find(head, start + 1)
    return len(before) - start if start >= 0 else 0
