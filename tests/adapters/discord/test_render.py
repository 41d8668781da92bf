"""What people see of answers, notices and questions: golden files, limits, and Markdown of any kind."""

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kesoku.adapter import Attachment, Outgoing, Question, Record, RenderContext
from kesoku.messages import make
from kesoku.render import Unit
from kesoku_discord.config import DiscordConfig
from kesoku_discord.drawing import closing
from kesoku_discord.drawing.controls import decode, rows_of
from kesoku_discord.drawing.render import render
from kesoku_discord.drawing.split import fitted
from kesoku_discord.drawing.tables import READABLE

from .records import METRICS, answer, call, context, golden, notice, placed, result, thought, written

PLAIN = DiscordConfig(metrics="off", buttons=False)
USUAL = DiscordConfig()
LISTS = DiscordConfig(metrics="off", buttons=False, wide_tables="list")
LINE = "-# 2.1 s · 1 tool · 1,042 tokens · context 8,421 · turn 3"
NARROW = "| Name | Age |\n|:-----|----:|\n| Ada | 36 |\n| 結束 | 5 |"
WIDE = (
    "| Branch | What it is for | Who looks after it |\n|---|---|---|\n"
    "| main | what people get when they install it today | everybody who works on it |\n"
    "| next | what they `will` get | **nobody** |"
)
DOCUMENT = """# Report

Some **bold** text with `code`, a [link](https://example.org/a_(b)) and a note[^1]; 5 > 3, <@1> and @everyone.

#### Steps

1. First
   - nested
     ```sh
     uv run pytest
     ```
   - | Key | Value |
     |-----|------:|
     | `a|b` | 結束 |
2. Second

> Quoted
> ```py
> print("x")
> ```

>>> To the end of the line
Not quoted

~~~
<b>$x_1$</b>
~~~

[^1]: At the end of ||all of it||.
"""
LONG = "\n\n".join(f"Paragraph {n}: {'some words that fill a line ' * 9}" for n in range(12))
FENCED = (
    "Here it is:\n\n```python\n" + "\n".join(f"print({n}, 'a line of code')" for n in range(120)) + "\n```\n\nDone."
)
ASKED = Question(
    id="call-1",
    text='May I run `shell`?\n{\n  "command": "ls ||x|| ``` **b**"\n}',
    choices=("yes", "no"),
    deadline=2e9,
)

CASES: dict[str, tuple[Record, RenderContext, DiscordConfig]] = {
    "short.md": (answer("Five **passed**."), context(), USUAL),
    "document.md": (answer(DOCUMENT), context(), USUAL),
    "spoiler.md": (answer(f"It is ||{'the singer ' * 190}||."), context(), PLAIN),
    "thought.md": (thought("**Plan**\n\nfirst"), context(), USUAL),
    "call.md": (call(), context(), USUAL),
    "result.md": (result(call(), error="exit 1"), context(), USUAL),
    "long.md": (answer(LONG), context(), USUAL),
    "fenced.md": (answer(FENCED), context(), USUAL),
    "header.md": (answer(LONG), context(), DiscordConfig(metrics="header")),
    "table-narrow.md": (answer(f"Before\n\n{NARROW}\n\nbehind"), context(), PLAIN),
    "table-wide.md": (answer(f"Before\n\n{WIDE}\n\nbehind"), context(), USUAL),
    "table-list.md": (answer(WIDE), context(), LISTS),
    "question-buttons.md": (answer("Well.\n\n[question: Which one? | The left | The right]"), context(), USUAL),
    "question-menu.md": (
        answer("[question: Which day? | " + " | ".join(f"Day {n}" for n in range(30)) + "]"),
        context(),
        PLAIN,
    ),
    "question-long.md": (answer(f"[question: Which? | {'very ' * 25}long | short]"), context(), PLAIN),
    "notice.md": (notice("Done: `main` is **clean**."), context(), USUAL),
    "approval.md": (notice(ASKED.text, ASKED), context(ASKED), USUAL),
    "files.md": (
        answer("See\n\n![the chart](chart.png)\n\nand\n\n[file: secret.png]\n\n[voice: said.png]"),
        context(chart="staged/chart.png", secret=None, said="staged/said.png"),
        USUAL,
    ),
    "file-alone.md": (answer("[file: chart.png]"), context(chart="staged/chart.png"), USUAL),
}


