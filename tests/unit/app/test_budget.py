"""What the configuration says about prices and budgets, and what it must not leave open."""

from pathlib import Path

import pytest

from kesoku.agent.budget import Budget
from kesoku.app import App, Job
from kesoku.app.budget import budget
from kesoku.app.cast import Cast
from kesoku.app.model import create, may_answer
from kesoku.config import Loaded, load
from kesoku.errors import ConfigInvalid
from kesoku.messages.price import Price, nano

MODELS = '[models.pro]\ntype = "gemini"\napi_key = "k"\n[agent]\nmodel = "pro"\nfallback = ["gemini", "offline"]\n'
PRO = "[prices.pro]\nprompt = 1.25\nanswer = 10\n"
GEMINI = "[prices.gemini]\nprompt = 0.3\ncached = 0.03\nanswer = 2.5\n"


def config(tmp_path: Path, text: str) -> Loaded:
    path = tmp_path / "config.toml"
    path.write_text(text, encoding="utf-8")
    path.chmod(0o600)
    return load(path, environment={})


def test_prices_and_budgets_become_integers(tmp_path: Path) -> None:
    long = "long_from = 200_000\nlong_prompt = 2.5\nlong_cached = 0.25\nlong_answer = 15\n"
    text = f'timezone = "Asia/Shanghai"\n{MODELS}max_cost = 0.5\nmax_tokens = 9\n{PRO}{long}{GEMINI}'
    found = budget(config(tmp_path, f"{text}[limits]\ncost_per_day = 12.34\n"), ["pro", "gemini"])
    pro, gemini = found.prices["pro"], found.prices["gemini"]
    assert pro == Price(
        prompt=1_250_000_000,
        answer=10_000_000_000,
        long_from=200_000,
        long=Price(prompt=2_500_000_000, answer=15_000_000_000, cached=250_000_000),
    )
    assert gemini == Price(prompt=nano(0.3), answer=nano(2.5), cached=nano(0.03))
    assert (found.tokens, found.turn, found.day, str(found.zone)) == (9, 500_000_000, 12_340_000_000, "Asia/Shanghai")


def test_by_default_nothing_is_bounded(tmp_path: Path) -> None:
    found = budget(config(tmp_path, ""), ["gemini"])
    assert (found.prices, found.tokens, found.turn, found.day) == ({}, None, None, None)
    assert Budget().cost("gemini", None) is None  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        (MODELS + PRO, []),
        (f"{MODELS}max_cost = 1\n{PRO}{GEMINI}", []),
        (f"{MODELS}[prices.prro]\nprompt = 1\nanswer = 1\n", ["prices.prro: unknown key; did you mean 'pro'?"]),
        (
            f"{MODELS}[prices.zzz]\nprompt = 1\nanswer = 1\n",
            ["prices.zzz: unknown key; valid keys are gemini, offline, pro"],
        ),
        (
            f"{MODELS}max_cost = 1\n{GEMINI}",
            ["prices.pro: agent.max_cost cannot hold for the model 'pro', whose price is not known; add this table"],
        ),
        (
            f"{MODELS}max_cost = 1\n[limits]\ncost_per_day = 5\n",
            ["prices.pro: agent.max_cost and limits.cost_per_day cannot hold", "prices.gemini: agent.max_cost and"],
        ),
    ],
    ids=["no bound", "all priced", "near", "unknown", "one without", "two without"],
)
def test_every_gap_is_named(tmp_path: Path, text: str, problems: list[str]) -> None:
    found = config(tmp_path, text)
    said: list[str] = []
    try:
        assert budget(found, may_answer(found.config)).prices
    except ConfigInvalid as error:
        said = list(map(str, error.problems))
    assert len(said) == len(problems)
    assert all(each.startswith(f"{tmp_path}/config.toml: ") for each in said)
    assert all(problem in text for problem, text in zip(problems, said, strict=True))


def test_nothing_starts_without_a_price(tmp_path: Path) -> None:
    found = config(tmp_path, f"{MODELS}max_cost = 1\n{GEMINI}")
    App(found, Job(bots={}), Cast(found.config, [create(found.config, "offline")]))
    with pytest.raises(ConfigInvalid):
        App(found, Job(bots={}), Cast(found.config, [create(found.config, "pro")]))


@pytest.mark.parametrize(
    ("table", "says"),
    [
        ("answer = 1", "prices.pro.prompt: required key is missing"),
        ("prompt = -1\nanswer = 1", "prices.pro.prompt: "),
        ("prompt = nan\nanswer = inf", "prices.pro.prompt: "),
        ("prompt = 1\nanswer = 1\nlong_from = 5", "prices.pro: long_from, long_prompt and long_answer go together"),
        ("prompt = 1\nanswer = 1\nlong_cached = 5", "prices.pro: long_from, long_prompt and long_answer go together"),
    ],
)
def test_a_wrong_price_is_named(tmp_path: Path, table: str, says: str) -> None:
    with pytest.raises(ConfigInvalid) as caught:
        config(tmp_path, f"[prices.pro]\n{table}\n")
    assert says in str(caught.value)


def test_an_unknown_key_of_a_price_warns(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text(f"{PRO}cachd = 1\n", encoding="utf-8")
    (warning,) = load(path, environment={}).warnings
    assert "prices.pro.cachd: unknown key; did you mean 'cached'?" in str(warning)
