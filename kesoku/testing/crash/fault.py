"""The faults that can be planted: real parts of Kesoku, each with one detail changed."""

import asyncio
import sqlite3
import time
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import replace
from functools import wraps
from hashlib import sha256
from pathlib import Path
from typing import Any, ClassVar, TypeVar, cast

from kesoku.adapter import Address, Manifest, Outgoing, Receipt
from kesoku.adapter.staging import Staging
from kesoku.gateway import BusyPolicy, StoreGateway
from kesoku.messages import make
from kesoku.messages.content import Attachment
from kesoku.messages.enums import MessageStatus
from kesoku.messages.lifecycle import Change, Delivery, DeliveryState, Fence, Lease, Purpose, Step
from kesoku.messages.record import Post, Record
from kesoku.messages.turn import CompiledRequest, MediaBlock, StreamItem
from kesoku.ports import Store, Transaction
from kesoku.store import SqlStore
from kesoku.testing.clock import WallClock
from kesoku.testing.crash.platform import WatchedAdapter, manifest
from kesoku.testing.crash.script import PromptDrivenModel
from kesoku.testing.crash.watch import Watch
from kesoku.testing.fakes import FakePresence

T = TypeVar("T")

BOT = "plain"
"""Whose platform shows everything that is sent to it."""
_PROMPTS = 24
"""More than one worker takes at once."""


class _Altered:
    """A real part. What a subclass defines stands in for what is there."""

    def __init__(self, real: Any) -> None:
        self.real = real

    def __getattr__(self, name: str) -> Any:
        return getattr(self.real, name)


class _AlteredStore(_Altered):
    """A store whose transactions have other repositories, by their names."""

    repositories: ClassVar[Mapping[str, Callable[[Any], Any]]] = {}

    async def write(self, operation: Callable[[Transaction], T]) -> T:
        """Run and commit."""

        @wraps(operation)
        def altered(tx: Transaction) -> T:
            others: Any = _Altered(tx)
            for name, alter in self.repositories.items():
                setattr(others, name, alter(getattr(tx, name)))
            return operation(others)

        store: Store = self.real
        return await store.write(altered)


class _Hasty(_Altered):
    async def write(self, operation: Callable[[Transaction], T]) -> T:
        """Return as soon as the operation ran; the commit follows some time later."""
        loop = asyncio.get_running_loop()
        ran: asyncio.Future[T] = loop.create_future()

        def tell(result: T) -> None:
            if not ran.done():
                ran.set_result(result)

        @wraps(operation)
        def hasty(tx: Transaction) -> None:
            loop.call_soon_threadsafe(tell, operation(tx))
            time.sleep(0.05)

        self.writing = asyncio.create_task(self.real.write(hasty))
        await asyncio.wait([self.writing, ran], return_when=asyncio.FIRST_COMPLETED)
        return ran.result()


class AckFirst(StoreGateway):
    """Acknowledges prompts before their commit."""

    def __init__(self, store: Any, *rest: Any, **options: Any) -> None:
        super().__init__(store, *rest, **options)
        self._hasty = StoreGateway(cast("Store", _Hasty(store)), *rest, **options)

    async def accept(
        self, posts: Sequence[Post], *, catch_up: bool = False, cursor: tuple[str, str, Any] | None = None
    ) -> list[Record]:
        """What may still be lost."""
        return await self._hasty.accept(posts, catch_up=catch_up, cursor=cursor)


class CursorFirst(StoreGateway):
    """Saves the adapter's cursor before the messages."""

    async def accept(
        self, posts: Sequence[Post], *, catch_up: bool = False, cursor: tuple[str, str, Any] | None = None
    ) -> list[Record]:
        """Two commits."""
        if cursor is not None:
            await self._store.write(lambda tx: tx.state.set(*cursor))
        return await super().accept(posts, catch_up=catch_up)


class _Forgetful(_Altered):
    def find(self, chatbot_id: str, keys: Collection[str]) -> None:
        return None


class NoKeys(_AlteredStore):
    """Does not look whether a platform's key is known."""

    repositories: ClassVar = {"messages": _Forgetful}


class TwoCommits(StoreGateway):
    """Ends a turn in one commit, and stores its answer in the next."""

    async def finish(
        self,
        fence: Fence,
        answer: Post,
        *,
        status: MessageStatus,
        metrics: dict[str, Any],
        step: Step | None = None,
        said: Sequence[Post] = (),
        **_: Any,
    ) -> Record:
        """Four commits: for the step, the end, the answer, and the lease."""
        if step is not None:
            await self.step(fence, step, said)
        await self.move(answer.turn_id or "", status, actor=fence.owner, reason="finish", fence=fence)
        record = await self.post(answer, fence=fence)
        await self.release(fence, requeue=False)
        return record


class _Unchecked(_Altered):
    def check(self, fence: Fence) -> Lease:
        """Whoever writes may."""
        lease: Lease = self.real.get(fence.session_id)
        return lease


class Unfenced(_AlteredStore):
    """Does not ask who holds the lease."""

    repositories: ClassVar = {"leases": _Unchecked}


class UnfencedFinish(StoreGateway):
    """Ends a turn without its fence, and without the last step, which would not take a second one either."""

    def __init__(self, store: Any, *rest: Any, **options: Any) -> None:
        super().__init__(store, *rest, **options)
        self._careless = StoreGateway(Unfenced(store), *rest, **options)

    async def finish(
        self, fence: Fence, answer: Post, *, status: MessageStatus, metrics: dict[str, Any], **_: Any
    ) -> Record:
        """Whoever ends a turn may."""
        return await self._careless.finish(fence, answer, status=status, metrics=metrics)


