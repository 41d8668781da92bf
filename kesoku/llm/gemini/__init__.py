"""Google Gemini: `model.py` drives a step, `wire.py` and `reply.py` translate, `failure.py` names what goes wrong."""

import os

from kesoku.llm.gemini.config import GeminiConfig
from kesoku.llm.gemini.model import GeminiModel
from kesoku.llm.manifest import ModelManifest

__all__ = ["MANIFEST", "GeminiConfig", "GeminiModel"]


def _create(name: str, config: GeminiConfig) -> GeminiModel:
    return GeminiModel(name=name, config=config, environment=os.environ)


MANIFEST = ModelManifest(name="gemini", title="Google Gemini", config=GeminiConfig, create=_create)
