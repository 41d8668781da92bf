"""The invariants I1 to I13: they hold after every kill, the `final` ones once all processes had time."""

import sqlite3

from kesoku.testing.crash import invariant_delivery, invariant_file, invariant_log, invariant_turn
from kesoku.testing.crash.evidence import Evidence
from kesoku.testing.crash.report import Violation

RULES = (*invariant_log.RULES, *invariant_turn.RULES, *invariant_delivery.RULES, *invariant_file.RULES)


def check(evidence: Evidence, *, final: bool = False) -> list[Violation]:
    """All violations of I1 to I13. What the audit noted is judged once, by the first check behind it."""
    try:
        with evidence.snapshot() as snapshot:
            rules = (rule for rule in RULES if final or not rule.final)
            return [
                *invariant_file.check_files(snapshot, final=final),
                *(broken for rule in rules for broken in rule.broken(snapshot)),
            ]
    except sqlite3.DatabaseError as error:
        if getattr(error, "sqlite_errorcode", None) not in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}:
            raise
        return [Violation(rule="I13", text=f"the database is damaged: {error}")]
