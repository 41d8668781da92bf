"""`--yes` speaks for the terminal and for nobody else."""

import pytest

from kesoku.app.consent import Consent
from kesoku.messages.content import Question
from kesoku.testing.fakes import ScriptedApprover
from kesoku.testing.gateway_harness import GatewayHarness
from kesoku.testing.memory import MemoryStore

QUESTION = Question(id="q", text="May I?", choices=("yes", "no"))


@pytest.mark.parametrize(("remote", "choice"), [(False, "yes"), (True, "no"), (True, None)])
async def test_consent_is_given_at_the_terminal_only(remote: bool, choice: str | None) -> None:
    # N-17
    bench = GatewayHarness(MemoryStore())
    await bench.say()
    call = await bench.call(await bench.claim())
    people = ScriptedApprover(choice)
    assert await Consent(people, people.waive).ask(QUESTION, call=call, admins_only=remote) == choice
    assert people.asked == ([(QUESTION, call, True)] if remote else [])
    assert people.waived == ([] if remote else [("q", "yes", "--yes")])