@pytest.mark.parametrize("name", CASES)
def test_it_is_shown_as_in_its_golden_file(name: str) -> None:
    """K-195."""
    golden(name, written(render(*CASES[name])))


def shown(markdown: str, config: DiscordConfig = PLAIN) -> list[str]:
    return [part.text for part in render(answer(markdown), context(), config)]


def fits(part: Outgoing) -> bool:
    return Unit.UTF16.size(part.text) <= 2000


def is_blank(part: Outgoing) -> bool:
    return not (part.text.strip() or part.files or "table" in (part.payload or {}))


def test_a_long_answer_keeps_order_and_text_and_reopens_its_fences() -> None:
    """K-150; complaints 1, 7 and 8."""
    markdown = "\n\n".join(f"```python\n{FENCED.split('```')[1][7:]}```\n\n{n} {LONG}" for n in range(3))
    parts = shown(markdown)
    assert all(part.count("```") % 2 == 0 and len(part) <= 2000 for part in parts)
    assert "\n".join(parts).count("```python") == sum(part.count("```") // 2 for part in parts)
    bare = re.sub(r"```(python)?|\s", "", "".join(parts))
    assert bare == re.sub(r"```(python)?|\s", "", markdown)


def test_a_file_is_a_part_of_its_own_behind_what_was_said_before_it() -> None:
    parts = render(answer("one\n\n[file: a.png]\n\ntwo"), context(a="in/a.png"), PLAIN)
    assert [(part.text, [file.name for file in part.files]) for part in parts] == [
        ("one", []),
        ("", ["a.png"]),
        ("two", []),
    ]
    assert [part.reply_to for part in parts] == ["42", None, None]


def test_files_that_came_with_the_answer_are_sent_or_named() -> None:
    files = (Attachment(name="a`b.png", path="x.png"), Attachment(name="kept.png", path="kept.png"))
    parts = render(answer("text", files=files), context(kept="in/kept.png", x=None), PLAIN)
    assert [part.text for part in parts] == ["text\n\n⚠️ `a'b.png` was not sent", ""]
    assert parts[1].files[0].name == "kept.png"


@pytest.mark.parametrize("at", range(1940, 2003))
@pytest.mark.parametrize("metrics", ["footer", "header"])
def test_figures_never_push_an_answer_over_the_limit(at: int, metrics: Any) -> None:
    for text in ("x" * at, f"```\n{'y ' * (at // 2 - 5)}\n```"):
        parts = render(answer(text), context(), DiscordConfig(metrics=metrics))
        assert all(map(fits, parts))
        whole = "\n".join(part.text for part in parts)
        assert whole.count(LINE) == 1
        assert (whole.startswith(f"{LINE}\n"), whole.endswith(f"\n{LINE}")) == (
            metrics == "header",
            metrics == "footer",
        )
        assert whole.count("x") + whole.count("y") == text.count("x") + text.count("y") + LINE.count("x")


def test_an_answer_of_exactly_the_limit_is_one_message() -> None:
    """Complaint 4."""
    assert shown("x" * 2000) == ["x" * 2000]
    assert [len(part) for part in shown("🎸" * 1001)] == [1000, 1]
    for length in range(1980, 2001):
        assert all(len(part) <= 2000 for part in shown(f"```\n{'x' * (length - 4)}\n```"))


@pytest.mark.parametrize("columns", [2, 3])
def test_each_piece_of_a_long_table_is_a_table(columns: int) -> None:
    """Complaint 10."""
    rows = [[str(n), "some name", "x"][:columns] for n in range(100, 300)]
    header = ["Number", "Name", "Third"][:columns]
    parts = shown("\n".join(f"| {' | '.join(row)} |" for row in (header, ["---"] * columns, *rows)))
    head, rule = parts[0].split("\n")[1:3]
    assert len(parts) > 1
    assert (head.split(" | ")[0], rule[:7]) == ("Number", "-------")
    assert all(part.split("\n")[:3] == ["```", head, rule] and part.endswith("\n```") for part in parts)
    assert [n for part in parts for n in re.findall(r"^(\d+) ", part, re.MULTILINE)] == [row[0] for row in rows]


def test_a_table_of_one_column_is_a_list() -> None:
    assert shown("| Name |\n|---|\n| Ada |\n| Bob |") == ["- Name: Ada\n- Name: Bob"]


@pytest.mark.parametrize("info", ["x" * 1995, "a word " * 280])
def test_what_stands_behind_a_fence_is_never_too_long_to_be_repeated(info: str) -> None:
    """Complaints 2 and 3."""
    parts = shown(f"```{info}\n" + "code\n" * 900 + "```")
    assert all(len(part) <= 2000 and part.count("```") % 2 == 0 for part in parts)
    assert "".join(parts).count("code") == 900


def test_a_long_wide_table_is_several_pictures_with_a_header_each() -> None:
    """Complaint 10."""
    table = WIDE + "".join(f"\n| b{n} | {'words ' * 12} | {n} |" for n in range(60))
    tables = [(part.payload or {})["table"] for part in render(answer(table), context(), PLAIN)]
    assert [len(each["rows"]) for each in tables] == [25, 25, 12]
    assert {tuple(each["header"]) for each in tables} == {("Branch", "What it is for", "Who looks after it")}


def test_a_table_that_no_font_can_draw_is_a_list() -> None:
    (text,) = shown(WIDE.replace("next", "\u05d0\u05d1"))
    assert text.splitlines()[1].startswith("- Branch: \u05d0\u05d1; ")


def test_a_code_block_of_a_table_is_readable_on_a_phone() -> None:
    for extra in range(40):
        table = f"| a | b |\n|---|---|\n| {'x' * (20 + extra)} | {'y' * 20} |"
        parts = render(answer(table), context(), PLAIN)
        assert ("table" in (parts[0].payload or {})) == (43 + extra > READABLE)


def test_a_quote_of_all_that_follows_ends_with_its_line() -> None:
    """The footer and what the answer goes on with are no part of it."""
    assert shown(">>> quoted\n\nnot quoted", USUAL) == [f"> quoted\n\nnot quoted\n{LINE}"]
    assert shown("```\n>>> 1 + 1\n2\n```") == ["```\n>>> 1 + 1\n2\n```"]
    assert shown("x >>> y") == ["x >>> y"]


def test_a_spoiler_that_is_cut_stays_covered() -> None:
    parts = shown(f"before ||{'hidden ' * 600}|| after")
    assert len(parts) > 2
    assert all(part.count("||") == 2 and len(part) <= 2000 for part in parts)
    assert all("hidden" not in re.sub(r"(?s)\|\|.*?\|\|", "", part) for part in parts)
    assert all(part.count("||") == 0 for part in shown(f"a | b\n\n{LONG}"))
    assert [part.strip() for part in shown("||a||" + "\n" * 6000 + "end")] == ["||a||", "end"]


@pytest.mark.parametrize(
    "text",
    [
        "結束バンド " * 300, "👨‍👩‍👧‍👦" * 300, "مرحبا بالعالم " * 250, "a\u200bb" * 800, "@everyone <@1> <#2> ",
        "-# small\n# big\n### less\n", "<b>x</b> <!-- y -->", "- a\n  - b\n    - c\n1. d\n",
        "````\n```\ninner\n```\n````",
    ],
)  # fmt: skip
def test_text_of_any_kind_arrives_whole(text: str) -> None:
    parts = shown(text, USUAL)
    assert all(len(part.encode("utf-16-le")) <= 4000 for part in parts)
    told = "".join(parts).replace(LINE, "").replace("`", "").replace("\u200b", "")
    assert "".join(told.split()) == "".join(text.replace("`", "").replace("\u200b", "").split())


def test_a_question_that_was_answered_is_shown_as_in_its_golden_file() -> None:
    (shown,) = render(*CASES["approval.md"])
    ends = (("yes", "user:42"), (None, "deadline"), (None, "turn"))
    golden("approval-closed.md", written(closing.closed(shown, ASKED, answer, by) for answer, by in ends))
    golden("question-picked.md", written([Outgoing(text=closing.picked("Which one?", "Ada `_x_`", "The **left**"))]))


@pytest.mark.parametrize("text", ["", " \n\t ", "\n\n", "\u200b\u2060", "\u3164 \u202e\n\ufeff"])
def test_a_blank_answer_has_no_part(text: str) -> None:
    assert shown(text, USUAL) == []
    assert render(notice(text), context(), USUAL) == ()
    assert fitted(text, below=LINE) == []


@pytest.mark.parametrize("text", ["> " * 40 + "```\n" + "> " * 40 + "code", "see ```a``` and ``` b"])
def test_an_open_code_block_does_not_swallow_the_figures(text: str) -> None:
    last = shown(text, USUAL)[-1]
    assert last.endswith(LINE)
    assert last.count("```") % 2 == 0


def test_buttons_stand_under_the_last_text_and_say_what_they_are_about() -> None:
    parts = render(answer(f"{LONG}\n\n[file: a.png]"), context(a="in/a.png"), USUAL)
    assert [bool(rows_of(part)) for part in parts] == [False] * (len(parts) - 2) + [True, False]
    (row,) = rows_of(parts[-2])
    controls = [decode(each["custom_id"]) for each in row["components"]]
    assert [(each.act, each.subject) for each in controls if each] == [
        ("retry", "turn-1"), ("context", "turn-1"), ("trace", "answer-1"),
    ]  # fmt: skip


def test_an_answer_of_no_turn_has_no_buttons() -> None:
    record = answer("text", metrics=None)
    without = type(record)(message=record.message, address=record.address, session_id="s", status=record.status)
    assert render(without, context(), USUAL) == (Outgoing(text="text", reply_to="42"),)


def test_what_a_tool_would_be_called_with_is_shown_verbatim_in_a_question() -> None:
    (part,) = render(notice(ASKED.text, ASKED), context(ASKED), USUAL)
    head, code, deadline = part.text.split("\n```")
    assert (head, deadline) == ("May I run `shell`?", "\n-# Deadline: <t:2000000000:R>")
    assert "||x||" in code


def test_a_question_with_an_endless_argument_fits() -> None:
    asked = Question(id="q", text=f"May I?\n{'x' * 5000}", choices=("yes", "no"), deadline=1.5)
    parts = render(notice(asked.text, asked), context(asked), USUAL)
    assert all(map(fits, parts))
    assert [[button.value for button in part.buttons] for part in parts] == [[]] * (len(parts) - 1) + [["yes", "no"]]
    assert sum(part.text.count("x") for part in parts) == 5000


def test_there_is_room_for_how_a_question_ended() -> None:
    for length in range(1750, 2010):
        asked = Question(id="q", text=f"May I?\n{'x' * length}", choices=("yes", "no"), deadline=1.5)
        last = render(notice(asked.text, asked), context(asked), USUAL)[-1]
        assert closing.closed(last, asked, "yes", f"user:{2**63}").text.endswith(f"\n-# ✅ <@{2**63}>: yes")


def test_more_choices_than_menus_hold_are_numbered() -> None:
    many = tuple(f"choice {n}" for n in range(126))
    asked = Question(id="q", text="Which?", choices=many)
    for parts in (
        render(notice("Which?", asked), context(asked), USUAL),
        render(answer(f"[question: Which? | {' | '.join(many)}]"), context(), PLAIN),
    ):
        assert not any(map(rows_of, parts))
        assert "126. choice 125" in parts[-1].text


def test_a_heading_without_words_is_shown_as_it_is() -> None:
    assert [part.text for part in render(answer("####"), context(), PLAIN)] == ["####"]
    assert shown("[question: #### | a]") == ["####"]


def test_a_question_without_choices_is_text() -> None:
    assert render(answer("[question: And now?]"), context(), PLAIN) == (Outgoing(text="And now?", reply_to="42"),)


def test_a_question_without_text_is_not_blank() -> None:
    (part,) = render(answer("[question: | a | b]"), context(), PLAIN)
    assert part.text == "Please choose:"
    assert rows_of(part)
    assert shown("[question: \u200b | a]") == ["Please choose:"]


@pytest.mark.parametrize("blank", ["\u200b", "\u3164", "\ufe0f\u2060"])
def test_a_choice_that_nobody_sees_has_a_label_all_the_same(blank: str) -> None:
    for choices in ((blank, "b"), (blank, *map(str, range(30)))):
        (part,) = render(answer(f"[question: Which? | {' | '.join(choices)}]"), context(), PLAIN)
        first = rows_of(part)[0]["components"][0]
        assert first.get("options", [first])[0]["label"] == "…"


def test_a_label_is_cut_where_discord_would_count_too_much() -> None:
    """Emoji are two units each, and no family is torn apart."""
    (part,) = render(answer(f"[question: Which? | {'👨‍👩‍👧' * 20} | b]"), context(), PLAIN)
    label = rows_of(part)[0]["components"][0]["options"][0]["label"]
    assert label == "👨‍👩‍👧" * 12 + "…"
    assert part.text.startswith("Which?\n1. 👨‍👩‍👧")


@pytest.mark.parametrize(
    ("record", "line"),
    [
        (thought("**Plan**\n\nfirst"), "💭 Plan"),
        (call(), "🛠️ run_shell_command: uv run pytest tests/test_history.py ⏳"),
        (result(call()), "🛠️ run_shell_command: uv run pytest tests/test_history.py ✅"),
        (result(call(), error="no"), "🛠️ run_shell_command: uv run pytest tests/test_history.py ❌"),
        (placed(make.user_prompt("from *elsewhere*", author="Ada"), id="prompt-1"), "from *elsewhere*"),
    ],
)
def test_any_other_record_is_a_line(record: Record, line: str) -> None:
    assert [part.text for part in render(record, context(), USUAL)] == [line]


PIECES = [
    "# Title\n", "word ", "x" * 700 + " ", "\n", "\n\n", "- item\n", "> quote\n", ">>> rest\n", "```py\n", "```\n",
    "~~~\n", "    code\n", f"\n{NARROW}\n", f"\n{WIDE}\n", "||spoiler|| ", "|| ", "`span` ", "[t](http://u.x) ",
    "👨‍👩‍👧 ", "漢字 ",
    "-# sub\n", "\n[question: Why? | a | b]\n", "\n[question: | x]\n", "\n[file: a.png]\n", "\n[file: no.png]\n",
    "\n[voice: a.png]\n", "![c](a.png)\n", "@everyone ", "\u200b", "\u202e", "<br>", "*", "_", "\\",
]  # fmt: skip
documents = st.lists(st.sampled_from(PIECES), max_size=20).map("".join) | st.text(max_size=80)
configs = st.builds(
    DiscordConfig,
    metrics=st.sampled_from(["footer", "header", "off"]),
    buttons=st.booleans(),
    wide_tables=st.sampled_from(["picture", "list"]),
)


@given(documents, configs)
def test_every_part_can_be_sent(markdown: str, config: DiscordConfig) -> None:
    parts = render(answer(markdown), context(a="in/a.png", no=None), config)
    for part in parts:
        assert fits(part)
        assert not is_blank(part)
        rows = rows_of(part)
        made = [each for row in rows for each in row["components"]]
        ids = [each["custom_id"] for each in made]
        assert len(rows) <= 5
        assert len(ids) == len(set(ids))
        assert all(0 < len(each) <= 100 for each in ids)
        assert all(0 < len(each["label"]) <= 80 for each in made if each["type"] == 2)


NUMBERED = [
    "w{} ",
    "\n\nw{}\n\n",
    "\n- w{}\n",
    "\n> w{}\n",
    "\n```\nw{}\n```\n",
    "\n## w{}\n",
    "w{}" + " " * 900,
    "w{} 🎸 ",
]
numbered = st.lists(st.sampled_from(NUMBERED), max_size=40).map(
    lambda pieces: "".join(piece.format(number) for number, piece in enumerate(pieces))
)


@given(numbered, configs)
def test_the_parts_say_what_the_answer_says_in_its_order(markdown: str, config: DiscordConfig) -> None:
    """K-150."""
    parts = render(answer(markdown, metrics=METRICS), context(), config)
    told = "\n".join(part.text for part in parts)
    assert re.findall(r"w\d+", told) == re.findall(r"w\d+", markdown)
    assert all(part.text.count("```") % 2 == 0 for part in parts)


def test_rendering_is_repeatable() -> None:
    record = answer(f"{LONG}\n\n{WIDE}\n\n[file: a.png]")
    once = render(record, context(a="in/a.png"), USUAL)
    assert render(record, context(a="in/a.png"), USUAL) == once
    assert Path("in/a.png") in [file.path for part in once for file in part.files]
