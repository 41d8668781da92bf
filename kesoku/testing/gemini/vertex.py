"""Access tokens of Vertex AI: a service account, the token endpoint, and the check of what it gave out."""

import base64
import binascii
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

from kesoku.testing.gemini.request import Reply, Seen
from kesoku.testing.gemini.script import Refusal

LIFE = 3600.0
"""Seconds that a token is good for."""
_GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer"
_SCOPE = "https://www.googleapis.com/auth/cloud-platform"


class Tokens:
    """The OAuth endpoint."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._ends: dict[str, float] = {}
        self._accounts: set[str] = set()
        self._count, self._now = 0, now

    def account(self, path: Path, *, token_uri: str, project: str) -> Path:
        """Write the key file of a new service account to `path`. Needs the package `cryptography`."""
        email = f"loopback-{len(self._accounts) + 1}@{project}.iam.gserviceaccount.com"
        self._accounts.add(email)
        key = {
            "type": "service_account",
            "project_id": project,
            "private_key_id": "loopback",
            "private_key": _private_key(),
            "client_email": email,
            "client_id": "1",
            "token_uri": token_uri,
            "universe_domain": "googleapis.com",
        }
        path.write_text(json.dumps(key), encoding="utf-8")
        path.chmod(0o600)
        return path

    def grant(self, seen: Seen) -> Reply:
        """A token for the signed assertion of a service account of ours."""
        form = parse_qs(seen.raw.decode("utf-8", "replace"))
        if form.get("grant_type") != [_GRANT]:
            return _denied("unsupported_grant_type", "Invalid grant_type.")
        claims = _claims(form.get("assertion", [""])[0])
        if claims is None or claims.get("iss") not in self._accounts:
            return _denied("invalid_grant", "Invalid JWT Signature.")
        if _SCOPE not in str(claims.get("scope", "")).split():
            return _denied("invalid_scope", "Invalid OAuth scope or ID token audience provided.")
        self._count += 1
        token = f"ya29.loopback-{self._count}"
        self._ends[token] = self._now() + LIFE
        return Reply(body={"access_token": token, "expires_in": int(LIFE) - 1, "token_type": "Bearer"})

    def check(self, seen: Seen) -> Refusal | None:
        """The refusal of a request without a token of ours."""
        kind, _, token = seen.headers.get("authorization", "").partition(" ")
        if kind == "Bearer" and self._ends.get(token, 0.0) > self._now():
            return None
        reason = "ACCESS_TOKEN_TYPE_UNSUPPORTED" if token else "CREDENTIALS_MISSING"
        info = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason, "domain": "googleapis.com"}
        message = "Request had invalid authentication credentials. Expected OAuth 2 access token."
        return Refusal(401, "UNAUTHENTICATED", message, (info,))

    def expire(self) -> None:
        """All tokens have lived too long."""
        self._ends.clear()


def _denied(error: str, description: str) -> Reply:
    return Reply(body={"error": error, "error_description": description}, status=400)


@cache
def _key() -> Any:
    from cryptography.hazmat.primitives.asymmetric import rsa

    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


def _private_key() -> str:
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    pem: bytes = _key().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return pem.decode()


def _claims(assertion: str) -> dict[str, Any] | None:
    """What a JWT says, if our key signed it."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
    from cryptography.hazmat.primitives.hashes import SHA256

    signed, _, signature = assertion.rpartition(".")
    try:
        _key().public_key().verify(_bytes(signature), signed.encode(), PKCS1v15(), SHA256())
        claims: dict[str, Any] = json.loads(_bytes(signed.partition(".")[2]))
    except (InvalidSignature, ValueError, binascii.Error):
        return None
    return claims


def _bytes(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
