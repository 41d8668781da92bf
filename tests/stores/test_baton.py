"""The threads of a store take turns, and none waits for another for long."""

import threading

from kesoku.store.baton import Baton
from kesoku.testing.waiting import PATIENCE


def test_a_long_read_holds_up_nobody() -> None:
    baton, ran = Baton(), threading.Event()

    def follow() -> None:
        with baton.held():
            ran.set()

    with baton.held():
        thread = threading.Thread(target=follow)
        thread.start()
        assert ran.wait(PATIENCE)
        thread.join()
        assert baton._lock.locked(), "who never had it does not give it away"
