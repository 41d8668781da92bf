"""What the terminal adapter says about itself."""

from collections.abc import Sequence

from kesoku.adapter import Adapter, Capabilities, Finding, Manifest, Presentation, Visibility
from kesoku_cli.config import CliConfig

VISIBILITY = Visibility(
    user_text=Presentation.SHOWN,
    assistant_text=Presentation.SHOWN,
    thought=Presentation.SHOWN,
    tool_call=Presentation.SHOWN,
    tool_result=Presentation.SHOWN,
    notice=Presentation.SHOWN,
)
"""The CLI column of seed 004 section 5.3: everything is shown."""

_ENDLESS = 1 << 40


def _create(chatbot_id: str, config: CliConfig) -> Adapter:
    from kesoku_cli.adapter import CliAdapter

    return CliAdapter(chatbot_id, config)


async def _doctor(chatbot_id: str, config: CliConfig) -> Sequence[Finding]:
    return ()


MANIFEST = Manifest(
    name="cli",
    title="Terminal",
    extra=None,
    config=CliConfig,
    capabilities=Capabilities(
        max_text=_ENDLESS, max_file=_ENDLESS, buttons=True, drafts=True, media_out=True, local=True
    ),
    visibility=VISIBILITY,
    create=_create,
    doctor=_doctor,
)