def some_prompts(database: Path) -> None:
    """Stored prompts for the workers to begin with, each in a channel of its own, so that none interrupts another."""

    async def post() -> None:
        async with await SqlStore.open(database) as store:
            gateway = StoreGateway(store, WallClock(), BusyPolicy(), FakePresence())
            for number in range(_PROMPTS):
                message = make.user_prompt("hello", author="Ada", user_id="ada")
                address = Address(chatbot_id=BOT, channel_id=f"p{number}")
                await gateway.accept([Post(message=message, address=address, keys=(f"p-{number}",))])

    asyncio.run(post())


def no_index_and_some_prompts(database: Path) -> None:
    """A database that takes any number of answers for a turn."""
    some_prompts(database)
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("DROP INDEX messages_final_answer")


class NoRecovery(StoreGateway):
    """Does not take back the turns of dead processes."""

    async def recover(self) -> int:
        """Nothing."""
        return 0


class _Impatient(_Altered):
    def is_dead(self, owner: str) -> bool:
        return True


def buries_the_living(store: Any, clock: Any, policy: Any, presence: Any, **options: Any) -> StoreGateway:
    """A gateway that takes every process for dead."""
    return StoreGateway(store, clock, policy, _Impatient(presence), **options)


class _Uncounted(_Altered):
    def depose(self, session_id: str, *, failed: bool) -> Lease:
        deposed: Lease = self.real.depose(session_id, failed=False)
        return deposed


class Uncounted(_AlteredStore):
    """Does not count crashes, so that a poisonous prompt goes round for ever."""

    repositories: ClassVar = {"leases": _Uncounted}


class _Unannounced(_Altered):
    """Notes that a part is being sent only together with the outcome."""

    def move(
        self, message_id: str, part: int, purpose: Purpose, to: DeliveryState, *, at: int, **changes: Any
    ) -> Delivery | None:
        (stored,) = [each for each in self.real.of(message_id, purpose) if each.part == part]
        if to is DeliveryState.SENDING:
            sending: Delivery = replace(stored, state=to, **changes)
            return sending
        if stored.state is not DeliveryState.SENDING:
            self.real.move(message_id, part, purpose, DeliveryState.SENDING, at=at)
        moved: Delivery | None = self.real.move(message_id, part, purpose, to, at=at, **changes)
        return moved


class Unannounced(_AlteredStore):
    """Sends first and writes the ledger then."""

    repositories: ClassVar = {"deliveries": _Unannounced}


class _Unmarked(_Altered):
    def move(
        self, message_id: str, part: int, purpose: Purpose, to: DeliveryState, *, at: int, **changes: Any
    ) -> Delivery | None:
        moved: Delivery | None = self.real.move(message_id, part, purpose, to, at=at, **(changes | {"error": None}))
        return moved


class Unmarked(_AlteredStore):
    """Forgets that a part was sent once more without knowing."""

    repositories: ClassVar = {"deliveries": _Unmarked}


class _NewKeys(WatchedAdapter):
    async def send(self, address: Address, outgoing: Outgoing, key: str) -> Receipt:
        return await super().send(address, outgoing, uuid.uuid4().hex)


def new_keys(bot: str, journal: Path, watch: Watch) -> Manifest:
    """An adapter that sends every attempt with a key of its own."""
    real = manifest(bot, journal, watch)

    def create(chatbot_id: str, config: Any) -> _NewKeys:
        made: Any = real.create(chatbot_id, config)
        return _NewKeys(watch=watch, chatbot_id=chatbot_id, platform=made.platform, capabilities=made.capabilities)

    return replace(real, create=create)


class RowFirst(Staging):
    """Says where a file is before it is there."""

    async def copy(self, session_id: str, file: MediaBlock, *, limit: int) -> Attachment:
        """The file follows some time later."""
        content = await asyncio.to_thread(Path(file.path).read_bytes)
        path = self.folder(session_id) / f"{sha256(content).hexdigest()[:32]}-{file.name}"
        self._later = asyncio.create_task(self._copy(session_id, file, limit))
        return Attachment(name=file.name, path=str(path), mime_type=file.mime_type, size=len(content))

    async def _copy(self, session_id: str, file: MediaBlock, limit: int) -> None:
        await asyncio.sleep(0.5)
        await super().copy(session_id, file, limit=limit)


class _Newest:
    """A subscription that reads the newest change at each wake-up, not those behind its cursor."""

    def __init__(self, store: Any, subscription: Any, accepts: Callable[[Change], bool]) -> None:
        self._store, self._subscription, self._accepts = store, subscription, accepts
        self.cursor: int = subscription.cursor

    def __aiter__(self) -> "_Newest":
        return self

    async def __anext__(self) -> Change:
        while True:
            await anext(self._subscription)
            head = await self._store.read(lambda tx: tx.events.head())
            (change,) = await self._store.read(lambda tx, head=head: tx.events.after(head - 1, 1))
            if change.seq > self.cursor:
                self.cursor = change.seq
                if self._accepts(change):
                    newest: Change = change
                    return newest


class SkippingListener(StoreGateway):
    """Its listeners lose what was committed between two wake-ups."""

    @asynccontextmanager
    async def listen(self, accepts: Callable[[Change], bool], *, cursor: int | None = None) -> AsyncIterator[Any]:
        """Only the newest of what is new."""
        async with super().listen(lambda _: True, cursor=cursor) as subscription:
            yield _Newest(self._store, subscription, accepts)


class Slow(PromptDrivenModel):
    """Takes its time, so that a worker that was stopped meets the one that took over."""

    async def stream(self, request: CompiledRequest) -> AsyncGenerator[StreamItem, None]:
        """The same, later."""
        await asyncio.sleep(0.3)
        async for item in super().stream(request):
            yield item
