"""Google Gemini: `model.py` drives a step, `wire.py` and `reply.py` translate, `failure.py` names what goes wrong."""

import os
from collections.abc import Sequence

from kesoku.llm.gemini.check import examine
from kesoku.llm.gemini.config import GeminiConfig
from kesoku.llm.gemini.model import GeminiModel
from kesoku.llm.manifest import ModelManifest
from kesoku.ports import Finding

__all__ = ["MANIFEST", "GeminiConfig", "GeminiModel"]


def _create(name: str, config: GeminiConfig) -> GeminiModel:
    return GeminiModel(name=name, config=config, environment=os.environ)


async def _doctor(name: str, config: GeminiConfig) -> Sequence[Finding]:
    return await examine(name, config, os.environ)


MANIFEST = ModelManifest(name="gemini", title="Google Gemini", config=GeminiConfig, create=_create, doctor=_doctor)
