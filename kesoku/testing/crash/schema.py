"""The tables and views of the evidence, beside those of the product and of the audit.

`late` marks what was read behind the snapshot of the database. `position` numbers the entries of a journal, from 0.
"""

from kesoku.messages.lifecycle import DELIVERY_TRANSITIONS
from kesoku.messages.status import TRANSITIONS

FACTS = (
    *("id", "key", "bot", "channel", "cursor", "seq", "message", "kind", "before", "after", "turn", "generation"),
    *("session", "owner", "role", "name", "how", "point", "side", "prompt", "answer", "call"),
)
"""What is kept of the lines of the traces."""

SCRIPT = """
CREATE TABLE trace (
    n INTEGER PRIMARY KEY, late INTEGER, actor TEXT, t INTEGER, op TEXT,
    id TEXT, key TEXT, bot TEXT, channel TEXT, cursor INTEGER, seq INTEGER, message TEXT, kind TEXT, before TEXT,
    after TEXT, turn TEXT, generation INTEGER, session TEXT, owner TEXT, role TEXT, name TEXT, how TEXT, point TEXT,
    side TEXT, prompt TEXT, answer TEXT, call TEXT
);
CREATE INDEX trace_of_actor ON trace (op, actor, seq);
CREATE TABLE journal (
    n INTEGER PRIMARY KEY, late INTEGER, bot TEXT, position INTEGER, op TEXT, key TEXT, id TEXT, channel TEXT
);
CREATE INDEX journal_of_key ON journal (key, op);
CREATE TABLE allowed (what TEXT, before TEXT, after TEXT, PRIMARY KEY (what, before, after));

-- What was written to messages, steps and parts, and whether the writer held the lease of the session for this turn.
CREATE TEMP VIEW written AS
SELECT *, message_id AS message, coalesce(owner, 'free') AS holder,
    owner IS NOT NULL AND leased IS turn_id AND who IN (owner, '') AS mine
FROM kit_audit;

-- Who is known to have ended.
CREATE TEMP VIEW ended AS
SELECT born.owner, died.t FROM trace AS born JOIN trace AS died
    ON died.actor = born.actor AND (died.op = 'down' OR died.op = 'point' AND died.how IS NOT 'stop')
    OR died.op IN ('killing', 'killed') AND died.name = born.actor
WHERE born.op = 'up';

-- Leases that recovery took: neither did their owner give them back, nor was the turn interrupted. Who loses one of
-- several loses all in that moment; `alone` had no other, `late` are those of an owner of whom one had run out.
CREATE TEMP VIEW taken AS
SELECT l.*, l.old_message AS message,
    NOT EXISTS (
        SELECT 1 FROM kit_leases AS o WHERE o.old_owner = l.old_owner AND o.who = l.who AND o.owner IS NULL
            AND abs(o.t - l.t) < 1000000000 AND o.session_id <> l.session_id
    ) AS alone,
    EXISTS (
        SELECT 1 FROM kit_leases AS o WHERE o.old_owner = l.old_owner AND o.who = l.who AND o.owner IS NULL
            AND abs(o.t - l.t) < 1000000000 AND o.old_until <= o.at
    ) AS late
FROM kit_leases AS l
WHERE l.old_owner IS NOT NULL AND l.owner IS NULL AND l.generation > l.old_generation
    AND l.status IS NOT 'interrupted';
"""

ADD_TRACE = """
INSERT INTO trace VALUES (
    NULL, :late, :actor, :t, :op, :id, :key, :bot, :channel, :cursor, :seq, :message, :kind, :before, :after, :turn,
    :generation, :session, :owner, :role, :name, :how, :point, :side, :prompt, :answer, :call
)
"""
ADD_ENTRY = "INSERT INTO journal VALUES (NULL, :late, :bot, :position, :op, :key, :id, :channel)"
ADD_ALLOWED = "INSERT INTO allowed VALUES (?, ?, ?)"
ALLOWED = (
    *(("moved", old, new) for old, following in TRANSITIONS.items() for new in following),
    *(("carried", old, new) for old, following in DELIVERY_TRANSITIONS.items() for new in following),
)
"""Every step of the two diagrams."""
MARKS = """
SELECT (SELECT coalesce(max(seq), 0) FROM kit_audit) AS audit, (SELECT coalesce(max(seq), 0) FROM kit_leases) AS leases,
    (SELECT coalesce(max(n), 0) FROM trace) AS trace
"""
"""How far a snapshot has come."""

STORY = """
SELECT t, who, CASE what
        WHEN 'moved' THEN before || ' -> ' || after
        WHEN 'stored' THEN 'stored as ' || after
        WHEN 'step' THEN 'step ' || part
        WHEN 'planned' THEN 'part ' || part || ' planned'
        ELSE 'part ' || part || ': ' || before || ' -> ' || after
    END || coalesce(' (lease of ' || owner || ' #' || generation || ')', ' (no lease)') AS fact
FROM kit_audit WHERE message_id = :id
UNION ALL
SELECT t, who, 'lease of the session: ' || coalesce(old_owner, 'nobody') || ' #' || old_generation || ' -> '
    || coalesce(owner, 'nobody') || ' #' || generation || ', ' || failures || ' failures'
FROM kit_leases WHERE session_id = (SELECT session_id FROM messages WHERE id = :id)
    AND :id IN (message_id, old_message) AND (owner IS NOT old_owner OR generation <> old_generation)
UNION ALL
SELECT t, actor, op || coalesce(' key ' || key, '') || coalesce(' #' || generation, '') || coalesce(' seq ' || seq, '')
FROM trace
WHERE op <> 'seen' AND (:id IN (id, message, turn, prompt, answer)
    OR key IN (SELECT key FROM external_ids WHERE message_id = :id)
    OR key IN (SELECT send_key FROM deliveries WHERE message_id = :id))
UNION ALL
SELECT t, name, op || coalesce(' ' || how, '') || coalesce(' ' || side || ' ' || point, '') FROM trace
WHERE op IN ('killed', 'stopped', 'continued') AND (
    name IN (SELECT actor FROM trace WHERE :id IN (id, message, turn, prompt, answer))
    OR name IN (SELECT actor FROM trace WHERE op = 'up' AND owner IN (SELECT who FROM kit_audit WHERE message_id = :id))
)
ORDER BY t
"""
"""All that happened to a message, by whom and when."""
LOG = """
SELECT 'event ' || seq || ': ' || kind || coalesce(' ' || before || ' ->', '') || coalesce(' ' || after, '')
    || ' by ' || actor || ' ' || reason AS fact
FROM events WHERE message_id = :id ORDER BY seq
"""
"""What the product's own log says of it."""
