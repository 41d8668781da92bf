"""Each invariant of the crash kit catches what breaks it, and finds nothing in a world where all went well."""

from pathlib import Path

import pytest

from kesoku.testing.crash.evidence import Evidence
from kesoku.testing.crash.invariant import RULES, check
from kesoku.testing.crash.tally import STEPS, tally, too_rare
from kesoku.testing.crash.violation import Violation

from .cases import CASES
from .world import World, make_world


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return make_world(tmp_path_factory.mktemp("world"))


def judged(world: World, *, final: bool) -> list[Violation]:
    evidence = Evidence(world.scene)
    try:
        return check(evidence, final=final)
    finally:
        evidence.close()


@pytest.mark.parametrize("final", [False, True])
def test_nothing_is_wrong_where_all_went_well(world: World, final: bool) -> None:
    assert judged(world, final=final) == []


@pytest.mark.parametrize("name", CASES)
def test_what_goes_wrong_is_found(world: World, tmp_path: Path, name: str) -> None:
    case, spoiled = CASES[name], world.copy(tmp_path)
    case.damage(spoiled)
    found = judged(spoiled, final=case.final)
    assert {each.rule for each in found} == set(case.breaks.split()), [str(each) for each in found]


def test_each_rule_has_a_case() -> None:
    untested = [rule.text for rule in RULES if not any(case.says in rule.text for case in CASES.values())]
    assert untested == []


def test_a_violation_tells_the_story_of_its_message(world: World, tmp_path: Path) -> None:
    """Ids, who did what, and when: enough to understand it without the database."""
    spoiled = world.copy(tmp_path)
    CASES["two answers"].damage(spoiled)
    violation = next(each for each in judged(spoiled, final=False) if each.rule == "I3")
    story = str(violation)
    assert world.ids["failed"] in story
    assert "poster: acked key x-2" in story
    assert "pending_agent -> processing" in story
    assert "lease of the session: nobody #3 ->" in story
    assert "by " in story


def test_a_run_that_proves_nothing_is_no_success(world: World) -> None:
    assert {each.rule for each in too_rare(dict.fromkeys(STEPS, 0), 1000)} == {"I14"}
    assert len(too_rare(dict.fromkeys(STEPS, 0), 1000)) == len(STEPS)
    assert too_rare(dict.fromkeys(STEPS, 10_000), 1000) == []


def test_what_happened_is_counted(world: World) -> None:
    evidence = Evidence(world.scene)
    counted = tally(evidence)
    evidence.close()
    once = {
        "prompts handed in again": 1,
        "turns answered": 4,
        "turns interrupted": 1,
        "turns taken from the dead": 1,
        "turns resumed behind a step": 1,
        "calls that lost their result": 1,
        "sent again with the same key": 1,
        "files kept": 1,
        "followers that went on": 1,
    }
    assert counted | once == counted
    assert counted["turns taken from who stood still"] == counted["prompts ended as poison"] == 0
