"""The terminal front end on a real pseudo-terminal: what is on the screen, what was reported, how it is left."""

import os
import re
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kesoku.testing.waiting import becomes

Play = Callable[..., Any]
Marks = Callable[[int], list[str]]


def prompts(scene: Any) -> int:
    """How many empty input lines there are."""
    return sum(row == "›" for row in scene.lines())


def submitted(scene: Any) -> list[str]:
    return [text for (text,) in scene.reports("submitted")]


def test_typing_beside_a_fast_stream(play: Play, expected_marks: Marks) -> None:
    """2,000 lines at 1,000 a second, 17 messages typed meanwhile: nothing lost, nothing doubled, nothing left over."""
    scene = play("talk", "2000")
    scene.type("stream\r")
    words = [f"word{number}é漢" for number in range(17)]
    for word in words:
        for key in word:
            scene.type(key)
            scene.read(0.005)
        scene.type("\r")
        scene.read(0.03)
    scene.wait_report("streamed")
    scene.wait_for("1,042 tokens")
    scene.wait_for(f"› {words[-1]}\n")
    scene.wait(lambda: prompts(scene) and "writing" not in scene.text(), "the input line alone")
    assert submitted(scene) == ["stream", *words]
    assert scene.marks() == expected_marks(2000)
    assert [row for row in scene.lines() if row.startswith("› word")] == [f"› {word}" for word in words]
    assert prompts(scene) == 1


def test_resizing_during_a_stream(play: Play, expected_marks: Marks) -> None:
    scene = play("talk", "1500")
    scene.type("stream\r")
    sizes, done = [(60, 30), (120, 40), (61, 12), (100, 30), (70, 24)], ["streamed"]
    for number, (columns, rows) in enumerate(sizes):
        so_far = len(scene.marks())
        scene.resize(columns, rows)
        scene.type(f"size{number}\r")
        scene.wait(lambda before=so_far: len(scene.marks()) > before or done in scene.reports(), "more of the stream")
    scene.wait_report("streamed")
    scene.wait_for("1,042 tokens")
    scene.wait_for(f"› size{len(sizes) - 1}\n")
    scene.wait(lambda: prompts(scene) and "writing" not in scene.text(), "the input line alone")
    assert submitted(scene) == ["stream", *(f"size{number}" for number in range(len(sizes)))]
    assert scene.marks() == expected_marks(1500)
    assert prompts(scene) == 1


def test_editing_and_pasting(play: Play) -> None:
    scene = play()
    pasted = "def f():\n\treturn '漢字'\n\n# end \u202e"
    scene.type("helo\x1b[Dl\r")
    scene.type(f"\x1b[200~{pasted}\x1b[201~ and more\r")
    scene.type("one\x1b\rtwo\nthree\r")
    scene.wait(lambda: len(submitted(scene)) == 3, "three messages")
    # Up through the three lines of the last message, then to the one before. What was sent just now is in the history
    # only after the next frame, so the key is pressed as a person would: until it is there.
    scene.press("\x1b[A", until=lambda: scene.text().count("› def f") == 2)
    scene.type("\x03  \r\x7f\x7f")  # Ctrl-C empties the line; an empty message is none
    scene.child.send(b"br\xffken\r")
    scene.wait(lambda: "br\ufffdken" in submitted(scene), "the broken word")
    assert submitted(scene)[:3] == ["hello", f"{pasted} and more", "one\ntwo\nthree"]


def test_a_large_paste_is_one_message(play: Play) -> None:
    scene = play()
    pasted = "\n".join(f"line {number} 漢字" for number in range(3000))
    scene.type(f"\x1b[200~{pasted}\x1b[201~")
    scene.wait_for("line 2999")
    scene.type("\r")
    scene.wait(lambda: submitted(scene), "the message")
    assert submitted(scene) == [pasted]


def test_a_whole_turn(play: Play) -> None:
    """K-162, K-194, K-198, K-202, K-206: each part once, in order, thought, call and result in panels."""
    scene = play()
    scene.type("turn\r")
    scene.wait_report("done")
    scene.wait_for("2.1 s · 1,042 tokens · 2 tool calls")
    parts = [
        "› turn",
        "─ thought ─",
        "Look at the weather first.",
        "I look it up.",
        "─ call web_search ─",
        "─ ✓ web_search ─",
        "output 39",
        "... 60 more lines",
        "─ call read_file ─",
        "─ ✗ read_file failed ─",
        "no such file: x",
        "24 °C.",
    ]
    text = "\n".join(scene.lines())
    places = [text.find(part) for part in parts]
    assert places == sorted(places)
    assert -1 not in places
    assert all(text.count(part) == 1 for part in ("Look at the weather", "I look it up.", "It is sunny"))


