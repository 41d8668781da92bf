"""How far back a turn looks."""


def window(n: int, records: int) -> int:
    """The place in its session behind which the history of record `n` begins: it has at most `records` before `n`.

    It moves in quarters of that, as seldom as a full history can, and is the same whenever it is asked: the requests of
    a turn begin alike, even after a restart.
    """
    quarter = max(1, records // 4)
    return max(0, -((records + 1 - n) // quarter) * quarter)
