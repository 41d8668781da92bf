"""What a conversation used, in words: a part of /status."""

from collections.abc import Iterator

from kesoku.agent.budget import Budget
from kesoku.messages.lifecycle import Expense
from kesoku.messages.price import in_words
from kesoku.ports import Store, Transaction

_LATEST = 100
"""Records among which the last turn with a step is looked for."""


async def bill(store: Store, session_id: str, *, budget: Budget, now: int) -> str:
    """A list in Markdown: the last turn, the conversation, and the day where it has a price. Empty before any use."""

    def operation(tx: Transaction) -> tuple[Expense, Expense, int]:
        return _last(tx, session_id), tx.steps.expense(session_id), tx.steps.spent(budget.midnight(now))

    last, whole, today = await store.read(operation)
    if whole == Expense():
        return ""
    return "\n\n" + "\n".join(f"- {line}" for line in _lines(last, whole, today, budget))


def _lines(last: Expense, whole: Expense, today: int, budget: Budget) -> Iterator[str]:
    yield f"Last turn: {words(last)}"
    yield f"Conversation: {words(whole)}"
    if budget.day is not None:
        yield f"All conversations today: {in_words(today)} of {in_words(budget.day)}"
    elif budget.prices:
        yield f"All conversations today: {in_words(today)}"


def _last(tx: Transaction, session_id: str) -> Expense:
    """Of the latest turn in which the model said something."""
    turns = dict.fromkeys(each.turn_id for each in reversed(tx.messages.tail(session_id, _LATEST)) if each.turn_id)
    return Expense.of(next(filter(None, map(tx.steps.of, turns)), ()))


def words(expense: Expense) -> str:
    """What was used, in words."""
    used = expense.usage
    cost = "" if expense.cost is None else f", {in_words(expense.cost)}"
    cached = f" ({used.cached:,} from cache)" if used.cached else ""
    return f"{used.prompt:,} tokens read{cached}, {used.thoughts:,} thought, {used.answer:,} answered{cost}"
