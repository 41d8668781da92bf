"""Routes of interactions: the first answer, and what follows on its token. Nobody authorizes here but the token."""

from typing import Any

from kesoku.testing.discord.check.message import check_form, check_shows
from kesoku.testing.discord.check.upload import attachments
from kesoku.testing.discord.error import Faults, Rejected, invalid, unknown
from kesoku.testing.discord.request import NOTHING, Call, Reply
from kesoku.testing.discord.rest.posting import changed, edited, post, remove
from kesoku.testing.discord.rest.revision import reference, revise
from kesoku.testing.discord.rules import Rules
from kesoku.testing.discord.wire import interaction as wire_interaction
from kesoku.testing.discord.wire import message as wire_message
from kesoku.testing.discord.world.entity import Flag, Json, Message, MessageType
from kesoku.testing.discord.world.interaction import AUTOCOMPLETE, COMPONENT, Answer, Interaction
from kesoku.testing.discord.world.mention import pinged
from kesoku.testing.discord.world.world import World

_MESSAGE, _DEFER, _ACKNOWLEDGE, _UPDATE, _CHOICES, _FORM = 4, 5, 6, 7, 8, 9
_LIFE = 15 * 60.0
_MOST_CHOICES, _CHOICE = 25, 100
_SETTABLE = int(Flag.SUPPRESS_EMBEDS | Flag.EPHEMERAL | Flag.SILENT | Flag.COMPONENTS_V2)


