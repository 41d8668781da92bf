"""Which messages name files to send along."""

import pytest

from kesoku_cli.attach import named


@pytest.mark.parametrize(
    ("text", "files"),
    [
        ("/attach photo.png", ["photo.png"]),
        ("  /attach  a.png 'two words.txt' b\\ c  ", ["a.png", "two words.txt", "b c"]),
        ("/attach Ada's notes.txt", ["Ada's notes.txt"]),
        ("/attach", []),
        ("/attached photo.png", None),
        ("see /attach photo.png", None),
        ("/help", None),
    ],
)
def test_files_are_named_as_in_a_shell(text: str, files: list[str] | None) -> None:
    assert named(text) == files
