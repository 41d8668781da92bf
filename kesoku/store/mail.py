"""Mail in SQL."""

from kesoku.store.engine import Link


class SqlMailStore:
    """See `kesoku.ports.mail.MailStore`."""

    def __init__(self, link: Link) -> None:
        self._link = link
