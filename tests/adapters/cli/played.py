"""A program that plays one scene on its terminal; the tests start it in a pseudo-terminal. Notes what is reported."""

import asyncio
import json
import os
import sys
from pathlib import Path

from kesoku_cli.frontend import Choice
from kesoku_cli.terminal import Terminal

CHOICES = (
    Choice(key="y", label="yes", value="yes"),
    Choice(key="n", label="no", value="no"),
    Choice(key="a", label="always", value="always"),
)


class Stage:
    """The listener of a scene: writes each report as a line of JSON, and plays along."""

    def __init__(self, scene: str, notes: Path, *arguments: str) -> None:
        self.scene, self.arguments = scene, arguments
        self.notes = notes.open("a", encoding="utf-8", buffering=1)
        self.tasks: set[asyncio.Task[None]] = set()
        self.go = asyncio.Event()
        self.front = Terminal(
            stdin=sys.stdin, stdout=sys.stdout, environ=os.environ, color=scene != "grey", banner="ready when you are"
        )

    def note(self, kind: str, *values: object) -> None:
        self.notes.write(json.dumps([kind, *values]) + "\n")

    def submitted(self, text: str) -> None:
        self.note("submitted", text)
        if text.endswith("go"):
            self.go.set()
        self.front.prompt_shown(text)
        if text == "boom":
            raise RuntimeError("a key binding failed")
        if text == "bye":
            self.front.close()
        if act := getattr(self, f"act_{text.split(maxsplit=1)[0]}", None):
            self.start(act())

    def start(self, work: object) -> None:
        task = asyncio.ensure_future(work)  # type: ignore[call-overload]
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    def answered(self, question: str, value: str) -> None:
        self.note("answered", question, value)

    def interrupted(self) -> None:
        self.note("interrupted")
        for task in self.tasks:
            task.cancel()
        self.front.turn_ended("interrupted")

    def gone(self) -> None:
        self.left()

    def left(self) -> None:
        self.note("left")
        self.front.close()

    def ended(self) -> None:
        self.note("ended")

    async def act_stream(self) -> None:
        """1,000 lines a second of Markdown, each with a mark of its own, in pieces of all sizes."""
        count = int(self.arguments[0])
        text = "".join(line + "\n" for line in document(count))
        self.front.turn_started()
        loop = asyncio.get_running_loop()
        began, at, size = loop.time(), 0, 2
        while at < len(text):
            self.front.answer_delta(text[at : at + size])
            at, size = at + size, size % 59 + 3
            await asyncio.sleep(max(began + at / len(text) * count / 1000 - loop.time(), 0))
        self.front.answer(text, {"turn_time": 2.1, "turn_tokens": 1042})
        self.front.turn_ended("processed")
        self.note("streamed")

    async def act_flood(self) -> None:
        """A long answer at once, and out."""
        self.front.answer("".join(line + "\n" for line in document(int(self.arguments[0]))))
        self.front.close()

    async def act_work(self) -> None:
        """A turn that does not end by itself."""
        self.front.turn_started()
        self.front.call("1", "run_shell_command", "sleep 1000")
        await asyncio.Event().wait()

    async def act_ask(self) -> None:
        self.front.question("q1", "Run `rm -r build`?", CHOICES, "no")
        self.front.question("q2", "And `ls`?", CHOICES, "no")

    async def act_turn(self) -> None:
        """A whole turn with all its parts."""
        front = self.front
        front.turn_started()
        front.thought_delta("Look at the ")
        front.thought_delta("weather first.")
        front.answer_delta("I look it up.")
        front.thought("Look at the weather first.")
        front.thought("I look it up.")
        front.call("1", "web_search", "web_search(query='東京の天気')")
        front.result("1", "web_search", "\n".join(f"output {number}" for number in range(100)))
        front.call("2", "read_file", "read_file(path='x')")
        front.result("2", "read_file", "no such file: x", failed=True)
        front.answer_delta("# 東京\n\nIt is **sunny**")
        front.answer(
            "# 東京\n\nIt is **sunny**, 24 °C. 🌞", {"turn_time": 2.1, "turn_tokens": 1042, "turn_tool_calls": 2}
        )
        front.turn_ended("processed")
        self.note("done")

    async def act_endings(self) -> None:
        """Answers that end in unusual ways."""
        front = self.front
        front.turn_started()
        front.answer_delta("first *partial")
        front.turn_ended("interrupted")
        front.turn_started()
        front.answer_delta("second begins")
        front.turn_ended("processed")
        front.turn_started()
        front.answer("second begins and ends")  # its delivery was slower than the next turn
        front.answer_delta("third one\n\nthird two\n\nthird tail")
        front.answer("another third")
        front.thought_delta("deep ")
        front.thought_delta("thoughts")
        front.call("1", "tool", "tool()")
        front.thought("deep")
        front.thought("thoughts")
        front.thought("never streamed")
        front.answer_delta("said beside")
        front.call("2", "tool", "tool()")
        front.thought("said beside")
        front.answer("fourth")
        front.answer_delta("a draft of which no answer came")
        front.turn_ended("processed")
        front.turn_started()
        front.answer_delta("fi")
        front.answer("fifth")
        front.error("it broke")
        front.turn_ended("error")
        self.note("done")

    async def act_wait(self) -> None:
        """The provider makes the model wait, and then cuts the answer in the middle."""
        front = self.front
        front.turn_started()
        front.thought_delta("a void thought")
        await asyncio.sleep(0.1)
        front.retry("rate limit; asking again", wait=301, thought=True)
        await self.go.wait()
        self.go.clear()
        front.retry("the answer broke off; asking again", wait=1)
        await self.go.wait()
        front.thought_delta("Count.")
        front.answer_delta("Well:\n\n```python\none\ntw")
        front.thought("Count.")
        front.thought_delta("\n\nGo on.")
        front.answer_delta("o\n```")
        front.thought("Go on.")
        front.answer("Well:\n\n```python\none\ntwo\n```")
        front.answer_delta("a tail")
        front.retry("", answer=True)
        front.answer_delta("a block\n\nanother\n\nand a tail")
        front.thought("Hm.")
        front.retry("", answer=True)
        front.answer("the answer")
        front.turn_started()
        front.answer_delta("blocked")
        front.error("it was blocked")
        front.turn_ended("error")
        self.note("done")

    async def act_hostile(self) -> None:
        evil = "\x1b[2J\x1b]0;owned\x07\x9b31m \u202egnp.exe\u202c &#x202e;up \x1b[?1049h\r"
        front = self.front
        front.prompt_shown(evil, author=evil)
        front.thought(evil)
        front.call("1", evil, evil)
        front.result("1", evil, evil)
        front.notice(evil)
        front.error(evil)
        front.answer(evil)
        front.file(evil, evil)
        front.notice("survived")
        self.note("done")


