"""What `import kesoku` costs, and that type checkers and Python see the same names."""

import ast
import subprocess
import sys
from pathlib import Path

import kesoku
from kesoku.testing.waiting import PATIENCE

PROBE = """
import sys
import kesoku
from kesoku import plugins
assert "kesoku.messages" not in sys.modules
from kesoku import Message, create_message, errors
assert kesoku.Message is Message is sys.modules["kesoku.messages"].Message
assert errors is sys.modules["kesoku.errors"]
"""


def test_the_face_is_imported_when_it_is_asked_for() -> None:
    subprocess.run([sys.executable, "-c", PROBE], check=True, timeout=PATIENCE)


def test_the_stub_names_the_modules_that_the_face_is_made_of() -> None:
    stub = Path(kesoku.__file__ or "").with_suffix(".pyi")
    starred = [
        node.module
        for node in ast.walk(ast.parse(stub.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and node.names[0].name == "*"
    ]
    assert starred == ["kesoku.errors", "kesoku.messages"]
