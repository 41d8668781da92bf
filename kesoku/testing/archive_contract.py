"""What every store must do with earlier bodies; part of `kesoku.testing.store_contract`."""

# ruff: noqa: S101 - a contract is made of assertions

from kesoku.ports import Store
from kesoku.testing.store_material import add, prompt


class ArchiveContract:
    """The behaviour of `Archive`."""

    async def test_every_version_of_a_message_is_kept(self, store: Store) -> None:
        (first,) = await store.write(add(prompt()))
        second = first.message.update(text="second")
        third = second.update(text="third \ud800")
        for message in (second, third):
            await store.write(lambda tx, message=message: tx.messages.rewrite(message, actor="a", at=9))
        found = await store.read(lambda tx: tx.archive.versions(first.id))
        assert [(each.version, each.rendered) for each in found] == [
            (1, first.message.rendered),
            (2, "second"),
            (3, "third \ud800"),
        ]
        assert await store.read(lambda tx: tx.archive.versions("nobody")) == []
