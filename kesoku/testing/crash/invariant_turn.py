"""Turns run one at a time a session, for one owner, and end with one answer (I3 to I8, I12).

Who wrote something, and under which lease, is what the audit noted, not what the product says.
"""

from kesoku.testing.crash.rule import Rule

ANSWERS = (
    Rule(
        rule="I3",
        text="turn {message} has {number} answers: {answers}",
        query="""
            SELECT turn_id AS message, count(*) AS number, group_concat(id, ' and ') AS answers FROM messages
            WHERE kind = 'answer' AND turn_id IS NOT NULL GROUP BY turn_id HAVING count(*) > 1
        """,
    ),
    Rule(
        rule="I4",
        text="prompt {message} is processed, and its turn {turn_id} has no answer",
        query="""
            SELECT m.id AS message, m.turn_id FROM messages AS m WHERE m.status = 'processed' AND NOT EXISTS (
                SELECT 1 FROM messages AS a WHERE a.turn_id = m.turn_id AND a.kind = 'answer'
            )
        """,
    ),
    Rule(
        rule="I4",
        text="prompt {message} ended in error, and nobody was told",
        query="""
            SELECT m.id AS message FROM messages AS m
            WHERE m.status = 'error' AND m.role IN ('user', 'system') AND m.mode <> 'inject' AND NOT EXISTS (
                SELECT 1 FROM messages AS a WHERE a.turn_id IN (m.turn_id, m.id) AND a.kind = 'answer'
            )
        """,
    ),
    Rule(
        rule="I4",
        text="prompt {message} ended in error with turn {turn_id}, and was told so once more by itself",
        query="""
            SELECT m.id AS message, m.turn_id FROM messages AS m
            WHERE m.status = 'error' AND m.turn_id <> m.id
                AND EXISTS (SELECT 1 FROM messages AS a WHERE a.turn_id = m.turn_id AND a.kind = 'answer')
                AND EXISTS (SELECT 1 FROM messages AS a WHERE a.turn_id = m.id AND a.kind = 'answer')
        """,
    ),
    Rule(
        rule="I4",
        text="prompt {message} is {status}, but turn {turn_id}, which it joined, ended as {ended}",
        query="""
            SELECT m.id AS message, m.status, m.turn_id, o.status AS ended
            FROM messages AS m JOIN messages AS o ON o.id = m.turn_id
            WHERE m.status IN ('pending_agent', 'processing') AND m.turn_id <> m.id
                AND o.status IN ('processed', 'error')
        """,
    ),
    Rule(
        rule="I4",
        text="turn {message} is {status}, and has an answer already: {answer}",
        query="""
            SELECT m.id AS message, m.status, a.id AS answer
            FROM messages AS m JOIN messages AS a ON a.turn_id = m.id AND a.kind = 'answer'
            WHERE m.turn_id = m.id AND m.status IN ('pending_agent', 'processing', 'interrupted')
        """,
    ),
)

STEPS = (
    Rule(
        rule="I5",
        text="{who} {what} {message} (part {part}) from {before} to {after}, which the diagram does not know",
        query="""
            SELECT w.* FROM written AS w
            WHERE w.what IN ('moved', 'carried') AND w.seq > :audit AND NOT EXISTS (
                SELECT 1 FROM allowed AS a WHERE a.what = w.what AND a.before = w.before AND a.after = w.after
            )
        """,
    ),
    Rule(
        rule="I5",
        text="{who} {what} {message} (part {part}) as {after}, which is no beginning",
        query="""
            SELECT * FROM written WHERE seq > :audit AND (
                what = 'stored' AND after NOT IN ('pending_agent', 'pending', 'responded')
                OR what = 'planned' AND after <> 'planned'
            )
        """,
    ),
    Rule(
        rule="I5",
        text="{who} interrupted {message}, which is no call that lost its result",
        query="""
            SELECT w.* FROM written AS w
            WHERE w.what = 'moved' AND w.seq > :audit AND w.after = 'interrupted'
                AND w.before IN ('responded', 'delivered') AND NOT EXISTS (
                    SELECT 1 FROM messages AS r WHERE r.parent_id = w.message AND r.kind = 'tool_result'
                        AND json_extract(r.source, '$.synthetic')
                )
        """,
    ),
)

