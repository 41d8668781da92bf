"""What a message says, typed by class: every content, and what contents are made of."""

from kesoku.messages.dialogue_content import AnswerContent, Attachment, DialogueContent, NoticeContent
from kesoku.messages.prompt_content import PromptContent
from kesoku.messages.text_content import Content, Question, Rendered, SystemContent, TextContent
from kesoku.messages.tool_content import CallContent, ResultContent

__all__ = [
    "AnswerContent",
    "Attachment",
    "CallContent",
    "Content",
    "DialogueContent",
    "NoticeContent",
    "PromptContent",
    "Question",
    "Rendered",
    "ResultContent",
    "SystemContent",
    "TextContent",
]