def test_what_was_streamed_stands_there_once_however_it_ends(play: Play) -> None:
    """Whatever came by deltas stands there once, and a whole text that differs is marked and shown whole."""
    scene = play()
    scene.type("endings\r")
    scene.wait_report("done")
    scene.wait_for("it broke")
    rows = [row.strip("│ ") for row in scene.lines()]
    kept = [row for row in rows if row and not row.startswith(("╭", "╰", "›", "· ready"))]
    assert kept == [
        "first *partial",
        "· interrupted",
        "second begins and ends",
        "third one",
        "· the answer differs from what is shown above:",
        "another third",
        "deep thoughts",
        "tool()",
        "never streamed",
        "said beside",
        "tool()",
        "fourth",
        "a draft of which no answer came",
        "fifth",
        "it broke",
    ]


def test_waiting_and_an_answer_that_goes_on(play: Play) -> None:
    """The wait counts down beside the spinner, what is typed stays, and nothing void is left. Complaint 153."""
    scene = play()
    scene.type("wait\r")
    scene.type("half typed")
    left: set[str] = set()

    def counts_down() -> bool:
        left.update(re.findall(r"rate limit; asking again in (\d+) s", "\n".join(scene.visible())))
        return len(left) > 1

    scene.wait(counts_down, "the countdown")
    assert all(0 < int(seconds) <= 301 for seconds in left)
    assert "› half typed" in scene.visible()
    assert "void" not in scene.text()
    scene.type(" go\r")
    scene.wait_for("the answer broke off; asking again in 1 s")
    scene.wait(lambda: any("thinking" in row for row in scene.visible()), "the end of the wait")
    scene.type("go\r")
    scene.wait_report("done")
    scene.wait_for("it was blocked")
    rows = [row.strip("│ ") for row in scene.lines()]
    assert [row for row in rows if row and not row.startswith(("╭", "╰", "›", "· ready"))] == [
        "Count.",
        "Well:",
        "one",
        "two",
        "Go on.",
        "a block",
        "· the answer shown above is void",
        "the answer",
        "Hm.",
        "it was blocked",
    ]


def test_each_kind_has_its_colour_unless_colours_are_off(play: Play) -> None:
    """K-162: cyan, yellow and magenta; none when they are not wanted."""
    colours = {}
    for scene in (play(), play("grey")):
        scene.type("turn\r")
        scene.wait_for("2 tool calls")
        rows = [*scene.screen.top, *scene.screen.buffer.values()]
        colours[scene] = [{cell.fg for cell in row.values()} - {"default"} for row in rows]
    first, second = colours.values()
    found = set().union(*first)
    assert {"cyan", "brown", "magenta"} <= found  # pyte calls colour 3 brown
    assert set().union(*second) == set()


def test_a_question_takes_one_key_and_leaves_the_input_alone(play: Play) -> None:
    scene = play()
    scene.type("ask\ryes, I")
    scene.wait_for("[y] yes  [n] no  [a] always")
    assert not scene.reports("answered")
    assert any(row == "› yes, I" for row in scene.visible())
    scene.type("y")
    scene.wait_report("answered", "q1", "yes")
    scene.wait_for("And `ls`?")
    scene.wait(lambda: any("[y]" in row for row in scene.visible()), "the second question")
    scene.type("x")
    scene.wait(lambda: any(row == "› yes, Ix" for row in scene.visible()), "a key that is no answer")
    scene.wait(lambda: any("[n]" in row for row in scene.visible()), "the question again")
    scene.type("N")
    scene.wait_report("answered", "q2", "no")
    scene.wait(lambda: not any("[y]" in row for row in scene.visible()), "no question")
    scene.type("!\r")
    scene.wait(lambda: submitted(scene) == ["ask", "yes, Ix!"], "the message")


def test_what_is_being_typed_answers_no_question(play: Play) -> None:
    scene = play()
    for _ in range(5):
        scene.type("ask\r")
        pauses = []
        for _ in range(15):
            began = time.monotonic()
            scene.type("y")
            scene.read(0.05)
            pauses.append(time.monotonic() - began)
        if max(pauses) < 0.4:  # else this machine was the one that paused
            break
    scene.wait(lambda: any(row.endswith("y" * 15) for row in scene.visible()), "what was typed")
    assert not scene.reports("answered") or max(pauses) >= 0.4


