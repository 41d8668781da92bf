"""How one prompt is taken in: known, refused, interrupting, steering or queued (store rules 2, 7 and 8)."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from kesoku.gateway import turn
from kesoku.gateway.admission import flood_key, home, own_turn, refusal, stored
from kesoku.gateway.policy import Busy, BusyPolicy, FloodBounds, InterruptBy
from kesoku.gateway.status import Act, advance
from kesoku.messages.enums import MessageStatus
from kesoku.messages.kinds import Notice
from kesoku.messages.message import Message
from kesoku.messages.record import Post, Record
from kesoku.ports import Transaction
from kesoku.render.sanitise import printable_name

Say = Callable[[str, str], Notice]
"""(id of the message that it is about, text) -> the notice, the same one when asked again."""

QUEUED = "Queued. I answer this after what I am working on."
STEERED = "Noted. I take this into what I am working on, or answer it right after."


def is_human(message: Message) -> bool:
    """Whether a person typed it (D-X14)."""
    return message.source.kind == "user"


def sender(message: Message) -> str:
    """Who said it, for the comparison of two prompts of one channel."""
    return message.user_id or message.author


@dataclass(frozen=True, slots=True, kw_only=True)
class Intake:
    """The rules of one batch at one instant."""

    policy: BusyPolicy
    bounds: FloodBounds
    at: int
    catch_up: bool
    say: Say
    mint: turn.Mint

    def take(self, tx: Transaction, post: Post) -> Record:
        """Take in one prompt; returns its record, the one stored earlier, or the notice that refuses it."""
        known = stored(tx, post, self.at)
        if known is not None:
            return known
        why = refusal(tx, post, self.bounds, at=self.at, catch_up=self.catch_up)
        return self.admit(tx, post) if why is None else self._refuse(tx, post, why)

    def admit(self, tx: Transaction, post: Post) -> Record:
        """Store a prompt, and do to the running turn what the policy says. Who steers knows what becomes of it."""
        post = own_turn(replace(post, session_id=home(tx, post, self.at)))
        if self.catch_up or not is_human(post.message) or post.mode == "inject":
            return self._insert(tx, post)
        active, steers = turn.running(tx, post.session_id or ""), post.mode == "steer"
        if self.policy.busy is Busy.STEER and active is not None and active.address == post.address:
            post = replace(post, mode="steer")
        mark = self._supersede(tx, post, active) if post.mode == "followup" else None
        record = self._insert(tx, post, mark)
        if active is not None and active.id != mark and not steers:
            self._tell(tx, record, STEERED if turn.joins(record, active) else QUEUED)
        return record

    def _supersede(self, tx: Transaction, post: Post, active: Record | None) -> str | None:
        """Interrupt what this prompt replaces; returns the turn that it replaces, for the mark (K-143, K-144)."""
        if self.policy.busy is not Busy.INTERRUPT:
            return None
        act = Act(actor=sender(post.message), reason="superseded", at=self.at)
        session_id = post.session_id or ""
        queued = (each for each in tx.messages.replacing(session_id) if is_human(each.message))
        replaced = [each for each in queued if self._yields(each, post)]
        mark = replaced[-1].superseded_turn if replaced else None
        for each in replaced:
            advance(tx, each.id, MessageStatus.INTERRUPTED, act)
        if active is not None and self._yields(active, post):
            turn.interrupt(tx, session_id, act, self.mint)
            replaced, mark = [active, *replaced], active.id
        self._tell_others(tx, post, replaced)
        return mark

    def _yields(self, earlier: Record, post: Post) -> bool:
        if earlier.address != post.address:
            return False
        same = sender(earlier.message) == sender(post.message)
        return same or self.policy.interrupt_by is InterruptBy.ANYONE

    def _tell_others(self, tx: Transaction, post: Post, replaced: list[Record]) -> None:
        """Say who stopped the answer of somebody else."""
        others = [each for each in replaced if sender(each.message) != sender(post.message)]
        if others:
            stopped = ", ".join(dict.fromkeys(printable_name(each.message.author) for each in others))
            who = printable_name(post.message.author)
            self._tell(tx, others[0], f"{who} wrote something new, so I stopped the answer to {stopped}.")

    def _refuse(self, tx: Transaction, post: Post, why: str) -> Record:
        told = tx.messages.find(post.address.chatbot_id, [flood_key(post, self.at)])
        if told is not None:
            return told
        notice = self.say(post.message.id, f"I did not take this message: {why}. Please send it again in a minute.")
        reply = Post(message=notice, address=post.address, keys=(flood_key(post, self.at),))
        return self._insert(tx, replace(reply, session_id=home(tx, post, self.at)))

    def _tell(self, tx: Transaction, about: Record, text: str) -> None:
        self._insert(tx, about.beside(self.say(about.id, text)))

    def _insert(self, tx: Transaction, post: Post, mark: str | None = None) -> Record:
        return tx.messages.insert(post, session_id=post.session_id or "", at=self.at, superseded_turn=mark)
