"""Prompts are stored once and in order, and listeners get every change (I1, I2, I10, I11)."""

from kesoku.testing.crash.rule import Rule

ACKNOWLEDGED = (
    Rule(
        rule="I1",
        text="{actor} was told that {message} is stored (key {key}), and it is not there",
        query="""
            SELECT a.id AS message, a.actor, a.key FROM trace AS a LEFT JOIN messages AS m ON m.id = a.id
            WHERE a.op = 'acked' AND NOT a.late AND m.id IS NULL
        """,
    ),
    Rule(
        rule="I1",
        text="{actor} was told that turn {message} has the answer {answer}, and it is not there",
        query="""
            SELECT a.turn AS message, a.actor, a.answer FROM trace AS a LEFT JOIN messages AS m ON m.id = a.answer
            WHERE a.op = 'answered' AND NOT a.late AND m.id IS NULL
        """,
    ),
    Rule(
        rule="I1",
        text="the cursor of {bot} is at {cursor}, and what was said there before with key {key} (number {position}) was"
        " never stored",
        query="""
            SELECT j.bot, j.key, j.position, s.value AS cursor
            FROM journal AS j JOIN state AS s ON s.scope = 'adapter:' || j.bot AND s.key = 'position'
            LEFT JOIN external_ids AS e ON e.chatbot_id = j.bot AND e.key = j.key
            WHERE j.op = 'said' AND j.position < CAST(s.value AS INTEGER) AND e.message_id IS NULL
        """,
    ),
    Rule(
        rule="I1",
        final=True,
        text="what was said to {bot} with key {key} (number {position}) was never stored",
        query="""
            SELECT j.bot, j.key, j.position
            FROM journal AS j LEFT JOIN external_ids AS e ON e.chatbot_id = j.bot AND e.key = j.key
            WHERE j.op = 'said' AND e.message_id IS NULL
        """,
    ),
)

ONCE = (
    Rule(
        rule="I2",
        text="prompt {message} in {channel_id} of {chatbot_id} has no key of its own: it is a second one for the same",
        query="""
            SELECT m.id AS message, m.chatbot_id, m.channel_id FROM messages AS m
            WHERE m.kind = 'user_prompt' AND NOT EXISTS (SELECT 1 FROM external_ids AS e WHERE e.message_id = m.id)
        """,
    ),
    Rule(
        rule="I2",
        text="{actor} was told that key {key} is {message}, but it is {stored}",
        query="""
            SELECT a.id AS message, a.actor, a.key, e.message_id AS stored
            FROM trace AS a LEFT JOIN external_ids AS e ON e.chatbot_id = a.bot AND e.key = a.key
            WHERE a.op = 'acked' AND NOT a.late AND e.message_id IS NOT a.id
        """,
    ),
)

ORDER = (
    Rule(
        rule="I10",
        text="session {session_id} counts to {last_n} and has {number} messages, numbered from {low} to {high}",
        query="""
            SELECT n.*, s.last_n FROM sessions AS s JOIN (
                SELECT session_id, count(DISTINCT session_n) AS number, min(session_n) AS low, max(session_n) AS high,
                    count(*) AS rows
                FROM messages GROUP BY session_id
            ) AS n ON n.session_id = s.id
            WHERE low <> 1 OR high <> number OR high <> last_n OR rows <> number
        """,
    ),
    Rule(
        rule="I10",
        text="{message} was stored behind {earlier} and stands before it in session {session_id}",
        query="""
            SELECT m.id AS message, e.id AS earlier, m.session_id
            FROM messages AS m JOIN messages AS e
                ON e.session_id = m.session_id AND e.session_n >= m.session_n AND e.seq < m.seq
        """,
    ),
    Rule(
        rule="I10",
        text="{kind} {message} was stored without or before {cause}, which it follows from",
        query="""
            SELECT m.id AS message, m.kind, m.parent_id AS cause
            FROM messages AS m LEFT JOIN messages AS cause ON cause.id = m.parent_id
            WHERE m.parent_id IS NOT NULL AND (cause.seq IS NULL OR cause.seq > m.seq)
            UNION
            SELECT m.id, m.kind, m.turn_id FROM messages AS m LEFT JOIN messages AS cause ON cause.id = m.turn_id
            WHERE m.turn_id IS NOT NULL AND m.role IN ('assistant', 'tool')
                AND (cause.seq IS NULL OR cause.seq > m.seq)
        """,
    ),
)

