"""A look at the mail in the middle of a turn shows no more than a model gets to see."""

from typing import Any

from kesoku.exchange import StoreExchange
from kesoku.exchange.agents import SessionAgents
from kesoku.messages.record import Record
from kesoku.testing.gateway_harness import EVERYTHING

from .office import Office

ROOM = 2_000
LONG = "y" * 700


async def test_letters_that_a_model_does_not_get_to_see_stay_unread() -> None:
    """The result of a tool is cut where it is too long, and what was cut off nobody would ever read."""
    office = Office({})
    office.agents = SessionAgents(office.store, office.clock, office.postman, serving=EVERYTHING, room=ROOM)
    prompt = await office.say("hello")
    owner = await office.named(prompt.session_id, "me")
    mail = StoreExchange(office.store)
    sent = [(await mail.send(owner, owner, text)).id for text in (LONG, LONG, LONG, "z" * ROOM)]
    await mail.collect(owner)
    claim = await office.claim()

    async def look(call: Record) -> list[Any]:
        found = await office.agents.check(session_id=prompt.session_id, call_id=call.id, channel=None, take=True)
        await office.result(claim, call)
        return [each.get("mail_id", each) for each in found]

    looks = [await look(await office.call(claim, n=n)) for n in (1, 2, 3)]
    assert looks == [[*sent[:2], {"not_shown": 2}], [sent[2], {"not_shown": 1}], [{"not_shown": 1}]]
    await office.finish(claim)
    assert [each.id for each in await office.inbox(prompt.session_id)] == sent[3:]
