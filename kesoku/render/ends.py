"""The two ends of what is too long, with the gap between them named (decision C-33)."""

from codecs import getincrementaldecoder

_CONTINUATION = bytes(range(0x80, 0xC0))


class Ends:
    """The first and the last bytes of a stream; at most `limit` of them together. Holds at most twice `limit`."""

    def __init__(self, limit: int) -> None:
        self._half = limit // 2
        self._head = bytearray()
        self._tail = bytearray()
        self.total = 0
        """Bytes seen, kept or not."""

    def add(self, data: bytes) -> None:
        """Take the next piece."""
        self.total += len(data)
        room = self._half - len(self._head)
        self._head += data[:room]
        self._tail += data[room:]
        if (beyond := len(self._tail) - self._half) > self._half:
            del self._tail[:beyond]

    def text(self) -> str:
        """UTF-8 with every invalid byte replaced. A cut is named with its numbers and splits no character."""
        tail = self._tail[max(0, len(self._tail) - self._half) :]
        omitted = self.total - len(self._head) - len(tail)
        if not omitted:
            return (self._head + tail).decode("utf-8", "replace")
        start = getincrementaldecoder("utf-8")("replace").decode(bytes(self._head))
        end = bytes(tail).lstrip(_CONTINUATION).decode("utf-8", "replace")
        return f"{start}{gap(omitted, self.total)}{end}"


def clip(text: str, limit: int) -> str:
    """`text` if it has at most `limit` bytes of UTF-8, otherwise its two ends, cut between characters."""
    if len(text) * 4 <= limit:
        return text
    data = text.encode("utf-8", "replace")
    if len(data) <= limit:
        return text
    ends = Ends(limit)
    ends.add(data)
    return ends.text()


def gap(omitted: int, total: int) -> str:
    """What stands between two ends."""
    return f"\n[... {omitted:,} of {total:,} bytes are left out here ...]\n"