class InteractionRoutes:
    """Answers of the bot to interactions."""

    def __init__(self, world: World, rules: Rules) -> None:
        self._world, self._rules = world, rules

    def callback(self, call: Call) -> Reply:
        """POST /interactions/{}/{}/callback."""
        made = self._world.interactions.get(call.parts[1])
        late = made is not None and self._world.now() - made.begun > self._rules.answer_within
        if made is None or made.id != call.id() or (late and made.replied is None):
            raise unknown("Interaction")
        if made.replied is not None:
            raise Rejected(400, 40060, "Interaction has already been acknowledged.")
        kind, data = call.body.get("type", 0), call.body.get("data") or {}
        answered = {
            _MESSAGE: self._message,
            _DEFER: self._defer,
            _ACKNOWLEDGE: self._acknowledge,
            _UPDATE: self._update,
            _CHOICES: self._choices,
            _FORM: self._form,
        }.get(kind)
        if answered is None or (kind == _CHOICES) != (made.type == AUTOCOMPLETE):
            raise invalid("type", "INTERACTION_CALLBACK_INVALID_TYPE", f"{kind} does not answer this.")
        if kind in {_ACKNOWLEDGE, _UPDATE} and made.type != COMPONENT:
            raise invalid("type", "INTERACTION_CALLBACK_INVALID_TYPE", f"{kind} does not answer this.")
        message = answered(made, data, call)
        made.replied = kind
        if call.seen.query.get("with_response") in {"1", "true", "True"}:
            return Reply(body=wire_interaction.callback(made, kind, message, self._world))
        return NOTHING

    def follow(self, call: Call) -> Reply:
        """POST /webhooks/{}/{}: one more message; the first one after a promise keeps it."""
        made = self._living(call)
        if made.replied is None:
            raise unknown("Webhook")
        if made.original is not None and made.original.flags & Flag.LOADING:
            self._edit(made, made.original, call)
            return Reply(body=wire_message.message(self._world, made.original))
        message = self._post(made, call.body, call, answers=made.original)
        made.answer(_answer("followup", message))
        return Reply(body=wire_message.message(self._world, message))

    def original(self, call: Call) -> Reply:
        """GET /webhooks/{}/{}/messages/@original."""
        return Reply(body=wire_message.message(self._world, self._named(self._living(call), "@original")))

    def edit(self, call: Call) -> Reply:
        """PATCH /webhooks/{}/{}/messages/{}, also of @original."""
        made = self._living(call)
        message = self._named(made, _name(call))
        self._edit(made, message, call)
        return Reply(body=wire_message.message(self._world, message))

    def delete(self, call: Call) -> Reply:
        """DELETE /webhooks/{}/{}/messages/{}, also of @original."""
        made = self._living(call)
        message = self._named(made, _name(call))
        remove(self._world, message)
        made.answer(_answer("delete", message))
        return NOTHING

    def _living(self, call: Call) -> Interaction:
        made = self._world.interactions.get(call.parts[1])
        if call.id() != self._world.application_id or made is None:
            raise unknown("Webhook")
        if self._world.now() - made.begun > _LIFE:
            raise Rejected(401, 50027, "Invalid Webhook Token")
        return made

    def _named(self, made: Interaction, name: str) -> Message:
        if name == "@original":
            found = made.original
        else:
            found = self._world.messages.get(int(name)) if name.isdecimal() else None
        ours = found is not None and (found is made.original or found.interaction == wire_interaction.metadata(made))
        if found is None or found.deleted or not ours:
            raise unknown("Message")
        return found

    def _message(self, made: Interaction, data: Json, call: Call) -> Message:
        made.original = self._post(made, data, call, answers=made.message)
        made.answer(_answer("message", made.original))
        return made.original

    def _defer(self, made: Interaction, data: Json, call: Call) -> Message:
        flags = (data.get("flags") or 0) & Flag.EPHEMERAL | Flag.LOADING
        made.original = self._store(made, answers=made.message, flags=int(flags))
        made.answer(_answer("defer", made.original))
        return made.original

    def _acknowledge(self, made: Interaction, data: Json, call: Call) -> Message | None:
        made.original = made.message
        made.answer(Answer(kind="defer"))
        return made.original

    def _update(self, made: Interaction, data: Json, call: Call) -> Message | None:
        message = made.original = made.message
        if message is None or message.deleted:
            raise unknown("Message")
        revise(self._world, message, data, call)
        edited(self._world, message)
        made.answer(_answer("update", message))
        return message

    def _choices(self, made: Interaction, data: Json, call: Call) -> None:
        choices, faults = data.get("choices"), Faults()
        if not isinstance(choices, list) or len(choices) > _MOST_CHOICES:
            raise invalid("data.choices", "BASE_TYPE_MAX_LENGTH", f"Must be {_MOST_CHOICES} or fewer in length.")
        for number, each in enumerate(choices):
            faults.length(f"data.choices.{number}.name", each.get("name"), 1, _CHOICE)
            if isinstance(each.get("value"), str):
                faults.length(f"data.choices.{number}.value", each["value"], 1, _CHOICE)
            elif not isinstance(each.get("value"), int | float):
                faults.add(f"data.choices.{number}.value", "BASE_TYPE_REQUIRED", "This field is required")
        faults.raise_any()
        made.answer(Answer(kind="choices", choices=tuple(choices)))

    def _form(self, made: Interaction, data: Json, call: Call) -> None:
        faults = Faults()
        faults.length("data.custom_id", data.get("custom_id"), 1, 100)
        faults.length("data.title", data.get("title"), 1, 45)
        if not 1 <= len(data.get("components") or ()) <= 5:
            faults.add("data.components", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 5 in length.")
        faults.raise_any()
        made.answer(Answer(kind="modal", text=data["title"], components=tuple(data["components"])))

    def _post(self, made: Interaction, body: Json, call: Call, *, answers: Message | None) -> Message:
        check_form(body, settable=_SETTABLE)
        check_shows(body, call.files)
        content = (body.get("content") or "").strip()
        told = pinged(
            self._world, made.channel, self._world.bot, content, body.get("allowed_mentions"), usual=["users"]
        )
        return self._store(
            made,
            answers=answers,
            content=content,
            flags=body.get("flags") or 0,
            attachments=attachments(self._world, made.channel, body, call.files),
            embeds=body.get("embeds") or [],
            components=body.get("components") or [],
            mentions=told.users,
            mention_roles=told.roles,
            mention_everyone=told.everyone,
        )

    def _store(self, made: Interaction, *, answers: Message | None, **facts: Any) -> Message:
        replies = answers is not None
        usual = MessageType.REPLY if replies else MessageType.COMMAND
        return post(
            self._world,
            made.channel,
            self._world.bot,
            type=usual,
            reply_to=answers.id if answers else None,
            reference=reference(answers) if answers else None,
            interaction=wire_interaction.metadata(made),
            **facts,
        )

    def _edit(self, made: Interaction, message: Message, call: Call) -> None:
        loading = bool(message.flags & Flag.LOADING)
        body = {name: value for name, value in call.body.items() if not loading or name != "flags"}
        revise(self._world, message, body, call)
        if loading:
            message.flags &= ~Flag.LOADING
            changed(self._world, message)
        else:
            edited(self._world, message)
        made.answer(_answer("edit", message))


def _name(call: Call) -> str:
    return call.parts[2] if len(call.parts) > 2 else "@original"


def _answer(kind: str, message: Message) -> Answer:
    return Answer(
        kind=kind,  # type: ignore[arg-type]
        text=message.content,
        ephemeral=message.ephemeral,
        components=tuple(message.components),
        message=message,
    )
