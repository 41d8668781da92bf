"""Small durable values of one adapter."""

from typing import Any

from kesoku.ports import Store

RESERVED = "kesoku:"
"""How the keys begin that the core has in the scope of an adapter."""


def scope_of(chatbot_id: str) -> str:
    """The scope of an adapter's values in the state store."""
    return f"adapter:{chatbot_id}"


class StoreState:
    """The State of an adapter, kept in the store."""

    def __init__(self, store: Store, chatbot_id: str) -> None:
        self._store, self._scope = store, scope_of(chatbot_id)

    async def get(self, key: str) -> Any:
        """The JSON value, or None."""
        return await self._store.read(lambda tx: tx.state.get(self._scope, key))

    async def set(self, key: str, value: Any) -> None:
        """Store a JSON value; None deletes."""
        await self._store.write(lambda tx: tx.state.set(self._scope, key, value))
