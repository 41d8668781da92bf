"""Messages are identified, immutable values from the moment they exist: the vocabulary of creation and import."""

from collections.abc import Callable
from dataclasses import FrozenInstanceError, fields, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kesoku import (
    Address,
    Answer,
    Message,
    MessageRole,
    ModelSource,
    Record,
    SystemNote,
    ToolResult,
    ToolSource,
    UserPrompt,
    UserSource,
    create_assistant_message,
    create_message,
    create_tool_result_message,
    create_user_message,
    freeze_message,
    from_json,
    same_content,
    to_json,
)
from kesoku.errors import IdentityMissing, KindFixed, UnknownKind
from kesoku.history import compile_turns
from kesoku.messages import make
from kesoku.messages.content import Attachment
from kesoku.messages.enums import MessageStatus
from kesoku.messages.freeze import FrozenDict, thaw
from kesoku.messages.kinds import KINDS
from kesoku.messages.source import SOURCES, HookSource, source_from_dict
from kesoku.messages.turn import ResultBlock, TurnRequest

HI = [{"type": "text", "text": "hi"}]
USER = UserSource(user_id="7")
CREATED: dict[str, Callable[..., Message]] = {
    "message": lambda **more: create_message(role="user", content=HI, source=USER, **more),
    "user": lambda **more: create_user_message(content=HI, source=USER, **more),
    "assistant": lambda **more: create_assistant_message(content=HI, provider="p", model="m", **more),
    "tool result": lambda **more: create_tool_result_message(call_id="c1", content=HI, **more),
}


def each_way(test: Any) -> Any:
    return pytest.mark.parametrize("create", CREATED.values(), ids=CREATED)(test)


def test_a_created_message_has_an_id_role_content_and_source() -> None:
    # D-001
    message = CREATED["message"]()
    assert type(message) is UserPrompt
    assert message.id
    assert (message.role, message.rendered, message.source) == (MessageRole.USER, "hi", USER)


@pytest.mark.parametrize("missing", ["role", "content", "source"])
def test_nothing_of_that_may_be_missing(missing: str) -> None:
    # D-001, D-005
    given_: dict[str, Any] = {"role": "user", "content": HI, "source": USER}
    del given_[missing]
    with pytest.raises(TypeError, match=missing):
        create_message(**given_)


@each_way
def test_two_of_the_same_input_are_two_messages(create: Callable[..., Message]) -> None:
    # D-002, D-003
    one, other = create(), create()
    assert one.id
    assert one.id != other.id
    assert same_content(one, other)


@each_way
@pytest.mark.parametrize("name", ["id", "created_at", "version"])
def test_creation_is_not_import(create: Callable[..., Message], name: str) -> None:
    # D-004
    with pytest.raises(TypeError, match="restore"):
        create(**{name: "x"})


@each_way
def test_a_message_without_a_typed_source_is_refused(create: Callable[..., Message]) -> None:
    # D-005
    message = create()
    for cls in KINDS.values():
        with pytest.raises(TypeError):
            cls.create(content=None)  # type: ignore[call-arg]
        with pytest.raises(TypeError, match="takes Source, not str"):
            cls.create(source="user")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="takes Source, not NoneType"):
        replace(message, source=None)  # type: ignore[arg-type]


@pytest.mark.parametrize("field", ["role", "kind", "type"])
@pytest.mark.parametrize("name", ["user", "assistant", "tool result"])
def test_a_maker_fixes_what_it_makes(name: str, field: str) -> None:
    # D-006, D-007
    assert CREATED["user"]().role is MessageRole.USER
    with pytest.raises(TypeError, match=f"the {field} of a"):
        CREATED[name](**{field: "system"})


def test_a_user_message_comes_from_a_source_of_users() -> None:
    # D-006
    with pytest.raises(UnknownKind, match="user_prompt/model"):
        create_user_message(content=HI, source=ModelSource(provider="p", model="m"))
    with pytest.raises(UnknownKind, match="user/model"):
        create_message(role="user", content=HI, source={"kind": "model", "provider": "p", "model": "m"})


