"""What every ledger must do: deliveries, small state, questions; part of `kesoku.testing.store_contract`."""

# ruff: noqa: S101 - a contract is made of assertions

from dataclasses import replace

import pytest

from kesoku.errors import StoreConflict
from kesoku.messages import make
from kesoku.messages.content import Question
from kesoku.messages.freeze import FrozenDict
from kesoku.messages.lifecycle import Asked, Purpose
from kesoku.messages.lifecycle import DeliveryState as D
from kesoku.messages.record import Address
from kesoku.ports import Store
from kesoku.testing.store_material import ELSEWHERE, HERE, THERE, add, part, prompt, said, serving

FINAL, LIVE = Purpose.FINAL, Purpose.LIVE


async def ask(store: Store, asked: Asked) -> None:
    """Store a question."""
    await store.write(lambda tx: tx.questions.add(asked))


class LedgerContract:
    """The behaviour of `DeliveryStore`, `StateStore` and `QuestionStore`."""

    async def test_a_plan_is_kept_as_it_was_made_first(self, store: Store) -> None:
        (told,) = await store.write(add(said(make.notice("n"))))
        first = [part(told, 0, body='{"text": "a \ud800"}'), part(told, 1)]
        assert await store.write(lambda tx: tx.deliveries.plan(first)) == first
        again = [part(told, 0, body="other"), part(told, 2)]
        assert await store.write(lambda tx: tx.deliveries.plan(again)) == [first[0], again[1]]
        assert await store.read(lambda tx: tx.deliveries.of(told.id)) == [*first, again[1]]
        assert await store.read(lambda tx: tx.deliveries.of(told.id, LIVE)) == []
        assert await store.write(lambda tx: tx.deliveries.plan([])) == []

    async def test_a_part_moves_by_compare_and_set(self, store: Store) -> None:
        (told,) = await store.write(add(said(make.notice("n"))))
        await store.write(lambda tx: tx.deliveries.plan([part(told, 0), part(told, 1)]))

        async def move(to: D, at: int, **changes: object) -> object:
            return await store.write(lambda tx: tx.deliveries.move(told.id, 0, FINAL, to, at=at, **changes))

        assert await move(D.SENT, 1) is None
        sending = await move(D.SENDING, 2, attempts=1)
        assert sending == replace(part(told), state=D.SENDING, attempts=1, first_sent_at=2)
        await move(D.PLANNED, 3, next_attempt_at=9, error="busy")
        await move(D.SENDING, 4, attempts=2)
        sent = await move(D.SENT, 5, platform_ids=("m1", "m2"), error=None)
        assert sent == replace(
            part(told),
            state=D.SENT,
            attempts=2,
            first_sent_at=2,
            next_attempt_at=9,
            platform_ids=("m1", "m2"),
        )
        assert await store.read(lambda tx: tx.deliveries.of(told.id)) == [sent, part(told, 1)]
        assert await move(D.SENDING, 6) is None
        assert await store.write(lambda tx: tx.deliveries.move("none", 0, FINAL, D.SENDING, at=1)) is None
        with pytest.raises(TypeError):
            await store.write(lambda tx: tx.deliveries.move(told.id, 1, FINAL, D.SENDING, at=1, colour="red"))

    async def test_parts_are_found_by_their_state(self, store: Store) -> None:
        here, there, elsewhere = await store.write(
            add(*(said(make.notice("n"), at=at) for at in (HERE, THERE, ELSEWHERE)))
        )
        await store.write(lambda tx: tx.deliveries.plan([part(each) for each in (there, here, elsewhere)]))
        await store.write(lambda tx: tx.deliveries.plan([part(here, purpose=LIVE)]))
        await store.write(lambda tx: tx.deliveries.move(here.id, 0, FINAL, D.SENDING, at=1))

        async def found(state: D, *served: Address) -> list[str]:
            who = serving(*served)
            return [each.message_id for each in await store.read(lambda tx: tx.deliveries.by_state(who, state))]

        assert await found(D.PLANNED, HERE.whole) == [there.id]
        assert await found(D.PLANNED, HERE.whole, THERE, ELSEWHERE) == [there.id, elsewhere.id]
        assert await found(D.SENDING, HERE) == [here.id]
        assert await found(D.SENDING, THERE) == []
        for state in set(D) - {D.PLANNED, D.SENDING}:
            assert await found(state, HERE.whole) == []

    async def test_a_live_message_is_edited_and_goes(self, store: Store) -> None:
        # N-18
        (asker,) = await store.write(add(prompt()))
        shown = part(asker, purpose=LIVE)
        await store.write(lambda tx: tx.deliveries.plan([shown]))
        edited = replace(shown, body="next", hash="h", platform_ids=("m9",))
        await store.write(lambda tx: tx.deliveries.edit(edited))
        assert await store.read(lambda tx: tx.deliveries.live(serving(HERE.whole))) == [edited]
        assert await store.read(lambda tx: tx.deliveries.live(serving(THERE))) == []
        await store.write(lambda tx: tx.deliveries.plan([part(asker)]))
        await store.write(lambda tx: tx.deliveries.remove(asker.id, LIVE))
        assert await store.read(lambda tx: tx.deliveries.live(serving(HERE))) == []
        assert await store.read(lambda tx: tx.deliveries.of(asker.id)) == [part(asker)]

    async def test_small_values_are_json(self, store: Store) -> None:
        value = {"a": [1, 2.5, None, True], "ü \ud800": {"b": "\x00"}}
        await store.write(lambda tx: tx.state.set("discord", "cursor", {"old": 1}))
        await store.write(lambda tx: tx.state.set("discord", "cursor", value))
        await store.write(lambda tx: tx.state.set("wechat", "cursor", 7))
        assert await store.read(lambda tx: tx.state.get("discord", "cursor")) == value
        assert await store.read(lambda tx: tx.state.get("wechat", "cursor")) == 7
        for _ in range(2):
            await store.write(lambda tx: tx.state.set("discord", "cursor", None))
        assert await store.read(lambda tx: tx.state.get("discord", "cursor")) is None

    async def test_a_question_is_answered_once(self, store: Store) -> None:
        asked = [
            Asked(
                question=Question(id=f"q{n}", text="Really?", choices=("yes", "no"), deadline=12.5),
                turn_id="t1",
                address=HERE,
                purpose=FrozenDict(call="c1"),
                who=("u1",),
            )
            for n in (2, 1)
        ]
        await ask(store, asked[0])
        await ask(store, asked[1])
        with pytest.raises(StoreConflict):
            await ask(store, asked[0])
        assert await store.read(lambda tx: tx.questions.open(HERE)) == asked
        assert await store.read(lambda tx: tx.questions.open(THERE)) == []
        assert await store.read(lambda tx: tx.questions.get("none")) is None

        async def answer(question_id: str, by: str) -> bool:
            return await store.write(lambda tx: tx.questions.answer(question_id, choice="yes", by=by, at=3))

        assert [await answer("q2", "u1"), await answer("q2", "u2"), await answer("none", "u1")] == [True, False, False]
        answered = replace(asked[0], answer="yes", answered_by="u1", answered_at=3)
        assert await store.read(lambda tx: tx.questions.get("q2")) == answered
        assert await store.read(lambda tx: tx.questions.open(HERE)) == asked[1:]
