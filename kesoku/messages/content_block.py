"""Content given as a list of blocks, the way chat APIs write it, as content of ours."""

from collections.abc import Mapping
from typing import Any

from kesoku.messages.content import Attachment, ResultContent
from kesoku.messages.freeze import freeze
from kesoku.messages.message import MessageId
from kesoku.messages.tool_content import result_text


def said_in_blocks(content: Any) -> Any:
    """Text or blocks as the plain dict of a content; anything else as it is.

    Raises:
        TypeError: a block that is neither text, nor an image, nor an Attachment.
    """
    if isinstance(content, str):
        return {"text": content}
    if isinstance(content, Mapping) and isinstance(content.get("type"), str):
        content = [content]
    if not isinstance(content, (list, tuple)):
        return content
    images = [url for block in content if (url := _image(block)) is not None]
    files = [block for block in content if isinstance(block, Attachment)]
    text = "".join([_text(block) for block in content if _image(block) is None and not isinstance(block, Attachment)])
    return {"text": text} | ({"images": images} if images else {}) | ({"attachments": files} if files else {})


def result_content(content: Any, *, call_id: MessageId, is_error: bool = False, tool: str = "") -> ResultContent:
    """What a tool returned to the call `call_id`: blocks of text as one text, any other JSON value as it is."""
    output = freeze(_joined(content))
    error = result_text(output, None) if is_error else None
    return ResultContent(
        tool=tool,
        output=None if is_error else output,
        error=error,
        summary=result_text(output, None)[: ResultContent.SUMMARY_LENGTH],
        request_id=call_id,
    )


def _joined(content: Any) -> Any:
    blocks = content if isinstance(content, (list, tuple)) and content else ()
    if not all(isinstance(each, Mapping) and each.get("type") == "text" for each in blocks):
        return content
    return "".join([_text(each) for each in blocks]) if blocks else content


def _text(block: Any) -> str:
    if isinstance(block, str):
        return block
    text = block.get("text") if isinstance(block, Mapping) and block.get("type") == "text" else None
    if not isinstance(text, str):
        raise TypeError(f"a block of content is text, an image or an Attachment, not {block!r:.60}")
    return text


def _image(block: Any) -> str | None:
    if not isinstance(block, Mapping) or block.get("type") != "image_url":
        return None
    given = block.get("image_url")
    return given.get("url", "") if isinstance(given, Mapping) else str(given)
