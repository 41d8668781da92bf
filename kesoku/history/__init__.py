"""History: the order of a session's records, and how a model reads them. Pure.

`compile.py` makes the request for a step: `order.py` brings the records into turns, `chapter.py` writes a turn down,
`block.py` a message, `author.py` says whose words they are, `pair.py` links calls and results. `bound.py`, `weight.py`
and `window.py` keep it small, `prefix.py` keeps what was compiled. `codec.py` stores replies, `sources.py` what they
were replies to.

`history.py` is a session in memory that can be changed and watched, `reading.py` what can be read of it. `members.py`
has its messages and `views.py` those of each class, `placements.py` the records of them for the compiler.
`progression.py` is an order of ids, `selection.py` the orders that somebody chose. `factory.py` makes what `add` is
told, `beginning.py` reads what a history is made of, `observers.py` tells who wants to know, `projection.py` prints it.
"""

from kesoku.history.compile import CompileLimits, compile_turns
from kesoku.history.history import History
from kesoku.history.order import phased
from kesoku.history.pair import open_calls, results
from kesoku.history.progression import Progression

__all__ = ["CompileLimits", "History", "Progression", "compile_turns", "open_calls", "phased", "results"]
