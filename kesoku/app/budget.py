"""What the models cost and what may be spent, out of the configuration."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from zoneinfo import ZoneInfo

from kesoku.agent.budget import Budget
from kesoku.app.model import OFFLINE
from kesoku.config import Config, Loaded, Problem
from kesoku.config.naming import known_models
from kesoku.config.problem import unknown_key
from kesoku.config.schema import PriceTable
from kesoku.errors import ConfigInvalid
from kesoku.messages.price import Price, nano


def budget(loaded: Loaded, names: Iterable[str]) -> Budget:
    """The budget of a process in which the models called `names` may answer.

    The offline model needs no price: it costs nothing.

    Raises:
        ConfigInvalid: a `[prices.<name>]` table names no model, or money is bounded while a model has no price.
    """
    config = loaded.config
    if problems := (*_strangers(loaded), *_unpriced(loaded, names)):
        raise ConfigInvalid(problems=problems)
    return Budget(
        prices={name: _price(table) for name, table in config.prices.items()},
        tokens=config.agent.max_tokens,
        turn=_nano(config.agent.max_cost),
        day=_nano(config.limits.cost_per_day),
        zone=ZoneInfo(config.timezone),
    )


def _strangers(loaded: Loaded) -> Sequence[Problem]:
    valid, prices = known_models(loaded.config), loaded.config.prices
    wrong = (unknown_key(loaded.source, f"prices.{name}", valid) for name in prices if name not in valid)
    return [replace(each, fatal=True) for each in wrong]


def _unpriced(loaded: Loaded, names: Iterable[str]) -> Sequence[Problem]:
    config = loaded.config
    bounds = {"agent.max_cost": config.agent.max_cost, "limits.cost_per_day": config.limits.cost_per_day}
    set_ = [key for key, bound in bounds.items() if bound is not None]
    without = [name for name in dict.fromkeys(names) if name not in config.prices and not _is_free(config, name)]
    return [_problem(loaded.source, name, set_) for name in without if set_]


def _problem(source: str, name: str, bounds: Sequence[str]) -> Problem:
    text = (
        f"{' and '.join(bounds)} cannot hold for the model {name!r}, whose price is not known; add this table with "
        "prompt and answer, in US dollars for a million tokens, or remove the bound"
    )
    return Problem(source=source, key=f"prices.{name}", text=text)


def _is_free(config: Config, name: str) -> bool:
    entry = config.models.get(name)
    return (entry.type if entry else name) == OFFLINE


def _price(table: PriceTable) -> Price:
    return Price(
        prompt=nano(table.prompt),
        cached=_nano(table.cached),
        answer=nano(table.answer),
        long_from=table.long_from or 0,
        long=None if table.long_from is None else _long(table),
    )


def _long(table: PriceTable) -> Price:
    prompt, answer = nano(table.long_prompt or 0), nano(table.long_answer or 0)
    return Price(prompt=prompt, cached=_nano(table.long_cached), answer=answer)


def _nano(dollars: float | None) -> int | None:
    return None if dollars is None else nano(dollars)
