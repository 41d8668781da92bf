"""A history in memory: what was said, who is told of it, and another order to read it in."""

import asyncio

from kesoku.history import History
from kesoku.messages import make
from kesoku.messages.message import Message


def show(message: Message) -> None:
    print(f"+ {message.kind}: {message.text}")


async def index(message: Message) -> None:
    await asyncio.sleep(0)  # a search index, somewhere


async def main() -> None:
    history = History(system=make.system_prompt("Be brief."), on_added=[show])
    asked = history.add(instruction="Where does the ferry leave?")
    history.add(assistant_response="From pier 3.")

    history.on_added.append(index)  # must be awaited, so from now on only the twins with a_ will do
    await history.a_add(instruction="And when?")
    await history.a_update(asked.id, guidance="The evening ferry is meant.")

    assert history.last_response is not None
    history.select([asked.id, history.last_response.id])
    for entry in history.to_chat_msgs(history.progression):
        print(f"{entry['role']}: {entry['content']}")


asyncio.run(main())