def test_an_assistant_message_comes_from_a_model() -> None:
    # D-007, D-008
    message = create_assistant_message(content=HI, provider="p", model="m")
    assert type(message) is Answer
    assert (message.role, message.author) == (MessageRole.ASSISTANT, "Kesoku")
    assert message.source.to_dict() == {"kind": "model", "provider": "p", "model": "m"}
    with pytest.raises(KindFixed):
        create_assistant_message(content=HI, provider="p", model="m", source=USER)
    stateful = create_assistant_message(content=HI, provider="p", model="m", replay_state={"s": [1]})
    assert stateful.source.to_dict()["replay_state"] == {"s": [1]}


@pytest.mark.parametrize("is_error", [False, True])
def test_a_tool_result_message_is_coupled_to_its_call(is_error: bool) -> None:
    # D-009, D-011
    message = create_tool_result_message(call_id="c1", content=HI, is_error=is_error, tool="t")
    assert type(message) is ToolResult
    assert message.source == ToolSource(call_id="c1")
    assert (message.request_id, message.success) == ("c1", not is_error)
    assert (message.result, message.content.error) == ((None, "hi") if is_error else ("hi", None))
    assert message.rendered == "hi"


def test_a_tool_result_goes_to_the_model_in_a_user_turn() -> None:
    # D-010
    here = Address(chatbot_id="b", channel_id="c")
    prompt = make.user_prompt("go", author="Chii")
    call = make.tool_call("t", {}, provider="p", model="m")
    answer = create_tool_result_message(call_id=call.id, content=HI, tool="t")
    placed = [
        Record(
            message=message,
            address=here,
            session_id="s",
            status=MessageStatus.PROCESSING if message is prompt else MessageStatus.RESPONDED,
            seq=number,
            session_n=number,
            parent_id=call.id if message is answer else prompt.id,
            turn_id=prompt.id,
            round=0 if message is prompt else 1,
        )
        for number, message in enumerate((prompt, call, answer), 1)
    ]
    request = compile_turns(placed, (), TurnRequest())
    (turn,) = [each for each in request.turns if isinstance(each.blocks[0], ResultBlock)]
    assert turn.role == "user"
    assert turn.blocks == (ResultBlock(call_id=call.id, name="t", output="hi"),)


CLASSES: dict[tuple[str, str], str] = {
    ("user", "user"): "user_prompt",
    ("user", "cron"): "user_prompt",
    ("assistant", "model"): "answer",
    ("assistant", "notice"): "notice",
    ("system", "system"): "system_prompt",
    ("system", "hook"): "system_note",
    ("system", "compaction"): "summary",
    ("tool", "tool"): "tool_result",
    ("action", "model"): "tool_call",
    ("unset", "user"): "message",
}
NEEDED = {"tool": {"call_id": "c"}, "model": {"provider": "p", "model": "m"}}


@pytest.mark.parametrize(("role", "source"), CLASSES)
def test_role_and_source_name_one_class(role: str, source: str) -> None:
    # D-012, D-013, D-054
    said = source_from_dict({"kind": source, **NEEDED.get(source, {})})
    message = create_message(role=role, content={}, source=said)
    assert message.kind == CLASSES[role, source]
    assert type(message) is KINDS[message.kind]
    assert type(message.id) is str


def test_there_is_no_second_shape_of_a_message() -> None:
    # D-054
    family: list[type[Message]] = [Message]
    for cls in family:
        family.extend(each for each in cls.__subclasses__() if each.__module__.startswith("kesoku."))
    assert {cls.__qualname__ for cls in family} == {cls.__qualname__ for cls in KINDS.values()}


def test_blocks_hold_text_images_and_files() -> None:
    picture = {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}
    file = Attachment(name="a.txt")
    content = create_user_message(content=["a", *HI, picture, file], source=USER).content
    assert (content.text, content.images, content.attachments) == ("ahi", ("https://example.com/a.png",), (file,))
    with pytest.raises(TypeError, match="a block of content is text, an image or an Attachment"):
        create_user_message(content=[{"type": "audio"}], source=USER)


