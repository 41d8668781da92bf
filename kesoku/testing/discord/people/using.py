"""What people do with the controls and commands of the bot."""

import secrets
from collections.abc import Mapping, Sequence
from typing import Any

from kesoku.testing.discord.check.component import walk
from kesoku.testing.discord.wire import interaction as wire_interaction
from kesoku.testing.discord.world.entity import Channel, Guild, Json, Message, User
from kesoku.testing.discord.world.interaction import AUTOCOMPLETE, COMMAND, COMPONENT, Interaction
from kesoku.testing.discord.world.world import World


class Using:
    """Presses, choices and commands; the server is one of these."""

    world: World

    @property
    def interactions(self) -> list[Interaction]:
        """All of them, in order."""
        return list(self.world.interactions.values())

    async def press(
        self,
        message: Message,
        label: str | None = None,
        *,
        by: User,
        custom_id: str | None = None,
        values: Sequence[str] = (),
    ) -> Interaction:
        """Somebody presses the button with this label, or uses the control with this id; `values` are of a menu.

        Raises LookupError if the message has no such control that can be used.
        """
        for each in walk(message.components):
            named = each.get("custom_id") == custom_id if label is None else each.get("label") == label
            if named and each.get("custom_id") and not each.get("disabled") and not message.deleted:
                _check_values(each, values)
                data: Json = {"custom_id": each["custom_id"], "component_type": each["type"]}
                if each["type"] != 2:
                    data["values"] = list(values)
                return self.interact(COMPONENT, data, by=by, at=message.channel, message=message)
        raise LookupError(f"no control {label or custom_id!r} under {message.content!r}")

    async def command(
        self, name: str, arguments: Mapping[str, Any] | None = None, *, by: User, at: Channel
    ) -> Interaction:
        """Somebody uses a command. Raises LookupError if it, or an argument, is not registered."""
        data = self._command(name, arguments or {}, at)
        if missing := self._required(name, at) - (arguments or {}).keys():
            raise LookupError(f"/{name} needs {sorted(missing)}")
        return self.interact(COMMAND, data, by=by, at=at)

    async def complete(
        self,
        name: str,
        argument: str,
        typed: str,
        *,
        by: User,
        at: Channel,
        arguments: Mapping[str, Any] | None = None,
        seconds: float = 5.0,
    ) -> list[tuple[str, Any]]:
        """The (name, value) that the bot offers for what somebody has typed so far."""
        data = self._command(name, {**(arguments or {}), argument: typed}, at)
        for each in data["options"]:
            if each["name"] == argument:
                each["focused"] = True
        made = self.interact(AUTOCOMPLETE, data, by=by, at=at)
        (answer,) = await made.answered(1, seconds=seconds)
        return [(each["name"], each["value"]) for each in answer.choices]

    def interact(self, kind: int, data: Json, *, by: User, at: Channel, message: Message | None = None) -> Interaction:
        """Somebody does what `data` says, be it something that no real client sends; the bot is told.

        `kind` is the type of the interaction, `message` the one with the control.
        """
        world = self.world
        made = Interaction(
            id=world.snowflakes.next(),
            token=secrets.token_urlsafe(60),
            type=kind,
            channel=at,
            by=by,
            data=data,
            message=message,
            begun=world.now(),
        )
        world.interactions[made.token] = made
        world.emit("INTERACTION_CREATE", wire_interaction.created(world, made), channel=at)
        return made

    def registered(self, guild: Guild | None = None) -> list[Json]:
        """The commands for everywhere, or of one guild."""
        raise NotImplementedError

    def _registered_here(self, name: str, at: Channel) -> Json:
        found = [*self.registered(at.guild), *self.registered()] if at.guild else self.registered()
        command = next((each for each in found if each["name"] == name and each["type"] == 1), None)
        if command is None:
            raise LookupError(f"no command /{name}; there are {[each['name'] for each in found]}")
        return command

    def _required(self, name: str, at: Channel) -> set[str]:
        return {each["name"] for each in self._registered_here(name, at)["options"] if each.get("required")}

    def _command(self, name: str, arguments: Mapping[str, Any], at: Channel) -> Json:
        command = self._registered_here(name, at)
        options = {each["name"]: each for each in command["options"]}
        if missing := arguments.keys() - options.keys():
            raise LookupError(f"/{name} has no {sorted(missing)}")
        given = [{"name": key, "type": options[key]["type"], "value": value} for key, value in arguments.items()]
        return {"id": command["id"], "name": name, "type": 1, "options": given}


def _check_values(control: Json, values: Sequence[str]) -> None:
    if control["type"] != 3:
        return
    known = {each["value"] for each in control["options"]}
    low, high = control.get("min_values", 1), control.get("max_values", 1)
    if not set(values) <= known or not low <= len(values) <= high:
        raise LookupError(f"{list(values)} cannot be chosen of {sorted(known)}")
