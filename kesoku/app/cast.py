"""Which models answer in a process, and in which role: what a prompt asks for, else its bot, else `[agent]`."""

import logging
from collections.abc import Iterable, Sequence

from kesoku.adapter.manifest import AdapterConfig
from kesoku.agent.assistant import Assistant
from kesoku.agent.prompt import system_prompt
from kesoku.app.model import choose, create
from kesoku.config import Config, Loaded, Problem
from kesoku.config.naming import models_of
from kesoku.config.schema import RoleTable
from kesoku.errors import ConfigInvalid, ModelError
from kesoku.messages.profile import NONE, Profile
from kesoku.messages.turn import ToolSpec, TurnRequest
from kesoku.ports import ChatModel

_log = logging.getLogger(__name__)


class Cast:
    """All models of a process, made once, and who plays what.

    `models` are that of `[agent]` and its fallbacks; `named` those that bots, their channels and roles name. With
    `alone`, the first of `models` answers whatever is asked for.
    """

    def __init__(
        self, config: Config, models: Sequence[ChatModel], named: Iterable[ChatModel] = (), *, alone: bool = False
    ) -> None:
        self._config, self._models, self._alone = config, tuple(models), alone
        self._known = {each.name: each for each in (*named, *models)}
        self._missed: set[tuple[str, str]] = set()

    @property
    def models(self) -> tuple[ChatModel, ...]:
        """Every model, each once."""
        return tuple(dict.fromkeys((*self._models, *self._known.values())))

    def assistant(self, bot: str, profile: Profile = NONE, *, tools: tuple[ToolSpec, ...] = ()) -> Assistant:
        """Who answers in a bot what asks for `profile`, with these tools.

        What is not there any more is passed over, and logged once: a prompt may wait while the config changes.
        """
        settings = self._settings(bot)
        role = self._role(profile.role) or self._role(settings.role)
        wanted = (profile.model, role.model if role else "", settings.model)
        found = None if self._alone else next((model for name in wanted if (model := self._model(name))), None)
        first, *fallbacks = self._models
        models = tuple(dict.fromkeys((found or first, *fallbacks)))
        instructions = role.instructions if role else self._config.agent.instructions
        request = TurnRequest(system=system_prompt(instructions=instructions), tools=tools)
        return Assistant(models=models, request=request)

    def _settings(self, bot: str) -> AdapterConfig:
        entry = self._config.adapters.get(bot)
        return entry.settings if entry else AdapterConfig()

    def _role(self, name: str) -> RoleTable | None:
        role = self._config.roles.get(name)
        if name and role is None:
            self._miss("role", name)
        return role

    def _model(self, name: str) -> ChatModel | None:
        model = self._known.get(name)
        if name and model is None:
            self._miss("model", name)
        return model

    def _miss(self, kind: str, name: str) -> None:
        if (kind, name) not in self._missed:
            self._missed.add((kind, name))
            _log.warning("the %s %r is asked for, but not there; another stands in", kind, name)


def cast(
    loaded: Loaded, bots: Iterable[str], *, also: Iterable[str] = (), name: str = "", offline_fallback: bool
) -> Cast:
    """The models that may answer in these bots; `name` is the only one, where it is given.

    `also` are bots of other processes whose agents may be worked for here: of their models those that can be made.

    Raises:
        ModelUnknown, ModelKeyMissing: as `choose` does, for the models of `[agent]`.
        ConfigInvalid: a model that a bot, a channel or a role names cannot be made.
    """
    models = choose(loaded.config, name=name, offline_fallback=offline_fallback)
    if name:
        return Cast(loaded.config, models, alone=True)
    made = {each.name: each for each in models}
    if problems := _make(loaded, bots, made):
        raise ConfigInvalid(problems=problems)
    _make(loaded, also, made)
    return Cast(loaded.config, models, made.values())


def _make(loaded: Loaded, bots: Iterable[str], made: dict[str, ChatModel]) -> tuple[Problem, ...]:
    """Make what some bots name and is not `made` yet; what cannot be made."""
    problems = []
    for name, key in models_of(loaded.config, bots).items():
        if name not in made:
            try:
                made[name] = create(loaded.config, name)
            except ModelError as error:
                problems.append(Problem(source=loaded.source, key=key, text=str(error)))
    return tuple(problems)
