"""Changes and readings of a history that are refused."""

from kesoku.errors.root import KesokuError


class HistoryError(KesokuError):
    """A history in memory does not do what was asked of it; it is as it was before."""


class NotAMessage(HistoryError, TypeError):
    """Something that is no message was to become a member."""

    def __init__(self, *, given: object) -> None:
        self.given = given
        super().__init__(f"a history holds messages, not {type(given).__name__}; make one first, or pass its record")


class NotASystemPrompt(HistoryError, ValueError):
    """Something else was to stand at the beginning of a history."""

    def __init__(self, *, given: object) -> None:
        self.given = given
        super().__init__(f"the system prompt of a history is a SystemPrompt, not {type(given).__name__}")


class NotAMember(HistoryError, KeyError):
    """A message that is not in this history is asked for by its id."""

    def __init__(self, *, message_id: str) -> None:
        self.message_id = message_id
        super().__init__(f"{message_id!r} is not in this history; add the message first")

    def __str__(self) -> str:
        return str(self.args[0])


class ClassChanged(HistoryError, TypeError):
    """A message was to be replaced by one of another class; that is another message and needs an id of its own."""

    def __init__(self, *, message_id: str, before: type, after: type) -> None:
        self.message_id, self.before, self.after = message_id, before, after
        super().__init__(
            f"{message_id} is of the class {before.__name__} and cannot become {after.__name__}; "
            f"create a {after.__name__} and add that"
        )


class SeveralKinds(HistoryError, ValueError):
    """One call of `add` names more than one message."""

    def __init__(self, *, kinds: tuple[str, ...]) -> None:
        self.kinds = kinds
        super().__init__("Only one message type can be added at a time.")
        self.add_note(f"named were: {', '.join(kinds)}; call add once for each")


class WrongKind(HistoryError, TypeError):
    """A ready message was given to `add` under the name of another kind."""

    def __init__(self, *, kind: str, wanted: type, given: object) -> None:
        self.kind, self.wanted, self.given = kind, wanted, given
        super().__init__(f"add({kind}=...) takes a {wanted.__name__}, not {type(given).__name__}")


class FieldRefused(HistoryError, TypeError):
    """`add` was told something that a message of this kind does not have."""

    def __init__(self, *, kind: str, fields: tuple[str, ...], takes: tuple[str, ...]) -> None:
        self.kind, self.fields, self.takes = kind, fields, takes
        known = f"it takes {', '.join(takes)}" if takes else "it takes nothing else"
        super().__init__(f"add({kind}=...) does not take {', '.join(fields)}; {known}")


class ProjectionRefused(HistoryError, ValueError):
    """An order that cannot be printed: messages that are not in the history, or whose content fails to render."""

    def __init__(self, *, unknown: tuple[str, ...] = (), unreadable: tuple[str, ...] = ()) -> None:
        self.unknown, self.unreadable = unknown, unreadable
        super().__init__("One or more messages in the requested progression are invalid.")
        if unknown:
            self.add_note(f"not in this history: {', '.join(unknown)}")
        if unreadable:
            self.add_note(f"cannot be rendered: {', '.join(unreadable)}")


class OrderIncomplete(HistoryError, ValueError):
    """The order of a whole history leaves messages out."""

    def __init__(self, *, missing: tuple[str, ...]) -> None:
        self.missing = missing
        super().__init__(
            f"the order of a history names all of its messages, and {', '.join(missing)} is not named; "
            "to read only some of them, select them"
        )


class ProgressionUnknown(HistoryError, LookupError):
    """A progression is selected by a name that it does not have."""

    def __init__(self, *, name: str, known: tuple[str, ...]) -> None:
        self.name, self.known = name, known
        super().__init__(f"there is no progression {name!r}; there are {', '.join(known)}")


class ProgressionReserved(HistoryError, ValueError):
    """The order of all messages follows from what is added; no other progression may take its name."""

    def __init__(self, *, name: str) -> None:
        self.name = name
        super().__init__(f"the progression {name!r} is the order of all messages; choose another name")


class ObserverAsync(HistoryError, RuntimeError):
    """A synchronous change would have to call an observer that must be awaited."""

    def __init__(self, *, observer: object, instead: str) -> None:
        self.observer, self.instead = observer, instead
        super().__init__(f"the observer {_name(observer)} must be awaited, so await {instead}() instead")


def _name(observer: object) -> str:
    return getattr(observer, "__qualname__", None) or repr(observer)
