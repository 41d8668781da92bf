"""Two parts of one answer become one text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kesoku.agent.seam import closed, joined, open_fence

CODE = "See:\n\n```python\nfor x in range("


@pytest.mark.parametrize(
    ("before", "after", "whole"),
    [
        ("one, t", "wo", "one, two"),
        ("", "all of it", "all of it"),
        ("one", "", "one"),
        ("First.\n\n", "Second.", "First.\n\nSecond."),
        ("go on, on", "on, he said", "go on, onon, he said"),  # too short to be a repetition
        ("the quick brown fox ju", "the quick brown fox jumps", "the quick brown fox jumps"),
        (
            "It is said that the quick brown fox ju",
            "quick brown fox jumps",
            "It is said that the quick brown fox jumps",
        ),
        ("a b c d e f g, a b c d e f g", "a b c d e f g!", "a b c d e f g, a b c d e f g!"),
        (CODE, "9):\n    pass\n```\n", CODE + "9):\n    pass\n```\n"),
        (CODE, "```python\n9):\n    pass\n```\n", CODE + "9):\n    pass\n```\n"),
        (CODE, "```python\r\n9):\r\n", CODE + "9):\r\n"),
        (CODE, "\n```py\nfor x in range(9):\n", CODE + "9):\n"),
        (CODE, "```text\n9):\n", CODE + "9):\n"),
        (CODE + "9):\n    pass", "\n```\nDone.", CODE + "9):\n    pass\n```\nDone."),
        ("See:\n\n", "```python\nx\n```", "See:\n\n```python\nx\n```"),
    ],
)
def test_the_seam_is_not_seen(before: str, after: str, whole: str) -> None:
    assert joined(before, after) == whole
    seen = [joined(before, after[:end], running=True) for end in range(len(after) + 1)]
    assert all(later.startswith(earlier) for earlier, later in zip(seen, [*seen[1:], whole], strict=True))


def test_a_long_line_of_one_character_takes_no_time() -> None:
    # what a model writes that goes in circles until it is cut; it would take minutes to try every place in it
    assert len(joined("-" * 3_000_000, "-" * 1_000 + "|", running=True)) == 3_000_001


TEXT = st.text("ab`~\n p", max_size=30)


@given(TEXT, TEXT, st.integers(0, 30))
def test_a_running_text_only_grows(before: str, after: str, repeated: int) -> None:
    after = before[len(before) - repeated :] + after
    whole = joined(before, after)
    assert whole.startswith(before)
    assert after.endswith(whole[len(before) :])
    seen = before
    for end in range(len(after) + 1):
        now = joined(before, after[:end], running=True)
        assert now.startswith(seen)
        seen = now
    assert whole.startswith(seen)


@pytest.mark.parametrize(
    ("text", "fence"),
    [
        ("plain", ""),
        ("```\nx", "```"),
        ("````md\n```\nx\n```\n", "````"),
        ("~~~\n```\n~~~\n", ""),
        ("``` inline ``` x", ""),
        ("```py\n```py\n", "```"),
        ("text ```\n", ""),
    ],
)
def test_a_code_block_is_closed(text: str, fence: str) -> None:
    assert open_fence(text) == fence
    assert open_fence(closed(text)) == ""
