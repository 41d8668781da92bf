"""Values that cannot exist."""

from kesoku.errors.root import KesokuError


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
        unknown = f"not in this session: {', '.join(missing)}" if missing else ""
        twice = f"named more than once: {', '.join(repeated)}" if repeated else ""
        super().__init__(f"the chosen messages cannot be read; {'; '.join(filter(None, (unknown, twice)))}")
