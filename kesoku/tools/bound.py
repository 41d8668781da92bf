"""Output without end, kept in bounded memory: its head, its tail, and how much was left out between them."""

from codecs import getincrementaldecoder

DEFAULT_LIMIT = 1024 * 1024
"""Bytes that one tool call may return (decision C-33 calls it the runner's own bound)."""

_CONTINUATION = bytes(range(0x80, 0xC0))


class Ends:
    """The first and the last bytes of a stream; at most `limit` of them together. Holds at most twice `limit`."""

    def __init__(self, limit: int) -> None:
        self._half = max(limit, 2) // 2
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
        if len(self._tail) > 2 * self._half:
            del self._tail[: -self._half]

    def text(self) -> str:
        """UTF-8 with every invalid byte replaced. A cut is named with its numbers and splits no character."""
        tail = self._tail[-self._half :]
        omitted = self.total - len(self._head) - len(tail)
        if not omitted:
            return (self._head + tail).decode("utf-8", "replace")
        start = getincrementaldecoder("utf-8")("replace").decode(bytes(self._head))
        end = bytes(tail).lstrip(_CONTINUATION).decode("utf-8", "replace")
        return f"{start}\n[... {omitted:,} of {self.total:,} bytes left out here ...]\n{end}"


def clip(text: str, limit: int = DEFAULT_LIMIT) -> str:
    """`text` if it has at most `limit` bytes of UTF-8, otherwise its two ends.

    Lone surrogates and NUL, which databases do not take, are replaced.
    """
    ends = Ends(limit)
    ends.add(text.replace("\0", "\ufffd").encode("utf-8", "replace"))
    return ends.text()
