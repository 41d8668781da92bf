"""How often each step was exercised (I14): a run that exercised too little must not pass."""

from collections.abc import Mapping
from dataclasses import dataclass

from kesoku.testing.crash.evidence import Evidence
from kesoku.testing.crash.report import Violation


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """Something that must happen in a run, at least `rate` times a kill. `query` counts it."""

    query: str
    rate: float


STEPS = {
    "prompts acknowledged": Step(rate=0.1, query="SELECT count(*) FROM trace WHERE op = 'acked'"),
    "prompts handed in again": Step(
        rate=0.05,
        query="""
            SELECT (SELECT count(*) - count(DISTINCT bot || key) FROM trace WHERE op = 'acked')
                + (SELECT count(*) - count(DISTINCT bot || key) FROM journal WHERE op = 'said')
        """,
    ),
    "turns answered": Step(rate=0.2, query="SELECT count(*) FROM messages WHERE kind = 'answer'"),
    "turns interrupted": Step(
        rate=0.03,
        query="SELECT count(*) FROM written WHERE what = 'moved' AND before = 'processing' AND after = 'interrupted'",
    ),
    "turns taken from killed workers": Step(
        rate=0.1, query="SELECT count(*) FROM taken AS l WHERE l.old_owner IN (SELECT owner FROM ended)"
    ),
    "turns taken from stopped workers": Step(
        rate=0.02,
        query="""
            SELECT count(*) FROM taken AS l
            WHERE NOT EXISTS (SELECT 1 FROM ended AS e WHERE e.owner = l.old_owner AND e.t <= l.t)
        """,
    ),
    "refused writes of deposed workers": Step(rate=0.02, query="SELECT count(*) FROM trace WHERE op = 'refused'"),
    "turns resumed after a step": Step(
        rate=0.05,
        query="""
            SELECT count(*) FROM taken AS l WHERE EXISTS (
                SELECT 1 FROM written AS w WHERE w.message = l.message AND w.what = 'step' AND w.t < l.t
            )
        """,
    ),
    "crashes at the commit of an answer": Step(
        rate=0.01, query="SELECT count(*) FROM trace WHERE op = 'killed' AND point = 'StoreGateway.finish'"
    ),
    "calls that lost their result": Step(
        rate=0.05,
        query="SELECT count(*) FROM messages WHERE kind = 'tool_result' AND json_extract(source, '$.synthetic')",
    ),
    "hosts killed with something to deliver": Step(
        rate=0.05,
        query="""
            SELECT count(*) FROM trace AS k WHERE k.op = 'killed' AND k.role = 'host' AND EXISTS (
                SELECT 1 FROM written AS w JOIN messages AS m ON m.id = w.message
                WHERE w.what = 'stored' AND w.after = 'pending' AND w.t < k.t AND k.name LIKE m.chatbot_id || '-%'
                    AND NOT EXISTS (
                        SELECT 1 FROM written AS d WHERE d.message = w.message AND d.what = 'moved' AND d.t < k.t
                    )
            )
        """,
    ),
    "crashes in sending": Step(
        rate=0.05,
        query="""
            SELECT count(*) FROM written WHERE what = 'carried' AND before = 'sending' AND after = 'ambiguous'
        """,
    ),
    "sent again with the same key": Step(
        rate=0.02,
        query="""
            SELECT count(*) FROM (
                SELECT key FROM journal WHERE op IN ('send', 'repeat') GROUP BY key HAVING count(*) > 1
            )
        """,
    ),
    "found on the platform": Step(
        rate=0.005,
        query="SELECT count(*) FROM written WHERE what = 'carried' AND before = 'ambiguous' AND after = 'sent'",
    ),
    "prompts ended as poison": Step(
        rate=0.01, query="SELECT count(*) FROM events WHERE after = 'error' AND reason = 'poison'"
    ),
    "prompts that joined a turn": Step(
        rate=0.02, query="SELECT count(*) FROM messages WHERE kind = 'user_prompt' AND turn_id <> id"
    ),
    "prompts put back with the turn that they had joined": Step(
        rate=0.005,
        query="""
            SELECT count(*) FROM written
            WHERE what = 'moved' AND before = 'processing' AND after = 'pending_agent' AND turn_id <> message
        """,
    ),
    "prompts ended with the poison that they had joined": Step(
        rate=0.001,
        query="""
            SELECT count(*) FROM events AS e JOIN messages AS m ON m.id = e.message_id
            WHERE e.reason = 'poison' AND m.turn_id <> m.id
        """,
    ),
    "turns in a session with two channels": Step(
        rate=0.05,
        query="""
            SELECT count(*) FROM messages AS m WHERE m.kind = 'answer' AND EXISTS (
                SELECT 1 FROM messages AS o WHERE o.session_id = m.session_id AND o.kind = 'answer'
                    AND (o.chatbot_id <> m.chatbot_id OR o.channel_id <> m.channel_id)
            )
        """,
    ),
    "turns begun while a crashed one waits": Step(
        rate=0.001,
        query="""
            SELECT count(*) FROM kit_leases AS l WHERE l.owner IS NOT NULL AND l.old_owner IS NULL AND EXISTS (
                SELECT 1 FROM taken AS c WHERE c.session_id = l.session_id AND c.seq < l.seq AND c.failures > 0
                    AND c.message <> l.message_id AND NOT EXISTS (
                        SELECT 1 FROM kit_leases AS n WHERE n.message_id = c.message AND n.seq > c.seq AND n.seq < l.seq
                    ) AND EXISTS (SELECT 1 FROM kit_leases AS n WHERE n.message_id = c.message AND n.seq > l.seq)
            )
        """,
    ),
    "prompts stopped before they began": Step(
        rate=0.005,
        query="SELECT count(*) FROM events WHERE reason = 'stopped' AND before = 'pending_agent'",
    ),
    "prompts found in an ended session": Step(
        rate=0.001, query="SELECT count(*) FROM events WHERE reason = 'session ended'"
    ),
    "questions answered after a crash": Step(
        rate=0.005,
        query="""
            SELECT count(*) FROM questions AS q JOIN written AS w ON w.message = q.id AND w.what = 'stored'
            WHERE q.answer <> '' AND EXISTS (
                SELECT 1 FROM taken AS l WHERE l.message = q.turn_id AND l.t > w.t AND l.at < q.answered_at
            )
        """,
    ),
    "files kept": Step(
        rate=0.05,
        query="""
            SELECT count(*) FROM messages AS m, json_each(m.content, '$.attachments')
            WHERE m.content LIKE '%"attachments"%'
        """,
    ),
    "followers that went on": Step(rate=0.02, query="SELECT count(*) FROM trace WHERE op = 'following' AND cursor > 0"),
    "changes followed": Step(rate=3.0, query="SELECT count(*) FROM trace WHERE op = 'seen'"),
}


def count_steps(evidence: Evidence) -> dict[str, int]:
    """How often each step of `STEPS` happened in what the evidence shows."""
    with evidence.snapshot() as snapshot:
        return {name: next(iter(snapshot.rows(step.query)[0].values())) for name, step in STEPS.items()}


def too_rare(steps: Mapping[str, int], kills: int) -> list[Violation]:
    """I14: the steps that so many kills should have met more often."""
    return [
        Violation(rule="I14", text=f"{name}: {steps.get(name, 0)} times, which proves nothing; {least} at least")
        for name, step in STEPS.items()
        if steps.get(name, 0) < (least := int(kills * step.rate))
    ]
