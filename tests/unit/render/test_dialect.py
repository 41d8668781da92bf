"""Plain text, a markup of its own, and Markdown as chat programs read it: golden files, and any Markdown."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wcwidth import width

from kesoku.render import Markup, Segment, parse, to_markdown, to_markup, to_plain

GOLDEN = Path(__file__).parent / "golden"
CHAT = Markup(
    strong="*", em="_", strike="~", heading="*", bullet="* ", link="<{address}|{label}>", mentions=("<users/",)
)


def to_chat(source: str | tuple[Segment, ...]) -> str:
    return to_markup(source, CHAT)


DIALECTS = [to_plain, to_chat, to_markdown]

PIECES = [
    "# Title\n", "#### Small **b**\n", "para **bold** ~~gone~~ _it_\n", "\n", "\n\n", "- item\n", "  - nested\n",
    "1. one\n", "> quote\n", "    indented\n", "```\n", "```py x=1\n", "~~~\n", "  ```\n", "| a | b |\n",
    "|---|:-:|\n", "| x | y | z |\n", "[t](http://u.x/a_b_)", "[t](<users/all>)", "[t](users/all)",
    "![i](http://u.x/i)", "<http://u.x>", "https://u.x/_a_/b", "<users/all> ", "&lt;users/all&gt; ",
    "&lt;**users/all>** ", "# <**users/all>**\n", "<br>", "<div>\n", "\\*esc\\*", "\ud800", "\x00", "漢字",
    "👨‍👩‍👧", "*", "**", "_", "`", "``", "[", "]", "(", ")", "<", ">", "|", "~", "\\", "word ", "\r\n",
]  # fmt: skip
documents = st.lists(st.sampled_from(PIECES), max_size=16).map("".join) | st.text(max_size=60)
code = st.text(st.characters(exclude_characters="\r\x00", exclude_categories=["Cs"]), min_size=1, max_size=60)


@pytest.mark.parametrize(
    ("render", "name"),
    [(to_plain, "reply.plain.txt"), (to_chat, "reply.markup.txt"), (to_markdown, "reply.markdown.md")],
)
def test_a_whole_reply_is_as_in_its_golden_file(render: Callable[[tuple[Segment, ...]], str], name: str) -> None:
    reply = parse((GOLDEN / "reply.md").read_text("utf-8"))
    assert render(reply) == (GOLDEN / name).read_text("utf-8")


@pytest.mark.parametrize("render", DIALECTS)
@given(documents)
def test_any_markdown_has_a_rendering_that_loses_no_word(render: Callable[[str], str], markdown: str) -> None:
    words = re.findall("word|Title|Small|bold|gone|item|nested|quote|indented|漢字", markdown)
    rendered = render(markdown)
    assert all(rendered.count(word) >= words.count(word) for word in set(words))


@pytest.mark.parametrize("render", DIALECTS)
@given(code, st.sampled_from(["```", "~~~~", "``````"]))
def test_fenced_code_is_verbatim(render: Callable[[str], str], content: str, marker: str) -> None:
    if marker[0] * 3 not in content:
        rendered = render(f"before\n\n{marker}py\n{content}\n{marker}\n\nafter")
        assert f"\n{content}\n```" in rendered.replace("`\u200b", "`").replace("````", "```")


@pytest.mark.parametrize("render", DIALECTS)
@given(st.text("ab*_~[]()<>|#\\&; x", min_size=1, max_size=20).map(str.strip).filter(bool))
def test_code_spans_are_verbatim(render: Callable[[str], str], content: str) -> None:
    assert f"`{content}`" in render(f"w `{content}` **b**")


@given(documents)
def test_markup_never_mentions(markdown: str) -> None:
    rendered = re.sub(r"(?s)```.*?```|`[^`\n]*`", "", to_chat(markdown))
    if "```" not in rendered:
        assert "<users/" not in rendered


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        ("**b** ~~s~~ [t](https://u.x)", "*b* ~s~ <https://u.x|t>"),
        ("# Head **b**", "*Head b*"),
        ("***x***", "_*x*_"),
        ("**a\nb**", "*a*\n*b*"),
        ("[a\nb `c`](https://u.x)", "<https://u.x|a b c>"),
        ("[**t**](https://u.x) **[t](https://u.x)**", "<https://u.x|t> *<https://u.x|t>*"),
        ("[t](https://u.x/a|b>c)", "<https://u.x/a%7Cb%3Ec|t>"),
        ("[a|b](https://u.x)", "a|b (https://u.x)"),
        ("[t](javascript:x) [t](docs/a)", "[t](javascript:x) t (docs/a)"),
        ("[all](users/all) <users/all>", "all (users/all) <\u200busers/all>"),
        ("`[t](https://u.x)```\n<users/all>```", "`<https://u.x|t>` <\u200busers/all>`"),
        ("<https://u.x/a_b_c>", "https://u.x/a_b_c"),
        ("`a*b*` ``x ` y``", "`a*b*` ```x ` y```"),
        ("- a\n- b\n  1. c", "* a\n* b\n  1. c"),
        ("| a | b |\n|---|--:|\n| 漢 | 1 |", "```\na  | b\n---+--\n漢 | 1\n```"),
        ("```py\na ``` b\n```", "```\na `\u200b`` b\n```"),
    ],
)
def test_markup_is_written_with_the_marks_of_the_platform(markdown: str, expected: str) -> None:
    assert to_chat(markdown) == expected


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        ("# **Head**\n\ntext [t](https://u.x) ~~no~~", "Head\n\ntext t (https://u.x) ~~no~~"),
        ("[https://u.x](https://u.x) ![alt](https://u.x/i.png)", "https://u.x alt (https://u.x/i.png)"),
        ("| a | b |\n|---|---|\n| 1 | **2** |\n| 3 | |", "a: 1; b: 2\na: 3"),
        ("```py\nx*y*z\n```", "```py\nx*y*z\n```"),
        ("a  \nb\n\n\n\nc", "a\nb\n\nc"),
        ("[Note]: this", "[Note]: this"),
        ("a\n\n***\n\nb<br>c", "a\n\n---\n\nb\nc"),
        ("| only | head |\n|---|---|", "only; head"),
        ("http:// or https://", "http:// or https://"),
        ("https://u.x/_a_/**b**", "https://u.x/_a_/b"),
    ],
)
def test_plain_text_keeps_what_was_said_without_its_marks(markdown: str, expected: str) -> None:
    assert to_plain(markdown) == expected


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        ("**b** [t](https://u.x) @everyone \\*", "**b** [t](https://u.x) @everyone \\*"),
        ("#### Small", "**Small**"),
        ("~~~sh\nls\n~~~", "```sh\nls\n```"),
        ("````\n```\nx\n```\n````", "```\n`\u200b``\nx\n`\u200b``\n```"),
        ("- a\n  ~~~\n  x\n  ~~~\n- b", "- a\n  ```\n  x\n  ```\n- b"),
        ("> ```py\n> x", "> ```py\n> x\n> ```"),
        ("> | a |\n> |---|\n> | 1 |", "> ```\n> a\n> -\n> 1\n> ```"),
        ("a\n\n    *code*", "a\n\n```\n*code*\n```"),
        ("> write ``` or `x`\n> here", "> write `\u200b`` or `x`\n> here"),
        ("an inline ```x``` stays", "an inline ```x``` stays"),
        ("- a\n  ##### b\n- c\n\n      d", "- a\n  **b**\n- c\n\n  ```\n  d\n  ```"),
        ("```{.py} x\ny\n```", "{.py} x\n```\ny\n```"),
    ],
)
def test_markdown_changes_only_what_chat_programs_read_otherwise(markdown: str, expected: str) -> None:
    assert to_markdown(markdown) == expected


def test_markup_without_marks_leaves_every_style_out() -> None:
    source = "# Head\n\n**b** ~~s~~ [t](https://u.x) <users/all>\n\n- `c`"
    assert to_markup(source, Markup()) == "Head\n\nb s t (https://u.x) <users/all>\n\n- `c`"


def test_headings_below_the_last_level_become_bold() -> None:
    assert to_markdown("## Two\n\n### Three", headings=2) == "## Two\n\n**Three**"
    assert to_markdown("###### Six", headings=6) == "###### Six"


@pytest.mark.parametrize("render", [to_chat, to_markdown])
@given(
    st.lists(
        st.tuples(*[st.sampled_from(["", "a", "漢字", "👍🏽", "👨‍👩‍👧", "e\u0301", "**b**", "`x`"])] * 3),
        min_size=1,
        max_size=5,
    )
)
def test_drawn_columns_line_up(render: Callable[[str], str], rows: list[tuple[str, str, str]]) -> None:
    table = "| x | y | z |\n|---|--:|:-:|\n" + "".join(f"| {a} | {b} | {c} |\n" for a, b, c in rows)
    _, head, rule, *body, _ = render(table).rstrip("\n").split("\n")
    stops = {width(text[: match.start()]) for text in [*body, head] for match in re.finditer(r" \|", text)}
    assert stops == {width(rule[: match.start()]) for match in re.finditer(r"-\+", rule)}


def test_a_table_too_wide_to_draw_becomes_a_list() -> None:
    table = f"| a | b |\n|---|---|\n| {'x' * 90} | **y** |\n| short | <users/all> |"
    assert to_chat(table) == f"* a: {'x' * 90}; b: *y*\n* a: short; b: <\u200busers/all>"
    assert to_markdown(table) == f"- a: {'x' * 90}; b: **y**\n- a: short; b: <users/all>"


@pytest.mark.parametrize("render", DIALECTS)
def test_text_nested_beyond_reason_is_kept(render: Callable[[str], str]) -> None:
    rendered = render(">" * 500 + " deep <users/all>")
    assert "deep" in rendered
    assert render is not to_chat or "<users" not in rendered


def test_a_table_that_begins_on_the_line_of_its_list_mark_has_its_own_columns() -> None:
    for mark in ("- ", "1. ", "> - ", "- - "):
        rest = re.sub(r"[^>]", " ", mark)
        table = f"{mark}| a | b |\n{rest}|---|---|\n{rest}| `x|y` | 2 |"
        drawn = ("```", "a   | b", "----+--", "x|y | 2", "```")
        assert to_markdown(table) == "\n".join(f"{rest if number else mark}{line}" for number, line in enumerate(drawn))
