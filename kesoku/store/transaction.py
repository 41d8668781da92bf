"""One unit of work in SQL: all repositories over one connection."""

from kesoku.store.archive import SqlArchive
from kesoku.store.branch import SqlBranchStore, SqlRequestStore
from kesoku.store.cache import RecordCache
from kesoku.store.delivery import SqlDeliveryStore
from kesoku.store.engine import Link
from kesoku.store.event import SqlEventLog
from kesoku.store.hook import SqlHookStore
from kesoku.store.lease import SqlLeaseStore
from kesoku.store.mail import SqlMailStore
from kesoku.store.memo import Memo
from kesoku.store.message import SqlMessageStore
from kesoku.store.question import SqlQuestionStore
from kesoku.store.session import SqlSessionStore
from kesoku.store.state import SqlStateStore
from kesoku.store.step import SqlStepStore


class SqlTransaction:
    """See `kesoku.ports.store.Transaction`. It keeps nothing but its connection, so it serves all operations of it."""

    def __init__(self, link: Link, cache: RecordCache, memo: Memo | None = None) -> None:
        self.link, self.cache = link, cache
        self.events = SqlEventLog(link)
        self.messages = SqlMessageStore(link, self.events, cache, memo)
        self.sessions = SqlSessionStore(link)
        self.leases = SqlLeaseStore(link, self.messages)
        self.deliveries = SqlDeliveryStore(link)
        self.steps = SqlStepStore(link)
        self.state = SqlStateStore(link)
        self.questions = SqlQuestionStore(link)
        self.archive = SqlArchive(link, self.messages)
        self.branches = SqlBranchStore(link)
        self.requests = SqlRequestStore(link)
        self.mail = SqlMailStore(link)
        self.hooks = SqlHookStore(link)
