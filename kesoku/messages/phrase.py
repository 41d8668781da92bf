"""What the machinery says in fixed words: messages are made of them, and rows without a kind are known by them."""

ALERT = "[System Alert]"
"""How the note of a background job begins (K-070)."""

JOB = f"{ALERT} Background Job "
"""The same, up to the job's id."""

EMPTY = "Your previous response had empty content."
"""How the nudge after an empty reply begins (K-071)."""

ERROR = "⚠️ An error occurred while processing your request:"
"""How the report of a failed turn begins (K-068)."""
COMPACTION = "[System Notification] The user manually requested compaction"