ALONE = (
    Rule(
        rule="I6",
        text="{who} started {message} while prompts of another turn ran in session {session_id} ({others} of them)",
        query="SELECT * FROM written WHERE what = 'moved' AND seq > :audit AND others > 0",
    ),
    Rule(
        rule="I6",
        text="{who} started {message} of turn {turn_id}, but the lease was {holder} #{generation} for {leased}",
        query="""
            SELECT * FROM written WHERE what = 'moved' AND seq > :audit AND after = 'processing' AND NOT mine
        """,
    ),
    Rule(
        rule="I6",
        text="{who} passed the lease of session {session_id} from {old_owner} #{old_generation} for {old_message} to"
        " {owner} #{generation} for {message}: it was not free, or its number did not grow",
        query="""
            SELECT *, message_id AS message FROM kit_leases WHERE seq > :leases AND (
                owner <> old_owner OR owner = old_owner AND generation <> old_generation
                OR old_owner IS NULL AND owner IS NOT NULL AND generation <= old_generation
                OR generation < old_generation
            )
        """,
    ),
    Rule(
        rule="I6",
        text="{who} took the lease of {message} from {old_owner} #{old_generation}, which lives, {seconds} s before it"
        " ran out",
        query="""
            SELECT l.*, (l.old_until - l.at) / 1000000.0 AS seconds FROM taken AS l
            WHERE l.seq > :leases AND l.at > 0 AND NOT l.late AND l.old_owner NOT IN (SELECT owner FROM ended)
        """,
    ),
)

FENCED = (
    Rule(
        rule="I7",
        text="{who} wrote {kind} {message} of turn {turn_id}, but the lease was {holder} #{generation} for {leased}",
        query="""
            SELECT w.*, m.kind FROM written AS w JOIN messages AS m ON m.id = w.message
            WHERE w.what = 'stored' AND w.seq > :audit AND w.turn_id IS NOT NULL AND NOT w.mine AND CASE m.kind
                WHEN 'thought' THEN 1
                WHEN 'tool_call' THEN 1
                WHEN 'tool_result' THEN NOT coalesce(json_extract(m.source, '$.synthetic'), 0)
                WHEN 'system_note' THEN w.after = 'responded'
                WHEN 'answer' THEN m.source_kind = 'model' OR EXISTS (
                    SELECT 1 FROM events AS e
                    WHERE e.message_id = m.turn_id AND e.after = 'error' AND e.reason = 'finish'
                )
                ELSE 0
            END
        """,
    ),
    Rule(
        rule="I7",
        text="{who} wrote step {part} of turn {message}, but the lease was {holder} #{generation} for {leased}",
        query="SELECT * FROM written WHERE what = 'step' AND seq > :audit AND NOT mine",
    ),
    Rule(
        rule="I7",
        text="{who} finished {message} of turn {turn_id}, but the lease was {holder} #{generation} for {leased}",
        query="""
            SELECT * FROM written WHERE what = 'moved' AND after = 'processed' AND seq > :audit AND NOT mine
        """,
    ),
    Rule(
        rule="I7",
        text="{actor} ran call {message}, but the answer to its question was {answer}",
        query="""
            SELECT t.call AS message, t.actor, coalesce(q.answer, 'not there') AS answer
            FROM trace AS t LEFT JOIN questions AS q ON q.id = t.call
            WHERE t.op = 'ran' AND t.how = 'allowed' AND NOT t.late AND q.answer IS NOT 'yes'
        """,
    ),
    Rule(
        rule="I7",
        text="{who} took, renewed or gave back the lease of {message}, which was for {holder} #{generation} to do",
        query="""
            SELECT *, coalesce(message_id, old_message) AS message, coalesce(old_owner, owner) AS holder
            FROM kit_leases WHERE seq > :leases AND who <> '' AND (
                old_owner IS NULL AND owner <> who
                OR old_owner = owner AND until <> old_until AND owner <> who
                OR old_owner <> who AND owner IS NULL AND generation = old_generation
            )
        """,
    ),
)

