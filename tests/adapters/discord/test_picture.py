"""Tables as pictures."""

from io import BytesIO
from typing import Any

import pytest
from PIL import Image

from kesoku_discord.drawing import font, picture


def table(
    *rows: list[str], header: tuple[str, ...] = ("Name", "What"), alignments: tuple[str, ...] = ()
) -> dict[str, Any]:
    return {"header": list(header), "rows": list(rows), "alignments": list(alignments)}


def opened(drawn: bytes) -> Image.Image:
    return Image.open(BytesIO(drawn))


def test_a_table_becomes_a_picture_that_is_the_same_each_time() -> None:
    drawn = picture.draw(table(["main", "everything"], ["next", "what comes"], alignments=("left", "right")))
    image = opened(drawn)
    assert image.format == "PNG"
    assert image.height == 3 * (22 + 12)
    assert len(image.convert("RGB").getcolors(100_000) or ()) > 4
    assert picture.draw(table(["main", "everything"], ["next", "what comes"], alignments=("left", "right"))) == drawn


@pytest.mark.parametrize(("columns", "rows"), [(1, 2), (3, 25), (20, 2)])
def test_a_picture_stays_within_bounds_and_ends_cells_that_do_not_fit(columns: int, rows: int) -> None:
    row = ["word " * (400 // columns)] * columns
    given = table(*[row] * rows, header=("Title " * (400 // columns),) * columns)
    image = opened(picture.draw(given))
    assert image.width <= picture.WIDE + 20
    assert image.height <= 4000
    assert not picture.can_draw(given)


def test_words_longer_than_a_line_are_cut_and_short_rows_filled() -> None:
    given = table(["x" * 400, "y" * 200], ["only"])
    assert picture.can_draw(given)
    assert opened(picture.draw(given)).height > 3 * 34


@pytest.mark.parametrize("cell", ["\u05d0", "\u0627", "a\u200bb", "\U0010fffe", "\ud800", "e\u0323\u0323", "a\tb"])
def test_what_no_font_draws_letter_by_letter_cannot_be_drawn(cell: str) -> None:
    assert not picture.can_draw(table([cell, "x"]))
    picture.draw(table([cell.replace("\ud800", ""), "x"]))


def test_what_every_font_has_can_be_drawn() -> None:
    assert picture.can_draw(table(["it's (100%) $5 a_b", "x\ufe0f"], ["", "~"]))
    assert not picture.can_draw(table(header=("a",) * 21))


def test_the_alternative_is_the_table_as_text_and_never_too_long() -> None:
    assert picture.alternative(table(["main", "a"], ["next", ""])) == "Name: main; What: a\nName: next"
    long = picture.alternative(table(*[["🎸" * 30, "b"]] * 100))
    assert len(long.encode("utf-16-le")) <= 2 * 1024
    assert long.endswith("…")


def test_each_character_is_drawn_by_a_font_that_is_there() -> None:
    """Which of them there are is the machine's affair."""
    text = "a 漢é\U0010fffe結"
    pieces = font.runs(text)
    assert "".join(piece for _, piece in pieces) == text
    assert all(shape.getlength(piece) > 0 for shape, piece in pieces)