def test_what_a_message_is_made_of_is_detached_from_it() -> None:
    # D-014
    blocks, cells = [dict(HI[0])], {"k": [1]}
    message = create_message(role="user", content=blocks, source=USER, metadata=cells)
    blocks[0]["text"] = "changed"
    blocks.append({"type": "text", "text": "more"})
    cells["k"].append(2)
    assert message.rendered == "hi"
    assert message.metadata == {"k": (1,)}


DEEP = UserPrompt.create(
    source=UserSource(platform_ids=FrozenDict(a={"b": [1]})),
    content={"context": [{"a": [1, {"b": 2}]}], "tool_schemas": [{"name": "t"}], "attachments": [{"name": "f"}]},
    metadata={"k": {"l": [1]}},
)
ATTEMPTS: dict[str, Callable[[Any], Any]] = {
    "id": lambda m: setattr(m, "id", "x"),
    "content": lambda m: setattr(m, "content", None),
    "text": lambda m: setattr(m.content, "text", "x"),
    "del text": lambda m: delattr(m.content, "text"),
    "append": lambda m: m.content.context.append(1),
    "del item": lambda m: m.content.context.__delitem__(0),
    "deep key": lambda m: m.content.context[0].__setitem__("a", 1),
    "deep append": lambda m: m.content.context[0]["a"].append(1),
    "deepest key": lambda m: m.content.context[0]["a"][1].pop("b"),
    "schema": lambda m: m.content.tool_schemas[0].update(name="u"),
    "file": lambda m: setattr(m.content.attachments[0], "name", "x"),
    "source": lambda m: setattr(m.source, "kind", "model"),
    "source field": lambda m: setattr(m.source, "user_id", "x"),
    "source cell": lambda m: m.source.platform_ids["a"].clear(),
    "metadata": lambda m: m.metadata.__setitem__("k", 1),
    "deep metadata": lambda m: m.metadata["k"].setdefault("m", 1),
    "sender": lambda m: setattr(m.sender, "name", "x"),
}


@pytest.mark.parametrize("attempt", ATTEMPTS.values(), ids=ATTEMPTS)
def test_a_message_refuses_every_change_at_every_depth(attempt: Callable[[Any], Any]) -> None:
    # D-015, D-016
    before = to_json(DEEP)
    with pytest.raises((FrozenInstanceError, AttributeError, TypeError)):
        attempt(DEEP)
    assert to_json(DEEP) == before


def test_content_that_two_messages_share_is_replaced_in_one_of_them() -> None:
    # D-018
    one = create_user_message(content=HI, source=USER)
    other = UserPrompt.create(source=USER, content=one.content)
    assert other.content is one.content
    changed = one.update(text="other")
    assert (changed.rendered, one.rendered, other.rendered) == ("other", "hi", "hi")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


def is_frozen(value: Any) -> bool:
    """Whether neither the value nor anything in it can change."""
    if isinstance(value, FrozenDict):
        return all(map(is_frozen, value.values()))
    return all(map(is_frozen, value)) if isinstance(value, tuple) else not isinstance(value, (dict, list, set))


@given(JSON, JSON)
def test_whatever_has_an_id_is_frozen_and_survives_json(one: Any, other: Any) -> None:
    # D-019
    made: list[Message] = [
        create_message(role="unset", content=one, source={"kind": "relay"}, metadata={"k": other}),
        UserPrompt.create(source=USER, content={"context": [one], "tool_schemas": [{"x": other}]}),
        make.tool_call("t", {"a": one}, provider="p", model="m", replay_state=other),
        *make.respond(make.tool_call("t", {"a": one}, provider="p", model="m"), other),
    ]
    for message in (*made, *map(freeze_message, made), *(from_json(to_json(each)) for each in made)):
        held = [message.metadata, message.content, *(getattr(message.source, f.name) for f in fields(message.source))]
        if hasattr(message.content, "to_dict"):
            held += [getattr(message.content, each.name) for each in fields(message.content)]
        assert all(map(is_frozen, held))
    assert [from_json(to_json(each)).to_dict() for each in made] == [each.to_dict() for each in made]


