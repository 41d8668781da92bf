"""The configuration as frozen values. Docstrings under the fields are the reference; defaults are what most want."""

import re
from collections import Counter
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr, field_validator, model_validator

from kesoku.config.hook_event import DEFAULT_EVENTS, is_http, unknown_words

UserPath = Annotated[Path, AfterValidator(Path.expanduser)]
"""A path in which ~ stands for the home folder."""


_MOST = 1_000_000
_Dollars = Annotated[float, Field(ge=0, le=10_000, allow_inf_nan=False)]


class Table(BaseModel):
    """A table of the config file."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class StoreTable(Table):
    """Where everything is kept."""

    path: UserPath | None = None
    """The SQLite file. Default: kesoku/kesoku.db in the user's data folder."""
    busy_seconds: float = Field(default=5.0, gt=0, le=300)
    """How long to wait for another program that locks the file."""


class AgentTable(Table):
    """How the agent works."""

    model: str = ""
    """A `[models.<name>]` table, or `offline`. Default: `gemini`, and `offline` for `kesoku chat` without a key."""
    fallback: tuple[str, ...] = ()
    """Models to try in turn when the first is overloaded, out of quota or beyond the budget."""
    instructions: str = ""
    """Added to the system prompt: what your bot is for and how it should speak."""
    busy: Literal["interrupt", "queue", "steer"] = "interrupt"
    """What a person's message does while a turn runs in the same channel."""
    interrupt_by: Literal["anyone", "same_sender"] = "anyone"
    """Whose message interrupts a running turn."""
    concurrent_turns: int = Field(default=32, ge=1, le=1024)
    """Turns that run at once; the rest wait in the queue."""
    max_steps: int = Field(default=50, ge=1)
    """Model steps in one turn."""
    max_seconds: float = Field(default=1800.0, gt=0)
    """Wall-clock seconds of one turn."""
    approval_seconds: float = Field(default=300.0, gt=0, le=86_400)
    """Seconds to wait for somebody who may allow a tool; no answer is a no. `max_seconds` counts them."""
    max_tokens: int | None = Field(default=None, ge=1)
    """Tokens of one turn, read and written; none by default."""
    max_cost: float | None = Field(default=None, gt=0, le=_MOST)
    """US dollars of one turn, by the tables `[prices.<name>]`; none by default."""
    context_tokens: int = Field(default=200_000, ge=1000)
    """Tokens of history that one request may carry; the oldest turns are left out beyond it."""
    tool_output_limit: int = Field(default=65_536, ge=1024)
    """Bytes of one tool result that the model is shown; the middle is cut, and the cut named."""
    workspace: UserPath | None = None
    """Where tools read and write. Default: the current folder for `kesoku chat`, a folder a session elsewhere."""
    roots: tuple[UserPath, ...] = ()
    """More folders that tools and files in replies may touch."""


class RoleTable(Table):
    """A role that a bot can play: `[roles.<name>]`."""

    instructions: str
    """Stands in the system prompt in the place of `agent.instructions`."""
    model: str = ""
    """The model that plays it, named as in `agent.model`. Default: that of the bot."""


class LimitsTable(Table):
    """Bounds against floods and bills. Beyond them the person is told; nothing is dropped in silence."""

    per_person_per_minute: int = Field(default=30, ge=1)
    """Messages of one person in a minute, and as many commands and presses of buttons."""
    per_channel_per_minute: int = Field(default=60, ge=1)
    """Messages of one channel in a minute."""
    queued_per_channel: int = Field(default=20, ge=1)
    """Messages of one channel that wait."""
    queued_total: int = Field(default=100_000, ge=1)
    """Messages of one bot that wait, in all its channels."""
    file_bytes: int = Field(default=50_000_000, ge=0)
    """Size of one file that is taken in."""
    cost_per_day: float | None = Field(default=None, gt=0, le=_MOST)
    """US dollars since midnight in `timezone`, over all turns of this database; none by default."""


class PriceTable(Table):
    """What a model costs: US dollars for a million tokens."""

    prompt: _Dollars
    """What it reads."""
    cached: _Dollars | None = None
    """What it reads from the provider's cache. Default: as `prompt`."""
    answer: _Dollars
    """What it writes; thoughts count."""
    long_from: int | None = Field(default=None, ge=1)
    """A prompt of more tokens than this has the `long_` prices, from its first token on. Default: none is long."""
    long_prompt: _Dollars | None = None
    """What it reads of a long prompt."""
    long_cached: _Dollars | None = None
    """What it reads of a long prompt from the cache. Default: as `long_prompt`."""
    long_answer: _Dollars | None = None
    """What it writes after a long prompt."""

    @model_validator(mode="after")
    def _whole(self) -> Self:
        wanted = (self.long_from, self.long_prompt, self.long_answer)
        given = [each is not None for each in (*wanted, self.long_cached)]
        if any(given) and None in wanted:
            raise ValueError("long_from, long_prompt and long_answer go together")
        return self


class DeliveryTable(Table):
    """How answers go out."""

    max_age_hours: float = Field(default=24.0, gt=0)
    """Older answers are held after a restart, with one notice, instead of flooding the channel."""
    live_every_seconds: float = Field(default=1.2, ge=0.1, le=60)
    """Seconds between two changes of one status message, at least; where the platform asks for more, more."""


class ToolTable(Table):
    """One tool: `[tools.<name>]`."""

    policy: Literal["allow", "ask", "deny"] | None = None
    """Run it, ask a person first, or never. Default: tools that only read are allowed, all others ask."""
    timeout: float | None = Field(default=None, gt=0)
    """Seconds after which a call is stopped."""


