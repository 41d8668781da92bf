"""What time it is."""

from difflib import get_close_matches
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from kesoku.errors import ToolRefused
from kesoku.tools.context import ToolContext
from kesoku.tools.tool import Effect, tool


@tool(effect=Effect.READ)
def current_time(context: ToolContext, zone: str | None = None) -> str:
    """Tell the date, the time, the day of the week and the time zone.

    Args:
        zone: a name such as Asia/Tokyo; by default the zone that the bot is configured for
    """
    now = context.now()
    if zone is not None:
        now = now.astimezone(_zone(zone))
    return f"{now.isoformat(sep=' ', timespec='seconds')} ({now:%A}, {zone or now.tzname()})"


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        near = get_close_matches(name, available_timezones())
        advice = f"near are {', '.join(near)}" if near else "give a name such as Europe/Berlin"
        raise ToolRefused(what=f"zone {name!r}", reason="there is no such time zone", advice=advice) from error
