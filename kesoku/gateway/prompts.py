"""What a program says to an agent in one channel, in the three modes in which it can be meant (C-42).

    prompts = Prompts(gateway, address)
    message = create_user_message(content="What is new?", source=UserSource())
    await prompts.followup(message)

A message exists, with its id, before anybody takes it in: so these methods return nothing, and what waits is withdrawn
or looked up by the id that the caller has had all along.
"""

from collections.abc import Mapping
from typing import Any

from kesoku.errors import PromptExpected
from kesoku.messages.create import freeze_message
from kesoku.messages.kinds import UserPrompt
from kesoku.messages.message import Message
from kesoku.messages.record import Address, Mode, Post
from kesoku.ports import Gateway


class Prompts:
    """Puts prompts into the queue of a channel's session. None of them interrupts: `Gateway.accept` is for people."""

    def __init__(self, gateway: Gateway, address: Address, *, session_id: str | None = None) -> None:
        self._gateway, self._address, self._session_id = gateway, address, session_id

    async def followup(self, message: UserPrompt | Mapping[str, Any]) -> None:
        """For a turn of its own, behind what runs and waits.

        Raises:
            PromptExpected: it is text, or anything else than a complete prompt; create it first.
            DuplicateMessage: its id is known with another value. The same message again changes nothing.
        """
        await self._put(message, "followup")

    async def steer(self, message: UserPrompt | Mapping[str, Any]) -> None:
        """For the next step of the running turn; where none runs, it opens one. Raises as `followup` does."""
        await self._put(message, "steer")

    async def inject(self, message: UserPrompt | Mapping[str, Any]) -> None:
        """For the next step of any turn; it wakes nobody. Raises as `followup` does."""
        await self._put(message, "inject")

    async def withdraw(self, message_id: str, *, by: str) -> bool:
        """Take back a prompt that has not started; False if it has, or was taken back before, or is not known."""
        return await self._gateway.withdraw(message_id, by=by)

    async def _put(self, given: object, mode: Mode) -> None:
        await self._gateway.post(
            Post(message=_prompt(given), address=self._address, session_id=self._session_id, mode=mode)
        )


def _prompt(given: object) -> UserPrompt:
    """A prompt as it is; one that came as a mapping is frozen here and keeps its id (D-036)."""
    message: Message | None = freeze_message(given) if isinstance(given, Message | Mapping) else None
    if not isinstance(message, UserPrompt):
        raise PromptExpected(given=type(given).__name__)
    return message
