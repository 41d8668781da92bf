"""Which chat models answer (N-15)."""

from kesoku import plugins
from kesoku.config import Config
from kesoku.config.naming import known_models, models_of
from kesoku.errors import ModelKeyMissing, ModelUnknown, PluginError
from kesoku.llm.manifest import ModelManifest
from kesoku.ports import ChatModel

OFFLINE = "offline"
DEFAULT = "gemini"


def choose(config: Config, *, name: str = "", offline_fallback: bool) -> tuple[ChatModel, ...]:
    """The model that answers, then its fallbacks.

    `name` or `agent.model` decides. Without either it is Gemini; only where `offline_fallback` is allowed, and only if
    no key is there at all, the offline model stands in. A wrong key never falls back.

    Raises:
        ModelUnknown: no model has this name.
        ModelKeyMissing: the model needs a key.
    """
    wanted = name or config.agent.model
    try:
        first = create(config, wanted or DEFAULT)
    except ModelKeyMissing:
        if wanted or not offline_fallback:
            raise
        first = create(config, OFFLINE)
    return (first, *(create(config, each) for each in config.agent.fallback))


def may_answer(config: Config) -> tuple[str, ...]:
    """The names of the models that a process without other orders uses."""
    return (config.agent.model or DEFAULT, *config.agent.fallback, *models_of(config, enabled(config)))


def enabled(config: Config) -> list[str]:
    """The bots that are not switched off."""
    return [name for name, entry in config.adapters.items() if entry.settings.enabled]


def create(config: Config, name: str) -> ChatModel:
    """One model by the name of its table, or by the name of its provider where there is no table."""
    entry, manifest = config.models.get(name), manifest_of(config, name)
    return manifest.create(name, entry.settings if entry else manifest.config())


def manifest_of(config: Config, name: str) -> ModelManifest:
    """The provider behind a name."""
    entry = config.models.get(name)
    try:
        return plugins.find_instance(plugins.MODELS, entry.type if entry else name, ModelManifest)
    except PluginError as error:
        raise ModelUnknown(model=name, known=known_models(config)) from error
