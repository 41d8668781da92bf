"""Whatever text or JSON a message is made of comes back as it was."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kesoku.errors import NotStorable
from kesoku.messages import make
from kesoku.messages.content import Attachment, PromptContent
from kesoku.messages.enums import MessageStatus as S
from kesoku.messages.freeze import freeze
from kesoku.messages.kinds import UserPrompt
from kesoku.messages.message import Message
from kesoku.messages.record import Address, Post
from kesoku.messages.source import RelaySource, UserSource
from kesoku.store.mapping import METADATA_LIMIT
from kesoku.testing.store_material import MODEL, add, prompt, said
from kesoku.testing.sync_store import SyncStore

ANY_TEXT = st.text(st.characters(codec=None), max_size=40)
"""Lone surrogates and NUL included."""
NAME = ANY_TEXT.filter(bool)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(ANY_TEXT, inner, max_size=4),
    max_leaves=12,
)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> SyncStore:
    return SyncStore(tmp_path_factory.mktemp("text") / "kesoku.db")


@given(text=ANY_TEXT, author=ANY_TEXT, user=ANY_TEXT, bot=NAME, channel=NAME, key=NAME, session=NAME, extra=JSON)
def test_any_text_survives(
    shared: SyncStore, text: str, author: str, user: str, bot: str, channel: str, key: str, session: str, extra: Any
) -> None:
    message = UserPrompt.create(
        content=PromptContent(text=text, attachments=(Attachment(name=text, path=key),)),
        source=UserSource(user_id=user, platform_ids=freeze({key: text})),
        author=author,
        channel=channel,
        metadata=freeze({key: extra}),
    )
    post = Post(message=message, address=Address(chatbot_id=bot, channel_id=channel), parent_id=key, turn_id=text)
    (stored,) = shared.run(add(post, session=session))
    read = shared.run(lambda tx: tx.messages.get(message.id))
    assert read is not None
    assert read == stored
    assert read.message.to_dict() == message.to_dict()
    assert shared.run(lambda tx: tx.messages.tail(session, 1)) == [stored]
    load = shared.run(lambda tx: tx.messages.load(post.address, user, since=0, until=99, most=9))
    assert min(load.here, load.total, load.spoken) > 0
    shared.run(lambda tx: tx.messages.add_keys(bot, [f"{message.id}{key}"], message.id))
    assert shared.run(lambda tx: tx.messages.find(bot, [f"{message.id}{key}"])) == stored
    assert shared.run(add(post, session=session)) == [stored]


@given(arguments=st.dictionaries(ANY_TEXT, JSON, max_size=4), output=JSON, error=ANY_TEXT)
def test_any_json_survives(shared: SyncStore, arguments: dict[str, Any], output: Any, error: str) -> None:
    call = make.tool_call("t", arguments, **MODEL)
    answered, result = make.respond(call, output, error=error)
    shared.run(add(said(call), said(result, parent_id=call.id)))
    shared.run(lambda tx: tx.messages.rewrite(answered, actor=error, at=1))
    read = shared.run(lambda tx: [tx.messages.get(each.id) for each in (call, result)])
    assert [each.message.to_dict() for each in read if each] == [answered.to_dict(), result.to_dict()]
    assert shared.run(add(said(call))) == read[:1]


def noticed(created_at: float) -> Message:
    """A notice made at a certain time."""
    new = make.notice("n")
    return type(new).restore(id=new.id, source=new.source, content=new.content, created_at=created_at)


@given(made=st.floats(min_value=-1e9, max_value=4e9))
def test_times_are_exact_to_the_microsecond(shared: SyncStore, made: float) -> None:
    # Until 2106: from then on a float itself is less exact than that.
    message = noticed(round(made, 6))
    shared.run(add(said(message)))
    read = shared.run(lambda tx: tx.messages.get(message.id))
    assert read is not None
    assert read.message.created_at == message.created_at


@pytest.mark.parametrize(
    "message",
    [
        make.thought("x", replay_state=b"bytes", **MODEL),
        make.thought("x", replay_state=object(), **MODEL),
        make.tool_call("t", {"value": math.nan}, **MODEL),
        make.tool_call("t", {"value": {1, 2, object()}}, **MODEL),
        noticed(math.inf),
        noticed(math.nan),
        noticed(1e30),
        Message.create(source=RelaySource(), content="mail"),
        UserPrompt.create(source=UserSource(), metadata={"big": "ü" * (METADATA_LIMIT // 2)}),
    ],
)
def test_what_has_no_stored_form_is_refused(shared: SyncStore, message: Message) -> None:
    # N-14
    with pytest.raises(NotStorable) as caught:
        shared.run(add(said(message, status=S.RESPONDED)))
    assert caught.value.message_id == message.id
    assert shared.run(lambda tx: tx.messages.get(message.id)) is None


def test_metadata_up_to_the_limit_is_stored(shared: SyncStore) -> None:
    message = UserPrompt.create(source=UserSource(), metadata={"big": "ü" * (METADATA_LIMIT // 2 - 100)})
    shared.run(add(said(message)))
    read = shared.run(lambda tx: tx.messages.get(message.id))
    assert read is not None
    assert read.message.metadata == message.metadata


def test_deep_json_is_stored_or_refused(shared: SyncStore) -> None:
    nested: Any = 1
    for depth in range(300):
        nested = [nested]
        if depth % 50 == 0:
            shared.run(add(said(make.tool_call("t", {"value": nested}, **MODEL))))


def test_large_texts_are_stored(shared: SyncStore) -> None:
    text = "🎈" * 3_000_000
    (stored,) = shared.run(add(prompt(text)))
    read = shared.run(lambda tx: tx.messages.get(stored.id))
    assert read is not None
    assert read.message.rendered == text
