"""Each invariant of the crash kit catches what breaks it, and finds nothing in a run where all went well."""

from pathlib import Path

import pytest

from kesoku.testing.crash.coverage import STEPS, count_steps, too_rare
from kesoku.testing.crash.evidence import Evidence
from kesoku.testing.crash.invariant import RULES, check
from kesoku.testing.crash.report import Violation

from .cases import CASES
from .recorded_run import RecordedRun, record_run


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> RecordedRun:
    return record_run(tmp_path_factory.mktemp("run"))


def judged(recorded: RecordedRun, *, final: bool) -> list[Violation]:
    evidence = Evidence(recorded.layout)
    try:
        return check(evidence, final=final)
    finally:
        evidence.close()


@pytest.mark.parametrize("final", [False, True])
def test_nothing_is_wrong_where_all_went_well(recorded: RecordedRun, final: bool) -> None:
    assert judged(recorded, final=final) == []


@pytest.mark.parametrize("name", CASES)
def test_what_goes_wrong_is_found(recorded: RecordedRun, tmp_path: Path, name: str) -> None:
    case, spoiled = CASES[name], recorded.copy(tmp_path)
    case.damage(spoiled)
    found = judged(spoiled, final=case.final)
    assert {each.rule for each in found} == set(case.breaks.split()), [str(each) for each in found]


def test_each_rule_has_a_case() -> None:
    untested = [rule.text for rule in RULES if not any(case.says in rule.text for case in CASES.values())]
    assert untested == []


def test_a_violation_tells_the_story_of_its_message(recorded: RecordedRun, tmp_path: Path) -> None:
    """Ids, who did what, and when: enough to understand it without the database."""
    spoiled = recorded.copy(tmp_path)
    CASES["two answers"].damage(spoiled)
    violation = next(each for each in judged(spoiled, final=False) if each.rule == "I3")
    story = str(violation)
    assert recorded.ids["failed"] in story
    assert "poster: acked key x-2" in story
    assert "pending_agent -> processing" in story
    assert "lease of the session: nobody #3 ->" in story
    assert "by " in story


def test_a_run_that_proves_nothing_is_no_success(recorded: RecordedRun) -> None:
    assert {each.rule for each in too_rare(dict.fromkeys(STEPS, 0), 1000)} == {"I14"}
    assert len(too_rare(dict.fromkeys(STEPS, 0), 1000)) == len(STEPS)
    assert too_rare(dict.fromkeys(STEPS, 10_000), 1000) == []


def test_what_happened_is_counted(recorded: RecordedRun) -> None:
    evidence = Evidence(recorded.layout)
    counted = count_steps(evidence)
    evidence.close()
    once = {
        "prompts handed in again": 1,
        "turns answered": 4,
        "turns interrupted": 1,
        "turns taken from killed workers": 1,
        "turns resumed after a step": 1,
        "calls that lost their result": 1,
        "sent again with the same key": 1,
        "files kept": 1,
        "followers that went on": 1,
    }
    assert counted | once == counted
    assert counted["turns taken from stopped workers"] == counted["prompts ended as poison"] == 0
