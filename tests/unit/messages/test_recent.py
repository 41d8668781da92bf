"""Bounded memory of what was met lately."""

from kesoku.messages.recent import Recent


def test_the_oldest_is_forgotten_beyond_the_limit() -> None:
    recent = Recent[str](2)
    recent.add("a", "b")
    recent.add("a", "c")
    assert [key for key in "abc" if key in recent] == ["b", "c"]
