"""The grammar that chat models enforce on a history, as a list of violations."""

from kesoku.messages.turn import CallBlock, CompiledRequest, ResultBlock, Turn


def violations(request: CompiledRequest) -> list[str]:
    """What a strict provider would refuse; empty if the request is well-formed (K-223, K-224, complaints 50 to 55)."""
    turns = request.turns
    found = [] if not turns or turns[0].role == "user" else ["the first turn is not the user's"]
    for index, turn in enumerate(turns):
        before = turns[index - 1] if index else None
        after = turns[index + 1] if index + 1 < len(turns) else None
        found += [f"turn {index}: {problem}" for problem in _problems(before, turn, after)]
    return found


def _problems(before: Turn | None, turn: Turn, after: Turn | None) -> list[str]:
    problems = []
    if not turn.blocks:
        problems.append("it is empty")
    if before is not None and before.role == turn.role:
        problems.append("it has the role of the turn before")
    if turn.role == "model" and _calls(turn) != (_results(after) if after else []):
        problems.append("the next turn does not answer its calls, all and in order")
    if turn.role == "user" and _results(turn) and (before is None or not _calls(before)):
        problems.append("it answers calls that nobody made")
    if turn.role == "model" and _results(turn):
        problems.append("a model turn holds results")
    if turn.role == "user" and (_calls(turn) or not _results_first(turn)):
        problems.append("a user turn holds calls, or results behind something else")
    return problems


def _calls(turn: Turn) -> list[tuple[str, str]]:
    return [(block.call_id, block.name) for block in turn.blocks if isinstance(block, CallBlock)]


def _results(turn: Turn) -> list[tuple[str, str]]:
    return [(block.call_id, block.name) for block in turn.blocks if isinstance(block, ResultBlock)]


def _results_first(turn: Turn) -> bool:
    kinds = [isinstance(block, ResultBlock) for block in turn.blocks]
    return kinds == sorted(kinds, reverse=True)
