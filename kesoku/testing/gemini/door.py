"""Who may come in: path, key or token, model."""

import re

from kesoku.testing.gemini.request import Seen
from kesoku.testing.gemini.rules import Rules
from kesoku.testing.gemini.script import Refusal, key_unknown
from kesoku.testing.gemini.vertex import Tokens


def enter(seen: Seen, rules: Rules, tokens: Tokens) -> Refusal | None:
    """The refusal at the door, or None. Vertex AI wants a token, or a key on paths without a project."""
    if seen.kind in {"token", "chunk"}:
        return None
    by_token = "parent" in seen.parts or (seen.vertex and "authorization" in seen.headers)
    if refusal := tokens.check(seen) if by_token else _key(seen, rules.key):
        return refusal
    if seen.kind is None:
        return Refusal(404, "NOT_FOUND", f"no such path {seen.path}")
    return _model(seen, rules.models)


def _key(seen: Seen, key: str) -> Refusal | None:
    given = seen.headers.get("x-goog-api-key") or seen.query.get("key")
    if not given:
        return Refusal(403, "PERMISSION_DENIED", "Method doesn't allow unregistered callers.")
    return key_unknown() if given != key else None


def _model(seen: Seen, models: str) -> Refusal | None:
    model, version = seen.model, seen.parts["version" if "version" in seen.parts else "base"]
    alias = model.endswith("-latest") and version == "v1"
    if not model or (re.fullmatch(models, model) and not alias):
        return None
    message = f"models/{model} is not found for API version {version}, or is not supported for generateContent."
    return Refusal(404, "NOT_FOUND", message)
