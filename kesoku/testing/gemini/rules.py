"""What kind of Gemini the loopback server is; every field can be set while it runs."""

import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(kw_only=True, eq=False)
class Rules:
    """Options of `LoopbackGemini(…)`, and attributes that a test may set at any time."""

    key: str = "test-key"
    """The API key that is accepted."""
    models: str = r"gemini-[a-z0-9.-]+"
    """A pattern of the names of models that exist."""
    call_ids: bool = True
    """Whether function calls carry ids, unless the script says."""
    binds_signatures_to_model: bool = False
    """Whether a thought signature is good for the model only that gave it."""
    requests_per_minute: int | None = None
    """What each model takes in a minute; more is a 429 with RetryInfo."""
    requests_per_day: int | None = None
    """What each model takes in a day; more is a 429 of the daily quota."""
    input_limit: int = 1_048_576
    """Tokens that a model reads; more is a 400."""
    cache_minimum: int = 4_096
    """Tokens that an explicit cache needs, and from which on a repeated beginning counts as cached by itself."""
    blocks: str | None = None
    """A pattern: a request with such a text of the user in it is blocked, with the reason PROHIBITED_CONTENT."""
    port: int = 0
    """0 takes a free one."""
    now: Callable[[], float] = time.time
    """The clock of quotas and of the lives of files, caches and tokens: seconds since 1970."""
