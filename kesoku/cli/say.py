"""What a command says to the person beside its output."""

import sys


def complain(text: str) -> None:
    """One message on standard error, with nothing in it that a terminal would obey."""
    # Only when there is something to say: the rendering room is too much for `kesoku --help`.
    from kesoku.render.sanitise import visible

    print(f"kesoku: {visible(text)}", file=sys.stderr)
