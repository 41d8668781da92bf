"""What a message says, in words for the model: mentions by name, a quote of what it replies to, and what is no text."""

import re
from collections.abc import Iterator, Mapping

import discord

from kesoku.render import printable_name
from kesoku_discord.channels import is_post

QUOTED = 1000
"""Characters of what is quoted from a message that is replied to."""
_FORWARDED = 4000
_TITLE = 100
"""Characters of the title of a post, as many as Discord takes."""
_MARK = re.compile(
    r"<(?:@!?(?P<user>\d{1,20})|@&(?P<role>\d{1,20})|#(?P<channel>\d{1,20})|a?:(?P<emoji>\w{1,64}):\d{1,20}"
    r"|/(?P<command>[^:<>\n]{1,100}):\d{1,20})>"
)
_LEAD = re.compile(r"(?:Replying to `.*`|Forwarded message):")


def said(message: discord.Message, me: discord.ClientUser) -> str:
    """The bare text: names in the place of ids, and without the mention of the bot that it begins or ends with."""
    mine = [f"<@{me.id}>", f"<@!{me.id}>"]
    if message.guild is not None and message.guild.self_role is not None:
        mine.append(f"<@&{message.guild.self_role.id}>")
    return _named(_without(message.content, tuple(mine)), message, me)


def _without(text: str, mentions: tuple[str, ...]) -> str:
    """Without these at the beginning, with a comma or a colon behind them, and at the end."""
    begin = re.match(rf"(?:\s*(?:{'|'.join(mentions)})[,:]?)+\s*", text)
    text = text[begin.end() :] if begin else text
    while (shorn := text.rstrip()).endswith(mentions):
        text = shorn[: shorn.rindex("<")].rstrip()
    return text


def body(message: discord.Message, me: discord.ClientUser) -> str:
    """What the model reads below the header. No line of it passes for a header."""
    text = said(message, me)
    parts = [harmless(text)] if text else []
    parts += _besides(message, has_text=bool(text))
    return _title(message) + _quote(message, me) + ("\n".join(parts) or "(no text)")


def _title(message: discord.Message) -> str:
    """The title of the post that the message begins in a forum, where much is asked in titles alone."""
    post = message.channel
    return f"Post: {printable_name(post.name, _TITLE)}\n" if is_post(post) and message.id == post.id else ""


def harmless(text: str) -> str:
    """The text, with the back-ticks taken out of lines that would look like one of our headers (complaint 112)."""
    lines = text.splitlines(keepends=True)
    return "".join(line.replace("`", "'") if _is_like_ours(line.strip()) else line for line in lines)


def _is_like_ours(line: str) -> bool:
    """Whether it has something in back-ticks at its beginning and at its end, and an `at` between, or leads a quote."""
    parts = line.removesuffix(":").split("`")
    is_header = len(parts) >= 5 and not parts[0] and not parts[-1]
    return bool(_LEAD.fullmatch(line) or (is_header and re.search(r"\bat\b", "`".join(parts[2:-2]))))


def _named(text: str, message: discord.Message, me: discord.ClientUser) -> str:
    people = {each.id: each.display_name for each in (me, *message.mentions)}

    def name(found: re.Match[str]) -> str:
        kind, value = next((kind, value) for kind, value in found.groupdict().items() if value is not None)
        match kind:
            case "emoji":
                return f":{value}:"
            case "command":
                return f"/{printable_name(value)}"
            case "channel":
                return _shown("#", _channels(message, int(value)), found[0])
            case "role":
                return _shown("@", _roles(message, int(value)), found[0])
        return _shown("@", _people(people, message, int(value)), found[0])

    return _MARK.sub(name, text)


def _shown(mark: str, name: str | None, otherwise: str) -> str:
    return otherwise if name is None else f"{mark}{printable_name(name)}"


def _people(known: Mapping[int, str], message: discord.Message, user_id: int) -> str | None:
    member = message.guild.get_member(user_id) if message.guild else None
    return member.display_name if member else known.get(user_id)


def _roles(message: discord.Message, role_id: int) -> str | None:
    role = message.guild.get_role(role_id) if message.guild else None
    return role.name if role else None


def _channels(message: discord.Message, channel_id: int) -> str | None:
    channel = message.guild.get_channel_or_thread(channel_id) if message.guild else None
    return channel.name if channel else None


def _quote(message: discord.Message, me: discord.ClientUser) -> str:
    """What the message replies to, if that is not the bot's own: its conversation holds those."""
    replied = replied_to(message)
    if replied is None or replied.author.id == me.id:
        return ""
    text = _named(replied.content, replied, me)
    shown = text or "\n".join(_besides(replied, has_text=False)) or "(no text)"
    return f"Replying to `{printable_name(replied.author.display_name)}`:\n{_quoted(shown, QUOTED)}\n\n"


def replied_to(message: discord.Message) -> discord.Message | None:
    """The message that this one replies to, where Discord gave it along."""
    reference = message.reference
    if reference is None or message.type is not discord.MessageType.reply:
        return None
    return reference.resolved if isinstance(reference.resolved, discord.Message) else None


def _quoted(text: str, limit: int) -> str:
    quoted = "\n".join(f"> {line}" for line in text.splitlines())
    return quoted if len(quoted) <= limit else f"{quoted[: limit - 1].rstrip()}…"


def _besides(message: discord.Message, *, has_text: bool) -> Iterator[str]:
    """What a message holds that is no text. Files are named where there is nothing else: the core tells of them."""
    if message.flags.voice:
        seconds = [each.duration for each in message.attachments if each.duration is not None]
        yield f"(voice message, {seconds[0]:.0f} s)" if seconds else "(voice message)"
    elif not has_text:
        yield from _files(message)
    yield from _stickers(message)
    if message.poll is not None:
        answers = "; ".join(printable_name(each.text, 100) for each in message.poll.answers)
        yield f"(poll: {printable_name(str(message.poll.question), 300)} Answers: {answers})"
    for snapshot in message.message_snapshots:
        held = [snapshot.content] if snapshot.content else [*_files(snapshot)]
        shown = "\n".join([*held, *_stickers(snapshot)]) or "(no text)"
        yield f"Forwarded message:\n{_quoted(shown, _FORWARDED)}"


def _files(message: discord.Message | discord.MessageSnapshot) -> Iterator[str]:
    if names := ", ".join(printable_name(each.filename) for each in message.attachments):
        yield f"(file: {names})" if len(message.attachments) == 1 else f"(files: {names})"


def _stickers(message: discord.Message | discord.MessageSnapshot) -> Iterator[str]:
    for each in message.stickers:
        yield f"(sticker: {printable_name(each.name)})"
