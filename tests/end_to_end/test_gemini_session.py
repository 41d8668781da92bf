"""One sitting of `kesoku chat` against the loopback Gemini, and exactly the requests that it makes."""

import json
import signal
from pathlib import Path
from typing import IO, Any

import pytest
from PIL import Image

from kesoku.testing.gemini import Answer, Call, Hang, LoopbackGemini, Say, Think, rate_limited
from kesoku.testing.gemini.grammar import sign

from .conftest import Home

pytestmark = pytest.mark.slow


def until(stdout: IO[str], kind: str) -> list[dict[str, Any]]:
    """The events up to the next one of this kind."""
    events = []
    for line in stdout:
        events.append(json.loads(line))
        if events[-1]["type"] == kind:
            return events
    raise AssertionError(f"no {kind} among {events}")


def text(said: str) -> dict[str, Any]:
    return {"text": said}


def signed(part: dict[str, Any]) -> dict[str, Any]:
    return {**part, "thought_signature": sign(part)}


def test_thoughts_parallel_tools_an_image_an_interruption_and_a_rate_limit(
    home: Home, gemini: LoopbackGemini, tmp_path: Path
) -> None:
    picture = tmp_path / "work" / "a photo.png"
    Image.new("RGB", (4, 4), "red").save(picture)
    gemini.script(
        Answer(Think("I look."), Call("calculate", {"expression": "6*7"}), Call("calculate", {"expression": "1+1"})),
        rate_limited(seconds=0.2),
        Answer(Think("Both are there."), Say("Red, 42 and 2.")),
        Answer(Say("Once upon"), then=Hang()),
        Answer(Say("As you like.")),
    )
    process = home.start("chat", "--json", "--attach", str(picture), stdin=-1)
    assert process.stdin is not None
    assert process.stdout is not None

    def say(line: str) -> None:
        assert process.stdin is not None
        process.stdin.write(f"{line}\n")
        process.stdin.flush()

    say("What colour, and how much?")
    first = until(process.stdout, "turn_ended")
    say("Tell me a story.")
    begun = until(process.stdout, "answer_delta")
    process.send_signal(signal.SIGINT)
    second = until(process.stdout, "turn_ended")
    say("Stop, that is enough.")
    third = until(process.stdout, "turn_ended")
    process.communicate(timeout=120)
    assert process.returncode == 130  # something that was asked was interrupted

    whole = [event for event in first + begun + second + third if not event["type"].endswith("_delta")]
    assert [(e["type"], e.get("text") or e.get("outcome")) for e in whole if e["type"] not in {"prompt", "retry"}] == [
        ("notice", "a photo.png goes along with your next message"),
        ("turn_started", None),
        ("thought", "I look."),
        ("call", None),
        ("call", None),
        ("result", "42"),
        ("result", "2"),
        ("thought", "Both are there."),
        ("answer", "Red, 42 and 2."),
        ("turn_ended", "processed"),
        ("turn_started", None),
        ("turn_ended", "interrupted"),
        ("turn_started", None),
        ("answer", "As you like."),
        ("turn_ended", "processed"),
    ]

    image = {"inline_data": {"mime_type": "image/png", "data": picture.read_bytes()}}
    asked = {"role": "user", "parts": [text("What colour, and how much?"), text("[File a photo.png]"), image]}
    calls = [
        {"function_call": {"name": "calculate", "args": {"expression": sum_}, "id": f"fc-{number}"}}
        for number, sum_ in ((1, "6*7"), (2, "1+1"))
    ]
    returned = [
        {"function_response": {"name": "calculate", "response": {"output": output}, "id": f"fc-{number}"}}
        for number, output in ((1, "42"), (2, "2"))
    ]
    thought = {"text": "I look.", "thought": True}
    step = [
        asked,
        {"role": "model", "parts": [thought, signed(calls[0]), calls[1]]},
        {"role": "user", "parts": returned},
    ]
    past = [
        {
            "role": "user",
            "parts": [text("What colour, and how much?\n[Attachments stripped from history: a photo.png]")],
        },
        {"role": "model", "parts": [signed(calls[0]), calls[1]]},
        {"role": "user", "parts": returned},
        {"role": "model", "parts": [text("Red, 42 and 2.")]},
    ]
    story = text("Tell me a story.")
    assert [seen.refused for seen in gemini.requests] == [None] * 5
    assert [seen.body["contents"] for seen in gemini.requests] == [
        [asked],
        step,
        step,
        [*past, {"role": "user", "parts": [story]}],
        [*past, {"role": "user", "parts": [story, text("\n\nStop, that is enough.")]}],
    ]
    header = {
        json.dumps([seen.body.get(key) for key in ("system_instruction", "tools", "generation_config")])
        for seen in gemini.requests
    }
    assert len(header) == 1
    assert gemini.left == 1
