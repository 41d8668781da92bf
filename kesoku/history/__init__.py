"""History: the order of a session's records, and how a model reads them. Pure.

`compile.py` makes the request for a step: `order.py` brings the records into turns, `chapter.py` writes a turn down,
`block.py` a message, `author.py` says whose words they are, `pair.py` links calls and results. `bound.py`, `weight.py`
and `window.py` keep it small, `prefix.py` keeps what was compiled. `codec.py` stores replies, `trace.py` what they were
replies to.
"""

from kesoku.history.compile import CompileLimits, compile_turns
from kesoku.history.order import phased
from kesoku.history.pair import open_calls, results

__all__ = ["CompileLimits", "compile_turns", "open_calls", "phased", "results"]
