"""Google Gemini.

==============================  ==============================================================
To see                          Open
==============================  ==============================================================
what a table of the config has  config.py
what a model family can do      profile.py: the one table, nothing else asks for a model's name
the life of one answer          model.py: attempts, retries, repairs; attempt.py: one request
what is sent                    composer.py: all of it; wire.py: history, tools, settings;
                                media.py, kind.py, convert.py, upload.py: files; cache.py: the
                                start that stays with the provider; repair.py: signatures;
                                size.py: an estimate of the tokens of files
what comes back                 reply.py: chunks; ending.py: why an answer ended
what goes wrong                 failure.py: foreign exceptions; refusal.py: what the API says;
                                call.py: where it happened, and the key that must not be told
connections and logins          client.py, login.py
`kesoku doctor`                 check.py
==============================  ==============================================================
"""

import os
from collections.abc import Sequence

from kesoku.llm.gemini.config import GeminiConfig, endpoint_of
from kesoku.llm.manifest import ModelManifest
from kesoku.ports import ChatModel, Finding

__all__ = ["MANIFEST", "GeminiConfig"]


def _create(name: str, config: GeminiConfig) -> ChatModel:
    endpoint_of(name, config, os.environ)  # a first chat has no key, and needs none of the rest
    from kesoku.llm.gemini.model import GeminiModel

    return GeminiModel(name=name, config=config, environment=os.environ)


async def _doctor(name: str, config: GeminiConfig) -> Sequence[Finding]:
    from kesoku.llm.gemini.check import examine

    return await examine(name, config, os.environ)


MANIFEST = ModelManifest(name="gemini", title="Google Gemini", config=GeminiConfig, create=_create, doctor=_doctor)
