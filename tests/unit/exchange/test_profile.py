"""Agents have the model and the role of whoever gave them their first task."""

from kesoku.exchange.home import Homes
from kesoku.exchange.kin import Kin, children_of, kin_of
from kesoku.messages import make
from kesoku.messages.profile import NONE, Profile
from kesoku.messages.record import Post, Record
from kesoku.ports import Transaction
from kesoku.testing.gateway_harness import ROOM
from kesoku.testing.waiting import until

from .office import Office, spawn

COOK = Profile(model="pro", role="cook")


async def asks(office: Office, text: str, profile: Profile) -> Record:
    message = make.user_prompt(text, author="Ada", user_id="id-Ada", model=profile.model, role=profile.role)
    (record,) = await office.gateway.accept([Post(message=message, address=ROOM)])
    return record


async def line(office: Office, asked: Record, depth: int) -> list[Kin]:
    """The first agent of a conversation, its first agent, and so on, once they are there."""

    def read(tx: Transaction) -> list[Kin]:
        found: list[Kin] = []
        while children := children_of(tx, found[-1].session_id if found else asked.session_id):
            found.append(children[0])
        return found

    async def deep() -> bool:
        return len(await office.store.read(read)) >= depth

    await until(deep, what="agents")
    return await office.store.read(read)


async def test_children_and_their_children_inherit_what_the_opener_asked_for() -> None:
    office = Office({"dinner": spawn("scout", "shopping"), "shopping": spawn("runner", "carry"), "carry": "done"})
    async with office.open():
        asked = await asks(office, "dinner", COOK)
        scout, runner = await line(office, asked, 2)
    assert (scout.profile, runner.profile) == (COOK, COOK)


async def test_a_home_knows_the_profile_of_an_agent_and_of_nobody_else() -> None:
    office = Office({"dinner": spawn("scout", "shopping"), "shopping": "done"})
    async with office.open():
        asked = await asks(office, "dinner", COOK)
        (scout,) = await line(office, asked, 1)
    homes = Homes(office.store, office.clock)
    task = (await office.store.read(lambda tx: tx.messages.session(scout.session_id)))[-1]
    assert homes.profile(task.address) is None  # not learned yet
    await homes.learn(task)
    assert (homes.profile(task.address), homes.profile(ROOM)) == (COOK, None)


async def test_the_row_of_an_agent_is_as_it_was_where_nothing_is_asked_for() -> None:
    office = Office({"dinner": spawn("scout", "shopping"), "shopping": "done"})
    async with office.open():
        asked = await asks(office, "dinner", NONE)
        (scout,) = await line(office, asked, 1)
    row = await office.store.read(lambda tx: tx.state.get("kin", scout.session_id))
    assert set(row or ()) == {"parent", "name", "depth", "root", "home", "bot"}
    found = await office.store.read(lambda tx: kin_of(tx, scout.session_id))
    assert found is not None
    assert found.profile == NONE