HEARD = (
    Rule(
        rule="I11",
        text="{who} moved {message} from {before} to {after}, and the log that listeners read does not say so",
        query="""
            SELECT a.message_id AS message, a.who, a.before, a.after FROM kit_audit AS a
            WHERE a.what = 'moved' AND a.seq > :audit AND (
                SELECT count(*) FROM kit_audit AS b WHERE b.message_id = a.message_id AND b.what = 'moved'
                    AND b.before = a.before AND b.after = a.after
            ) <> (
                SELECT count(*) FROM events AS e WHERE e.message_id = a.message_id AND e.kind = 'moved'
                    AND e.before = a.before AND e.after = a.after
            )
        """,
    ),
    Rule(
        rule="I11",
        text="{who} stored {message}, and the log that listeners read does not say so",
        query="""
            SELECT a.message_id AS message, a.who FROM kit_audit AS a
            WHERE a.what = 'stored' AND a.seq > :audit AND NOT EXISTS (
                SELECT 1 FROM events AS e WHERE e.message_id = a.message_id AND e.kind = 'inserted'
            )
        """,
    ),
    Rule(
        rule="I11",
        text="{actor} follows the log from {cursor} and got as far as {last}, but was never told of change {seq} of"
        " {message}",
        query="""
            SELECT e.message_id AS message, e.seq, f.actor, f.cursor, l.last FROM trace AS f JOIN (
                SELECT actor, max(seq) AS last FROM trace WHERE op = 'seen' AND NOT late GROUP BY actor
            ) AS l ON l.actor = f.actor
            JOIN events AS e ON e.seq > f.cursor AND e.seq <= l.last
            WHERE f.op = 'following' AND NOT EXISTS (
                SELECT 1 FROM trace AS s WHERE s.op = 'seen' AND s.actor = f.actor AND s.seq = e.seq
            )
        """,
    ),
    Rule(
        rule="I11",
        text="{actor} was told of change {seq} of {message} again or too late, behind {earlier}",
        query="""
            SELECT s.message, s.actor, s.seq, p.seq AS earlier
            FROM trace AS s JOIN trace AS p ON p.op = 'seen' AND p.actor = s.actor AND p.seq >= s.seq AND p.n < s.n
            WHERE s.op = 'seen' AND s.n > :trace
            UNION
            SELECT s.message, s.actor, s.seq, f.cursor
            FROM trace AS s JOIN trace AS f ON f.op = 'following' AND f.actor = s.actor AND f.cursor >= s.seq
            WHERE s.op = 'seen' AND s.n > :trace
        """,
    ),
    Rule(
        rule="I11",
        text="{actor} was told that change {seq} is {message} from {before} to {after}, which the log does not say",
        query="""
            SELECT s.message, s.actor, s.seq, s.before, s.after FROM trace AS s LEFT JOIN events AS e ON e.seq = s.seq
            WHERE s.op = 'seen' AND NOT s.late AND (
                e.message_id IS NOT s.message OR e.kind <> s.kind OR e.before IS NOT s.before OR e.after IS NOT s.after
            )
        """,
    ),
    Rule(
        rule="I11",
        text="{actor} goes on at {cursor}, but the lives before it were told only of what is up to {last}",
        query="""
            SELECT f.actor, f.cursor, max(s.seq) AS last
            FROM trace AS f JOIN trace AS s ON s.op = 'seen' AND s.t < f.t
            WHERE f.op = 'following' GROUP BY f.n HAVING f.cursor > max(s.seq)
        """,
    ),
    Rule(
        rule="I11",
        final=True,
        text="the log ends at {head}, and nobody who follows it was told of more than {last}",
        query="""
            SELECT max(e.seq) AS head, (SELECT max(seq) FROM trace WHERE op = 'seen') AS last FROM events AS e
            WHERE EXISTS (SELECT 1 FROM trace WHERE op = 'following')
            HAVING head > coalesce(last, 0)
        """,
    ),
)

RULES = (*ACKNOWLEDGED, *ONCE, *ORDER, *HEARD)
