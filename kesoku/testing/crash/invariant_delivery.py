"""What goes out is shown once, and the ledger knows of it before and after (I9)."""

from kesoku.testing.crash.rule import Rule

ANNOUNCED = (
    Rule(
        rule="I9",
        text="{bot} shows {id} in {channel}, sent with key {key}, which no part in the ledger has",
        query="""
            SELECT j.bot, j.id, j.channel, j.key FROM journal AS j LEFT JOIN deliveries AS d ON d.send_key = j.key
            WHERE j.op IN ('send', 'repeat') AND NOT j.late AND d.seq IS NULL
        """,
    ),
    Rule(
        rule="I9",
        text="part {part} of {message} was sent {times} times to {bot} (key {key}), but the ledger was told of {known}",
        query="""
            SELECT d.message_id AS message, d.part, j.bot, j.key, count(*) AS times, (
                SELECT count(*) FROM kit_audit AS a WHERE a.message_id = d.message_id AND a.part = d.part
                    AND a.what = 'carried' AND a.after = 'sending'
            ) AS known
            FROM journal AS j JOIN deliveries AS d ON d.send_key = j.key AND d.purpose = 'final'
            WHERE j.op IN ('send', 'repeat') AND NOT j.late GROUP BY j.key HAVING times > known
        """,
    ),
)

SHOWN = (
    Rule(
        rule="I9",
        text="{bot} shows part {part} of {message} {times} times (key {key}), and the ledger says {state}: {error}",
        query="""
            SELECT d.message_id AS message, d.part, j.bot, j.key, d.state, d.error, count(*) AS times
            FROM journal AS j JOIN deliveries AS d ON d.send_key = j.key
            WHERE j.op = 'send' AND NOT j.late GROUP BY j.key HAVING times > 1 + (coalesce(d.error, '') LIKE :blind)
        """,
    ),
    Rule(
        rule="I9",
        text="part {part} of {message} is sent by the ledger (key {key}), but {bot} does not show it",
        query="""
            SELECT d.message_id AS message, d.part, d.send_key AS key, d.chatbot_id AS bot FROM deliveries AS d
            WHERE d.state = 'sent' AND NOT EXISTS (
                SELECT 1 FROM journal AS j WHERE j.key = d.send_key AND j.op = 'send'
            )
        """,
    ),
    Rule(
        rule="I9",
        text="{kind} {message} is delivered, but its part {part} is {state}",
        query="""
            SELECT m.id AS message, m.kind, d.part, d.state FROM messages AS m JOIN deliveries AS d
                ON d.message_id = m.id AND d.purpose = 'final' AND d.part < :extra
            WHERE m.status = 'delivered' AND d.state <> 'sent'
        """,
    ),
    Rule(
        rule="I9",
        text="answer {message} is delivered, but nothing of it was ever sent",
        query="""
            SELECT m.id AS message FROM messages AS m WHERE m.status = 'delivered' AND m.kind = 'answer'
                AND NOT EXISTS (SELECT 1 FROM deliveries AS d WHERE d.message_id = m.id AND d.state = 'sent')
        """,
    ),
    Rule(
        rule="I9",
        text="{actor} was told that {message} is delivered, but it is {status}",
        query="""
            SELECT t.message, t.actor, coalesce(m.status, 'gone') AS status
            FROM trace AS t LEFT JOIN messages AS m ON m.id = t.message
            WHERE t.op = 'delivered' AND NOT t.late AND (
                m.status IS NOT 'delivered' AND NOT (m.kind IS 'tool_call' AND m.status IS 'interrupted')
            )
        """,
    ),
)

ORDER = Rule(
    rule="I9",
    text="{bot} shows {message} in {channel} behind {latest}, which was said later (by their numbers in the log)",
    query="""
        SELECT * FROM (
            SELECT f.bot, f.channel, m.id AS message, m.seq, max(m.seq) OVER (
                PARTITION BY f.bot, f.channel ORDER BY f.n ROWS UNBOUNDED PRECEDING
            ) AS latest
            FROM (
                SELECT bot, channel, key, min(n) AS n FROM journal WHERE op = 'send' AND NOT late GROUP BY key
            ) AS f
            JOIN deliveries AS d ON d.send_key = f.key JOIN messages AS m ON m.id = d.message_id
        ) WHERE seq < latest
    """,
)

ENDED = (
    Rule(
        rule="I9",
        final=True,
        text="part {part} of {message} is still {state}, though everybody had time ({error})",
        query="""
            SELECT d.message_id AS message, d.part, d.state, d.error
            FROM deliveries AS d JOIN messages AS m ON m.id = d.message_id
            LEFT JOIN messages AS turn ON turn.id = m.turn_id
            WHERE d.purpose = 'final' AND d.state IN ('planned', 'sending', 'ambiguous') AND m.status <> 'error'
                AND NOT (m.status IN ('responded', 'interrupted') AND turn.status IS 'interrupted')
        """,
    ),
    Rule(
        rule="I9",
        final=True,
        text="{kind} {message} still waits to go out as {status}, though everybody had time",
        query="""
            SELECT m.id AS message, m.kind, m.status
            FROM messages AS m LEFT JOIN messages AS turn ON turn.id = m.turn_id
            WHERE (m.status = 'pending' OR m.status = 'responded' AND m.type <> 'text' AND turn.status <> 'interrupted')
                AND NOT EXISTS (
                    SELECT 1 FROM deliveries AS d WHERE d.message_id = m.id AND d.state IN ('held', 'refused')
                )
        """,
    ),
)

RULES = (*ANNOUNCED, *SHOWN, ORDER, *ENDED)
