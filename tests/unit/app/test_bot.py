"""The adapter of a bot is made, or it is said what to install."""

from dataclasses import replace
from importlib import import_module
from typing import Any

import pytest

from kesoku.adapter import Adapter
from kesoku.app.bot import adapter_of
from kesoku.errors import ExtraMissing
from kesoku.testing.recording import PLAIN, recording_manifest

MANIFEST = recording_manifest(visibility=PLAIN)


def lacking(chatbot_id: str, config: Any) -> Adapter:
    raise NotImplementedError(import_module("not_there_at_all"))


def test_what_lacks_is_named_with_the_command_that_installs_it() -> None:
    """Not a traceback: it is the first thing that goes wrong for somebody who left the extra out."""
    manifest = replace(MANIFEST, extra="music", create=lacking)
    with pytest.raises(ExtraMissing, match=r"needs not_there_at_all, .*; pip install 'kesoku\[music\]'"):
        adapter_of(manifest, "room", manifest.config())


def test_an_adapter_that_needs_no_extra_is_broken_in_another_way() -> None:
    with pytest.raises(ModuleNotFoundError) as caught:
        adapter_of(replace(MANIFEST, extra=None, create=lacking), "room", MANIFEST.config())
    assert not isinstance(caught.value, ExtraMissing)
