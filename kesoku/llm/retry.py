"""When to ask a model again, and how to say so: pure, no sleeping."""

from dataclasses import dataclass

from kesoku.errors import (
    ModelError,
    ModelRateLimited,
    ModelReferenceRefused,
    ModelStreamBroken,
    ModelTimeout,
    ModelUnavailable,
)
from kesoku.errors.duration import duration


@dataclass(frozen=True, slots=True, kw_only=True)
class Backoff:
    """Exponential back-off with jitter; a provider's own wish goes first."""

    retries: int
    """How often to ask again after the first failure."""
    first: float = 1.0
    """Seconds before the first repetition, on average."""
    longest: float = 60.0
    """Seconds; a provider that wants a longer pause ends the attempts, so that another model gets its chance."""

    def pause(self, failed: int, error: ModelError, jitter: float) -> float | None:
        """Seconds to wait after failure number `failed` (from 1); None: give up. `jitter` is uniform in 0..1."""
        if not error.retryable or failed > self.retries:
            return None
        if isinstance(error, ModelRateLimited) and error.retry_after is not None:
            pause = error.retry_after + jitter
            return pause if error.retry_after <= self.longest else None
        return float(min(self.longest, self.first * 2 ** (failed - 1)) * (0.5 + jitter))


def again(error: ModelError) -> str:
    """Why a model is asked again, on one line for people who wait."""
    return f"{_happened(error)}; asking again"


def _happened(error: ModelError) -> str:
    match error:
        case ModelRateLimited():
            return "rate limit"
        case ModelTimeout():
            return f"no answer for {duration(error.seconds)}"
        case ModelUnavailable(status=None):
            return "no connection"
        case ModelUnavailable(status=503 | 529):
            return "the provider is overloaded"
        case ModelUnavailable():
            return f"the provider failed with status {error.status}"
        case ModelStreamBroken():
            return "the answer broke off"
        case ModelReferenceRefused():
            return f"a {error.what} of an earlier request was refused"
        case _:
            return error.cause
