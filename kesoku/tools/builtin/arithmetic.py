"""Arithmetic that is exact where it can be, and bounded in size and time."""

import ast
import math
import operator
from collections.abc import Callable, Mapping
from types import MappingProxyType

from kesoku.errors import ToolRefused
from kesoku.tools.tool import Effect, tool

Number = int | float

_LENGTH = 1000
_BITS = 8192
"""A whole number may have about 2,400 digits."""
_SPELLINGS = str.maketrans({"×": "*", "·": "*", "÷": "/", "−": "-", "^": "**"})


@tool(effect=Effect.READ)
def calculate(expression: str) -> str:
    """Compute an arithmetic expression. Whole numbers are exact.

    Args:
        expression: numbers with + - * / // % ** and parentheses, pi and e, and the functions sqrt, sin, cos, tan
            (radians), log (natural, or with a base as second argument), exp, abs, round, min, max
    """
    if len(expression) > _LENGTH:
        raise _refused(expression, f"it has {len(expression):,} characters, more than {_LENGTH:,}")
    try:
        tree = ast.parse(expression.translate(_SPELLINGS).strip(), mode="eval")
        return _shown(_value(tree.body))
    except ZeroDivisionError as error:
        raise _refused(expression, "it divides by zero") from error
    except OverflowError as error:
        raise _refused(expression, "the result is too large") from error
    except (SyntaxError, RecursionError, MemoryError) as error:
        raise _refused(expression, "it is no arithmetic expression, or one that is nested too deeply") from error
    except (ValueError, TypeError) as error:
        raise _refused(expression, str(error)) from error


def _refused(expression: str, reason: str) -> ToolRefused:
    shown = expression if len(expression) <= 80 else f"{expression[:79]}…"
    return ToolRefused(what=repr(shown), reason=reason)


def _shown(number: Number) -> str:
    return str(number) if isinstance(number, int) else f"{number:.15g}"


def _value(node: ast.expr) -> Number:
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return _bounded(number)
        case ast.Name(id=name) if name in _CONSTANTS:
            return _CONSTANTS[name]
        case ast.UnaryOp(op=sign, operand=operand) if type(sign) in _SIGNS:
            return _SIGNS[type(sign)](_value(operand))
        case ast.BinOp(left=left, op=sign, right=right) if type(sign) in _OPERATORS:
            return _bounded(_OPERATORS[type(sign)](_value(left), _value(right)))
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name in _FUNCTIONS:
            return _bounded(_FUNCTIONS[name](*map(_value, arguments)))
    raise ValueError(f"{ast.unparse(node)!r} is not known here; known are {', '.join((*_CONSTANTS, *_FUNCTIONS))}")


def _bounded(number: object) -> Number:
    """Only real, finite numbers of a size that can be printed go on."""
    if isinstance(number, int):
        if number.bit_length() > _BITS:
            raise OverflowError
        return number
    if not isinstance(number, float):
        raise TypeError("the result is no real number")
    if not math.isfinite(number):
        raise OverflowError
    return number


def _power(base: Number, exponent: Number) -> object:
    """Refuses before it computes: the size of an exact power is known from its operands."""
    if isinstance(base, int) and isinstance(exponent, int) and (abs(base).bit_length() - 1) * exponent > _BITS:
        raise OverflowError
    return base**exponent


def _round(number: Number, digits: Number = 0) -> Number:
    if not isinstance(digits, int) or abs(digits) > 300:
        raise ValueError("round takes a whole number of digits, at most 300")
    return round(number, digits or None)


_CONSTANTS: Mapping[str, float] = MappingProxyType({"pi": math.pi, "e": math.e})
_SIGNS: Mapping[type, Callable[[Number], Number]] = MappingProxyType({ast.UAdd: operator.pos, ast.USub: operator.neg})
_OPERATORS: Mapping[type, Callable[[Number, Number], object]] = MappingProxyType(
    {
        ast.Add: operator.add,
        ast.Sub: operator.sub,
        ast.Mult: operator.mul,
        ast.Div: operator.truediv,
        ast.FloorDiv: operator.floordiv,
        ast.Mod: operator.mod,
        ast.Pow: _power,
    }
)
_FUNCTIONS: Mapping[str, Callable[..., object]] = MappingProxyType(
    {
        "sqrt": math.sqrt,
        "sin": math.sin,
        "cos": math.cos,
        "tan": math.tan,
        "log": math.log,
        "exp": math.exp,
        "abs": abs,
        "round": _round,
        "min": min,
        "max": max,
    }
)
