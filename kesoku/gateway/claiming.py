"""Which prompt a process may run next, and which it can no longer run (store rule 3)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kesoku.gateway import turn
from kesoku.gateway.admission import home
from kesoku.gateway.crash import may_start
from kesoku.gateway.policy import FAILURES, LEASE
from kesoku.gateway.status import Act, advance
from kesoku.messages.enums import MessageStatus
from kesoku.messages.kinds import Answer
from kesoku.messages.lifecycle import Claim, Serving
from kesoku.messages.record import Post, Record
from kesoku.ports import Transaction

Excuse = Callable[[str, str], Answer]
"""(id of the prompt, text) -> the error answer, the same one when asked again."""

ENDED = "this conversation was ended before your message was answered. Write again to start a new one."
DAMAGED = "your message can no longer be read: its row in the database is damaged. Please send it again."
POISON = f"I broke down {FAILURES} times while I worked on this message, so I stopped. Please ask in another way."


@dataclass(frozen=True, slots=True, kw_only=True)
class Claiming:
    """One claim at one instant."""

    owner: str
    serving: Serving
    at: int
    excuse: Excuse
    mint: turn.Mint
    most: int = 1
    """So many prompts at once, at most."""

    def claims(self, tx: Transaction) -> list[Claim]:
        """Lease the oldest prompts that can run, one after the other."""
        found: list[Claim] = []
        while len(found) < self.most and (claim := self._next(tx)) is not None:
            found.append(claim)
        return found

    def _next(self, tx: Transaction) -> Claim | None:
        """Lease the oldest prompt that can run; those that cannot end in error on the way (K-146).

        None also while the oldest must wait for a process that runs nothing, this one or another.
        """
        while (first := tx.leases.next(self.serving)) is not None:
            session = tx.sessions.get(first.session_id)
            if session is None or session.ended_at is not None:
                for each in _apart(tx.messages.queued(first.session_id)) or [first]:
                    self._fail(tx, each, ENDED, "session ended")
                continue
            opener = _opener(tx, first)
            if opener.is_damaged:
                self._fail(tx, opener, DAMAGED, "damaged", [opener])
                continue
            facts = tx.steps.turn(opener.id)
            crashes = facts.failures if facts else 0
            if crashes >= FAILURES:
                self._fail(tx, opener, POISON, "poison")
                continue
            if not may_start(crashes, tx.leases.worst(self.owner)):
                return None
            return self._open(tx, opener, is_new=facts is None and session.last_n == opener.session_n)
        return None

    def _open(self, tx: Transaction, opener: Record, *, is_new: bool) -> Claim:
        act = Act(actor=self.owner, reason="claim", at=self.at)
        fence = tx.leases.take(opener, owner=self.owner, at=self.at, until=self.at + LEASE)
        if riders := turn.riders(tx, opener):
            turn.enter(tx, opener.id, riders, act, round=len(tx.steps.of(opener.id)) + 1)
        (prompt,) = turn.enter(tx, opener.id, [opener], act, round=0)
        return Claim(prompt=prompt, fence=fence, is_new=is_new and not riders)

    def _fail(
        self, tx: Transaction, prompt: Record, text: str, reason: str, ended: Sequence[Record] | None = None
    ) -> None:
        """End a queued prompt, by default with what had joined its turn; the person is told once.

        Calls that a crash left open are answered too: in an ended session no later turn would do it.
        """
        act = Act(actor=self.owner, reason=reason, at=self.at)
        turn.heal_all(tx, prompt.session_id, prompt.id, act, self.mint)
        for each in turn.prompts(tx, prompt.id, MessageStatus.PENDING_AGENT) if ended is None else ended:
            advance(tx, each.id, MessageStatus.ERROR, act)
        if prompt.mode == "inject":
            return
        apology = Post(
            message=self.excuse(prompt.id, text), address=prompt.address, parent_id=prompt.id, turn_id=prompt.id
        )
        known = tx.sessions.get(prompt.session_id) is not None
        session_id = prompt.session_id if known else home(tx, apology, self.at)
        tx.messages.insert(apology, session_id=session_id, at=self.at)


def _opener(tx: Transaction, first: Record) -> Record:
    """The prompt that names the turn: the oldest one that asks for a turn, or had one until it was put back.

    Prompts for the next step ride along with the oldest follow-up of their channel (D-X03).
    """
    if first.mode == "followup" or tx.steps.turn(first.id) is not None:
        return first
    queued = tx.messages.queued(first.session_id)
    return next((each for each in queued if each.mode == "followup" and each.address == first.address), first)


def _apart(queued: list[Record]) -> list[Record]:
    """Those that did not join the turn of another one; none if each names another one, as damaged rows may."""
    ids = {each.id for each in queued}
    return [each for each in queued if each.turn_id == each.id or each.turn_id not in ids]
