"""One broken state for each rule of the crash kit, and what `check` must report about it."""

import os
from dataclasses import dataclass
from pathlib import Path

from .damage import (
    Damage,
    again,
    both,
    moved,
    overwritten,
    posted,
    seen,
    shown_again,
    sql,
    told,
    torn,
    turned_round,
    unshown,
)

DAY = 86_400_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """Something goes wrong, and what the judge must say about it."""

    breaks: str
    """All the rules that this breaks."""
    says: str
    """A part of the text of one of these rules, before its columns are filled in."""
    damage: Damage
    final: bool = False


LEASE_OF_PROMPT = "WHERE session_id = (SELECT session_id FROM messages WHERE id = :prompt)"
TAKE = (
    f"UPDATE leases SET owner = 'a', message_id = :prompt, generation = generation + 1, lease_until = {DAY}"
    f" {LEASE_OF_PROMPT}"
)
CRASHED = "UPDATE turns SET failures = {} WHERE turn_id = :prompt"
LOSE = f"UPDATE leases SET owner = NULL, generation = generation + 1 {LEASE_OF_PROMPT}"
RELEASE = "UPDATE leases SET owner = NULL WHERE owner = 'a'"
GIVE_BACK = f"UPDATE leases SET owner = NULL {LEASE_OF_PROMPT}"

