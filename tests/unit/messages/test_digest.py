"""The digest of a request is a function of its content alone."""

import copy
import pickle
from dataclasses import replace

import pytest

from kesoku.messages.turn import CallBlock, CompiledRequest, ResultBlock, TextBlock, ToolSpec, Turn

ASKED = Turn(role="user", blocks=(TextBlock(text="hi \ud800"),), sources=(("m1", 1),))
CALLED = Turn(role="model", blocks=(CallBlock(call_id="c", name="n", arguments={"b": 1, "a": [2]}, signature=b"s"),))
REQUEST = CompiledRequest(system="s", turns=(ASKED, CALLED))


def test_equal_requests_have_equal_digests() -> None:
    # D-051
    reordered = CallBlock(call_id="c", name="n", arguments={"a": [2], "b": 1}, signature=b"s")
    same = CompiledRequest(system="s", turns=(replace(ASKED), replace(CALLED, blocks=(reordered,))))
    assert REQUEST.digest() == same.digest() == REQUEST.digest()


@pytest.mark.parametrize(
    "other",
    [
        replace(REQUEST, system="t"),
        replace(REQUEST, tools=(ToolSpec(name="n", description="d", parameters={}),)),
        replace(REQUEST, response_format={}),
        replace(REQUEST, options={"thinking": "low"}),
        replace(REQUEST, turns=(CALLED, ASKED)),
        replace(REQUEST, turns=(ASKED,)),
        replace(REQUEST, turns=(ASKED, CALLED, CALLED)),
        replace(REQUEST, turns=(replace(ASKED, sources=(("m1", 2),)), CALLED)),
        replace(REQUEST, turns=(replace(ASKED, role="model"), CALLED)),
        replace(REQUEST, turns=(ASKED, replace(CALLED, blocks=(TextBlock(text="c"),)))),
        replace(REQUEST, turns=(ASKED, replace(CALLED, blocks=(ResultBlock(call_id="c", name="n", output=1),)))),
    ],
)
def test_any_other_content_has_another_digest(other: CompiledRequest) -> None:
    assert other.digest() != REQUEST.digest()


def test_the_remembered_digest_is_no_part_of_the_value() -> None:
    asked = replace(ASKED)
    before, shown = hash(asked), repr(asked)
    digest = asked.digest()
    assert (asked, hash(asked), repr(asked)) == (ASKED, before, shown)
    for copied in (copy.copy(asked), copy.deepcopy(asked), pickle.loads(pickle.dumps(asked)), replace(asked)):
        assert copied == asked
        assert copied.digest() == digest
    assert replace(asked, role="model").digest() != digest
