"""A context with a real folder, and a clock that stands still."""

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from kesoku.tools import ToolContext

SECRET = "sk-f00dcafe-1234"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder


@pytest.fixture
def context(workspace: Path) -> ToolContext:
    return ToolContext(
        session_id="sess",
        call_id="call",
        workspace=workspace,
        roots=(workspace,),
        environment={**os.environ, "GEMINI_API_KEY": SECRET, "MY_TOKEN": "other", "LC_NOTE": f"x{SECRET}"},
        secrets=frozenset({SECRET}),
        now=lambda: datetime(2026, 5, 27, 12, 50, tzinfo=UTC),
    )
