"""Match a text that arrived by deltas with the whole text that follows, so that nothing is shown twice. Pure."""

from dataclasses import dataclass

from kesoku_cli.blocks import Block, Blocks


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """What is left to show of a whole text, and whether what is shown already turned out to be something else."""

    blocks: tuple[Block, ...]
    corrected: bool = False


class AnswerStream:
    """One answer as it grows: deltas go in, finished blocks come out, `settle` ends it with the whole text."""

    def __init__(self) -> None:
        self._blocks = Blocks()
        self._shown: list[str] = []  # the texts of all blocks that were handed out

    @property
    def text(self) -> str:
        """Everything fed so far."""
        return "".join(self._shown) + self._blocks.tail.text

    @property
    def is_empty(self) -> bool:
        """Whether nothing was fed."""
        return not (self._shown or self._blocks.tail.text)

    @property
    def tail(self) -> Block:
        """The unfinished block."""
        return self._blocks.tail

    def feed(self, delta: str) -> list[Block]:
        """Take a delta; return the blocks that are finished now."""
        blocks = self._blocks.feed(delta)
        self._shown += [block.text for block in blocks]
        return blocks

    def discard(self) -> bool:
        """Forget everything that was fed; whether some of it was handed out."""
        self._blocks, handed_out, self._shown = Blocks(), bool(self._shown), []
        return handed_out

    def settle(self, text: str) -> Settled:
        """End the stream with its whole text; return what must follow what was handed out, outer space aside."""
        whole, shown = text.lstrip(), "".join(self._shown).lstrip()
        corrected = not whole.startswith(shown) and whole.rstrip() != shown.rstrip()
        if corrected:
            self._blocks, shown = Blocks(), ""
        self._blocks.drop_tail()
        blocks = [*self._blocks.feed(whole[len(shown) :]), self._blocks.rest()]
        self._shown = []
        return Settled(blocks=tuple(block for block in blocks if block.text.strip()), corrected=corrected)
