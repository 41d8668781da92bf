"""What someone types: undecodable bytes healed, invisible characters made visible while it is edited."""

import functools

from prompt_toolkit.layout.processors import Processor, Transformation, TransformationInput

from kesoku.render import visible

UNSEEN = "\N{REPLACEMENT CHARACTER}"


def healed(text: str) -> str:
    """The text without lone surrogates, which stand for bytes that were no UTF-8."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


@functools.lru_cache(maxsize=4096)
def _shown(character: str) -> str:
    return character if character < " " or visible(character) == character else UNSEEN


class Marks(Processor):
    """Shows one mark for each character that is invisible or turns the line around. Only the drawing changes."""

    def apply_transformation(self, transformation_input: TransformationInput) -> Transformation:
        """Replace character by character, so that the cursor stays where it is."""
        fragments = transformation_input.fragments
        return Transformation([(style, "".join(map(_shown, text))) for style, text, *_ in fragments])
