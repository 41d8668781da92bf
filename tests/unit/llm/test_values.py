"""The small pure rooms: back-off, estimates, profiles, the sentences of the errors."""

import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kesoku import errors
from kesoku.errors import ModelError, ModelRateLimited, ModelRequestRefused, ModelUnavailable
from kesoku.history.weight import tokens_of
from kesoku.llm.estimate import estimate
from kesoku.llm.gemini.profile import PROFILES, profile_of
from kesoku.llm.retry import Backoff
from kesoku.messages.turn import CallBlock, CompiledRequest, MediaBlock, ResultBlock, Turn
from kesoku.testing.waiting import PATIENCE

DOWN = ModelUnavailable(model="g", status=503, message="busy")


def limited(retry_after: float | None, *, daily: bool = False) -> ModelRateLimited:
    return ModelRateLimited(model="g", retry_after=retry_after, daily=daily, message="quota")


@pytest.mark.parametrize(
    ("failed", "error", "pause"),
    [
        (1, DOWN, 1.0),
        (2, DOWN, 2.0),
        (3, DOWN, 4.0),
        (4, DOWN, None),
        (1, ModelRequestRefused(model="g", status="400", message="no"), None),
        (1, limited(31.0), 31.5),
        (1, limited(60.0), 60.5),
        (1, limited(61.0), None),
        (1, limited(None), 1.0),
        (1, limited(1.0, daily=True), None),
    ],
)
def test_the_pause_doubles_until_it_is_given_up(failed: int, error: ModelError, pause: float | None) -> None:
    assert Backoff(retries=3).pause(failed, error, 0.5) == pause


def test_pauses_differ_from_one_to_the_next() -> None:
    assert [Backoff(retries=3).pause(2, DOWN, jitter) for jitter in (0.0, 0.25, 1.0)] == [1.0, 1.5, 3.0]
    assert [Backoff(retries=3).pause(1, limited(31.0), jitter) for jitter in (0.0, 1.0)] == [31.0, 32.0]


@given(st.integers(1, 10), st.floats(0, 1))
def test_back_off_is_bounded_and_never_zero(failed: int, jitter: float) -> None:
    pause = Backoff(retries=10).pause(failed, DOWN, jitter)
    assert pause is not None
    assert 0.5 <= pause <= 90


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("", 0), ("a", 1), ("four", 1), ("fours", 2), ("你好吗?", 3), ("🙂", 1), ("2027", 4), ("[1.25, 3.75]", 8)],
)
def test_a_digit_or_four_other_bytes_are_one_token_rounded_up(text: str, tokens: int) -> None:
    assert tokens_of(text) == tokens


def test_everything_is_counted() -> None:
    picture = MediaBlock(path="/nowhere", mime_type="image/png", name="p")
    blocks = (
        CallBlock(call_id="c", name="f", arguments={"a": "x" * 400}),
        ResultBlock(call_id="c", name="f", output={1: object(), "b": "x" * 400}, error="x" * 400, media=(picture,)),
        picture,
    )
    counted = estimate(CompiledRequest(system="x" * 400, turns=(Turn(role="user", blocks=blocks),)))
    assert 2_600 < counted < 2_660


def test_every_profile_can_be_reached() -> None:
    examples = {row.pattern: row.pattern.replace("*", "x") for row in PROFILES} | {"gemini-*-pro*": "gemini-4-pro"}
    assert {profile_of(name).pattern for name in examples.values()} == set(examples)


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        ("image/png", "image/png"),
        ("IMAGE/JPG", "image/jpeg"),
        ("text/markdown; charset=utf-8", "text/plain"),
        ("application/json", "text/plain"),
        ("image/gif", None),
        ("image/svg+xml", None),
        ("application/zip", None),
        ("", None),
    ],
)
def test_a_media_type_is_sent_by_its_usual_name(given: str, sent: str | None) -> None:
    assert profile_of("gemini-3.5-flash").media_type(given) == sent


FACTS: dict[str, Any] = {
    "model": "g",
    "variables": ("A", "B"),
    "variable": "A",
    "what": "file",
    "message": "why",
    "reason": "because",
    "cure": "do this",
    "wanted": "gemini-x",
    "retry_after": 3.0,
    "daily": False,
    "resets_at": None,
    "near": ("gemini-y",),
    "status": 500,
    "stage": "idle",
    "seconds": 3.0,
    "tokens": 5,
    "limit": 4,
    "known": ("a", "b"),
}
LEAVES = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, ModelError)]


@pytest.mark.parametrize("leaf", [leaf for leaf in LEAVES if leaf is not ModelError])
def test_each_leaf_builds_one_line_from_its_fields(leaf: type[ModelError]) -> None:
    names = leaf.__init__.__code__.co_varnames[1 : leaf.__init__.__code__.co_kwonlyargcount + 1]
    facts = {name: FACTS[name] for name in names}
    error = leaf(**facts)
    assert {name: getattr(error, name) for name in names} == facts
    assert str(error).startswith("model g")
    assert "\n" not in str(error)


def test_importing_the_providers_loads_no_vendor() -> None:
    code = (
        "import sys, kesoku.llm.gemini, kesoku.llm.offline\n"
        "heavy = {'google.genai', 'httpx', 'httpx2', 'aiohttp', 'google.auth'} & sys.modules.keys()\n"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=PATIENCE)
