"""The terminal adapter: what a person types becomes prompts, records become scenes on a front end."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace

from kesoku import Address, Record
from kesoku.adapter import (
    Draft,
    Inbox,
    Outgoing,
    OutgoingFile,
    Receipt,
    RenderContext,
)
from kesoku.messages.recent import Recent
from kesoku_cli.config import CliConfig
from kesoku_cli.front import front_end
from kesoku_cli.frontend import FrontEnd
from kesoku_cli.person import LOCAL, Person
from kesoku_cli.scene import scene_of, show
from kesoku_cli.sitting import Sitting


class CliAdapter:
    """One sitting at a terminal. `exit_code` tells afterwards how it went."""

    def __init__(self, chatbot_id: str, config: CliConfig) -> None:
        self._config = config
        here = Address(chatbot_id=chatbot_id, channel_id=config.channel)
        self._target = _address(config.target) if config.target else here
        self._is_viewer = self._target.chatbot_id != chatbot_id
        self.earlier: Sequence[str] = ()
        """What the person said before in this conversation, oldest first; set before `run`."""
        self._sitting = Sitting(posted_is_out=self._is_viewer)
        self._person: Person | None = None
        self._front: FrontEnd | None = None
        self._ready = asyncio.Event()
        self._shown: dict[str, Draft] = {}
        self._seen = Recent[str]()
        self._questions: set[str] = set()

    @property
    def exit_code(self) -> int:
        """0; when one thing was asked: 1 if it was not answered, 130 if it was interrupted."""
        return self._sitting.exit_code if self._person and self._person.has_ended else 0

    async def run(self, inbox: Inbox) -> None:
        """Sit until the person leaves, or until the one question is answered."""
        config = self._config
        front = self._front = front_end(config, sys.stdin, sys.stdout, sys.stderr, os.environ, self.earlier)
        person = self._person = Person(
            inbox=inbox,
            front=front,
            sitting=self._sitting,
            target=self._target,
            author=config.author,
            in_order=config.output == "json",
            tell=self._tell,
            show=self._show_once,
        )
        self._ready.set()
        try:
            async with inbox.follow(self._target) as records, asyncio.TaskGroup() as group:
                duties = [group.create_task(self._follow(records, person)), group.create_task(person.act())]
                # Asked once the front end hears Ctrl-C: what was asked before could not be taken back.
                asyncio.get_running_loop().call_soon(self._ask, person)
                await front.run(person)
                for duty in duties:
                    duty.cancel()
            if self._sitting.is_running or not person.is_done:  # it may have begun without having been seen here
                await person.leave()
        finally:
            front.close()

    def _ask(self, person: Person) -> None:
        """Ask what was given on the command line."""
        if self._config.attach:
            person.attached(self._config.attach)
        if self._config.question is not None:
            person.submitted(self._config.question)
            person.ended()

    async def _follow(self, records: AsyncIterator[Record], person: Person) -> None:
        async for record in records:
            self._saw(record)
            person.check()

    def _saw(self, record: Record) -> None:
        happened = self._sitting.saw(record)
        self._show_once(record)
        self._tell(happened)

    def _show_once(self, record: Record) -> bool:
        """Show what nobody else shows here; whether it was shown now."""
        if not self._comes_from_elsewhere(record) or record.id in self._seen:
            return False
        self._seen.add(record.id)
        show(scene_of(record), self._shows(), thoughts=self._config.thoughts)
        return True

    def _tell(self, happened: Sequence[str]) -> None:
        """Show where turns began and ended."""
        front = self._shows()
        for each in happened:
            if each == "started":
                front.turn_started()
                continue
            for question in tuple(self._questions):
                front.question_closed(question)
            self._questions.clear()
            front.turn_ended(each)

    def _comes_from_elsewhere(self, record: Record) -> bool:
        """Whether nobody else shows this here: everything in a channel that is only looked at, and prompts that no
        person typed, such as those of a schedule (K-076)."""
        if record.kind == "user_prompt":
            source = record.message.source
            return getattr(source, "user_id", None) != LOCAL and (self._is_viewer or source.kind != "user")
        return self._is_viewer and record.kind != "system_note" and not getattr(record.message.source, "cut", False)

    # What the core sends.

    def render(self, record: Record, context: RenderContext) -> tuple[Outgoing, ...]:
        """One scene, then the files that it names."""
        scene = scene_of(record, context)
        files = [Outgoing(files=(OutgoingFile(path=path, name=path.name),)) for path in context.files.values() if path]
        return (Outgoing(text=scene.pop("text", ""), payload=scene), *files)

    async def send(self, address: Address, outgoing: Outgoing, key: str) -> Receipt:
        """Show it. The receipt says no more than that it was handed to the terminal."""
        await self._ready.wait()
        front = self._shows()
        if outgoing.files:
            for file in outgoing.files:
                front.file(file.name, str(file.path))
        else:
            self._show(outgoing, front)
        return Receipt(platform_ids=(key,))

    def _show(self, outgoing: Outgoing, front: FrontEnd) -> None:
        """A scene; what the core says itself has none and is a notice."""
        scene = {**(outgoing.payload or {"show": "notice"}), "text": outgoing.text}
        if scene["show"] == "question":
            self._questions.add(scene["id"])
        show(scene, front, thoughts=self._config.thoughts)

    async def draft(self, address: Address, draft: Draft) -> None:
        """Show what is new of a running reply; one that began anew replaces what was shown of it."""
        shown = self._shown.get(draft.turn_id)
        if shown is None or shown.step != draft.step:
            shown = replace(draft, thought="", text="")
        if not self._config.thoughts:
            draft = replace(draft, thought="")
        self._shown = {draft.turn_id: draft}
        front = self._shows()
        thought, new_thought = _grown(shown.thought, draft.thought)
        answer, new_text = _grown(shown.text, draft.text)
        if thought or answer or draft.note:
            front.retry(draft.note, wait=draft.wait, thought=thought, answer=answer)
        if new_thought:
            front.thought_delta(new_thought)
        if new_text:
            front.answer_delta(new_text)

    def _shows(self) -> FrontEnd:
        if self._front is None:
            raise RuntimeError("the terminal is not open")
        return self._front


def _grown(shown: str, now: str) -> tuple[bool, str]:
    """Whether something that was shown is void now, and what is to be shown behind the rest."""
    if now.startswith(shown):
        return False, now[len(shown) :]
    return True, "" if shown.startswith(now) else now


def _address(text: str) -> Address:
    chatbot_id, _, channel_id = text.partition(":")
    return Address(chatbot_id=chatbot_id, channel_id=channel_id)
