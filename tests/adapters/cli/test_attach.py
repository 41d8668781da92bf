"""Which messages name files to send along."""

from io import BytesIO
from pathlib import Path

import pytest

from kesoku.gateway.policy import FloodBounds
from kesoku.testing.adapter_runner import AdapterRunner
from kesoku.testing.gateway_harness import GatewayHarness
from kesoku.testing.memory import MemoryStore
from kesoku_cli.attach import named
from kesoku_cli.machine import Machine
from kesoku_cli.manifest import MANIFEST
from kesoku_cli.person import Person
from kesoku_cli.sitting import Sitting


@pytest.mark.parametrize(
    ("text", "files"),
    [
        ("/attach photo.png", ["photo.png"]),
        ("  /attach  a.png 'two words.txt' b\\ c  ", ["a.png", "two words.txt", "b c"]),
        ("/attach Ada's notes.txt", ["Ada's notes.txt"]),
        ("/attach", []),
        ("", None),
        ("/attach\ta.png\nb.png", ["a.png", "b.png"]),
        ("/attached photo.png", None),
        ("see /attach photo.png", None),
        ("/help", None),
    ],
)
def test_files_are_named_as_in_a_shell(text: str, files: list[str] | None) -> None:
    assert named(text) == files


async def test_the_files_of_a_message_that_was_not_taken_go_along_with_the_next(tmp_path: Path) -> None:
    bench = GatewayHarness(MemoryStore(), bounds=FloodBounds(per_person_per_minute=1))
    runner = AdapterRunner(
        manifest=MANIFEST, store=bench.store, gateway=bench.gateway, clock=bench.clock, folder=tmp_path / "runner"
    )
    person = Person(
        inbox=runner.inbox,
        front=Machine(out=BytesIO(), stdin=None),
        sitting=Sitting(posted_is_out=True),
        target=runner.address("here"),
        author="Ada",
        in_order=False,
        tell=lambda happened: None,
        show=lambda _: False,
    )
    (tmp_path / "a.txt").touch()
    await person._say("one")
    await person._attach([str(tmp_path / "a.txt")])
    await person._say("two, too soon")
    await bench.clock.advance(61)
    await person._say("three")
    await person._say("four, too soon")
    prompts = [
        each.record for each in await bench.events() if each.record.kind == "user_prompt" and each.kind == "inserted"
    ]
    sent = [(each.message.content.text, [file.name for file in each.message.content.attachments]) for each in prompts]
    assert sent == [("one", []), ("three", ["a.txt"])]
