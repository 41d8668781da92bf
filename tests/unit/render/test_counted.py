"""A number of things in words."""

import pytest

from kesoku.render import counted


@pytest.mark.parametrize(
    ("number", "words", "said"),
    [
        (0, ("message",), "0 messages"),
        (1, ("message",), "1 message"),
        (1_200, ("message",), "1,200 messages"),
        (1, ("mailbox", "mailboxes"), "1 mailbox"),
        (2, ("mailbox", "mailboxes"), "2 mailboxes"),
    ],
)
def test_one_is_one_and_everything_else_is_more(number: int, words: tuple[str, ...], said: str) -> None:
    assert counted(number, *words) == said
