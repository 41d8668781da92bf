"""What `kesoku doctor` says about a bot, asked over REST: its login, what it may read, and each configured channel."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any

import httpx

from kesoku.adapter import Finding, LoginNeeded, Severity
from kesoku_discord.config import DiscordConfig
from kesoku_discord.login import completed, proxy_of, shown, token_of
from kesoku_discord.permissions import effective, invite, missing, needed, optional, whole, wished
from kesoku_discord.wire.verdict import INTENT, NEW_TOKEN, verdict_of

_SECONDS = 10.0
"""How long all of it may take."""
_AT_ONCE = 5
_SHORTEST = 0.05
"""Seconds that are waited where Discord limits what is asked."""
_CONTENT = 1 << 18 | 1 << 19
"""Flags of an application that may read messages: for any number of servers, and for few."""
_AGENT = "DiscordBot (https://discord.com, 10)"
_THREADS, _FORUMS = frozenset({10, 11, 12}), frozenset({15, 16})
_UNSEEN = 50001
_ME = "/users/@me"
_API, _GATEWAY = (DiscordConfig.model_fields[name].default for name in ("api_base_url", "gateway_url"))


def library(chatbot_id: str, module: str = "discord") -> Sequence[Finding]:
    """A finding where the library that the bot runs on is not installed; it is not imported here."""
    if find_spec(module):
        return ()
    text, fix = "discord.py is not installed", "pip install 'kesoku[discord]'"
    return (Finding(check=f"adapters.{chatbot_id}", severity=Severity.ERROR, text=text, fix=fix),)


async def examine(chatbot_id: str, config: DiscordConfig, *, seconds: float = _SECONDS) -> Sequence[Finding]:
    """The findings, in at most `seconds`. Texts hold no token and no password of a proxy."""
    check = f"adapters.{chatbot_id}"
    try:
        token = token_of(config)
    except LoginNeeded as error:
        return (Finding(check=check, severity=Severity.ERROR, text=error.reason, fix=NEW_TOKEN),)
    examination = _Examination(check=check, config=config)
    try:
        async with asyncio.timeout(seconds), examination.client(token) as client:
            await examination.run(client)
    except _Unwell as error:
        examination.error(error.text, error.fix)
    except TimeoutError:
        examination.error(f"Discord did not answer within {seconds:g} s", "check the network and the proxy")
    except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
        examination.error(f"Discord cannot be reached: {type(error).__name__}", examination.cure)
    except (ValueError, LookupError, TypeError):
        examination.error("what answers is not Discord", "check api_base_url and the proxy")
    return tuple(examination.found)


class _Unwell(Exception):
    """Why nothing more can be asked."""

    def __init__(self, text: str, fix: str) -> None:
        self.text, self.fix = text, fix
        super().__init__(text)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Refusal:
    """Discord's answer that is no success."""

    status: int
    code: int

    @property
    def words(self) -> str:
        return verdict_of(self.status, self.code).words


