"""Which changes have which word, and which hooks hear of them."""

import itertools
from dataclasses import replace
from typing import Any

import pytest

from kesoku.config.hook_event import HOOK_EVENTS
from kesoku.hooks.filter import Filter, event_of
from kesoku.messages import make
from kesoku.messages.enums import MessageStatus as S
from kesoku.messages.kinds import KINDS
from kesoku.messages.lifecycle import IMPORTER, Change, ChangeKind
from kesoku.messages.message import Message
from kesoku.messages.record import Address, Record

MODEL: dict[str, Any] = {"provider": "offline", "model": "m"}
CALL = make.tool_call("clock", {}, **MODEL)
MESSAGES: dict[str, Message] = {
    "prompt": make.user_prompt("hi", author="Ada", user_id="1"),
    "note": make.hook_note("be kind", hook="rules"),
    "thought": make.thought("hm", **MODEL),
    "answer": make.answer("hello", **MODEL),
    "error": make.error_answer("it broke"),
    "notice": make.notice("done", reason="reply"),
    "tool_call": CALL,
    "tool_result": make.respond(CALL, "noon")[1],
}


def change(what: str, kind: ChangeKind, *, after: S | None = None, at: str = "discord:1") -> Change:
    bot, _, channel = at.partition(":")
    record = Record(
        message=MESSAGES[what],
        address=Address(chatbot_id=bot, channel_id=channel),
        session_id="s",
        status=after or S.PENDING,
    )
    return Change(seq=1, at=1, kind=kind, record=record, after=after)


INSERTED, MOVED, REPLACED = ChangeKind.INSERTED, ChangeKind.MOVED, ChangeKind.REPLACED
WORDS: list[tuple[Change, str | None]] = [
    *((change(what, INSERTED, after=S.PENDING), what) for what in MESSAGES),
    (change("prompt", MOVED, after=S.PROCESSING), "started"),
    (change("prompt", MOVED, after=S.PROCESSED), "processed"),
    (change("prompt", MOVED, after=S.ERROR), "failed"),
    (change("prompt", MOVED, after=S.INTERRUPTED), "interrupted"),
    (change("prompt", MOVED, after=S.PENDING_AGENT), "requeued"),
    (change("answer", MOVED, after=S.DELIVERED), "delivered"),
    (change("notice", MOVED, after=S.ERROR), "refused"),
    (change("prompt", REPLACED), "edited"),
    # What is hidden is not delivered, a call is not interrupted, and its link to its result is no edit.
    (change("thought", MOVED, after=S.DELIVERED), None),
    (change("tool_call", MOVED, after=S.INTERRUPTED), None),
    (change("tool_call", REPLACED), None),
]


@pytest.mark.parametrize(("given", "word"), WORDS, ids=[f"{c.record.kind}-{c.kind}-{c.after}" for c, _ in WORDS])
def test_a_change_has_the_word_that_people_would_use(given: Change, word: str | None) -> None:
    assert event_of(given) == word


def test_every_word_but_the_summary_is_in_the_table_above() -> None:
    assert {word for _, word in WORDS} | {"summary"} == {each.word for each in HOOK_EVENTS} | {None}


def test_no_two_words_name_the_same_change() -> None:
    sources = {each.source for each in HOOK_EVENTS} | {"other"}
    for kind, source, how, after in itertools.product(KINDS, sources, ChangeKind, S):
        found = [
            each.word
            for each in HOOK_EVENTS
            if (each.change == how and kind in each.kinds) and each.source in {"", source} and each.after in {"", after}
        ]
        assert len(found) <= 1, (kind, source, how, after)


PLACES = [
    ({}, "discord:1", True),
    ({"bots": ["discord"]}, "discord:1", True),
    ({"bots": ["discord"]}, "room:1", False),
    ({"channels": ["discord:1"]}, "discord:1", True),
    ({"channels": ["discord:1"]}, "discord:2", False),
    ({"bots": ["room"], "channels": ["discord:1"]}, "room:7", True),
    ({"bots": ["room"], "channels": ["discord:1"]}, "discord:1", True),
    ({"bots": ["room"], "channels": ["discord:1"]}, "discord:2", False),
]


@pytest.mark.parametrize(("places", "at", "heard"), PLACES)
def test_bots_and_channels_add_up_and_none_of_them_mean_all(places: dict[str, Any], at: str, heard: bool) -> None:
    wants = Filter(events=["answer"], **places)
    assert wants.accepts(change("answer", INSERTED, at=at)) is heard
    assert not wants.accepts(change("thought", INSERTED, at=at))


def test_what_was_imported_is_no_news() -> None:
    news = change("answer", INSERTED)
    assert Filter(events=["answer"]).accepts(news)
    assert not Filter(events=["answer"]).accepts(replace(news, actor=IMPORTER))
