"""Prices: exact, in integers, monotone, and never too little."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kesoku.messages.price import Price, dollars, in_words, nano
from kesoku.messages.turn import Usage

TOKENS = st.integers(0, 5_000_000)
RATES = st.integers(0, nano(10_000))


@st.composite
def usages(draw: st.DrawFn) -> Usage:
    prompt = draw(TOKENS)
    return Usage(prompt=prompt, cached=draw(st.integers(0, prompt)), thoughts=draw(TOKENS), answer=draw(TOKENS))


PRICES = st.builds(Price, prompt=RATES, answer=RATES, cached=st.none() | RATES)
TIERED = st.builds(
    Price,
    prompt=RATES,
    answer=RATES,
    cached=st.none() | RATES,
    long_from=TOKENS,
    long=st.none() | PRICES,
)


@pytest.mark.parametrize(
    ("usage", "cost"),
    [
        (Usage(), 0.0),
        (Usage(prompt=200_000), 0.25),
        (Usage(prompt=100_000, cached=40_000), 0.075 + 0.005),
        (Usage(prompt=200_000, thoughts=300_000, answer=700_000), 0.25 + 10.0),
        (Usage(prompt=200_001, cached=1, answer=1_000_000), 0.5 + 0.00000025 + 15.0),
        (Usage(prompt=10, cached=99), 0.00000125),
    ],
)
def test_a_step_costs_what_its_tokens_cost(usage: Usage, cost: float) -> None:
    price = Price(
        prompt=nano(1.25),
        cached=nano(0.125),
        answer=nano(10),
        long_from=200_000,
        long=Price(prompt=nano(2.5), cached=nano(0.25), answer=nano(15)),
    )
    assert price.cost(usage) == nano(cost)


@given(PRICES, usages(), usages())
def test_a_cost_is_exact_to_the_next_nanodollar(price: Price, one: Usage, two: Usage) -> None:
    cached = price.prompt if price.cached is None else price.cached
    exact = Fraction(
        (one.prompt - one.cached) * price.prompt + one.cached * cached + (one.thoughts + one.answer) * price.answer,
        1_000_000,
    )
    assert 0 <= price.cost(one) - exact < 1
    assert price.cost(one) + price.cost(two) - price.cost(one + two) in {0, 1}
    assert price.cost(one) <= price.cost(one + Usage(answer=two.answer, thoughts=two.thoughts))


@given(TIERED, TOKENS, st.integers(0, nano(100)))
def test_what_is_affordable_stays_within_the_room_and_uses_it(price: Price, prompt: int, room: int) -> None:
    tokens = price.affordable(room, prompt=prompt)
    if tokens is None:
        assert price.cost(Usage(prompt=prompt, answer=10**9)) <= room
    elif tokens > 0:
        assert price.cost(Usage(prompt=prompt, answer=tokens)) <= room
        assert price.cost(Usage(prompt=prompt, answer=tokens + 1)) > room
    else:
        assert price.cost(Usage(prompt=prompt, answer=1)) > room or price.cost(Usage(prompt=prompt)) >= room


@pytest.mark.parametrize(
    ("cost", "text"),
    [
        (0, "$0.00"),
        (1, "<$0.000001"),
        (nano(0.0042), "$0.0042"),
        (nano(0.1), "$0.10"),
        (nano(1234.5), "$1,234.50"),
        (999_999_600, "$1.00"),
    ],
)
def test_people_read_dollars(cost: int, text: str) -> None:
    assert in_words(cost) == text


@given(st.integers(0, nano(1_000_000)))
def test_dollars_are_exact_to_six_places(cost: int) -> None:
    assert abs(Fraction(dollars(cost)) - Fraction(cost, 10**9)) <= Fraction(1, 10**6)
