"""US dollars for people."""


def money(dollars: float) -> str:
    """At least cents, at most millionths: `$1.50`, `$0.0042`. What is smaller but not nothing is `<$0.000001`."""
    if 0 < dollars < 0.0000005:
        return "<$0.000001"
    whole, places = f"{dollars:,.6f}".split(".")
    return f"${whole}.{places.rstrip('0'):0<2}"
