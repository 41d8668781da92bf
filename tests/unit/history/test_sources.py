"""What a step was sent is noted in little room and restored exactly."""

from hypothesis import given
from hypothesis import strategies as st

from kesoku.history.sources import SourcesCache, StepSources, encoded, sources_of
from kesoku.messages.freeze import EMPTY, FrozenDict
from kesoku.messages.lifecycle import Step
from kesoku.messages.turn import CallBlock, CompiledRequest, TextBlock, ToolSpec, Turn

SOURCE = st.tuples(st.sampled_from(["m1", "m2", "m3"]), st.integers(1, 2))


def request(sources: list[tuple[str, int]]) -> CompiledRequest:
    """A request with two sources a turn."""
    pairs = [tuple(sources[n : n + 2]) for n in range(0, len(sources), 2)]
    return CompiledRequest(system="", turns=tuple(Turn(role="user", blocks=(), sources=pair) for pair in pairs))


def note(sent: list[list[tuple[str, int]]]) -> tuple[dict[tuple[str, int], Step], list[StepSources]]:
    """The steps of one session, one a turn, that were sent these sources."""
    steps: dict[tuple[str, int], Step] = {}
    known: list[StepSources] = []
    for number, sources in enumerate(sent):
        step, noted = encoded(request(sources), f"turn {number}", 1, known[-1] if known else None)
        known.append(step)
        key = step.turn_id, step.n
        steps[key] = Step(turn_id=key[0], n=1, request=FrozenDict({**noted, "digest": "ab"}), reply=EMPTY)
    return steps, known


@given(st.lists(st.lists(SOURCE, max_size=6), min_size=1, max_size=8))
def test_every_step_names_all_that_it_was_sent(sent: list[list[tuple[str, int]]]) -> None:
    # D-048
    steps, _ = note(sent)
    assert [sources_of(step, lambda *key: steps[key]) for step in steps.values()] == [tuple(each) for each in sent]


def test_a_long_session_notes_each_message_about_once() -> None:
    sent = [[(f"m{n}", 1) for n in range(length)] for length in range(1, 201)]
    steps, known = note(sent)
    assert sum(len(step.request["sources"]) for step in steps.values()) < 700
    assert max(each.depth for each in known) == 64
    assert sources_of(steps["turn 199", 1], lambda *key: steps[key]) == tuple(sent[-1])


def test_an_old_row_is_whole() -> None:
    step = Step(turn_id="t", n=1, request=FrozenDict(sources=[["m1", 1], ["m2", 3]], digest="ab"), reply=EMPTY)
    assert sources_of(step, lambda *_: step) == (("m1", 1), ("m2", 3))


def test_the_sources_of_the_session_longest_idle_are_forgotten_first() -> None:
    cache = SourcesCache(most=2)
    for n, session in enumerate("abac"):
        cache.put(session, StepSources(turn_id="t", n=n, sources=(), depth=0))
    assert [(found := cache.get(session)) and found.n for session in "abc"] == [2, None, 3]


def test_the_digest_of_a_request_is_that_of_earlier_versions() -> None:
    call = CallBlock(call_id="c", name="n", arguments={"b": [1, None], "a": 1.5})
    request = CompiledRequest(
        system="é",
        turns=(
            Turn(role="user", blocks=(TextBlock(text="x", signature=b"a"),)),
            Turn(role="model", blocks=(call,), sources=(("a", 1),)),
        ),
        tools=(ToolSpec(name="t", description="d", parameters={"type": "object"}),),
        options={"thinking": "low"},
    )
    assert request.digest() == "3c7b72396f3f21b428ac51755aad5a97651148d381d409b3fa6d74fa9b7a65f7"
