"""A rule: an invariant as a SQL query whose rows are its violations."""

from collections.abc import Iterator
from dataclasses import dataclass

from kesoku.testing.crash.evidence import Snapshot
from kesoku.testing.crash.report import Violation

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

    def broken(self, snapshot: Snapshot) -> Iterator[Violation]:
        """What breaks it now."""
        for number, row in enumerate(snapshot.rows(self.query)):
            text, message = self.text.format(**row), row.get("message")
            story = f"\n{snapshot.story(message)}" if message and number < _TOLD else ""
            yield Violation(rule=self.rule, text=text + story)
