"""The list of commands as Discord wants it, and when Discord is told."""

import logging
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kesoku.adapter import Argument, CommandSpec
from kesoku_discord.interaction.command_sync import arguments_of, commands_of, fingerprint, payload

NAME = re.compile(r"[-_\w]{1,32}")


def spec(name: str = "pin", *arguments: Argument, description: str = "keep a message") -> CommandSpec:
    return CommandSpec(name=name, description=description, arguments=arguments)


def arg(name: str = "message", *choices: str, required: bool = False, completes: bool = False) -> Argument:
    return Argument(name=name, description="its number", choices=choices, required=required, completes=completes)


def test_a_command_on_the_wire() -> None:
    listed = payload(
        [spec("mail", arg("what", completes=True), arg("action", "dead", "name"), arg("to", required=True))]
    )
    assert listed == [
        {
            "name": "mail",
            "type": 1,
            "description": "keep a message",
            "contexts": [0, 1],
            "integration_types": [0],
            "options": [
                {"name": "to", "type": 3, "description": "its number", "required": True},
                {"name": "what", "type": 3, "description": "its number", "required": False, "autocomplete": True},
                {
                    "name": "action",
                    "type": 3,
                    "description": "its number",
                    "required": False,
                    "choices": [{"name": "dead", "value": "dead"}, {"name": "name", "value": "name"}],
                },
            ],
        }
    ]


def test_needed_arguments_stand_first_and_otherwise_keep_their_order() -> None:
    command = spec("edit", arg("a"), arg("b", required=True), arg("c"), arg("d", required=True))
    assert list(arguments_of(command)) == ["b", "d", "a", "c"]


def test_a_description_is_cut_and_never_empty() -> None:
    (long,) = payload([spec(description="word " * 60)])
    assert long["description"] == "word " * 18 + "word…"
    assert long["description"].endswith("…")
    (empty,) = payload([spec("pin", description=" ")])
    assert empty["description"] == "pin"


def test_more_choices_than_can_be_listed_are_offered_while_somebody_types() -> None:
    few, many = (tuple(f"hook-{number}" for number in range(most)) for most in (25, 26))
    (listed,) = payload([spec("hooks", arg("few", *few), arg("many", *many))])
    assert [len(each.get("choices", ())) for each in listed["options"]] == [25, 0]
    assert listed["options"][1]["autocomplete"] is True


def test_choices_that_discord_does_not_take_make_any_text_possible() -> None:
    (listed,) = payload([spec("hooks", arg("hook", "x" * 101))])
    assert listed["options"][0].keys() == {"name", "type", "description", "required"}


def test_names_are_made_such_as_discord_takes_them(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        found = commands_of([spec("My Command!"), spec("ｶﾅ"), spec("x" * 40), spec("ok")])
    assert list(found) == ["my-command", "ｶﾅ", "x" * 32, "ok"]
    assert [each.name for each in found.values()] == ["My Command!", "ｶﾅ", "x" * 40, "ok"]
    assert "'My Command!' is listed on Discord as 'my-command'" in caplog.text


def test_names_that_fall_together_or_are_nothing_are_left_out(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        assert list(commands_of([spec("pin"), spec("Pin"), spec("!!"), spec("help")])) == ["pin", "help"]
    assert caplog.text.count("is not listed on Discord") == 2


def test_at_most_a_hundred_commands_are_listed(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        assert len(payload([spec(f"c{number}") for number in range(103)])) == 100
    assert caplog.text.count("is not listed on Discord") == 3


def test_the_hash_changes_with_what_is_listed_and_only_with_that() -> None:
    listed = payload([spec("pin", arg("message"))])
    assert fingerprint(listed) == fingerprint([dict(reversed(listed[0].items()))])
    assert fingerprint(listed) != fingerprint(payload([spec("pin", arg("message", required=True))]))


texts = st.text(max_size=6) | st.text(min_size=30, max_size=105)
arguments = st.builds(
    Argument,
    name=texts,
    description=texts,
    choices=st.lists(st.text(max_size=3), max_size=30).map(tuple) | st.tuples(texts),
    required=st.booleans(),
    completes=st.booleans(),
)


commands = st.builds(CommandSpec, name=texts, description=texts, arguments=st.tuples(arguments, arguments))


@settings(max_examples=30)
@given(st.lists(commands, max_size=3))
def test_whatever_the_core_has_the_list_is_one_that_discord_takes(specs: list[CommandSpec]) -> None:
    listed = payload(specs)
    assert len({each["name"] for each in listed}) == len(listed) <= 100
    for each in listed:
        needed = [option["required"] for option in each["options"]]
        assert needed == sorted(needed, reverse=True)
        for named in (each, *each["options"]):
            assert NAME.fullmatch(named["name"])
            assert named["name"] == named["name"].lower()
            assert 0 < len(named["description"]) <= 100
        for option in each["options"]:
            assert not ("choices" in option and "autocomplete" in option)
            assert len(option.get("choices", ())) <= 25
            assert all(0 < len(choice["name"]) <= 100 for choice in option.get("choices", ()))
