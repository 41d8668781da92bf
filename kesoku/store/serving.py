"""Reading what a process serves: one indexed read an address, so that bot and channel are compared by equality."""

from collections.abc import Callable
from typing import Any

from sqlalchemy import ColumnElement, Select, Table, and_

from kesoku.messages.lifecycle import Serving
from kesoku.messages.record import EVERY_CHANNEL
from kesoku.store.engine import Link, Row
from kesoku.store.statement import Statement, param


class Served:
    """A SELECT whose rows begin with a seq, in two forms: for a whole bot and for one channel.

    `build` gets the condition on the columns chatbot_id and channel_id of `table`.
    """

    def __init__(self, build: Callable[[ColumnElement[bool]], Select[Any]], table: Table) -> None:
        bot = table.c.chatbot_id == param("chatbot_id")
        self.of_bot = Statement(build(bot))
        self.in_channel = Statement(build(and_(bot, table.c.channel_id == param("channel_id"))))

    def rows(self, link: Link, serving: Serving, **params: Any) -> list[Row]:
        """The rows of all addresses, each seq once, in order of seq."""
        found: dict[Any, Row] = {}
        for address in serving.addresses:
            given = {"chatbot_id": address.chatbot_id, **params}
            if address.channel_id == EVERY_CHANNEL:
                rows = link.rows(self.of_bot, **given)
            else:
                rows = link.rows(self.in_channel, channel_id=address.channel_id, **given)
            found.update((row[0], row) for row in rows)
        return [found[seq] for seq in sorted(found, key=lambda seq: seq or 0)]
