"""Secrets of the config stand in nothing that an adapter is given to show, or asked for, of a tool call."""

import asyncio
from pathlib import Path
from typing import Any

from kesoku.app import App, Job
from kesoku.app.cast import Cast
from kesoku.config import load
from kesoku.llm.offline import OfflineModel
from kesoku.testing.model import ScriptedModel, call, reply
from kesoku.testing.platform import RecordedPlatform
from kesoku.testing.recording import recording_manifest
from kesoku.testing.waiting import until

TOKEN = "AIza-not-a-real-key"
TEXT = f"""
[agent]
model = "scripted"
[models.scripted]
type = "gemini"
api_key = "{TOKEN}"
[adapters.room]
type = "recording"
allow = ["everyone"]
admins = ["user:ada"]
[tools.calculate]
policy = "ask"
"""


async def test_a_key_of_the_config_is_masked_in_the_question_and_in_lists(tmp_path: Path) -> None:
    """Complaint 168."""
    path, platform = tmp_path / "config.toml", RecordedPlatform()
    path.write_text(f'{TEXT}[store]\npath = "{tmp_path}/kesoku.db"\n', encoding="utf-8")
    path.chmod(0o600)
    manifest = recording_manifest(platform=platform, key_window=60.0)
    manifests: Any = {"adapters": {"recording": manifest}}
    loaded = load(path, environment={}, manifests=manifests)
    model = ScriptedModel(reply(call("calculate", expression=f"1 + '{TOKEN}'")), "I cannot.", name="scripted")
    job = Job(bots={"room": (manifest, loaded.config.adapters["room"].settings)})

    async def shows(text: str) -> None:
        async def there() -> bool:
            return any(text in each for each in platform.texts("kitchen"))

        await until(there, what=text)

    async with App(loaded, job, Cast(loaded.config, [model, OfflineModel()])) as app:
        running = asyncio.create_task(app.run())
        platform.say("kitchen", "go", by="ada")
        await shows("May I run `calculate`?")
        platform.say("kitchen", "no", by="ada")
        await shows("I cannot.")
        platform.say("kitchen", "/tools", by="ada")
        await shows("calculate, ")
        app.stop(patient=False)
        await running
    shown = "\n".join(platform.texts("kitchen"))
    assert TOKEN not in shown
    assert shown.count("[secret]") == 2
    assert TOKEN in str(model.requests[-1])