def document(lines: int) -> list[str]:
    """Markdown with headings, paragraphs, lists, fences and tables; every source line has a mark `mNNNNNe`."""
    text: list[str] = []

    def mark() -> str:
        return f"m{len(text):05d}e"

    while len(text) < lines:
        text.append(f"## 見出し {mark()} 🌸")
        text.append("")
        text.append(
            f"A paragraph {mark()} with **bold** words that is longer than the terminal is wide, so that it wraps."
        )
        text.append("")
        for _ in range(5):
            text.append(f"- item {mark()} `code`")
        text.append("")
        text.append("```python")
        for _ in range(60 if len(text) % 3 else 8):
            text.append(f"x = '{mark()}'  # not *emphasis*")
        text.append("```")
        text.append("")
        text.append(f"| {mark()} | b |")
        text.append("|---|---|")
        for _ in range(4):
            text.append(f"| {mark()} | 表 |")
        text.append("")
    return text


def main() -> None:
    stage = Stage(sys.argv[1], Path(sys.argv[2]), *sys.argv[3:])
    if stage.scene == "interrupting":
        stage.start(stage.act_work())
    try:
        asyncio.run(stage.front.run(stage))
    except RuntimeError as error:
        sys.stdout.write(f"ended by: {error}\n")
        sys.exit(70)
    sys.stdout.write("goodbye\n")


if __name__ == "__main__":
    main()
