"""History: the order of a session's records, and how a model reads them. Pure."""

from kesoku.history.compile import CompileLimits, compile_turns
from kesoku.history.order import phased
from kesoku.history.pair import open_calls, results

__all__ = ["CompileLimits", "compile_turns", "open_calls", "phased", "results"]