class LogTable(Table):
    """What is logged, and where."""

    level: Literal["debug", "info", "warning", "error"] = "info"
    """The least severe level that is written."""
    file: UserPath | None = None
    """A file, rotated at 10 MB; default: standard error, and for `kesoku chat` a file beside the database."""
    format: Literal["auto", "human", "json"] = "auto"
    """`auto`: for people on a terminal, JSON lines elsewhere."""


class HookTable(Table):
    """An event hook: one `[[hooks]]` table. It is told of what happens to messages, after it is stored."""

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$")
    """Its own name, under which it goes on after a restart."""
    events: tuple[str, ...] = Field(default=DEFAULT_EVENTS, min_length=1)
    """What it is told; the words stand in the table below."""
    url: str | None = None
    """Where each event is posted as JSON. Either this or `command`."""
    command: tuple[str, ...] | None = Field(default=None, min_length=1)
    """A program and its arguments, never a shell line. It reads the event as JSON from standard input."""
    headers: dict[str, SecretStr] = {}
    """More headers of each post, such as `{ Authorization = { env = "NAME" } }`."""
    bots: tuple[str, ...] = ()
    """Only what these bots hear and say. Empty, and no `channels`: everything."""
    channels: tuple[str, ...] = ()
    """Only what is said in these channels, each as `bot:channel`; beside that of `bots`."""
    timeout: float = Field(default=10.0, gt=0, le=3600)
    """Seconds that one attempt may take."""
    attempts: int = Field(default=8, ge=1, le=1000)
    """How often an event is tried before it is given up."""
    first_pause: float = Field(default=5.0, ge=1, le=3600)
    """Seconds until the second attempt; each later pause is twice as long, up to an hour."""

    @field_validator("events")
    @classmethod
    def _known_events(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if wrong := unknown_words(value):
            raise ValueError("; ".join(wrong))
        return value

    @field_validator("url")
    @classmethod
    def _an_address(cls, value: str | None) -> str | None:
        if value is not None and not is_http(value):
            raise ValueError("an address that begins with http:// or https://")
        return value

    @field_validator("command")
    @classmethod
    def _a_program(cls, value: tuple[str, ...] | None) -> tuple[str, ...] | None:
        if value is not None and (not value[0].strip() or any("\0" in each for each in value)):
            raise ValueError("a program, and its arguments, without NUL")
        return value

    @field_validator("channels")
    @classmethod
    def _with_bots(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if not all(re.fullmatch(r"[^:]+:.+", each) for each in value):
            raise ValueError("channels such as 'discord:1234', the bot and the channel")
        return value

    @field_validator("headers")
    @classmethod
    def _plain_text(cls, value: dict[str, SecretStr]) -> dict[str, SecretStr]:
        for name, secret in value.items():
            text = secret.get_secret_value()
            if not re.fullmatch(r"[A-Za-z0-9-]+", name) or not (text.isascii() and text.isprintable()):
                raise ValueError("names of letters, digits and hyphens; values of printable ASCII")
            if name.lower() in {"content-length", "transfer-encoding"}:
                raise ValueError(f"no {name}: it says how long a post is, which differs from one to the next")
        return value

    @model_validator(mode="after")
    def _one_target(self) -> Self:
        if (self.url is None) == (self.command is None):
            raise ValueError("either url or command")
        if self.headers and self.url is None:
            raise ValueError("headers go with url")
        return self


class Entry(Table):
    """A `[models.<name>]` or `[adapters.<name>]` table after validation."""

    type: str
    """The name of the provider or platform; by default the name of the table."""
    settings: Any
    """The value of the provider's or platform's own schema."""


class Config(Table):
    """Everything. Adapters and models are validated by their own schemas and kept as such."""

    timezone: str = "UTC"
    """IANA name; used in headers of messages and by tools."""
    timezone_label: str = ""
    """Shown instead of the zone's name, for people who want `SGT` (N-13)."""
    store: StoreTable = StoreTable()
    agent: AgentTable = AgentTable()
    limits: LimitsTable = LimitsTable()
    delivery: DeliveryTable = DeliveryTable()
    log: LogTable = LogTable()
    tools: dict[str, ToolTable] = {}
    prices: dict[str, PriceTable] = {}
    """What models cost; the name is that of the model in `[agent]`."""
    roles: dict[str, RoleTable] = {}
    """What a bot can be, beside what `agent.instructions` say; tables of bots name them."""
    models: dict[str, Entry] = {}
    """One table a model, with the settings of its provider."""
    adapters: dict[str, Entry] = {}
    """One table a bot; its name is the chatbot_id of everything that it says and hears."""
    hooks: tuple[HookTable, ...] = ()
    """Event hooks, one `[[hooks]]` table each."""

    @field_validator("timezone")
    @classmethod
    def _known_zone(cls, value: str) -> str:
        try:
            ZoneInfo(value)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            raise ValueError("an IANA time zone such as 'Asia/Shanghai' or 'UTC'") from None
        return value

    @field_validator("hooks", mode="before")
    @classmethod
    def _several_tables(cls, value: Any) -> Any:
        if not isinstance(value, (list, tuple)):
            raise ValueError("write [[hooks]], one such table a hook")  # noqa: TRY004  pydantic takes no other
        return value

    @field_validator("hooks")
    @classmethod
    def _own_names(cls, value: tuple[HookTable, ...]) -> tuple[HookTable, ...]:
        if twice := [name for name, count in Counter(each.name for each in value).items() if count > 1]:
            raise ValueError(f"every hook has a name of its own; more than one is called {', '.join(twice)}")
        return value
