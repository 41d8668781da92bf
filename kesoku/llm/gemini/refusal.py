"""What the API itself says when it refuses: an HTTP status or an error event, with google.rpc details, as our leaf.

Sources: https://ai.google.dev/gemini-api/docs/troubleshooting, google.rpc.Status with RetryInfo, QuotaFailure and
ErrorInfo. One table; the first row that applies wins, and what no row knows is a refused request.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, time, timedelta
from typing import Any, Literal
from zoneinfo import ZoneInfo

from kesoku.errors import (
    ModelAccessDenied,
    ModelError,
    ModelInputTooLong,
    ModelKeyRejected,
    ModelLoginMissing,
    ModelNotFound,
    ModelRateLimited,
    ModelReferenceRefused,
    ModelRequestRefused,
    ModelUnavailable,
)
from kesoku.llm.gemini.call import Call

_DELAY = re.compile(r"(\d{1,9}(?:\.\d+)?)s")
_TOO_LONG = re.compile(r"input token count \((\d+)\) exceeds the maximum number of tokens allowed \((\d+)\)")
_FILE = re.compile(r"\b(?:access|use) the file\b|\bthe file \S+ (?:is|was|has)\b|\bfiles/[a-z0-9]|\bfile[ _]?uri\b")
_PASSING = frozenset({408, 409, 425, 499})
"""Client errors that say nothing about the request: too slow, in conflict, too early, cancelled."""


def from_api(error: Any, call: Call) -> ModelError:
    """The leaf for one `google.genai.errors.APIError`."""
    refusal = Refusal(error, call)
    build = next((build for applies, build in _RULES if applies(refusal)), _refused)
    return build(refusal)


def used_up(call: Call, until: float, message: str) -> ModelRateLimited:
    """A quota of the day is used up, until then (seconds since 1970), whatever a RetryInfo beside it says."""
    return ModelRateLimited(
        model=call.model,
        retry_after=until - call.now(),
        daily=True,
        resets_at=datetime.fromtimestamp(until, UTC),
        message=message,
    )


def day_end(now: float) -> float:
    """The next midnight in California, where the quotas of a day begin anew; wall clock seconds."""
    today = datetime.fromtimestamp(now, ZoneInfo("America/Los_Angeles"))
    return datetime.combine(today.date() + timedelta(days=1), time(), today.tzinfo).timestamp()


class Refusal:
    """An APIError read defensively: its body may be JSON, a list, HTML or nothing."""

    def __init__(self, error: Any, call: Call) -> None:
        self.call = call
        self.code = error.code if isinstance(error.code, int) else 0
        self.message = call.line(error.message if isinstance(error.message, str) else str(error)) or "no message"
        self.status = f"{self.code} {error.status or ''}".strip()
        self._response = error.response
        body = error.details.get("error") if isinstance(error.details, Mapping) else None
        details = body.get("details") if isinstance(body, Mapping) else None
        self._details = [d for d in details if isinstance(d, Mapping)] if isinstance(details, list) else []

    @property
    def reason(self) -> str:
        """`ErrorInfo.reason`, e.g. API_KEY_INVALID, or ''."""
        return next((str(detail["reason"]) for detail in self._details if "reason" in detail), "")

    @property
    def service(self) -> str:
        """The Google service that refuses, as `ErrorInfo` names it."""
        return self._about("service") or "generativelanguage.googleapis.com"

    @property
    def activation(self) -> str:
        """Where in Google's console the API that is off is switched on, as words; '' if it is not said."""
        page = self._about("activationUrl")
        return f" at {page}" if page.startswith("https://console.") else ""

    @property
    def elsewhere(self) -> str:
        """Where a redirect leads, as words; '' for anything else."""
        headers = getattr(self._response, "headers", None) or {}
        return self.call.line(str(headers.get("location", ""))) if 300 <= self.code < 400 else ""

    @property
    def retry_after(self) -> float | None:
        """Seconds of `RetryInfo.retryDelay` ("31s", "31.5s")."""
        delays = (_DELAY.fullmatch(str(detail.get("retryDelay"))) for detail in self._details)
        return next((float(found[1]) for found in delays if found), None)

    @property
    def daily(self) -> bool:
        """Whether a quota of the day is used up."""
        return any("PerDay" in str(violation.get("quotaId")) for violation in self._violations())

    def says(self, *words: str) -> bool:
        """Whether the message holds one of the words."""
        return any(word in self.message.lower() for word in words)

    def _about(self, key: str) -> str:
        known = (detail.get("metadata") for detail in self._details)
        return next((str(found[key]) for found in known if isinstance(found, Mapping) and key in found), "")

    def _violations(self) -> Iterator[Mapping[str, Any]]:
        lists = (detail.get("violations") for detail in self._details)
        for found in lists:
            yield from (item for item in found if isinstance(item, Mapping)) if isinstance(found, list) else ()


