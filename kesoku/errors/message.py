"""Values that cannot exist."""

from kesoku.errors.root import KesokuError

_SHOWN = 60
"""Letters of a value that an error shows."""
_REASON = 200
"""Letters of somebody else's error that one of ours repeats."""


class MessageError(KesokuError):
    """A message value that cannot exist."""


class InvalidParty(MessageError, ValueError):
    """A sender or recipient that is neither role, UUID, name, None nor an object with a UUID id (L-017, C-40)."""

    def __init__(self, *, value: object) -> None:
        self.value = value
        super().__init__("Invalid sender or recipient")


class ImageRefused(MessageError, ValueError):
    """A reference to an image that a prompt must not hand on; only its form was looked at."""

    def __init__(self, *, reference: str, why: str) -> None:
        self.reference, self.why = reference, why
        shown = reference if len(reference) <= _SHOWN else f"{reference[:_SHOWN]}…"
        super().__init__(f"the image {shown!r} is refused: {why}; give an http(s) address, or base64 of an image")


class PromptInvalid(MessageError, ValueError):
    """A field of a prompt that has few possible values has none of them."""

    def __init__(self, *, field: str, value: object, valid: tuple[object, ...]) -> None:
        self.field, self.value, self.valid = field, value, valid
        super().__init__(f"{field} of a prompt must be one of {', '.join(map(repr, valid))}, not {value!r}")


class FieldMistyped(MessageError, TypeError):
    """A field of a message, its content or its source was given a value of another type than it takes."""

    def __init__(self, *, owner: str, field: str, given: object, wanted: str) -> None:
        self.owner, self.field, self.given, self.wanted = owner, field, given, wanted
        super().__init__(f"{field} of {owner} takes {wanted}, not {type(given).__name__}")


class NestedTooDeep(MessageError, ValueError):
    """Lists and mappings of a message stand in each other without an end, or in themselves."""

    def __init__(self, *, limit: int) -> None:
        self.limit = limit
        super().__init__(f"a message holds lists and mappings up to {limit} deep; this is deeper, or holds itself")


class MessageUnreadable(MessageError, ValueError):
    """A text in JSON that is read is no message, whatever it is."""

    def __init__(self, *, why: str) -> None:
        self.why = why
        super().__init__(f"this JSON is no message: {why}; give what to_json wrote")


class FormatBroken(MessageError, ValueError):
    """The form of an answer that a prompt asks for cannot be described: its class or its structure fails."""

    def __init__(self, *, response_format: object, structure: object, error: Exception) -> None:
        self.response_format, self.structure, self.error = response_format, structure, error
        named = getattr(response_format, "__name__", type(response_format).__name__)
        by = f" by {structure.__name__}" if isinstance(structure, type) else ""
        reason = f"{type(error).__name__}: {' '.join(str(error).split())}"
        reason = reason if len(reason) <= _REASON else f"{reason[:_REASON]}…"
        super().__init__(f"the response_format {named} cannot be described{by} ({reason}); mend it, or give a schema")


class CallInvalid(MessageError, ValueError):
    """The name or the arguments of a tool call are nothing that can be called."""

    def __init__(self, *, field: str, value: object, why: str) -> None:
        self.field, self.value, self.why = field, value, why
        shown = repr(value)
        shown = shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}…"
        super().__init__(f"the {field} of a tool call cannot be read: {why}, in {shown}")


class NotACall(MessageError, ValueError):
    """Only a tool call can be answered with a result."""

    def __init__(self, *, given: object) -> None:
        self.given = given
        super().__init__(f"a result answers a ToolCall, not {type(given).__name__}; pass the call that was made")


class KindFixed(MessageError, TypeError):
    """A rewrite keeps the class of a message, and a maker fixes it; what is of another class is another message."""

    def __init__(self, *, kind: str, field: str) -> None:
        self.kind, self.field = kind, field
        super().__init__(f"the {field} of a {kind} is fixed; to say something of another kind create a message of it")


class UnknownKind(MessageError, ValueError):
    """Stored data names a kind that this version does not have."""

    def __init__(self, *, what: str, kind: object, valid: tuple[str, ...]) -> None:
        self.what, self.kind, self.valid = what, kind, valid
        super().__init__(f"unknown {what} kind {kind!r}; known are {', '.join(valid)}")


class IdentityGiven(MessageError, TypeError):
    """Creation mints the id; a message that already has one is imported (D-004, C-09)."""

    def __init__(self, *, kind: str) -> None:
        self.kind = kind
        super().__init__(f"a new {kind} gets its id by itself; to keep an existing id use restore")


class IdentityMissing(MessageError, ValueError):
    """Import keeps an id, so there must be one (D-021)."""

    def __init__(self, *, kind: str) -> None:
        self.kind = kind
        super().__init__(f"an imported {kind} needs a non-empty id; to make a new message use create")


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
        unknown = f"not in this session: {', '.join(map(str, missing))}" if missing else ""
        twice = f"named more than once: {', '.join(map(str, repeated))}" if repeated else ""
        super().__init__(f"the chosen messages cannot be read; {'; '.join(filter(None, (unknown, twice)))}")


class PromptExpected(MessageError, TypeError):
    """An agent takes complete prompts: who has only text creates the message first, and then knows its id (D-035)."""

    def __init__(self, *, given: str) -> None:
        self.given = given
        super().__init__(f"an agent takes a user prompt, not {given}; make one with create_user_message")
