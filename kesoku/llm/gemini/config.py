"""`[models.<name>]` of a Gemini model, and whom it talks to."""

from collections.abc import Mapping
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr

from kesoku.errors import ModelKeyMissing
from kesoku.llm.gemini.client import Endpoint
from kesoku.llm.gemini.profile import Thinking

KEY_VARIABLES = ("GEMINI_API_KEY", "GOOGLE_API_KEY")
"""Where a key is looked for when the config has none, in this order."""
BASE_URL_VARIABLE = "GOOGLE_GEMINI_BASE_URL"


class GeminiConfig(BaseModel):
    """`[models.<name>]` of a Gemini model."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: str = Field(default="gemini-3.5-flash", pattern=r"^[A-Za-z0-9][A-Za-z0-9._/-]*$")
    """The provider's name of the model."""
    api_key: SecretStr | None = None
    """The key from Google AI Studio; when left out, GEMINI_API_KEY or GOOGLE_API_KEY of the environment."""
    base_url: str | None = Field(default=None, pattern=r"^https?://")
    """Another address than Google's; when left out, GOOGLE_GEMINI_BASE_URL of the environment."""
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
    retries: int = Field(default=3, ge=0, le=10)
    """How often to ask again after a failure that may pass."""


def endpoint_of(name: str, config: GeminiConfig, environment: Mapping[str, str]) -> Endpoint:
    """The address and the credentials of a model. Raises ModelKeyMissing if there is no key."""
    return Endpoint(
        api_key=_key(name, config, environment),
        base_url=config.base_url or environment.get(BASE_URL_VARIABLE) or None,
        api_version=config.api_version,
    )


def _key(name: str, config: GeminiConfig, environment: Mapping[str, str]) -> SecretStr:
    given = config.api_key.get_secret_value() if config.api_key else ""
    found = (text.strip() for text in (given, *(environment.get(variable, "") for variable in KEY_VARIABLES)))
    key = next((text for text in found if text), None)
    if key is None:
        raise ModelKeyMissing(model=name, variables=KEY_VARIABLES)
    return SecretStr(key)
