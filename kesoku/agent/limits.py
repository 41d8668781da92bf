"""How far a turn may go."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnLimits:
    """Bounds of one turn. At a bound the turn ends with a plain answer that names it."""

    steps: int = 50
    """Replies of the model."""
    seconds: float = 1800.0
    """From the claim to the answer."""
    tool_output: int = 64 * 1024
    """Bytes of one tool result that the model gets (C-33)."""
    history_tokens: int | None = 100_000
    """Estimated tokens of the history that the model gets; beyond it the oldest turns are left out. None: no bound."""
    history_records: int = 1_000
    """Records of the session that are looked at, the latest ones."""
    told_after: int = 3
    """The same call with the same result so often: the model is told."""
    stuck_after: int = 5
    """And so often: the turn stops."""
    approval_seconds: float = 300.0
    """How long a person may think about an approval."""
    hook_seconds: float = 10.0
    """How long one pre-step hook may take."""
