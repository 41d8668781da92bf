"""The system prompt never changes by itself."""

import re

from kesoku.agent import system_prompt


def test_it_is_the_same_every_time_and_knows_no_date() -> None:
    assert system_prompt() == system_prompt()
    assert not re.search(r"\d{4}", system_prompt())


def test_the_operators_words_stand_last() -> None:
    text = system_prompt(name="Mika", instructions="  Speak like a pirate.\n")
    assert text.startswith("You are Mika,")
    assert text.endswith("\n\nSpeak like a pirate.")
