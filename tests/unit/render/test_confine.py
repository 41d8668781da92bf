"""Paths stay inside the folders given, whatever they look like; on a real file system."""

from pathlib import Path

import pytest

from kesoku.errors import PathRefused, RenderError
from kesoku.render import confine


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "work" / "sub").mkdir(parents=True)
    (tmp_path / "work" / "a.txt").write_text("a")
    (tmp_path / "shared").mkdir()
    (tmp_path / "workshop").mkdir()
    (tmp_path / "secret").write_text("s")
    (tmp_path / "work" / "out").symlink_to(tmp_path / "secret")
    (tmp_path / "work" / "up").symlink_to(tmp_path)
    (tmp_path / "work" / "inside").symlink_to("a.txt")
    (tmp_path / "work" / "loop").symlink_to("loop")
    (tmp_path / "door").symlink_to(tmp_path / "work")
    return tmp_path.resolve()


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("a.txt", "work/a.txt"),
        ("sub/../a.txt", "work/a.txt"),
        ("inside", "work/a.txt"),
        ("new/dir/file", "work/new/dir/file"),
        (".", "work"),
        ("../shared/x", "shared/x"),
        ("名前 \u202e.txt", "work/名前 \u202e.txt"),
    ],
)
def test_a_path_inside_of_a_root_is_resolved(home: Path, asked: str, found: str) -> None:
    roots = [home / "work", home / "shared"]
    assert confine(asked, roots, home / "work") == home / found
    assert confine(home / "work" / asked, roots, home / "shared") == home / found


@pytest.mark.parametrize(
    "asked",
    [
        "..", "../secret", "../workshop/x", "out", "up/secret", "up/new/../secret", "/etc/passwd", "/",
        "~/../../../etc", "sub/../../secret", "/proc/self/root/etc/passwd", "/proc/self/environ", "/dev/fd/0",
    ],
)  # fmt: skip
def test_a_path_outside_of_the_roots_is_refused(home: Path, asked: str) -> None:
    with pytest.raises(PathRefused, match="outside") as caught:
        confine(asked, [home / "work"], home / "work")
    assert caught.value.path == asked
    assert caught.value.roots == (str(home / "work"),)
    assert repr(asked) in str(caught.value)
    assert str(home / "work") in str(caught.value)
    assert isinstance(caught.value, RenderError)


@pytest.mark.parametrize("asked", ["", "  ", "a\0b", "loop", "loop/x", "\ud800"])
def test_what_names_no_file_is_refused(home: Path, asked: str) -> None:
    with pytest.raises(PathRefused):
        confine(asked, [home / "work"], home / "work")


def test_a_root_may_be_a_link_itself(home: Path) -> None:
    assert confine("a.txt", [home / "door"], home / "door") == home / "work" / "a.txt"


def test_without_roots_nothing_is_allowed(home: Path) -> None:
    with pytest.raises(PathRefused, match="no folder is allowed"):
        confine("a.txt", [], home)