ENDING = (
    Rule(
        rule="I8",
        final=True,
        text="prompt {message} is still {status}, though everybody had time",
        query="""
            SELECT id AS message, status FROM messages
            WHERE status IN ('pending_agent', 'processing') AND mode <> 'inject'
        """,
    ),
    Rule(
        rule="I8",
        final=True,
        text="{owner} still holds the lease of session {session_id} for {message}, though everybody had time",
        query="SELECT message_id AS message, owner, session_id FROM leases WHERE owner IS NOT NULL",
    ),
)

POISON = (
    Rule(
        rule="I12",
        text="the crashes of {message} went from {old_failures} to {failures}, not one at a time, or past {most}",
        query="""
            SELECT *, coalesce(message_id, old_message) AS message, :failures AS most FROM kit_leases
            WHERE seq > :leases AND (
                failures > :failures
                OR failures <> old_failures + (failures > old_failures AND old_owner IS NOT NULL AND owner IS NULL)
            )
        """,
    ),
    Rule(
        rule="I12",
        text="{who} took {message} back from {old_owner} and did not count that crash, the {next}. of {most}",
        query="""
            SELECT *, old_failures + 1 AS next, :failures AS most FROM taken
            WHERE seq > :leases AND failures <= old_failures AND (alone OR next < :failures)
        """,
    ),
    Rule(
        rule="I12",
        text="{message} crashed {times} times, which counted, and was begun again; {most} are the most",
        query="""
            SELECT message, count(*) AS times, :failures AS most FROM taken
            WHERE failures > old_failures GROUP BY message HAVING count(*) > :failures
        """,
    ),
    Rule(
        rule="I12",
        text="{owner} took {message} while it ran {other}, and one of them had so many crashes that it must run alone",
        query="""
            SELECT l.*, l.message_id AS message, o.message_id AS other
            FROM kit_leases AS l JOIN kit_leases AS o ON o.owner = l.owner AND o.session_id <> l.session_id
            WHERE l.seq > :leases AND l.old_owner IS NULL AND l.owner IS NOT NULL AND o.seq < l.seq
                AND max(l.failures, o.failures) >= :failures - 1 AND NOT EXISTS (
                    SELECT 1 FROM kit_leases AS n WHERE n.session_id = o.session_id AND n.seq > o.seq AND n.seq < l.seq
                )
        """,
    ),
    Rule(
        rule="I12",
        text="{message} was begun in turn {turn_id}, while turn {other}, which crashed with it, waits",
        query="""
            SELECT w.*, o.turn_id AS other
            FROM written AS w JOIN written AS o ON o.message = w.message AND o.turn_id <> w.turn_id AND o.seq < w.seq
            WHERE w.what = 'moved' AND w.after = 'processing' AND w.seq > :audit
                AND o.what = 'moved' AND o.after = 'processing' AND (
                    SELECT t.after FROM kit_audit AS t
                    WHERE t.message_id = o.turn_id AND t.what IN ('stored', 'moved') AND t.seq < w.seq
                    ORDER BY t.seq DESC LIMIT 1
                ) = 'pending_agent'
        """,
    ),
    Rule(
        rule="I12",
        text="{message} was ended as poison after {times} crashes, not {most}",
        query="""
            SELECT e.message_id AS message, :failures AS most, (
                SELECT count(*) FROM taken AS l WHERE l.message = m.turn_id AND l.failures > l.old_failures
            ) AS times
            FROM events AS e JOIN messages AS m ON m.id = e.message_id
            WHERE e.after = 'error' AND e.reason = 'poison' AND times <> :failures
        """,
    ),
)

RULES = (*ANSWERS, *STEPS, *ALONE, *FENCED, *ENDING, *POISON)