@dataclass(slots=True, kw_only=True)
class _Examination:
    """One bot."""

    check: str
    config: DiscordConfig
    found: list[Finding] = field(default_factory=list)
    _known: dict[str, Any] = field(default_factory=dict)
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    def client(self, token: str) -> httpx.AsyncClient:
        """A client that goes the bot's way."""
        headers = {"Authorization": f"Bot {token}", "User-Agent": _AGENT}
        return httpx.AsyncClient(
            base_url=self.config.api_base_url,
            headers=headers,
            proxy=proxy_of(self.config),
            trust_env=False,
            timeout=_SECONDS,
        )

    async def run(self, client: httpx.AsyncClient) -> None:
        """Ask and note down. Raises _Unwell where nothing more can be asked, and httpx's errors."""
        self._way()
        me = await self._me(client)
        application = await self._must(client, "/applications/@me")
        self.good(f"logged in as {me['username']} ({me['id']})")
        if not int(application.get("flags", 0)) & _CONTENT:
            self.error("the bot may not read what people write", INTENT)
        self.good(f"to invite it: {invite(str(application['id']), wished(self.config))}")
        slots = asyncio.Semaphore(_AT_ONCE)
        channels = [self._channel(client, slots, str(me["id"]), each) for each in self.config.channels]
        for findings in await asyncio.gather(*channels, self._guilds(client)):
            self.found += findings

    def _way(self) -> None:
        if proxy := proxy_of(self.config):
            self.good(f"goes through the proxy {shown(proxy)}")
        for name, own in (("api_base_url", _API), ("gateway_url", _GATEWAY)):
            if (address := getattr(self.config, name)) != own:
                self.good(f"{name} is {shown(address)}, not Discord's own")

    async def _guilds(self, client: httpx.AsyncClient) -> list[Finding]:
        """Whether it is anywhere, and may do there what it needs; channels may still say otherwise."""
        guilds = await self._ask(client, "/users/@me/guilds")
        if isinstance(guilds, _Refusal):
            return [self._bad(f"its servers cannot be listed: {guilds.words}", "try again")]
        if not guilds:
            return [self._doubtful("it is in no server; only direct messages reach it", "open the link above")]
        wanting = ((each["name"], missing(needed(self.config), whole(int(each["permissions"])))) for each in guilds)
        return [
            self._doubtful(f"in the server {name} it lacks {', '.join(lacking)}", _permit(lacking))
            for name, lacking in wanting
            if lacking
        ]

    async def _channel(
        self, client: httpx.AsyncClient, slots: asyncio.Semaphore, me: str, channel_id: str
    ) -> list[Finding]:
        where = f"channel {channel_id}"
        async with slots:
            channel = await self._ask(client, f"/channels/{channel_id}")
            if isinstance(channel, _Refusal):
                if channel.code == _UNSEEN:
                    return [self._bad(f"{where}: the bot lacks View Channels", _permit(["View Channels"]))]
                return [self._bad(f"{where}: {channel.words}", "correct its id in the config")]
            if "guild_id" not in channel:
                return [self._fine(f"{where} is a direct conversation")]
            where = f"channel {channel_id} (#{channel['name']})"
            held = await self._held(client, me, channel)
        if isinstance(held, _Refusal):
            return [self._bad(f"{where}: its permissions cannot be read: {held.words}", "invite the bot again")]
        bits = needed(self.config, self.config.channel(channel_id), posts=channel["type"] in _FORUMS)
        if lacking := missing(bits, held):
            return [self._bad(f"{where}: the bot lacks {', '.join(lacking)}", _permit(lacking))]
        spare = missing(optional(), held)
        more = f", but not {', '.join(spare)}, which it can do without" if spare else ""
        return [self._fine(f"{where}: has {', '.join(bits)}{more}")]

    async def _held(self, client: httpx.AsyncClient, me: str, channel: dict[str, Any]) -> int | _Refusal:
        """The bits that it has in a channel."""
        guild, member = await asyncio.gather(
            self._once(client, f"/guilds/{channel['guild_id']}"),
            self._once(client, f"/guilds/{channel['guild_id']}/members/{me}"),
        )
        above = channel
        if channel["type"] in _THREADS:
            above = await self._once(client, f"/channels/{channel['parent_id']}")
        for answer in (guild, member, above):
            if isinstance(answer, _Refusal):
                return answer
        overwrites = above.get("permission_overwrites", ())
        posts = above["type"] in _FORUMS
        return effective(guild, member_id=me, held=member["roles"], overwrites=overwrites, posts=posts)

    async def _me(self, client: httpx.AsyncClient) -> Any:
        """The bot itself; where the address lacks its end, it is asked for below the whole one, as the bot does."""
        answer = await self._ask(client, _ME)
        if not isinstance(answer, _Refusal):
            return answer
        if answer.status == httpx.codes.NOT_FOUND and (whole := completed(self.config.api_base_url)):
            client.base_url = httpx.URL(whole)
            answer = await self._ask(client, _ME)
        if isinstance(answer, _Refusal) and answer.status == httpx.codes.NOT_FOUND:
            raise _Unwell(f"what answers at {shown(self.config.api_base_url)} is not Discord", "check api_base_url")
        return await self._must(client, _ME)

    async def _must(self, client: httpx.AsyncClient, path: str) -> Any:
        answer = await self._ask(client, path)
        if isinstance(answer, _Refusal):
            if answer.status == httpx.codes.UNAUTHORIZED:
                raise _Unwell("Discord does not take the token (status 401)", NEW_TOKEN)
            raise _Unwell(f"Discord refuses the login: {answer.words} (status {answer.status})", self.cure)
        return answer

    async def _once(self, client: httpx.AsyncClient, path: str) -> Any:
        """The answer that many channels have in common."""
        async with self._lock:
            if path not in self._known:
                self._known[path] = await self._ask(client, path)
        return self._known[path]

    async def _ask(self, client: httpx.AsyncClient, path: str) -> Any:
        """The JSON of an answer, or a _Refusal; limits are waited for, which the bot itself may have used up.

        Raises httpx's errors, and ValueError for what is no JSON.
        """
        while True:
            response = await client.get(path)
            if response.is_success:
                return response.json()
            body = response.json() if "json" in response.headers.get("Content-Type", "") else {}
            named = body if isinstance(body, dict) else {}
            if response.status_code != httpx.codes.TOO_MANY_REQUESTS or "retry_after" not in named:
                return _Refusal(status=response.status_code, code=named.get("code", 0))
            await asyncio.sleep(max(float(named["retry_after"]), _SHORTEST))

    @property
    def cure(self) -> str:
        """What to do where the network fails."""
        proxy = proxy_of(self.config)
        return f"check the proxy {shown(proxy)}" if proxy else "check the network, and whether a proxy must be set"

    def good(self, text: str) -> None:
        """Note what is well."""
        self.found.append(self._fine(text))

    def error(self, text: str, fix: str) -> None:
        """Note what is not."""
        self.found.append(self._bad(text, fix))

    def _fine(self, text: str) -> Finding:
        return Finding(check=self.check, severity=Severity.OK, text=text)

    def _doubtful(self, text: str, fix: str) -> Finding:
        return Finding(check=self.check, severity=Severity.WARNING, text=text, fix=fix)

    def _bad(self, text: str, fix: str) -> Finding:
        return Finding(check=self.check, severity=Severity.ERROR, text=text, fix=fix)


def _permit(lacking: Sequence[str]) -> str:
    return f"give the bot's role {', '.join(lacking)} there, or invite it again with the link above"
