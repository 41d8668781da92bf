"""The error tree of Kesoku: every failure that a caller may want to tell apart, each with its own fields.

    KesokuError
    ├── MessageError            a value that cannot exist
    ├── StoreError              the database
    ├── GatewayError            the lifecycle of a message
    ├── ConfigError             what someone wrote into the config (exit code 78)
    ├── ModelError              a chat model did not answer
    ├── ToolError               a tool call that cannot run; becomes a result, never a crash
    ├── RenderError             a reply that cannot be turned into something sendable
    ├── PluginError             an extension that does not load
    └── DeliveryError           a platform did not take a message

A leaf takes the facts as fields and builds its own sentence: what happened, where, what to do. Callers read the fields
and never parse the text. Texts of errors contain no secret.
"""

from collections.abc import Sequence
from typing import Literal


class KesokuError(Exception):
    """Anything that Kesoku raises on purpose."""


class MessageError(KesokuError):
    """A message value that cannot exist."""


class InvalidParty(MessageError, ValueError):
    """A sender or recipient that is neither role, UUID, name, None nor an object with a UUID id (L-017, C-40)."""

    def __init__(self, *, value: object) -> None:
        self.value = value
        super().__init__("Invalid sender or recipient")


class UnknownKind(MessageError, ValueError):
    """Stored data names a kind that this version does not have."""

    def __init__(self, *, what: str, kind: object, valid: tuple[str, ...]) -> None:
        self.what, self.kind, self.valid = what, kind, valid
        super().__init__(f"unknown {what} kind {kind!r}; known are {', '.join(valid)}")


class IdentityGiven(MessageError, TypeError):
    """Creation mints the id; a message that already has one is imported (D-004, C-09)."""

    def __init__(self, *, kind: str) -> None:
        self.kind = kind
        super().__init__(f"a new {kind} gets its id by itself; to keep an existing id use import_message")


class IdentityMissing(MessageError, ValueError):
    """Import keeps an id, so there must be one (D-021)."""

    def __init__(self, *, kind: str) -> None:
        self.kind = kind
        super().__init__(f"an imported {kind} needs a non-empty id; to make a new message use create_message")


class AlreadyAnswered(MessageError, ValueError):
    """A tool call has one result; a second one must ask for the replacement (C-03)."""

    def __init__(self, *, call_id: str, response_id: str) -> None:
        self.call_id, self.response_id = call_id, response_id
        super().__init__(f"call {call_id} was answered by {response_id}; pass replace=True to supersede that result")


class AmbiguousRow(MessageError, ValueError):
    """A flat row without `kind` that the table of decision C-04 cannot class."""

    def __init__(self, *, row_id: object, role: object, type: object, why: str) -> None:  # noqa: A002
        self.row_id, self.role, self.type, self.why = row_id, role, type, why
        super().__init__(f"row {row_id!r} (role {role!r}, type {type!r}) fits no kind of message: {why}")


class SelectionInvalid(MessageError, ValueError):
    """Ids chosen for the model's input that are not in the history (all of them are named), or are named twice."""

    def __init__(self, *, missing: tuple[str, ...], repeated: tuple[str, ...]) -> None:
        self.missing, self.repeated = missing, repeated
        unknown = f"not in this session: {', '.join(missing)}" if missing else ""
        twice = f"named more than once: {', '.join(repeated)}" if repeated else ""
        super().__init__(f"the chosen messages cannot be read; {'; '.join(filter(None, (unknown, twice)))}")


class StoreError(KesokuError):
    """The database refused or failed."""


class StoreLocked(StoreError):
    """Somebody else held the database for longer than this store waits. Nothing was written."""

    def __init__(self, *, path: object, seconds: float) -> None:
        self.path, self.seconds = path, seconds
        super().__init__(
            f"{path} was locked by another program for more than {seconds:g} s and nothing was written; "
            f"close the program that holds it, then try again"
        )


class StoreFull(StoreError):
    """No room is left on the disk. What was acknowledged is safe; the write that failed left nothing behind."""

    def __init__(self, *, path: object) -> None:
        self.path = path
        super().__init__(f"the disk of {path} is full and nothing was written; free some space, then try again")


