"""Names of models and roles in the config: what no table has is refused at once, with what there is."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kesoku.config import Loaded, load
from kesoku.config.naming import models_of
from kesoku.errors import ConfigInvalid
from kesoku.testing.recording import RecordingConfig

MANIFESTS: Any = {"adapters": {"recording": SimpleNamespace(config=RecordingConfig)}}
TABLES = """
[models.pro]
type = "offline"
[roles.cook]
instructions = "You cook."
model = "pro"
[roles.guide]
instructions = "You guide."
[adapters.room]
type = "recording"
"""


def read(tmp_path: Path, text: str) -> Loaded:
    path = tmp_path / "config.toml"
    path.write_text(text, encoding="utf-8")
    return load(path, environment={}, manifests=MANIFESTS)


def problems(tmp_path: Path, text: str) -> list[str]:
    with pytest.raises(ConfigInvalid) as caught:
        read(tmp_path, text)
    return [str(each).removeprefix(f"{tmp_path}/config.toml: ") for each in caught.value.problems]


@pytest.mark.parametrize(
    ("table", "key", "says"),
    [
        ('model = "prro"', "adapters.room.model", "there is no model 'prro'; there are gemini, offline, pro; or add"),
        ('role = "coook"', "adapters.room.role", "there is no role 'coook'; there are cook, guide; or add a table ["),
        ('[adapters.room.channels."7"]\nrole = "x"', "adapters.room.channels.7.role", "there is no role 'x'; there"),
        ('[adapters.room.channels."7"]\nmodel = "x"', "adapters.room.channels.7.model", "there is no model 'x'; "),
        ('[roles.poet]\ninstructions = "Rhyme."\nmodel = "x"', "roles.poet.model", "there is no model 'x'; there are"),
    ],
    ids=["model", "role", "role of a channel", "model of a channel", "model of a role"],
)
def test_a_name_that_no_table_has_is_refused_with_what_there_is(
    tmp_path: Path, table: str, key: str, says: str
) -> None:
    (problem,) = problems(tmp_path, TABLES + table)
    assert problem.startswith(f"{key}: {says}")


def test_all_unknown_names_are_told_at_once(tmp_path: Path) -> None:
    found = problems(tmp_path, TABLES + 'model = "x"\nrole = "y"\n[adapters.room.channels.a]\nrole = "z"\n')
    assert [each.partition(":")[0] for each in found] == [
        "adapters.room.model",
        "adapters.room.role",
        "adapters.room.channels.a.role",
    ]


def test_without_any_role_a_table_is_asked_for(tmp_path: Path) -> None:
    (problem,) = problems(tmp_path, '[adapters.room]\ntype = "recording"\nrole = "cook"\n')
    assert problem == "adapters.room.role: there is no role 'cook'; add a table [roles.cook]"


def test_a_name_is_not_called_unknown_because_its_table_was_refused(tmp_path: Path) -> None:
    (problem,) = problems(
        tmp_path, '[roles.cook]\nmodel = "offline"\n[adapters.room]\ntype = "recording"\nrole = "cook"'
    )
    assert problem == "roles.cook.instructions: required key is missing"


def test_the_models_of_a_bot_are_those_of_its_tables_and_their_roles(tmp_path: Path) -> None:
    channels = '[adapters.room.channels.a]\nrole = "cook"\n[adapters.room.channels.b]\nmodel = "offline"\n'
    config = read(tmp_path, f'{TABLES}role = "guide"\n{channels}').config
    assert models_of(config, ["room"]) == {
        "pro": "roles.cook.model",
        "offline": "adapters.room.channels.b.model",
    }
    assert models_of(config, ["elsewhere"]) == {}
