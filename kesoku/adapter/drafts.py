"""The board of running replies: in this process only, lossy, the latest wins (N-19)."""

from collections.abc import Callable

from kesoku.adapter.outgoing import Draft
from kesoku.messages.record import Address

OnDraft = Callable[[Address, Draft], None]
OnClear = Callable[[str], None]


class DraftBoard:
    """Hands the newest text of each running turn to whoever watches. Implements the port Drafts; keeps nothing."""

    def __init__(self) -> None:
        self._watchers: list[tuple[OnDraft, OnClear]] = []

    def watch(self, on_draft: OnDraft, on_clear: OnClear) -> Callable[[], None]:
        """Call `on_draft` for every draft and `on_clear` when a turn is over; both return at once. Returns the undo."""
        watcher = (on_draft, on_clear)
        self._watchers.append(watcher)
        return lambda: self._watchers.remove(watcher)

    def publish(
        self,
        turn_id: str,
        address: Address,
        *,
        step: int,
        thought: str,
        text: str,
        note: str = "",
        wait: float | None = None,
    ) -> None:
        """Show the whole text so far of the running step, why it waits, and for how many seconds. Never blocks."""
        draft = Draft(turn_id=turn_id, step=step, thought=thought, text=text, note=note, wait=wait)
        for on_draft, _ in tuple(self._watchers):
            on_draft(address, draft)

    def clear(self, turn_id: str) -> None:
        """The turn is over or was interrupted."""
        for _, on_clear in tuple(self._watchers):
            on_clear(turn_id)