class StoreReadOnly(StoreError):
    """The file, its directory or the transaction does not take writes."""

    def __init__(self, *, path: object, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(f"{path} cannot be written ({reason}); make the file and its directory writable for this user")


class StoreUnreachable(StoreError):
    """The file cannot be opened: no such directory, no permission, or it is a directory itself."""

    def __init__(self, *, path: object, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(
            f"{path} cannot be opened ({reason}); check that its directory exists and that this user may use it"
        )


class StoreCorrupt(StoreError):
    """The file is damaged."""

    def __init__(self, *, path: object, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(
            f"{path} is damaged ({reason}); stop every program that uses it, keep a copy, then restore a backup "
            f"or rescue what is left with `sqlite3 {path} .recover`"
        )


class StoreForeign(StoreError):
    """The file is no database of Kesoku."""

    def __init__(self, *, path: object) -> None:
        self.path = path
        super().__init__(f"{path} is not a database of Kesoku and was left as it is; name another file")


class StoreNewer(StoreError):
    """A newer version of Kesoku wrote this database; nothing was changed."""

    def __init__(self, *, path: object, found: int, known: int) -> None:
        self.path, self.found, self.known = path, found, known
        super().__init__(
            f"{path} has schema version {found}, this Kesoku knows versions up to {known}; "
            f"upgrade Kesoku, or name another file"
        )


class StoreConflict(StoreError):
    """A write that a rule of the tables forbids, such as a second final answer of one turn."""

    def __init__(self, *, path: object, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(f"{path} refused a write that contradicts what is stored: {reason}")


class StoreFailed(StoreError):
    """Any other failure of the database or its disk."""

    def __init__(self, *, path: object, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(f"{path} failed: {reason}; check the disk and the system's log, then try again")


class StoreClosed(StoreError):
    """The store was closed before this operation ran."""

    def __init__(self, *, path: object) -> None:
        self.path = path
        super().__init__(f"{path} was closed and the operation did not run; open the store again")


class NotStorable(StoreError, ValueError):
    """A message that has no stored form: no role, content that is no JSON, or metadata beyond the limit (N-14)."""

    def __init__(self, *, message_id: str, reason: str) -> None:
        self.message_id, self.reason = message_id, reason
        super().__init__(f"message {message_id} cannot be stored: {reason}")


class GatewayError(KesokuError):
    """A step in a message's lifecycle that is not allowed."""


class RunDirectoryUnusable(GatewayError):
    """The directory where processes tell each other that they live cannot be used."""

    def __init__(self, *, path: object, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(f"the run directory {path} cannot be used ({reason}); make it writable for this user")


class ServedElsewhere(GatewayError):
    """Another process serves this key; two would answer everything twice (store rule 6)."""

    def __init__(self, *, key: str, pid: int | None) -> None:
        self.key, self.pid = key, pid
        who = "another process" if pid is None else f"process {pid}"
        super().__init__(f"{key} is served by {who}; stop that one first")


class ConfigError(KesokuError):
    """Something in the configuration is wrong; the text names file, key, value and what is valid."""


class ConfigMissing(ConfigError):
    """A config file that was named is not there."""

    def __init__(self, *, path: object) -> None:
        self.path = path
        super().__init__(f"there is no config file {path}; copy config.example.toml, or leave the option out")


class ConfigInvalid(ConfigError):
    """Values that cannot be used; `problems` has one entry each, with file, key and what is valid."""

    def __init__(self, *, problems: tuple[object, ...]) -> None:
        self.problems = problems
        super().__init__("\n".join(str(each) for each in problems))


class LogUnwritable(ConfigError):
    """The log cannot be written where it is to be kept."""

    def __init__(self, *, path: object, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(f"the log {path} cannot be written: {reason}; set log.file, or store.path for all files")


class NothingToServe(ConfigError):
    """`kesoku run` has no adapter to start."""

    def __init__(self, *, wanted: Sequence[str], configured: Sequence[str]) -> None:
        self.wanted, self.configured = tuple(wanted), tuple(configured)
        missing = f"no enabled adapter is named {', '.join(wanted)}" if wanted else "no adapter is configured"
        there = f"; the config has {', '.join(configured)}" if configured else ""
        super().__init__(f"{missing}{there}; add a table such as [adapters.discord], or use: kesoku chat")


class NoSuchSession(ConfigError):
    """A session id of the command line that the database does not have."""

    def __init__(self, *, session_id: str) -> None:
        self.session_id = session_id
        super().__init__(
            f"there is no session {session_id!r}; use --resume for the last one, or bot:channel for a place"
        )


class ModelError(KesokuError):
    """A chat model did not answer. `model` is its configured name; `retryable`: the same request may work later."""

    retryable: bool = False
    model: str = ""


class ModelKeyMissing(ModelError):
    """No API key was found, so the model cannot be built."""

    def __init__(self, *, model: str, variables: tuple[str, ...]) -> None:
        self.model, self.variables = model, variables
        super().__init__(
            f"model {model} has no API key; set {' or '.join(variables)}, or api_key in [models.{model}] of the config"
        )


class ModelUnknown(ModelError):
    """The config names a model that nothing provides."""

    def __init__(self, *, model: str, known: Sequence[str]) -> None:
        self.model, self.known = model, tuple(known)
        super().__init__(f"model {model} is not known; there are {', '.join(known)}, or add a table [models.{model}]")


class ModelKeyRejected(ModelError):
    """The provider does not accept the key: wrong, revoked or leaked."""

    def __init__(self, *, model: str, message: str) -> None:
        self.model, self.message = model, message
        super().__init__(f"model {model}: the API key was rejected ({message}); put a valid key into the config")


class ModelAccessDenied(ModelError):
    """The key is genuine, but may not do this: the API is off, the region is closed, billing or a right is missing."""

    def __init__(self, *, model: str, reason: str, message: str, cure: str) -> None:
        self.model, self.reason, self.message, self.cure = model, reason, message, cure
        super().__init__(f"model {model}: access denied, {reason} ({message}); {cure}")


class ModelNotFound(ModelError):
    """The provider does not know the model's name, or not under this API version."""

    def __init__(self, *, model: str, wanted: str, message: str) -> None:
        self.model, self.wanted, self.message = model, wanted, message
        super().__init__(
            f"model {model}: the provider has no {wanted!r} ({message}); "
            f"correct model or api_version in [models.{model}]"
        )


class ModelRateLimited(ModelError):
    """Too many requests or tokens. `retry_after` is seconds, if the provider named them; `daily` means: not today."""

    def __init__(self, *, model: str, retry_after: float | None, daily: bool, message: str) -> None:
        self.model, self.retry_after, self.daily, self.message = model, retry_after, daily, message
        self.retryable = not daily
        wait = f"try again in {retry_after:g} s" if retry_after is not None else "try again later"
        cure = "the daily quota is used up; it resets at midnight Pacific time" if daily else wait
        super().__init__(f"model {model}: rate limit reached ({message}); {cure}")


class ModelUnavailable(ModelError):
    """The provider is overloaded, broken or not reachable. `status` is None when no answer came at all."""

    retryable = True

    def __init__(self, *, model: str, status: int | None, message: str) -> None:
        self.model, self.status, self.message = model, status, message
        what = "cannot be reached" if status is None else f"is unavailable, status {status}"
        cure = "check network, proxy and base_url" if status is None else "try again later"
        super().__init__(f"model {model} {what} ({message}); {cure}")


class ModelTimeout(ModelError):
    """Silence for longer than a limit of the config. `stage` names the limit: first_chunk or idle."""

    retryable = True

    def __init__(self, *, model: str, stage: Literal["first_chunk", "idle"], seconds: float) -> None:
        self.model, self.stage, self.seconds = model, stage, seconds
        what = "did not begin to answer" if stage == "first_chunk" else "stopped in the middle of its answer"
        super().__init__(
            f"model {model} {what} within {seconds:g} s; try again, or raise {stage}_seconds in [models.{model}]"
        )


class ModelStreamBroken(ModelError):
    """The answer began or should have begun, but its stream was empty, unreadable or cut by the network."""

    retryable = True

    def __init__(self, *, model: str, reason: str) -> None:
        self.model, self.reason = model, reason
        super().__init__(f"model {model}: the answer broke off ({reason}); try again")


class ModelInputTooLong(ModelError):
    """The request has more tokens than the model reads; a shorter history helps, repeating does not."""

    def __init__(self, *, model: str, tokens: int | None, limit: int | None) -> None:
        self.model, self.tokens, self.limit = model, tokens, limit
        size = f"{tokens} tokens, at most {limit}" if tokens and limit else "too many tokens"
        super().__init__(f"model {model}: the conversation is too long ({size}); compact or clear it")


class ModelRequestRefused(ModelError):
    """The provider refuses this very request; the same request will be refused again."""

    def __init__(self, *, model: str, status: str, message: str) -> None:
        self.model, self.status, self.message = model, status, message
        super().__init__(f"model {model} refused the request, {status}: {message}")


class ToolError(KesokuError):
    """A tool call that cannot run."""


class ToolMalformed(ToolError, TypeError):
    """A function or a value that cannot become a tool; a mistake of the programmer, found when the tool is made."""

    def __init__(self, *, tool: str, reason: str) -> None:
        self.tool, self.reason = tool, reason
        super().__init__(f"{tool!r} cannot be a tool: {reason}")


class ToolDuplicate(ToolError, ValueError):
    """Two tools of one toolbox have the same name."""

    def __init__(self, *, tool: str) -> None:
        self.tool = tool
        super().__init__(f"two tools are named {tool!r}; rename one or leave one out")


class ToolUnknown(ToolError, LookupError):
    """The model, or a table of policies, names a tool that does not exist."""

    def __init__(self, *, tool: str, known: tuple[str, ...]) -> None:
        self.tool, self.known = tool, known
        super().__init__(f"there is no tool {tool!r}; known are {', '.join(known) or '(none)'}")


class ToolArguments(ToolError, ValueError):
    """Arguments that a tool does not take. Each problem says which argument, what was given and what is valid."""

    def __init__(self, *, tool: str, problems: tuple[str, ...]) -> None:
        self.tool, self.problems = tool, problems
        super().__init__(f"{tool} was not run, its arguments are wrong: {'; '.join(problems)}")


class ToolRefused(ToolError, ValueError):
    """The arguments are well formed, but what they ask for cannot be done. `advice` says what can."""

    def __init__(self, *, what: str, reason: str, advice: str = "") -> None:
        self.what, self.reason, self.advice = what, reason, advice
        super().__init__(f"{what}: {reason}" + (f"; {advice}" if advice else ""))


class ToolTimeout(ToolError, TimeoutError):
    """A tool did not end in its time and was stopped."""

    def __init__(self, *, tool: str, seconds: float) -> None:
        self.tool, self.seconds = tool, seconds
        super().__init__(f"{tool} did not end within {seconds:g} s and was stopped")


class ToolReturn(ToolError, TypeError):
    """A tool returned something that is neither text nor JSON."""

    def __init__(self, *, tool: str, reason: str) -> None:
        self.tool, self.reason = tool, reason
        super().__init__(f"{tool} ran, but what it returned is no text and no JSON value: {reason}")


class RenderError(KesokuError):
    """A reply that cannot be turned into something that a platform takes."""


class LimitTooSmall(RenderError, ValueError):
    """A size limit that leaves no room for a piece of text between the fences around it."""

    def __init__(self, *, limit: int, minimum: int, unit: str) -> None:
        self.limit, self.minimum, self.unit = limit, minimum, unit
        super().__init__(f"a limit of {limit} {unit} is too small to split text; the smallest is {minimum}")


class PathRefused(RenderError, ValueError):
    """A path that leaves the folders it may name a file in, or that can be no path at all."""

    def __init__(self, *, path: str, roots: tuple[str, ...], reason: str) -> None:
        self.path, self.roots, self.reason = path, roots, reason
        inside = " or ".join(roots) or "(no folder is allowed)"
        super().__init__(f"{path!r} is refused: {reason}; use a path inside {inside}")


class ZoneUnknown(RenderError, ValueError):
    """A time zone name that the zone database does not have."""

    def __init__(self, *, zone: str) -> None:
        self.zone = zone
        super().__init__(f"there is no time zone {zone!r}; use an IANA name such as Asia/Shanghai or UTC")


class TimeNaive(RenderError, ValueError):
    """A time without a zone, which names no instant."""

    def __init__(self, *, when: str) -> None:
        self.when = when
        super().__init__(f"the time {when} has no time zone; give an aware datetime")


class PluginError(KesokuError):
    """An installed extension does not load."""


class PluginUnknown(PluginError, LookupError):
    """No installed distribution offers this name."""

    def __init__(self, *, group: str, name: str, known: tuple[str, ...]) -> None:
        self.group, self.name, self.known = group, name, known
        super().__init__(f"nothing installed offers {name!r} in {group}; installed are {', '.join(known) or '(none)'}")


class PluginBroken(PluginError, ImportError):
    """A distribution offers a name, but what stands behind it fails to import or is the wrong thing."""

    def __init__(self, *, group: str, name: str, target: str, distribution: str, reason: str) -> None:
        self.group, self.target, self.distribution, self.reason = group, target, distribution, reason
        super().__init__(
            f"{name!r} in {group} ({target}, from {distribution}) does not load: {reason}; "
            f"repair or uninstall {distribution}",
            name=name,
        )


class PluginConflict(PluginError, ValueError):
    """Several distributions offer the same name; none of them is taken, so that no one is shadowed in silence."""

    def __init__(self, *, group: str, name: str, distributions: tuple[str, ...]) -> None:
        self.group, self.name, self.distributions = group, name, distributions
        super().__init__(f"{name!r} in {group} is offered by {' and '.join(distributions)}; uninstall all but one")


class DuplicateMessage(GatewayError):
    """The same id was posted with another value (C-45)."""

    def __init__(self, *, message_id: str) -> None:
        self.message_id = message_id
        super().__init__(f"message {message_id} is stored with another value; to change it, update and rewrite it")


class VersionConflict(GatewayError):
    """A rewrite that is not based on the stored version."""

    def __init__(self, *, message_id: str, stored: int, given: int) -> None:
        self.message_id, self.stored, self.given = message_id, stored, given
        super().__init__(
            f"message {message_id} is stored in version {stored}, so version {given} cannot follow; read it again"
        )


class UnknownMessage(GatewayError, KeyError):
    """No message has this id."""

    def __init__(self, *, message_id: str) -> None:
        self.message_id = message_id
        super().__init__(f"no message has the id {message_id}")

    def __str__(self) -> str:
        return str(self.args[0])


class TransitionRefused(GatewayError):
    """A status change that the diagram does not have (K-132)."""

    def __init__(self, *, message_id: str, current: str, to: str) -> None:
        self.message_id, self.current, self.to = message_id, current, to
        super().__init__(f"message {message_id} is {current} and cannot become {to}")


class Deposed(GatewayError):
    """A write for a turn that this process no longer owns (N-06). Abort the turn and write nothing."""

    def __init__(self, *, session_id: str, generation: int) -> None:
        self.session_id, self.generation = session_id, generation
        super().__init__(f"session {session_id} is no longer leased with generation {generation}; its turn was ended")


class DeliveryError(KesokuError):
    """A platform did not take a message. Raised by adapters; the kind tells the core what to do."""


class RetryLater(DeliveryError):
    """Nothing was sent; the same may work in `after` seconds (None: the core's own back-off)."""

    def __init__(self, *, reason: str, after: float | None = None) -> None:
        self.reason, self.after = reason, after
        super().__init__(f"not sent, will be tried again: {reason}")


class Refused(DeliveryError):
    """The platform does not take this, for good (N-01)."""

    def __init__(self, *, reason: str) -> None:
        self.reason = reason
        super().__init__(f"refused by the platform: {reason}")


class Ambiguous(DeliveryError):
    """The request left and its outcome is not known (N-02)."""

    def __init__(self, *, reason: str) -> None:
        self.reason = reason
        super().__init__(f"it is not known whether the platform took it: {reason}")


class Hold(DeliveryError):
    """It cannot be sent now: wait for the person's next message, or until `until` (Unix seconds)."""

    def __init__(self, *, reason: str, until: float | None = None) -> None:
        self.reason, self.until = reason, until
        super().__init__(f"held: {reason}")


class DeliveryConflict(DeliveryError):
    """A part of a message is not in the state in which it was read; another outbox moved it."""

    def __init__(self, *, message_id: str, part: int, state: str, to: str) -> None:
        self.message_id, self.part, self.state, self.to = message_id, part, state, to
        super().__init__(
            f"part {part} of message {message_id} is no longer {state} and cannot become {to}; it is read again"
        )


class LoginNeeded(DeliveryError):
    """The adapter's credentials are no longer valid; someone must log in again."""

    def __init__(self, *, adapter: str, reason: str) -> None:
        self.adapter, self.reason = adapter, reason
        super().__init__(f"{adapter} must be logged in again: {reason}")