_Build = Callable[[Refusal], ModelError]


def _refused(refusal: Refusal) -> ModelError:
    return ModelRequestRefused(model=refusal.call.model, status=refusal.status, message=refusal.message)


def _redirected(refusal: Refusal) -> ModelError:
    message = f"it leads to {refusal.elsewhere}, where nothing is sent; correct base_url"
    return ModelRequestRefused(model=refusal.call.model, status=refusal.status, message=message)


def _key(refusal: Refusal) -> ModelError:
    if not refusal.call.secret:
        return ModelLoginMissing(model=refusal.call.model, message=refusal.message)
    return ModelKeyRejected(model=refusal.call.model, message=refusal.message)


def _denied(reason: str, cure: str, on_vertex: str = "") -> _Build:
    def build(refusal: Refusal) -> ModelError:
        helps = cure if refusal.call.secret or not on_vertex else on_vertex
        cured = helps.format(service=refusal.service, page=refusal.activation)
        return ModelAccessDenied(model=refusal.call.model, reason=reason, message=refusal.message, cure=cured)

    return build


def _stale(what: Literal["signature", "file", "cache"]) -> _Build:
    return lambda refusal: ModelReferenceRefused(model=refusal.call.model, what=what, message=refusal.message)


def _not_found(refusal: Refusal) -> ModelError:
    return ModelNotFound(model=refusal.call.model, wanted=refusal.call.wanted, message=refusal.message)


def _limited(refusal: Refusal) -> ModelError:
    if refusal.daily:
        return used_up(refusal.call, day_end(refusal.call.now()), refusal.message)
    return ModelRateLimited(
        model=refusal.call.model, retry_after=refusal.retry_after, daily=False, message=refusal.message
    )


def _too_long(refusal: Refusal) -> ModelError:
    found = _TOO_LONG.search(refusal.message)
    tokens, limit = (int(found[1]), int(found[2])) if found else (None, None)
    return ModelInputTooLong(model=refusal.call.model, tokens=tokens, limit=limit)


def _down(refusal: Refusal) -> ModelError:
    return ModelUnavailable(model=refusal.call.model, status=refusal.code, message=refusal.message)


def _about_a_file(refusal: Refusal) -> bool:
    gone = refusal.code in {403, 404} or (refusal.code == 400 and not refusal.says("unknown name", "mime type"))
    return gone and bool(_FILE.search(refusal.message.lower()))


_RULES: tuple[tuple[Callable[[Refusal], bool], _Build], ...] = (
    (lambda r: bool(r.elsewhere), _redirected),
    (lambda r: r.reason.startswith("API_KEY") or r.says("api key not valid", "api key expired"), _key),
    (lambda r: r.code == 401 or r.says("reported as leaked"), _key),
    (lambda r: r.code == 403 and r.says("unregistered callers"), _key),
    (
        lambda r: r.reason == "SERVICE_DISABLED",
        _denied("the API is switched off", "enable {service} in the Google Cloud project{page}"),
    ),
    (
        lambda r: r.says("location is not supported"),
        _denied(
            "this region is not served",
            "use a server in a supported region or another provider",
            on_vertex="choose another location, or use a server in a supported region",
        ),
    ),
    (
        lambda r: r.code in {400, 403, 404} and r.says("cachedcontent", "cached content", "cached_content"),
        _stale("cache"),
    ),
    (_about_a_file, _stale("file")),
    (lambda r: r.code == 400 and r.says("thought signature", "thought_signature"), _stale("signature")),
    (
        lambda r: r.reason == "BILLING_DISABLED" or (r.code == 400 and r.status.endswith("FAILED_PRECONDITION")),
        _denied("a precondition is missing", "enable billing in Google AI Studio or the Google Cloud project"),
    ),
    (
        lambda r: r.code == 403,
        _denied(
            "a right is missing",
            "check what the key may use in Google AI Studio",
            on_vertex="check the name of the project, and give this login its role Vertex AI User",
        ),
    ),
    (lambda r: r.code == 404, _not_found),
    (lambda r: r.code == 429, _limited),
    (lambda r: r.code == 400 and r.says("exceeds the maximum number of tokens"), _too_long),
    (lambda r: r.code in _PASSING or r.code >= 500, _down),
)
"""First match wins. Message texts are only asked where no code tells."""