def test_hostile_text_does_not_steer_the_terminal(play: Play) -> None:
    scene = play()
    scene.type("hostile\r")
    scene.wait_report("done")
    scene.wait_for("survived")
    text = scene.text()
    assert "ready when you are" in text  # nothing was cleared, and it is not the alternate screen
    assert scene.screen.title == ""
    assert "\u202e" not in text
    assert text.count("␛[2J␛]0;owned␇<U+009B>31m") >= 6


def test_ctrl_c_interrupts_and_a_second_one_leaves(play: Play) -> None:
    scene = play()
    scene.type("work\rhalf a thought")
    scene.wait(lambda: re.search(r"run_shell_command \d+ s", scene.text()), "the running tool")
    scene.type("\x03")
    scene.wait_report("interrupted")
    scene.wait_for("· interrupted")
    scene.wait(lambda: any(row == "› half a thought" for row in scene.visible()), "the line that was typed")
    scene.type("\x03")
    assert scene.end() == 0
    assert [note[0] for note in scene.reports()] == ["submitted", "interrupted", "left"]
    assert scene.attributes == scene.before
    assert "goodbye" in scene.visible()
    assert not any("half a thought" in row for row in scene.visible())


def test_ctrl_c_without_a_turn(play: Play) -> None:
    scene = play()
    scene.type("draft\x03")
    scene.wait_for("Ctrl-C again leaves")
    scene.type("\x1b[A\r")
    scene.wait(lambda: submitted(scene) == ["draft"], "the draft")
    scene.type("\x04")
    assert scene.end() == 0
    assert scene.reports()[-1] == ["left"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_leaves_the_terminal_in_order(play: Play, number: signal.Signals) -> None:
    scene = play()
    scene.type("work\r")
    scene.wait(lambda: re.search(r"run_shell_command \d+ s", scene.text()), "the running tool")
    assert scene.attributes != scene.before
    scene.child.kill(number)
    assert scene.end() == -number
    assert scene.attributes == scene.before
    assert not scene.screen.cursor.hidden
    assert bytes(scene.received).rfind(b"\x1b[?2004l") > bytes(scene.received).rfind(b"\x1b[?2004h")


def test_an_error_in_a_key_binding_leaves_the_terminal_in_order(play: Play) -> None:
    scene = play()
    scene.type("boom\r")
    assert scene.end() == 70
    assert scene.attributes == scene.before
    assert not scene.screen.cursor.hidden
    assert "ended by: a key binding failed" in scene.text()


def test_everything_said_is_shown_before_the_end(play: Play, expected_marks: Marks) -> None:
    scene = play("talk", "1500")
    scene.type("flood\r")
    assert scene.end() == 0
    assert scene.marks() == expected_marks(1500)
    assert prompts(scene) == 0


def test_nothing_happens_while_nothing_changes(play: Play) -> None:
    scene = play()
    scene.type("turn\r")
    scene.wait_for("2 tool calls")
    status = Path(f"/proc/{scene.child.pid}/status")

    def switches() -> str:
        return next(line for line in status.read_text().splitlines() if line.startswith("voluntary"))

    quiet = 0
    while quiet < 3:  # let it come to rest
        before = switches()
        scene.read(0.1)
        quiet = quiet + 1 if switches() == before else 0
    size = len(scene.received)
    before = switches()
    until = time.monotonic() + 0.7
    while time.monotonic() < until:
        scene.read(0.1)
    assert len(scene.received) == size
    assert switches() == before


def test_a_terminal_that_stops_holds_nothing_up(play: Play, expected_marks: Marks) -> None:
    """While nobody reads the screen the program works on, and keys arrive."""
    scene = play("talk", "1500")
    scene.type("stream\r")
    scene.type("still here\r")
    becomes(lambda: ["streamed"] in scene.reports() and "still here" in submitted(scene))
    scene.wait_for("1,042 tokens")
    assert scene.marks() == expected_marks(1500)


def test_a_tiny_terminal(play: Play) -> None:
    scene = play("talk", "30", columns=24, rows=4)
    scene.type("turn\r")
    scene.wait_report("done")
    scene.type("\x1b[200~" + "a\n" * 20 + "\x1b[201~\r")
    scene.wait(lambda: len(submitted(scene)) == 2, "the paste")
    scene.type("bye\r")
    assert scene.end() == 0


def test_suspending_is_survived(play: Play) -> None:
    scene = play()
    scene.type("one\x1a two\r")
    scene.wait(lambda: submitted(scene) == ["one two"], "the message")
    os.kill(scene.child.pid, signal.SIGCONT)
    scene.wait(lambda: prompts(scene) == 1, "one input line")
