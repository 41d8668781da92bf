"""What is drawn: safe, complete, as wide as it may be, and in the colours of the spec."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from kesoku.render import visible
from kesoku_cli.blocks import Block, Blocks
from kesoku_cli.fold import FOLD_CHARACTERS, folded
from kesoku_cli.frontend import metrics_line
from kesoku_cli.markdown import parser
from kesoku_cli.view import View

CSI = re.compile(r"\x1b\[[0-9;]*m")
EVIL = "\x1b[2J\x1b]0;owned\x07\x9b31m\u202egnp.exe\u2066\r\b\x7f"


def block(text: str) -> Block:
    return Block(text=text, markdown=text)


def every_drawing(view: View, text: str) -> list[str]:
    return [
        view.block(block(text)),
        view.live(block(text)),
        view.thought(text),
        view.live_thought(text),
        view.call(text, text),
        view.result(text, text, failed=False),
        view.result(text, text, failed=True),
        view.notice(text),
        view.error(text),
        view.prompt(text, text),
        view.file(text, text),
        view.question(text),
    ]


@given(st.text(max_size=60) | st.text(st.sampled_from(EVIL + "*`[]()&#x1b;<> \n|-a"), max_size=60))
def test_only_colours_reach_the_terminal(text: str) -> None:
    """No control character of a text survives, whatever Markdown makes of it."""
    for drawn in every_drawing(View(columns=40, color=True), text):
        plain = CSI.sub("", drawn)
        assert plain == visible(plain)


def test_an_entity_smuggles_nothing_in() -> None:
    drawn = View(columns=60, color=True).block(
        block("&#x202e;up &#27;[2J <http://a/%E2%80%AE%1b> [x](http://b/&#x202e;)")
    )
    plain = CSI.sub("", drawn)
    assert plain == visible(plain)
    assert "<U+202E>" in plain


def test_without_colour_there_is_no_escape_code() -> None:
    for drawn in every_drawing(View(columns=60, color=False), "# *a* `b`\n\n```python\nx = 1\n```\n"):
        assert "\x1b" not in drawn


def test_nothing_is_hidden_or_cut_off() -> None:
    view = View(columns=40, color=False)
    table = view.block(block(f"| {'a' * 100} | b |\n|---|---|\n| {'z' * 100} | c |"))
    assert (table.count("a"), table.count("z")) == (100, 100)
    assert "[ref]: http://x" in view.block(block("[ref]: http://x"))
    assert "<b>bold</b>" in view.block(block("<b>bold</b>"))
    assert "a (http://x)" in view.block(block("[a](http://x)"))
    assert view.block(block("<http://x>")).count("http://x") == 1
    assert "(http://pic)" in view.block(block("![](http://pic)"))


WORDS = st.lists(st.text(st.sampled_from("abz漢字🌸é"), min_size=1, max_size=90), min_size=1, max_size=8)
FRAMES = ["{}", "# {}", "- {}", "1. {}\n   - {}", "> {}", "```python\n{}\n```", "- x\n\n  ```\n  {}\n  ```", "    {}",
          "| {} | b |\n|---|---|\n| c | {} |", "![{}](http://pic)", "[{}](http://a)", "**{}** *{}* ~~{}~~", "<b>{}</b>",
          "[ref]: http://{}"]  # fmt: skip


@given(WORDS, st.sampled_from(FRAMES), st.integers(20, 90))
def test_no_letter_is_lost(words: list[str], frame: str, columns: int) -> None:
    """Wrapped, but never cut off, at any width and in any kind of block."""
    source = frame.replace("{}", " ".join(words))
    drawn = CSI.sub("", View(columns=columns, color=True).block(block(source)))
    kept = re.sub(r"[^abz漢字🌸é]", "", drawn)
    for word in words:
        assert word in kept


@given(WORDS, st.integers(20, 90))
def test_nothing_but_code_is_wider_than_the_terminal(words: list[str], columns: int) -> None:
    view = View(columns=columns, color=False)
    for drawn in every_drawing(view, " ".join(words))[:-2]:
        assert max(cell_len(line) for line in drawn.split("\n")) < columns


def test_code_is_copied_as_it_was_written() -> None:
    code = "def f():\n\treturn '" + "long " * 60 + "'\n\n\n    x = 1"
    drawn = View(columns=40, color=True).block(block(f"```python\n{code}\n```"))
    assert CSI.sub("", drawn).strip("\n").expandtabs(4) == code.expandtabs(4)


@pytest.mark.parametrize(
    ("draw", "colour"),
    [  # K-162 K-198 K-202 K-206
        (lambda view: view.thought("why"), "36"),
        (lambda view: view.call("tool", "tool(x=1)"), "33"),
        (lambda view: view.result("tool", "output", failed=False), "35"),
    ],
)
def test_panels_have_their_colour(draw: object, colour: str) -> None:
    drawn = draw(View(columns=60, color=True))  # type: ignore[operator]
    assert f"\x1b[{colour}m╭" in drawn
    assert f"\x1b[{colour}m╰" in drawn


def test_a_failed_result_says_so_without_colour() -> None:
    view = View(columns=60, color=False)
    assert "✗ tool failed" in view.result("tool", "boom", failed=True)
    assert "✗" not in view.result("tool", "boom", failed=False)


def test_a_panel_is_no_wider_than_its_text() -> None:
    lines = View(columns=100, color=False).thought("short **words**").split("\n")
    assert max(map(len, lines)) < 30


def test_long_output_is_folded() -> None:
    shown, rest = folded("\n".join(map(str, range(100))) + "\n")
    assert shown.split("\n") == [str(number) for number in range(40)]
    assert rest == "... 60 more lines"
    assert folded("x\n" * 41)[1] == "... 1 more line"
    assert folded("x\n" * 40) == ("\n".join("x" * 40), "")
    assert folded("x" * (FOLD_CHARACTERS + 5)) == ("x" * FOLD_CHARACTERS, "... 5 more characters")
    assert "... 60 more lines" in View(columns=60, color=False).result(
        "t", "\n".join(map(str, range(100))), failed=False
    )


def test_the_end_of_long_code_is_what_is_live() -> None:
    blocks = Blocks()
    blocks.feed("```python\n" + "".join(f"line{number}\n" for number in range(30)))
    live = View(columns=60, color=False).live(blocks.tail).split()
    assert live[-3:] == ["line27", "line28", "line29"]
    assert len(live) < 14


def test_figures_of_a_turn() -> None:
    figures = {"session_turns": 3, "context_tokens": 8421, "turn_tool_calls": 1, "turn_tokens": 1042, "turn_time": 2.1}
    assert metrics_line(figures) == "2.1 s · 1,042 tokens · 1 tool call · context 8,421"
    assert metrics_line({"turn_time": 2, "turn_cost": 0.0042}) == "2.0 s · $0.0042"
    assert metrics_line({"turn_time": "?"}) == ""


def test_the_parser_of_the_cutter_and_of_the_drawing_agree() -> None:
    text = "<b>a</b>\n\n[a]: http://b\n\n| a |\n|---|\n\ntext\n"
    kinds = [token.type for token in parser().parse(text) if token.level == 0 and token.nesting >= 0]
    blocks = Blocks()
    assert len(blocks.feed(text)) + 1 == len(kinds)
