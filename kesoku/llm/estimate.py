"""How many tokens a request has, roughly and without network."""

from kesoku.history.weight import tokens_of, tokens_of_data, weight
from kesoku.messages.turn import CompiledRequest


def estimate(request: CompiledRequest) -> int:
    """Tokens of the whole input: system instruction, tools and history."""
    tools = sum(tokens_of(tool.name + tool.description) + tokens_of_data(tool.parameters) for tool in request.tools)
    return tokens_of(request.system) + tools + sum(map(weight, request.turns))
