"""Where the people of an agent are: what it may do, where it works and who is asked follow from there."""

from collections.abc import Awaitable, Callable
from dataclasses import replace

from kesoku.exchange.kin import Kin, is_desk, kin_of
from kesoku.messages.content import Question
from kesoku.messages.lifecycle import Claim
from kesoku.messages.profile import Profile
from kesoku.messages.record import Address, Record
from kesoku.ports import Approver, Clock, Store
from kesoku.render.sanitise import printable_name
from kesoku.tools.patience import retry


class Homes:
    """Knows the homes of the agents that work in this process, for those who cannot ask the store."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store, self._clock = store, clock
        self._known: dict[str, Kin] = {}

    def before(self, work: Callable[[Claim], Awaitable[None]]) -> Callable[[Claim], Awaitable[None]]:
        """The same work, with the home of its agent known."""

        async def informed(claim: Claim) -> None:
            await self.learn(claim.prompt)
            await work(claim)

        return informed

    async def learn(self, record: Record) -> Kin | None:
        """The agent at whose desk a record stands; None for a place where people are."""
        session_id = record.session_id
        if not is_desk(record.address):
            return None
        if session_id not in self._known:
            kin = await retry(
                "look up an agent",
                lambda: self._store.read(lambda tx: kin_of(tx, session_id)),
                sleep=self._clock.sleep,
            )
            if kin is None:
                return None
            self._known[session_id] = kin
        return self._known[session_id]

    def of(self, record: Record) -> Record:
        """A record as if its agent's people had it in front of them; one that stands before people stays as it is."""
        kin = self._known.get(record.session_id) if is_desk(record.address) else None
        return record if kin is None else replace(record, address=kin.home, session_id=kin.root)

    def place(self, address: Address) -> Address:
        """Where the people behind a place are."""
        kin = self._known.get(address.channel_id) if is_desk(address) else None
        return address if kin is None else kin.home

    def profile(self, address: Address) -> Profile | None:
        """Which model and role the agent at a desk has; None for a place where people are."""
        kin = self._known.get(address.channel_id) if is_desk(address) else None
        return None if kin is None else kin.profile


class HomeApprover:
    """Asks the people of an agent where they are, and tells them who asks."""

    def __init__(self, people: Approver, homes: Homes) -> None:
        self._people, self._homes = people, homes

    async def ask(self, question: Question, *, call: Record, admins_only: bool) -> str | None:
        """What people say. The answer `always` holds for the whole conversation, agents included."""
        kin = await self._homes.learn(call)
        if kin is not None:
            question = replace(question, text=f"Agent {printable_name(kin.name)}: {question.text}")
        return await self._people.ask(question, call=self._homes.of(call), admins_only=admins_only)
