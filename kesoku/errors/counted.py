"""A number of things, as people say it."""


def counted(number: int, one: str, more: str = "") -> str:
    """`1 message`, `2 messages`, `1,200 messages`. `more` is the plural that is not `one` with an s."""
    return f"{number:,} {one if number == 1 else more or f'{one}s'}"
