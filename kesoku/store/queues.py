"""The lengths of the queues, counted again when a file is opened.

Triggers keep them, whoever changes a message; but a length that was changed by hand, or damaged, would refuse every
new prompt for ever.
"""

import logging

from kesoku.store.engine import Link
from kesoku.store.lock import WriteLock

_KEPT = "SELECT chatbot_id, length FROM queues WHERE length <> 0"
COUNTED = "SELECT chatbot_id, count(*) FROM messages WHERE status = 'pending_agent' GROUP BY chatbot_id"
WRONG = f"SELECT EXISTS ({_KEPT} EXCEPT {COUNTED}) OR EXISTS ({COUNTED} EXCEPT {_KEPT})"

_log = logging.getLogger(__name__)


def recount(link: Link, write_lock: WriteLock) -> None:
    """Correct the lengths if one of them is wrong. Costs what waits, not what is stored."""
    if not _are_wrong(link):
        return
    with write_lock:
        link.begin()
        try:
            link.script("DELETE FROM queues")
            link.script(f"INSERT INTO queues {COUNTED}")
            link.commit()
        finally:
            link.rollback()
    _log.warning("%s: the lengths of the queues were wrong and were counted again", link.path)


def _are_wrong(link: Link) -> bool:
    ((wrong,),) = link.script(WRONG)
    return bool(wrong)
