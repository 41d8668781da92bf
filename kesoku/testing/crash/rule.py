"""A promise as a query for what breaks it."""

from collections.abc import Iterator
from dataclasses import dataclass

from kesoku.testing.crash.evidence import Look
from kesoku.testing.crash.violation import Violation

_TOLD = 3
"""Violations of one rule that are told with their whole story."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """Every row of `query` is a violation. Its column `message`, if there is one, names the message it is about."""

    rule: str
    text: str
    """What happened, with columns of the query in braces."""
    query: str
    final: bool = False
    """Whether it holds only once living processes had time."""

    def broken(self, look: Look) -> Iterator[Violation]:
        """What breaks it now."""
        for number, row in enumerate(look.rows(self.query)):
            text, message = self.text.format(**row), row.get("message")
            story = f"\n{look.story(message)}" if message and number < _TOLD else ""
            yield Violation(rule=self.rule, text=text + story)