CASES = {
    "lost": Case(
        breaks="I1 I2",
        says="was told that {message} is stored",
        damage=told("poster", "acked", id="lost", key="k", bot="keyed"),
    ),
    "answer lost": Case(
        breaks="I1",
        says="was told that turn {message} has the answer",
        damage=told("worker", "answered", turn="prompt", answer="lost"),
    ),
    "behind the cursor": Case(
        breaks="I1",
        says="the cursor of {bot} is at {cursor}",
        damage=both(posted(op="said", key="k"), sql("UPDATE state SET value = '99' WHERE key = 'position'")),
    ),
    "unheard": Case(breaks="I1", says="was said to {bot}", damage=posted(op="said", key="k"), final=True),
    "second for a key": Case(
        breaks="I2", says="has no key of its own", damage=again("prompt", turn_id="'more'", status="'pending_agent'")
    ),
    "other id": Case(
        breaks="I2",
        says="was told that key {key} is {message}",
        damage=told("poster", "acked", id="prompt", key="x-1", bot="keyed"),
    ),
    "two answers": Case(breaks="I3 I7", says="answers: {answers}", damage=again("apology", status="'pending'")),
    "no answer": Case(
        breaks="I4",
        says="is processed, and its turn",
        damage=sql("UPDATE messages SET turn_id = NULL WHERE id = :answer"),
    ),
    "nobody told": Case(
        breaks="I4",
        says="nobody was told",
        damage=sql("UPDATE messages SET turn_id = NULL WHERE id = :apology"),
    ),
    "answer to the interrupted": Case(
        breaks="I4 I7",
        says="has an answer already",
        damage=again("answer", turn_id=":interrupted", status="'pending'"),
    ),
    "told apart": Case(
        breaks="I4 I5 I9 I11",
        says="told so once more by itself",
        damage=both(
            again("apology", turn_id=":joined", status="'delivered'"),
            sql("UPDATE messages SET status = 'error' WHERE id = :joined"),
        ),
    ),
    "left behind": Case(breaks="I4 I5 I6", says="which it joined", damage=sql(*moved("joined", "processing"))),
    "back from the end": Case(
        breaks="I4 I5",
        says="which the diagram does not know",
        damage=sql(*moved("failed", "interrupted")),
    ),
    "sent, then planned": Case(
        breaks="I5 I9",
        says="which the diagram does not know",
        damage=sql("UPDATE deliveries SET state = 'planned' WHERE message_id = :answer"),
    ),
    "delivered at birth": Case(
        breaks="I5", says="which is no beginning", damage=again("thought", turn_id="NULL", status="'delivered'")
    ),
    "a result interrupted": Case(
        breaks="I5 I9", says="no call that lost its result", damage=sql(*moved("result", "interrupted"))
    ),
    "two at once": Case(
        breaks="I6",
        says="of another turn ran",
        damage=both(
            again("prompt", turn_id="'more'", status="'pending_agent'"),
            sql("INSERT INTO external_ids VALUES ('keyed', 'k', 'more')"),
            sql(TAKE, who="a"),
            sql(
                "UPDATE messages SET status = 'processing' WHERE id = :failed",
                "UPDATE leases SET message_id = 'more' WHERE owner = 'a'",
                "UPDATE kit_audit SET what = 'hidden' WHERE seq = (SELECT max(seq) FROM kit_audit)",
                "INSERT INTO events (at, message_id, kind, before, after, actor, reason)"
                " VALUES (0, 'more', 'moved', 'pending_agent', 'processing', '', '')",
                "UPDATE messages SET status = 'processing' WHERE id = 'more'",
                "UPDATE messages SET status = 'error' WHERE id = :failed",
                "UPDATE kit_audit SET what = 'hidden' WHERE seq = (SELECT max(seq) FROM kit_audit)",
                who="a",
            ),
        ),
    ),
    "started without a lease": Case(
        breaks="I6",
        says="but the lease was",
        damage=both(
            again("prompt", turn_id="'more'", status="'pending_agent'"),
            sql(
                "INSERT INTO external_ids VALUES ('keyed', 'k', 'more')",
                "INSERT INTO events (at, message_id, kind, before, after, actor, reason)"
                " VALUES (0, 'more', 'moved', 'pending_agent', 'processing', '', '')",
                "UPDATE messages SET status = 'processing' WHERE id = 'more'",
            ),
        ),
    ),
    "from hand to hand": Case(
        breaks="I6",
        says="was not free",
        damage=both(sql(TAKE, who="a"), sql(f"UPDATE leases SET owner = 'b' {LEASE_OF_PROMPT}", who="b")),
    ),
    "same number again": Case(
        breaks="I6",
        says="was not free",
        damage=sql(TAKE.replace("generation + 1", "generation"), who="a"),
    ),
    "taken from the living": Case(
        breaks="I6",
        says="which lives",
        damage=both(sql(TAKE, who="a"), sql(CRASHED.format(1), LOSE, who="b")),
    ),
    "a thought of the deposed": Case(
        breaks="I7",
        says="wrote {kind} {message}",
        damage=both(sql(TAKE, who="b"), again("thought", who="a", status="'responded'"), sql(GIVE_BACK, who="a")),
    ),
    "a result of the deposed": Case(
        breaks="I7",
        says="wrote {kind} {message}",
        damage=again("result", who="a", parent_id="NULL", status="'responded'"),
    ),
    "a step of the deposed": Case(
        breaks="I7",
        says="wrote step {part}",
        damage=sql(
            "INSERT INTO steps (turn_id, n, request, reply, usage, at) VALUES (:prompt, 9, '', '', '', 0)", who="a"
        ),
    ),
    "finished by the deposed": Case(
        breaks="I5 I7 I11",
        says="finished {message}",
        damage=sql("UPDATE messages SET status = 'error' WHERE id = :prompt", *moved("prompt", "processed"), who="a"),
    ),
    "run without leave": Case(
        breaks="I7",
        says="the answer to its question was",
        damage=told("worker", "ran", call="call", how="allowed", late=False),
    ),
    "renewed for another": Case(
        breaks="I7",
        says="took, renewed or gave back",
        damage=both(sql(TAKE, who="a"), sql(f"UPDATE leases SET lease_until = 9 {LEASE_OF_PROMPT}", who="b")),
    ),
    "taken for another": Case(breaks="I7", says="took, renewed or gave back", damage=sql(TAKE, who="b")),
    "given back for another": Case(
        breaks="I7",
        says="took, renewed or gave back",
        damage=both(sql(TAKE, who="a"), sql(GIVE_BACK, who="b")),
    ),
    "not worked on": Case(
        breaks="I8 I11",
        says="prompt {message} is still",
        damage=both(
            again("prompt", turn_id="'more'", status="'pending_agent'"),
            sql("INSERT INTO external_ids VALUES ('keyed', 'k', 'more')"),
        ),
        final=True,
    ),
    "still held": Case(breaks="I8", says="still holds the lease", damage=sql(TAKE, who="a"), final=True),
    "sent unannounced": Case(
        breaks="I9",
        says="which no part in the ledger has",
        damage=posted(op="send", key="k", id="m99"),
    ),
    "sent behind the ledger": Case(
        breaks="I9",
        says="but the ledger was told of",
        damage=sql("DELETE FROM kit_audit WHERE what = 'carried' AND message_id = :answer"),
    ),
    "shown twice": Case(breaks="I9", says="shows part {part}", damage=shown_again("answer", "keyed")),
    "shown three times": Case(breaks="I9", says="shows part {part}", damage=shown_again("blind", "plain")),
    "not shown": Case(breaks="I9", says="does not show it", damage=unshown),
    "out of turn": Case(breaks="I9", says="which was said later", damage=turned_round),
    "delivered in part": Case(
        breaks="I5 I9",
        says="is delivered, but its part",
        damage=sql("UPDATE deliveries SET state = 'held' WHERE message_id = :thought"),
    ),
    "delivered without a word": Case(
        breaks="I9",
        says="nothing of it was ever sent",
        damage=both(
            sql("DELETE FROM deliveries WHERE message_id = :answer"),
            lambda recorded: recorded.edit(
                recorded.layout.journal("keyed"), lambda lines: [line for line in lines if line["op"] != "send"]
            ),
            sql("DELETE FROM deliveries WHERE chatbot_id = 'keyed'"),
        ),
    ),
    "no longer delivered": Case(
        breaks="I9",
        says="was told that {message} is delivered",
        damage=told("keyed", "delivered", message="prompt"),
    ),
    "not carried": Case(
        breaks="I9",
        says="is still {state}",
        damage=sql(
            "INSERT INTO deliveries (message_id, purpose, part, chatbot_id, channel_id, body, hash, send_key, state,"
            " attempts, platform_ids) VALUES (:answer, 'final', 1001, 'keyed', 'c0', '', '', 'k', 'planned', 0, '[]')"
        ),
        final=True,
    ),
    "not delivered": Case(
        breaks="I9 I11",
        says="still waits to go out",
        damage=again("apology", turn_id="NULL", status="'pending'"),
        final=True,
    ),
    "a gap": Case(
        breaks="I10",
        says="counts to {last_n}",
        damage=sql("UPDATE sessions SET last_n = last_n + 1"),
    ),
    "out of order": Case(
        breaks="I10",
        says="stands before it in session",
        damage=sql(
            "UPDATE messages SET session_n = -1 WHERE id = :prompt",
            "UPDATE messages SET session_n = 1 WHERE id = :answer",
            "UPDATE messages SET session_n = 4 WHERE id = :prompt",
        ),
    ),
    "before its cause": Case(
        breaks="I10",
        says="without or before",
        damage=sql("UPDATE messages SET parent_id = :blind WHERE id = :answer"),
    ),
    "moved in silence": Case(
        breaks="I4 I5 I11",
        says="moved {message} from",
        damage=sql("UPDATE messages SET status = 'interrupted' WHERE id = :failed"),
    ),
    "stored in silence": Case(
        breaks="I11",
        says="{who} stored {message}",
        damage=both(
            again("apology", turn_id="NULL", status="'pending'"), sql("DELETE FROM events WHERE message_id = 'more'")
        ),
    ),
    "skipped": Case(breaks="I11", says="was never told of change", damage=seen(lambda told: told[:1] + told[2:])),
    "told twice": Case(breaks="I11", says="again or too late", damage=seen(lambda told: [*told, told[-1]])),
    "told before its cursor": Case(
        breaks="I11",
        says="again or too late",
        damage=seen(lambda told: [told[0] | {"cursor": told[0]["cursor"] + 1}, *told[1:]]),
    ),
    "told otherwise": Case(
        breaks="I11",
        says="which the log does not say",
        damage=seen(lambda told: [*told[:-1], told[-1] | {"message": "other"}]),
    ),
    "began too late": Case(
        breaks="I11",
        says="the lives before it",
        damage=seen(lambda told: [told[0] | {"cursor": told[1]["seq"]}, *told[2:]]),
    ),
    "not told of the end": Case(
        breaks="I11", says="nobody who follows it", damage=seen(lambda told: told[:-1]), final=True
    ),
    "crashed too often": Case(
        breaks="I12",
        says="not one at a time",
        damage=sql(CRASHED.format(3), TAKE, GIVE_BACK, who="a"),
    ),
    "a suspect in company": Case(
        breaks="I12",
        says="that it must run alone",
        damage=sql(CRASHED.format(2), TAKE, TAKE.replace(":prompt", ":blind"), RELEASE, who="a"),
    ),
    "away from a crash": Case(
        breaks="I4 I5 I6 I11 I12",
        says="which crashed with it, waits",
        damage=sql(
            "UPDATE messages SET status = 'pending_agent' WHERE id = (SELECT turn_id FROM messages WHERE id = :joined)",
            "UPDATE messages SET status = 'pending_agent', turn_id = :prompt WHERE id = :joined",
            "UPDATE messages SET status = 'processing' WHERE id = :joined",
        ),
    ),
    "counted from anew": Case(
        breaks="I12",
        says="and was begun again",
        damage=both(
            told("a", "up", owner="a"),
            told("a", "down"),
            *[
                sql(CRASHED.format(0), TAKE, who="a"),
                sql(CRASHED.format(1), LOSE, who="b"),
            ]
            * 4,
        ),
    ),
    "a crash not counted": Case(
        breaks="I12",
        says="did not count that crash",
        damage=both(sql(TAKE.replace(str(DAY), "1"), who="a"), told("a", "up", owner="a"), sql(LOSE, who="b")),
    ),
    "called poison": Case(
        breaks="I12",
        says="was ended as poison",
        damage=sql(
            "INSERT INTO events (at, message_id, kind, after, actor, reason)"
            " VALUES (0, :failed, 'replaced', 'error', '', 'poison')"
        ),
    ),
    "torn": Case(breaks="I13", says="damaged", damage=torn),
    "a key without its message": Case(
        breaks="I13", says="belongs to a row", damage=sql("INSERT INTO external_ids VALUES ('keyed', 'k', 'gone')")
    ),
    "a guard gone": Case(
        breaks="I13", says="no longer what the product made", damage=sql("DROP INDEX messages_final_answer")
    ),
    "miscounted": Case(
        breaks="I13", says="wait for {chatbot_id} by its counter", damage=sql("UPDATE queues SET length = length + 1")
    ),
    "a file gone": Case(breaks="I13", says="is not there", damage=lambda recorded: Path(recorded.ids["file"]).unlink()),
    "a file cut": Case(
        breaks="I13", says="bytes and not", damage=lambda recorded: os.truncate(recorded.ids["file"], 1)
    ),
    "a file changed": Case(breaks="I13", says="whose content", damage=overwritten, final=True),
}
