"""The loopback Discord in a process of its own."""

import httpx
import pytest

from kesoku.testing.discord import DiscordProcess, Limited, Seen
from kesoku.testing.discord.process.stats import rate


async def test_the_process_does_what_it_is_told() -> None:
    async with DiscordProcess.spawn(rate_limits=True) as server:
        general, ada = await server.channel("general"), await server.user("Ada")
        said = await server.say(general, ada, "hello")
        await server.script(Limited(0.1), on="POST /channels/{}/messages", channel=general)
        async with httpx.AsyncClient(trust_env=False, headers={"Authorization": f"Bot {server.token}"}) as http:
            url = f"{server.api_base_url}/channels/{general}/messages"
            body = {"content": "hi", "nonce": "1", "enforce_nonce": True, "message_reference": {"message_id": said}}
            got = [await http.post(url, json=body) for _ in range(3)]
            await http.patch(f"{url}/{got[1].json()['id']}", json={"content": "edited"})
        assert [each.status_code for each in got] == [429, 200, 200]
        await server.drop()
        _, answer = await server.messages(general)
        assert (answer["content"], answer["edits"], answer["reply_to"]) == ("edited", ["edited"], said)
        assert len(answer["edited_at"]) == 1
        figures = await server.stats()
        assert figures["requests"]["POST /channels/{}/messages"] == 3
        assert (figures["scripted_limits"], figures["doubled"], figures["limited"]) == (1, 1, 0)
        assert figures["rate"] == 4
        with pytest.raises(RuntimeError, match="KeyError"):
            await server.ask("fly")


def test_the_rate_is_the_fullest_second() -> None:
    def at(*moments: float, route: str = "GET /users/@me") -> list[Seen]:
        return [Seen(method="GET", route=route, path="", at=moment) for moment in moments]

    assert rate([]) == 0
    assert rate(at(0.0, 0.5, 0.9, 1.1, 3.0)) == 3
    assert rate([*at(0.0), *at(0.1, 0.2, route="POST /interactions/{}/{}/callback")]) == 1
