"""/compact: let a summary stand for the past (R-6, K-029)."""

from kesoku.adapter.command import Argument, Invocation
from kesoku.agent.compaction import TAIL
from kesoku.agent.view import Viewer
from kesoku.commands.here import deed_keys, session_here
from kesoku.commands.registry import SlashCommand, command
from kesoku.errors import NotPossible
from kesoku.messages import make
from kesoku.messages.branch import Branch
from kesoku.messages.record import Post
from kesoku.ports import Gateway, Store, Transaction


class Compact:
    """What the command acts on."""

    def __init__(self, *, gateway: Gateway, store: Store, viewer: Viewer) -> None:
        self._gateway, self._store, self._viewer = gateway, store, viewer

    def commands(self) -> tuple[SlashCommand, ...]:
        """The one command."""
        undo = Argument(name="undo", description="read again what was summed up", choices=("undo",))
        return (command("compact", "let the model sum up what was said, and go on with that", self.compact, undo),)

    async def compact(self, invocation: Invocation) -> str:
        """Ask for a summary, behind what runs and waits; or go back behind the last one."""
        if invocation.arguments.get("undo"):
            return await self._undo(invocation)
        session_id, waits = await self._store.read(lambda tx: self._ready(tx, invocation))
        message = make.compaction_prompt(user_id=invocation.principal.user_id)
        keys = deed_keys(invocation)
        await self._gateway.post(Post(message=message, address=invocation.address, session_id=session_id, keys=keys))
        return f"The model sums up what was said{' once that is answered which waits' if waits else ''}."

    def _ready(self, tx: Transaction, invocation: Invocation) -> tuple[str, bool]:
        """The session, and whether anything runs or waits in it. Raises NotPossible where there is too little."""
        session = session_here(tx, invocation.address)
        view = self._viewer.view(tx, session, invocation.address)
        answered = sum(1 for each in view.records if each.kind == "answer")
        if answered <= TAIL:
            raise NotPossible(what="compact this", why=f"the last {TAIL} turns stay as they are, and there are no more")
        lease = tx.leases.get(session.id)
        return session.id, bool(tx.messages.queued(session.id)) or (lease is not None and lease.owner is not None)

    async def _undo(self, invocation: Invocation) -> str:
        session = await self._store.read(lambda tx: session_here(tx, invocation.address))

        def choose(_: Transaction, branch: Branch, last: int) -> Branch:
            if branch.summary is None or not branch.cleared:
                raise NotPossible(what="undo this", why=_no_undo(branch))
            return branch.restoring(last)

        by = invocation.principal.user_id
        done = await self._gateway.select(session.id, choose, by=by, reason="compaction undone")
        stopped = " What was running or waiting here is stopped." if done.interrupted else ""
        return f"The model reads again, word for word, what was summed up.{stopped}"


def _no_undo(branch: Branch) -> str:
    """Why there is no compaction to take back."""
    if branch.summary is not None:
        return "it was summed up on another branch; /branch lists them"
    if branch.cleared and branch.cleared[-1].summary is not None:
        return "what was summed up was cleared since; /clear undo comes first"
    return f"nothing was compacted on the branch {branch.name}, or it was undone already"
