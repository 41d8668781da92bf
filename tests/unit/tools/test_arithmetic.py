"""Arithmetic: right where it is defined, refused at once where it is not."""

from contextlib import suppress
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kesoku.errors import ToolRefused
from kesoku.tools import ToolContext, run
from kesoku.tools.builtin import calculate


def value(expression: str) -> Any:
    return calculate.run({"expression": expression}, None)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("expression", "result"),
    [
        ("1+1", "2"),
        (" 2 * (3 + 4) ", "14"),
        ("7/2", "3.5"),
        ("8/2", "4"),
        ("7//2", "3"),
        ("-7 % 3", "2"),
        ("2**10", "1024"),
        ("2^10", "1024"),
        ("6 × 7 ÷ 2 − 1", "20"),
        ("0.1+0.2", "0.3"),
        ("2**200", str(2**200)),
        ("2**-1", "0.5"),
        ("sqrt(2)", "1.4142135623731"),
        ("sin(0)+cos(0)+tan(0)", "1"),
        ("log(e)", "1"),
        ("log(8, 2)", "3"),
        ("exp(0)", "1"),
        ("abs(-3)", "3"),
        ("round(3.14159, 2)", "3.14"),
        ("round(2.6)", "3"),
        ("min(3, 1, 2) + max(1, 2)", "3"),
        ("pi", "3.14159265358979"),
        ("--+1", "1"),
        ("1e300*10", "1e+301"),
    ],
)
def test_what_is_asked_for_is_computed(expression: str, result: str) -> None:
    assert value(expression).startswith(result)


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("9**9**9", "too large"),
        ("9**9**9**9**9", "too large"),
        ("(2**8000)*(2**8000)", "too large"),
        ("2**8000**0.5**-9", "too large"),
        ("10.0**400", "too large"),
        ("1e999", "too large"),
        ("exp(1000)", "too large"),
        ("sqrt(10**1000)", "too large"),
        ("10**1000*1.5", "too large"),
        ("round(1, -99999999999)", "at most 300"),
        ("round(1, 1.5)", "whole number of digits"),
        ("1/0", "divides by zero"),
        ("1%0", "divides by zero"),
        ("0**-1", "divides by zero"),
        ("(-8)**0.5", "no real number"),
        ("sqrt(-1)", "domain"),
        ("1j", "not known here"),
        ("True", "not known here"),
        ("'a'*9**9", "not known here"),
        ("[1]*3", "not known here"),
        ("x+1", "'x' is not known here; known are pi, e, sqrt"),
        ("__import__('os')", "not known here"),
        ("(1).real", "not known here"),
        ("abs(x=1)", "not known here"),
        ("abs(*[1])", "not known here"),
        ("1 if 2 else 3", "not known here"),
        ("1<<99999999", "not known here"),
        ("max()", "argument"),
        ("abs(1,2)", "argument"),
        ("", "no arithmetic expression"),
        ("1 +", "no arithmetic expression"),
        ("1;2", "no arithmetic expression"),
        ("1,000 + 1", "not known here"),
        ("\0", "no arithmetic expression"),
        ("(" * 400 + "1" + ")" * 400, "nested too deeply"),
        ("1" * 1001, "1,001 characters"),
    ],
)
def test_what_is_no_arithmetic_or_too_much_is_refused(expression: str, reason: str) -> None:
    with pytest.raises(ToolRefused, match=reason) as caught:
        value(expression)
    assert len(str(caught.value)) < 400


async def test_a_tower_is_refused_at_once(context: ToolContext) -> None:
    outcome = await run(calculate, {"expression": "9**9**9"}, context)
    assert outcome.error == "'9**9**9': the result is too large"
    assert outcome.seconds < 0.2


@given(st.integers(), st.sampled_from(["+", "-", "*", "//", "%"]), st.integers())
def test_whole_numbers_are_exact(left: int, sign: str, right: int) -> None:
    if right == 0 and sign in {"//", "%"}:
        right = 1
    exact = {
        "+": lambda: left + right,
        "-": lambda: left - right,
        "*": lambda: left * right,
        "//": lambda: Fraction(left, right).__floor__(),
        "%": lambda: left - right * Fraction(left, right).__floor__(),
    }[sign]()
    assert value(f"({left}){sign}({right})") == str(exact)


@given(st.text("0123456789+-*/%().,eEpi ×^sqrtmax", max_size=40))
def test_any_text_has_a_value_or_a_refusal(expression: str) -> None:
    with suppress(ToolRefused):
        assert isinstance(value(expression), str)


@pytest.mark.parametrize("expression", ["1+" * 499 + "1", "-" * 999 + "1", "2**" * 300 + "1"])
def test_deep_expressions_have_a_value_or_a_refusal(expression: str) -> None:
    with suppress(ToolRefused):
        assert float(value(expression))