@pytest.mark.parametrize(
    "form",
    [
        {"id": "m1", "role": "user", "content": HI, "source": {"kind": "user", "user_id": "7"}},
        {"id": "m1", "role": "user", "content": {"text": "hi"}, "source": USER},
        {"id": "m1", "kind": "user_prompt", "content": {"text": "hi"}, "source": {"kind": "user", "user_id": "7"}},
    ],
    ids=["role and blocks", "role and values", "kind"],
)
def test_an_imported_message_keeps_its_id_and_is_frozen(form: dict[str, Any]) -> None:
    # D-020, D-023
    cells = {"k": [1]}
    message = freeze_message({**form, "metadata": cells, "created_at": 1.5})
    cells["k"].append(2)
    assert type(message) is UserPrompt
    assert (message.id, message.created_at, message.rendered, message.source) == ("m1", 1.5, "hi", USER)
    assert thaw(message.metadata) == {"k": [1]}


@pytest.mark.parametrize("form", [{"role": "user"}, {"kind": "user_prompt"}, {"role": "user", "id": ""}])
def test_an_import_without_an_id_is_refused(form: dict[str, Any]) -> None:
    # D-021
    with pytest.raises(IdentityMissing):
        freeze_message({**form, "content": {}, "source": {"kind": "user"}})


def test_an_import_without_a_source_is_refused() -> None:
    # D-005
    for form in ({"id": "m", "role": "user"}, {"id": "m", "kind": "user_prompt"}):
        with pytest.raises(UnknownKind, match="source kind None"):
            freeze_message(form)


def test_freezing_what_is_frozen_changes_nothing() -> None:
    # D-022
    again = freeze_message(DEEP)
    assert again == DEEP
    assert again.to_dict() == DEEP.to_dict()


def test_a_stored_row_is_imported_under_its_id() -> None:
    # D-024
    stored = to_json(DEEP)
    assert from_json(stored).id == from_json(stored).id == DEEP.id


def test_context_beside_a_prompt_is_a_message_of_its_own() -> None:
    # D-027
    prompt = create_user_message(content=HI, source=USER)
    note = create_message(role="system", content="the user likes tea", source=HookSource(hook="memory"))
    assert type(note) is SystemNote
    assert note.id != prompt.id
    assert prompt.update(text="hi again").id == prompt.id


@pytest.mark.parametrize("change", [{"role": "assistant"}, {"kind": "answer"}, {"type": "thought"}])
def test_no_rewrite_makes_a_message_of_another_class(change: dict[str, Any]) -> None:
    # D-033
    prompt = create_user_message(content=HI, source=USER)
    with pytest.raises(TypeError, match="is fixed"):
        prompt.update(**change)
    with pytest.raises(TypeError, match="takes PromptContent"):
        prompt.update(content=CREATED["assistant"]().content)


def test_sources_are_typed_and_some_are_always_there() -> None:
    # D-052
    assert SOURCES.keys() >= {"user", "model", "tool", "system"}
    assert {each.name for each in fields(SOURCES["model"])} >= {"provider", "model", "replay_state"}
    assert {each.name for each in fields(SOURCES["tool"])} >= {"call_id"}
    assert source_from_dict({"kind": "tool", "call_id": "c"}) == ToolSource(call_id="c")


def test_replay_state_is_in_no_text() -> None:
    # D-053
    message = create_assistant_message(content=HI, provider="p", model="m", replay_state="secret")
    assert message.chat_msg == {"role": "assistant", "content": "hi"}
    assert "secret" not in message.text


def test_messages_that_say_the_same_are_not_taken_for_each_other() -> None:
    # D-055
    one, other = CREATED["user"](), CREATED["user"]()
    assert len({one, other}) == 2
    assert len({one, freeze_message(one)}) == 1
    assert one != one.update(text="hi")


def test_an_envelope_has_a_key_of_its_own_beside_the_id() -> None:
    # D-056
    message = CREATED["user"]()
    here = Address(chatbot_id="b", channel_id="c")
    record = Record(message=message, address=here, session_id="s", status=MessageStatus.PENDING_AGENT, seq=9)
    assert (record.seq, record.id) == (9, message.id)
    assert record.to_row()["id"] == record.to_dict()["id"] == message.id
