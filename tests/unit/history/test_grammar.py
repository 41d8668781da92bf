"""Whatever was stored and wherever it was cut, the request obeys the grammar (K-224; complaints 50 to 55)."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from kesoku.history.compile import CompileLimits, compile_turns
from kesoku.messages import make
from kesoku.messages.content import Attachment
from kesoku.messages.enums import MessageStatus
from kesoku.messages.record import Record
from kesoku.messages.turn import CallBlock, CompiledRequest, ResultBlock, TextBlock, TurnRequest
from kesoku.testing.grammar import violations
from kesoku.testing.talk import Talk

ACTIONS = (
    "prompt",
    "interrupted",
    "waiting",
    "wakeup",
    "cron",
    "summary",
    "thought",
    "call",
    "result",
    "answer",
    "error",
    "note",
    "notice",
    "round",
    "step",
    "empty step",
)


def act(talk: Talk, action: str, n: int) -> None:
    """One event of a session's life, in any order, sensible or not."""
    opened: list[Record] = [
        each for each in talk.records if each.kind == "tool_call" and not each.message.content.response_id
    ]
    match action:
        case "prompt" | "interrupted" | "waiting":
            status = {"interrupted": MessageStatus.INTERRUPTED, "waiting": MessageStatus.PENDING_AGENT}
            files = (Attachment(name="f", path="/f" if n % 2 else None),) if n % 3 == 0 else ()
            talk.prompt(
                f"p{n}" if n % 4 else "",
                author=f"author {n % 2}",
                files=files,
                status=status.get(action, MessageStatus.PROCESSED),
            )
        case "wakeup":
            talk.opens(make.wakeup(f"job{n}", "out"))
        case "cron":
            talk.opens(make.cron_prompt("tick"))
        case "summary":
            talk.opens(make.summary("once", covered=()), status=MessageStatus.RESPONDED)
        case "thought":
            talk.thought(f"t{n}" if n % 5 else "", interim=n % 2 == 0)
        case "call":
            talk.call(f"tool{n % 3}", {"n": n}, signature=b"s" if n % 2 else None)
        case "result" if opened:
            talk.result(opened[n % len(opened)], f"r{n}", error="e" if n % 4 == 0 else None)
        case "answer":
            talk.answer(f"a{n}" if n % 5 else "")
        case "error":
            talk.error(f"e{n}")
        case "note":
            talk.nudge(f"n{n}")
        case "notice":
            talk.add(make.notice("hm"))
        case "round":
            talk.round += 1
        case "step" if talk.turn:
            talk.step(
                TextBlock(text=f"t{n}", thought=True),
                *(CallBlock(call_id="", name="s", arguments={}, signature=b"x") for _ in range(n % 4)),
                *([TextBlock(text="said")] if n % 2 else []),
            )
        case "empty step" if talk.turn:
            talk.step()


events = st.lists(st.tuples(st.sampled_from(ACTIONS), st.integers(0, 11)), max_size=30)


@st.composite
def talks(draw: Any) -> Talk:
    talk = Talk(stamped=draw(st.booleans()))
    for action, n in draw(events):
        act(talk, action, n)
    return talk


def pairs(request: CompiledRequest) -> list[str]:
    return [each.call_id for turn in request.turns for each in turn.blocks if isinstance(each, ResultBlock)]


providers = st.sampled_from(["scripted", "other", None])


@given(talks(), providers)
def test_any_history_makes_a_valid_request(talk: Talk, provider: str | None) -> None:
    # K-224
    request = compile_turns(talk.records, talk.steps, TurnRequest(), provider=provider)
    assert violations(request) == []
    assert len(set(pairs(request))) == len(pairs(request))


@given(talks(), st.data())
def test_any_turn_may_be_the_active_one(talk: Talk, data: st.DataObject) -> None:
    turns = [each.id for each in talk.records] or [""]
    request = compile_turns(talk.records, talk.steps, TurnRequest(), active_turn=data.draw(st.sampled_from(turns)))
    assert violations(request) == []


@given(talks(), st.integers(0, 30), st.integers(0, 30))
def test_any_slice_of_a_history_makes_a_valid_request(talk: Talk, start: int, length: int) -> None:
    request = compile_turns(talk.records[start : start + length], talk.steps, TurnRequest(), provider="scripted")
    assert violations(request) == []


@given(talks(), st.data())
def test_any_selection_in_any_order(talk: Talk, data: st.DataObject) -> None:
    ids = [each.id for each in talk.records]
    chosen = data.draw(st.lists(st.sampled_from(ids), unique=True)) if ids else []
    request = compile_turns(talk.records, talk.steps, TurnRequest(), chosen, provider="scripted")
    assert violations(request) == []
    results = {
        each.message.content.request_id for each in talk.records if each.id in chosen and each.kind == "tool_result"
    }
    answered = {each.id for each in talk.records if each.kind == "tool_call" and each.message.content.response_id}
    assert set(pairs(request)) & answered <= results, "a pair is chosen as a whole"


@given(talks(), st.integers(0, 200), st.integers(0, 40))
def test_any_budget_leaves_a_valid_request(talk: Talk, tokens: int, tool_output: int) -> None:
    limits = CompileLimits(tokens=tokens, tool_output=tool_output)
    assert violations(compile_turns(talk.records, talk.steps, TurnRequest(), limits=limits)) == []


@given(talks(), providers)
def test_compiling_is_pure_and_order_does_not_matter(talk: Talk, provider: str | None) -> None:
    once = compile_turns(talk.records, talk.steps, TurnRequest(), provider=provider)
    again = compile_turns(reversed(talk.records), reversed(talk.steps), TurnRequest(), provider=provider)
    assert once == again
    assert once.digest() == again.digest()


@given(talks())
def test_every_prompt_that_was_taken_up_is_read(talk: Talk) -> None:
    request = compile_turns(talk.records, talk.steps, TurnRequest())
    read = {source for turn in request.turns for source, _ in turn.sources}
    asked = {
        each.id
        for each in talk.records
        if each.kind == "user_prompt" and each.status is not MessageStatus.PENDING_AGENT
    }
    assert asked <= read
