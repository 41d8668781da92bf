"""A chat model did not answer."""

from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from kesoku.errors.duration import duration
from kesoku.errors.root import KesokuError


class ModelError(KesokuError):
    """A chat model did not answer: `cause` is what happened, `cure` what helps, and the text is both.

    `model` is its configured name; `retryable`: the same request may work later.
    """

    retryable: bool = False
    model: str = ""

    def __init__(self, cause: str = "", cure: str = "") -> None:
        self.cause, self.cure = cause, cure
        super().__init__("; ".join(filter(None, (cause, cure))))


class ModelKeyMissing(ModelError):
    """No API key was found, so the model cannot be built."""

    def __init__(self, *, model: str, variables: tuple[str, ...]) -> None:
        self.model, self.variables = model, variables
        super().__init__(
            f"model {model} has no API key",
            f"set {' or '.join(variables)}, or api_key in [models.{model}] of the config",
        )


class ModelProjectMissing(ModelError):
    """A model of a cloud needs to know the project that pays for it."""

    def __init__(self, *, model: str, variable: str) -> None:
        self.model, self.variable = model, variable
        super().__init__(
            f"model {model} has no project", f"set {variable}, or project in [models.{model}] of the config"
        )


class ModelLoginMissing(ModelError):
    """The credentials of this machine for a cloud are missing, broken or expired."""

    def __init__(self, *, model: str, message: str) -> None:
        self.model, self.message = model, message
        super().__init__(
            f"model {model}: no usable Google Cloud credentials ({message})",
            "run `gcloud auth application-default login`, or point GOOGLE_APPLICATION_CREDENTIALS at a service "
            "account's key file",
        )


class ModelUnknown(ModelError):
    """The config names a model that nothing provides."""

    def __init__(self, *, model: str, known: Sequence[str]) -> None:
        self.model, self.known = model, tuple(known)
        super().__init__(
            f"model {model} is not known", f"there are {', '.join(known)}, or add a table [models.{model}]"
        )


class ModelKeyRejected(ModelError):
    """The provider does not accept the key: wrong, revoked or leaked."""

    def __init__(self, *, model: str, message: str) -> None:
        self.model, self.message = model, message
        super().__init__(
            f"model {model}: the API key was rejected ({message})",
            "give it a valid one, by api_key in the config or the environment",
        )


class ModelAccessDenied(ModelError):
    """The key is genuine, but may not do this: the API is off, the region is closed, billing or a right is missing."""

    def __init__(self, *, model: str, reason: str, message: str, cure: str) -> None:
        self.model, self.reason, self.message = model, reason, message
        super().__init__(f"model {model}: access denied, {reason} ({message})", cure)


class ModelNotFound(ModelError):
    """The provider does not know the model's name, or not under this API version. `near`: names that it does know."""

    def __init__(self, *, model: str, wanted: str, message: str, near: Sequence[str] = ()) -> None:
        self.model, self.wanted, self.message, self.near = model, wanted, message, tuple(near)
        hint = f"; did you mean {' or '.join(map(repr, near))}?" if near else ""
        super().__init__(
            f"model {model}: the provider has no {wanted!r} ({message})",
            f"correct model, or api_version or location, in [models.{model}]{hint}",
        )


class ModelRateLimited(ModelError):
    """Too many requests or tokens; `retry_after` is seconds, if known.

    `daily`: the quota of the day is used up, and nothing but `resets_at` (UTC) or another model helps.
    """

    def __init__(
        self,
        *,
        model: str,
        retry_after: float | None,
        daily: bool,
        message: str,
        resets_at: datetime | None = None,
    ) -> None:
        self.model, self.retry_after, self.daily, self.message = model, retry_after, daily, message
        self.resets_at = resets_at
        self.retryable = not daily
        wait = "later" if retry_after is None else f"in {duration(retry_after)}"
        cure = f"try again {wait}"
        if daily:
            at = f" at {resets_at:%Y-%m-%d %H:%M} UTC" if resets_at else ""
            cure = f"the daily quota is used up; it resets{at}, {wait}"
        super().__init__(f"model {model}: rate limit reached ({message})", cure)


class ModelUnavailable(ModelError):
    """The provider is overloaded, broken or not reachable. `status` is None when no answer came at all."""

    retryable = True

    def __init__(self, *, model: str, status: int | None, message: str) -> None:
        self.model, self.status, self.message = model, status, message
        what = "cannot be reached" if status is None else f"is unavailable, status {status}"
        cure = "check network, proxy and base_url" if status is None else "try again later"
        super().__init__(f"model {model} {what} ({message})", cure)


class ModelTimeout(ModelError):
    """Silence for longer than a limit of the config. `stage` names the limit: first_chunk or idle."""

    retryable = True

    def __init__(self, *, model: str, stage: Literal["first_chunk", "idle"], seconds: float) -> None:
        self.model, self.stage, self.seconds = model, stage, seconds
        what = "did not begin to answer" if stage == "first_chunk" else "stopped in the middle of its answer"
        super().__init__(
            f"model {model} {what} within {seconds:g} s", f"try again, or raise {stage}_seconds in [models.{model}]"
        )


class ModelStreamBroken(ModelError):
    """The answer began or should have begun, but its stream was empty, unreadable or cut by the network."""

    retryable = True

    def __init__(self, *, model: str, reason: str) -> None:
        self.model, self.reason = model, reason
        super().__init__(f"model {model}: the answer broke off ({reason})", "try again")


class ModelInputTooLong(ModelError):
    """The request has more tokens than the model reads; a shorter history helps, repeating does not."""

    def __init__(self, *, model: str, tokens: int | None, limit: int | None) -> None:
        self.model, self.tokens, self.limit = model, tokens, limit
        size = f"{tokens} tokens, at most {limit}" if tokens and limit else "too many tokens"
        super().__init__(
            f"model {model}: the conversation is too long ({size})", "say /new, or lower context_tokens in [agent]"
        )


class ModelRequestRefused(ModelError):
    """The provider refuses this very request; the same request will be refused again."""

    def __init__(self, *, model: str, status: str, message: str) -> None:
        self.model, self.status, self.message = model, status, message
        super().__init__(f"model {model} refused the request, {status}: {message}")


class ModelReferenceRefused(ModelError):
    """The request refers to something from before that the provider no longer takes: `what` it is."""

    def __init__(self, *, model: str, what: Literal["signature", "file", "cache"], message: str) -> None:
        self.model, self.what, self.message = model, what, message
        super().__init__(f"model {model} refused a {what} of an earlier request ({message})", "try again")
