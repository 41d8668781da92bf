"""Mail that cannot be sent or routed."""

from kesoku.errors.root import KesokuError


class ExchangeError(KesokuError):
    """Mail that cannot be sent or routed."""


class OwnerKnown(ExchangeError, ValueError):
    """An owner has one mailbox (L-152)."""

    def __init__(self, *, owner: object) -> None:
        self.owner = owner
        super().__init__(f"{owner} has a mailbox already; use it, or give it up with unregister first")


class OwnerUnknown(ExchangeError, ValueError):
    """Only who has a mailbox may send and have its mail routed (L-153, L-154)."""

    def __init__(self, *, owner: object) -> None:
        self.owner = owner
        super().__init__(f"{owner} has no mailbox; register it first")


class NoDeadLetter(ExchangeError, LookupError):
    """Only a dead letter can be delivered again."""

    def __init__(self, *, mail_id: str) -> None:
        self.mail_id = mail_id
        super().__init__(f"no dead letter has the id {mail_id}; list them to find the id, the mail may have arrived")


class NameInvalid(ExchangeError, ValueError):
    """A name that would be read or shown as something else."""

    def __init__(self, *, name: str) -> None:
        self.name = name
        super().__init__(
            f"{name!r} cannot stand in the address book: it is empty, long, or would be read or shown as something "
            "else, such as a role or a UUID; choose one short, plain name"
        )
