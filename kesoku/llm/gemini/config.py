"""`[models.<name>]` of a Gemini model, and whom it talks to."""

import re
from collections.abc import Mapping
from typing import Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationInfo, field_validator

from kesoku.errors import ModelKeyMissing, ModelKeyRejected, ModelProjectMissing, ModelUnavailable
from kesoku.llm.gemini.client import Endpoint
from kesoku.llm.gemini.profile import Thinking

KEY_VARIABLES = ("GEMINI_API_KEY", "GOOGLE_API_KEY")
"""Where a key is looked for when the config has none, in this order."""
BASE_URL_VARIABLE = "GOOGLE_GEMINI_BASE_URL"
VERTEX_URL_VARIABLE = "GOOGLE_VERTEX_BASE_URL"
PROJECT_VARIABLE = "GOOGLE_CLOUD_PROJECT"
LOCATION_VARIABLE = "GOOGLE_CLOUD_LOCATION"
GOOGLE = "https://generativelanguage.googleapis.com"
_ADDRESS = "an address such as 'https://gemini.example.org'"


class GeminiConfig(BaseModel):
    """`[models.<name>]` of a Gemini model."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: str = Field(default="gemini-3.5-flash", pattern=r"^[A-Za-z0-9][A-Za-z0-9._/-]*$")
    """The provider's name of the model."""
    api_key: SecretStr | None = None
    """The key from Google AI Studio; when left out, GEMINI_API_KEY or GOOGLE_API_KEY of the environment."""
    vertex: bool = False
    """Whether to use Vertex AI, with a Google Cloud project and this machine's default credentials instead of a key."""
    project: str | None = Field(default=None, pattern=r"^[a-z0-9][a-z0-9.:-]*$")
    """The Google Cloud project of Vertex AI; when left out, GOOGLE_CLOUD_PROJECT of the environment."""
    location: str | None = Field(default=None, pattern=r"^[a-z0-9-]+$")
    """The location of Vertex AI; when left out, GOOGLE_CLOUD_LOCATION of the environment, else global."""
    base_url: str | None = None
    """Another address than Google's; when left out, GOOGLE_GEMINI_BASE_URL or, for Vertex AI, GOOGLE_VERTEX_BASE_URL
    of the environment."""
    api_version: Literal["v1beta", "v1"] = "v1beta"
    """Aliases such as gemini-flash-latest exist on v1beta only."""
    thinking: Thinking = "auto"
    """How deep to think, in one word for every family; auto leaves it to the model."""
    temperature: float | None = Field(default=None, ge=0.0, le=2.0)
    """When left out, the model's own."""
    max_output_tokens: int | None = Field(default=None, ge=1)
    """Thoughts count as output. When left out, the model's own limit."""
    first_chunk_seconds: float = Field(default=60.0, gt=0.0)
    """How long to wait for an answer to begin, connecting included."""
    idle_seconds: float = Field(default=60.0, gt=0.0)
    """How long an answer may pause."""
    upload_seconds: float = Field(default=300.0, gt=0.0)
    """How long a file that is too large for a request may take to be uploaded and processed."""
    retries: int = Field(default=3, ge=0, le=10)
    """How often to ask again after a failure that may pass."""
    requests_per_minute: int | None = Field(default=None, ge=1)
    """What the key may ask of this model, counted over all processes of this user; when left out, as much as the
    provider takes."""
    cache: Literal["implicit", "explicit"] = "implicit"
    """Who caches the beginning that requests share: the provider by itself, or this model by name and for a fee a
    minute."""
    cache_minutes: float = Field(default=5.0, ge=1.0, le=1440.0)
    """How long an explicit cache lives after its last use."""

    @field_validator("base_url")
    @classmethod
    def _with_a_host(cls, value: str | None) -> str | None:
        if value is not None and not _is_address(value):
            raise ValueError(f"must be {_ADDRESS}")
        return value

    @field_validator("vertex")
    @classmethod
    def _no_key(cls, value: bool, others: ValidationInfo) -> bool:
        if value and others.data.get("api_key") is not None:
            raise ValueError("Vertex AI takes this machine's credentials, not api_key; leave one of the two out")
        return value

    @field_validator("project", "location")
    @classmethod
    def _on_vertex(cls, value: str | None, others: ValidationInfo) -> str | None:
        if value is not None and not others.data.get("vertex", True):
            raise ValueError("only Vertex AI has this; add vertex = true, or leave it out")
        return value


def host_of(address: str) -> str:
    """The host that an address names, or ''."""
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""


def endpoint_of(name: str, config: GeminiConfig, environment: Mapping[str, str]) -> Endpoint:
    """The address and the credentials of a model.

    Raises:
        ModelKeyMissing: there is no key.
        ModelKeyRejected: it cannot be sent.
        ModelProjectMissing: it is on Vertex AI, and there is no project.
        ModelUnavailable: the environment names something that is no address.
    """
    if config.vertex:
        return _vertex(name, config, environment)
    return Endpoint(
        base_url=config.base_url or _named(name, BASE_URL_VARIABLE, environment) or GOOGLE,
        api_version=config.api_version,
        api_key=_key(name, config, environment),
    )


def _vertex(name: str, config: GeminiConfig, environment: Mapping[str, str]) -> Endpoint:
    project = config.project or environment.get(PROJECT_VARIABLE, "").strip()
    if not project:
        raise ModelProjectMissing(model=name, variable=PROJECT_VARIABLE)
    location = config.location or environment.get(LOCATION_VARIABLE, "").strip() or "global"
    return Endpoint(
        base_url=config.base_url or _named(name, VERTEX_URL_VARIABLE, environment) or _address(location),
        api_version={"v1beta": "v1beta1"}.get(config.api_version, config.api_version),
        project=project,
        location=location,
    )


def _named(name: str, variable: str, environment: Mapping[str, str]) -> str:
    """The address that a variable names, or ''."""
    address = environment.get(variable, "").strip()
    if address and not _is_address(address):
        raise ModelUnavailable(model=name, status=None, message=f"{variable} must be {_ADDRESS}")
    return address


def _is_address(text: str) -> bool:
    return text.startswith(("http://", "https://")) and bool(host_of(text))


def _address(location: str) -> str:
    """Google's own address of Vertex AI in a location: the world, a group of regions, or a region."""
    if location == "global":
        return "https://aiplatform.googleapis.com"
    if location in {"us", "eu"}:
        return f"https://aiplatform.{location}.rep.googleapis.com"
    return f"https://{location}-aiplatform.googleapis.com"


def _key(name: str, config: GeminiConfig, environment: Mapping[str, str]) -> SecretStr:
    given = config.api_key.get_secret_value() if config.api_key else ""
    found = (text.strip() for text in (given, *(environment.get(variable, "") for variable in KEY_VARIABLES)))
    key = next((text for text in found if text), None)
    if key is None:
        raise ModelKeyMissing(model=name, variables=KEY_VARIABLES)
    if not re.fullmatch("[!-~]+", key):
        raise ModelKeyRejected(model=name, message="it has a character that no key has")
    return SecretStr(key)
