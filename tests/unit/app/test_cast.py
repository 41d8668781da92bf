"""Who answers where: of the prompt, else of its role, else of the bot, else of `[agent]`."""

import logging
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kesoku.agent.assistant import Assistant
from kesoku.app.cast import Cast, cast
from kesoku.app.model import may_answer
from kesoku.cli.exit import code_of
from kesoku.config import Loaded, load
from kesoku.errors import ConfigInvalid, ModelKeyMissing
from kesoku.messages.profile import Profile
from kesoku.testing.model import ScriptedModel
from kesoku.testing.recording import RecordingConfig

MANIFESTS: Any = {"adapters": {"recording": SimpleNamespace(config=RecordingConfig)}}
NAMES = ("agents", "bots", "cooks", "mine", "spare")
TABLES = "".join(f'[models.{name}]\ntype = "offline"\n' for name in NAMES)
TEXT = f"""
[agent]
model = "agents"
fallback = ["spare"]
instructions = "Be plain."
{TABLES}
[roles.cook]
instructions = "You cook."
model = "cooks"
[roles.guide]
instructions = "You guide."
[adapters.bare]
type = "recording"
[adapters.own]
type = "recording"
model = "bots"
role = "guide"
[adapters.chef]
type = "recording"
model = "bots"
role = "cook"
"""


def read(tmp_path: Path, text: str = TEXT) -> Loaded:
    path = tmp_path / "config.toml"
    path.write_text(text, encoding="utf-8")
    return load(path, environment={}, manifests=MANIFESTS)


def instructions_of(assistant: Assistant) -> str:
    return assistant.request.system.rpartition("\n")[2]


@pytest.fixture
def whole(tmp_path: Path) -> Cast:
    models = {name: ScriptedModel(name=name) for name in NAMES}
    first = [models.pop(name) for name in ("agents", "spare")]
    return Cast(read(tmp_path).config, first, models.values())


@pytest.mark.parametrize(
    ("bot", "profile", "models", "instructions"),
    [
        ("bare", Profile(), ("agents", "spare"), "Be plain."),
        ("nobody", Profile(), ("agents", "spare"), "Be plain."),
        ("own", Profile(), ("bots", "spare"), "You guide."),
        ("chef", Profile(), ("cooks", "spare"), "You cook."),
        ("own", Profile(role="cook"), ("cooks", "spare"), "You cook."),
        ("chef", Profile(role="guide"), ("bots", "spare"), "You guide."),
        ("bare", Profile(role="guide"), ("agents", "spare"), "You guide."),
        ("chef", Profile(model="mine"), ("mine", "spare"), "You cook."),
        ("bare", Profile(model="mine", role="cook"), ("mine", "spare"), "You cook."),
        ("bare", Profile(model="spare"), ("spare",), "Be plain."),
    ],
)
def test_the_prompt_decides_then_its_role_then_the_bot_then_the_agent(
    whole: Cast, bot: str, profile: Profile, models: tuple[str, ...], instructions: str
) -> None:
    found = whole.assistant(bot, profile)
    assert (tuple(each.name for each in found.models), instructions_of(found)) == (models, instructions)


def test_what_is_gone_is_passed_over_and_logged_once(whole: Cast, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            found = whole.assistant("chef", Profile(model="gone", role="lost"))
    assert (found.model.name, instructions_of(found)) == ("cooks", "You cook.")
    assert [each.getMessage().partition(",")[0] for each in caplog.records] == [
        "the role 'lost' is asked for",
        "the model 'gone' is asked for",
    ]


def test_the_one_model_of_a_command_line_answers_everything(tmp_path: Path) -> None:
    whole = cast(read(tmp_path), ["chef"], name="mine", offline_fallback=True)
    found = whole.assistant("chef", Profile(model="bots"))
    assert (found.model.name, instructions_of(found)) == ("mine", "You cook.")
    assert [each.name for each in whole.models] == ["mine", "spare"]


def test_each_model_is_made_once_and_only_for_the_bots_that_run(tmp_path: Path) -> None:
    loaded = read(tmp_path, TEXT + '[adapters.chef.channels.a]\nmodel = "agents"\n')
    assert [each.name for each in cast(loaded, ["chef"], offline_fallback=False).models] == [
        "agents",
        "spare",
        "bots",
        "cooks",
    ]
    assert [each.name for each in cast(loaded, ["bare"], offline_fallback=False).models] == ["agents", "spare"]
    assert set(may_answer(loaded.config)) == {"agents", "spare", "bots", "cooks"}


def test_a_missing_key_is_refused_with_the_table_that_names_the_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # N-15
    for name in ("GEMINI_API_KEY", "GOOGLE_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    loaded = read(tmp_path, TEXT + '[adapters.chef.channels.a]\nmodel = "gemini"\n')
    with pytest.raises(ConfigInvalid) as caught:
        cast(loaded, ["chef"], offline_fallback=True)
    (problem,) = map(str, caught.value.problems)
    says = f"{ModelKeyMissing(model='gemini', variables=('GEMINI_API_KEY', 'GOOGLE_API_KEY'))}"
    assert problem == f"{tmp_path}/config.toml: adapters.chef.channels.a.model: {says}"
    assert int(code_of(caught.value)) == 78
    others = cast(loaded, ["bare"], also=["chef"], offline_fallback=False)
    assert [each.name for each in others.models] == ["agents", "spare", "bots", "cooks"]
