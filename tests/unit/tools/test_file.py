"""The file tools on real files: what they read and write, and what they refuse."""

import asyncio
import os
import resource
import stat
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kesoku.tools import Outcome, Tool, ToolContext, run
from kesoku.tools.builtin import edit_file, list_dir, read_file, search_files, write_file


async def refused(tool: Tool, context: ToolContext, **arguments: Any) -> str:
    outcome = await run(tool, arguments, context)
    assert outcome.error is not None
    assert "Traceback" not in outcome.error
    return outcome.error


async def done(tool: Tool, context: ToolContext, **arguments: Any) -> Any:
    outcome: Outcome = await run(tool, arguments, context)
    assert outcome.error is None
    return outcome.output


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "private.txt").write_text("private")
    return folder


def names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


CALLS: list[tuple[Tool, dict[str, Any]]] = [
    (read_file, {}),
    (write_file, {"content": "x"}),
    (edit_file, {"old": "private", "new": "x"}),
]


@pytest.mark.parametrize(("tool", "arguments"), CALLS)
@pytest.mark.parametrize(
    "path", ["link.txt", "folder/private.txt", "folder/../outside/private.txt", "../outside/private.txt", "{absolute}"]
)
async def test_no_file_outside_of_the_roots_is_reached(
    context: ToolContext, outside: Path, tool: Tool, arguments: dict[str, Any], path: str
) -> None:
    (context.workspace / "link.txt").symlink_to(outside / "private.txt")
    (context.workspace / "folder").symlink_to(outside)
    error = await refused(tool, context, path=path.format(absolute=outside / "private.txt"), **arguments)
    assert "outside" in error
    assert "private\n" not in error
    assert (outside / "private.txt").read_text() == "private"
    assert names(outside) == ["private.txt"]


@pytest.mark.parametrize("path", ["folder", "..", "folder/..", "/"])
async def test_no_folder_outside_of_the_roots_is_looked_into(context: ToolContext, outside: Path, path: str) -> None:
    (context.workspace / "folder").symlink_to(outside)
    assert "outside of the allowed" in await refused(list_dir, context, path=path)
    assert "outside of the allowed" in await refused(search_files, context, path=path, pattern="private")


async def test_a_new_file_cannot_be_made_through_a_link(context: ToolContext, outside: Path) -> None:
    (context.workspace / "folder").symlink_to(outside)
    (context.workspace / "dangling").symlink_to(outside / "new.txt")
    await refused(write_file, context, path="folder/new.txt", content="x")
    await refused(write_file, context, path="dangling", content="x")
    assert not (outside / "new.txt").exists()


async def test_several_roots_and_absolute_paths(context: ToolContext, outside: Path) -> None:
    wide = replace(context, roots=(*context.roots, outside))
    assert await done(read_file, wide, path=str(outside / "private.txt")) == "private"


async def test_reading_goes_on_where_it_stopped(context: ToolContext) -> None:
    (context.workspace / "a.txt").write_text("one\ntwo\nthree")
    assert await done(read_file, context, path="a.txt") == "one\ntwo\nthree"
    assert await done(read_file, context, path="a.txt", limit=2) == "one\ntwo\n[more follows; go on with offset 3]"
    assert await done(read_file, context, path="a.txt", offset=3) == "three"
    assert await done(read_file, context, path="a.txt", offset=2, limit=1) == "two\n[more follows; go on with offset 3]"
    assert "it has fewer than 9 lines" in await refused(read_file, context, path="a.txt", offset=9)
    assert "`offset`" in await refused(read_file, context, path="a.txt", offset=0)
    (context.workspace / "empty").touch()
    assert await done(read_file, context, path="empty") == ""


async def test_a_huge_file_is_read_in_pieces_that_join(context: ToolContext) -> None:
    text = "".join(f"line {n} {'é' * 50}\n" for n in range(6000))
    (context.workspace / "big.txt").write_text(text)
    offset, joined, calls = 1, "", 0
    while offset:
        output = await done(read_file, context, path="big.txt", offset=offset, limit=20_000)
        piece, _, note = output.partition("[more follows; go on with offset ")
        offset = int(note[:-1]) if note else 0
        joined += piece
        calls += 1
    assert joined == text
    assert calls == 3


async def test_a_last_line_that_does_not_fit_any_more_is_not_forgotten(context: ToolContext) -> None:
    (context.workspace / "big.txt").write_text("x" * 262_140 + "\nlast line")
    assert (await done(read_file, context, path="big.txt")).endswith("x\n[more follows; go on with offset 2]")


async def test_a_line_without_end_is_cut_and_can_be_passed(context: ToolContext) -> None:
    with (context.workspace / "long").open("w") as file:
        file.write("first\n" + "x" * 3_000_000 + "\nlast")
    assert await done(read_file, context, path="long") == "first\n[more follows; go on with offset 2]"
    cut = await done(read_file, context, path="long", offset=2)
    assert cut.endswith("xx\n[line 2 is cut after 262,144 bytes; go on with offset 3]")
    assert await done(read_file, context, path="long", offset=3) == "last"


async def test_bytes_that_are_no_text(context: ToolContext) -> None:
    (context.workspace / "latin").write_bytes(b"caf\xe9 here\n")
    (context.workspace / "binary").write_bytes(b"\x7fELF\0\0")
    assert await done(read_file, context, path="latin") == "caf\ufffd here\n"
    assert await refused(read_file, context, path="binary") == "binary: it is a binary file of 6 bytes"
    assert "binary" in await refused(edit_file, context, path="binary", old="ELF", new="x")
    assert "not UTF-8 (byte 3)" in await refused(edit_file, context, path="latin", old="here", new="x")
    assert (context.workspace / "latin").read_bytes() == b"caf\xe9 here\n"


async def test_what_is_no_file_is_named(context: ToolContext) -> None:
    os.mkfifo(context.workspace / "pipe")
    for tool, arguments in CALLS:
        assert "it is a device, a pipe or a socket" in await refused(tool, context, path="pipe", **arguments)
        assert "it is a folder" in await refused(tool, context, path=".", **arguments)
        assert await refused(tool, context, path="a" * 300, **arguments)
        assert await refused(tool, context, path="a\0b", **arguments)
        assert await refused(tool, context, path="", **arguments)
    assert await refused(read_file, context, path="none") == "none: No such file or directory"
    assert await refused(list_dir, context, path="none") == "none: No such file or directory"
    assert "Not a directory" in await refused(list_dir, context, path="pipe")


async def test_writing_makes_folders_and_keeps_mode_and_link(context: ToolContext) -> None:
    assert await done(write_file, context, path="a/b/c.txt", content="é\r\n") == "wrote 4 bytes to a/b/c.txt"
    target = context.workspace / "a/b/c.txt"
    assert target.read_bytes() == "é\r\n".encode()
    target.chmod(0o751)
    (context.workspace / "link").symlink_to("a/b/c.txt")
    await done(write_file, context, path="link", content="new")
    assert target.read_text() == "new"
    assert stat.S_IMODE(target.stat().st_mode) == 0o751
    assert (context.workspace / "link").is_symlink()
    assert names(target.parent) == ["c.txt"]


async def test_a_new_file_has_the_usual_mode(context: ToolContext) -> None:
    (context.workspace / "usual").touch()
    await done(write_file, context, path="new", content="")
    modes = {stat.S_IMODE((context.workspace / name).stat().st_mode) for name in ("usual", "new")}
    assert len(modes) == 1


async def test_a_write_that_fails_leaves_the_old_content(context: ToolContext) -> None:
    folder = context.workspace / "a"
    folder.mkdir()
    (folder / "file").write_text("old")
    assert await refused(write_file, context, path="a/file/below", content="x")
    assert (folder / "file").read_text() == "old"
    assert names(folder) == ["file"]


async def test_a_disk_that_takes_no_more_leaves_the_old_content(context: ToolContext) -> None:
    (context.workspace / "file").write_text("old")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        assert "File too large" in await refused(write_file, context, path="file", content="x" * 5000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert (context.workspace / "file").read_text() == "old"
    assert names(context.workspace) == ["file"]


async def test_a_reader_never_sees_a_half(context: ToolContext) -> None:
    target = context.workspace / "file"
    contents = ["a" * 300_000, "b" * 300_000]
    target.write_text(contents[0])
    writing = asyncio.gather(*(done(write_file, context, path="file", content=contents[n % 2]) for n in range(12)))
    seen = 0
    while not writing.done():
        assert await asyncio.to_thread(target.read_text) in contents
        seen += 1
    await writing
    assert seen
    assert names(context.workspace) == ["file"]


async def test_an_edit_replaces_exactly_one_place(context: ToolContext) -> None:
    target = context.workspace / "a.py"
    target.write_text("x = 1\ny = 1\n")
    target.chmod(0o700)
    assert await done(edit_file, context, path="a.py", old="y = 1", new="y = 2") == "replaced 1 in a.py"
    assert target.read_text() == "x = 1\ny = 2\n"
    assert stat.S_IMODE(target.stat().st_mode) == 0o700


async def test_an_edit_that_is_not_clear_changes_nothing(context: ToolContext) -> None:
    target = context.workspace / "a.txt"
    target.write_text("aaa\nb\nb\n")
    assert "it is empty; use write_file" in await refused(edit_file, context, path="a.txt", old="", new="x")
    assert "nothing to change" in await refused(edit_file, context, path="a.txt", old="b", new="b")
    assert "`old` is not in it" in await refused(edit_file, context, path="a.txt", old="c", new="d")
    assert "more than once, in lines 2, 3;" in await refused(edit_file, context, path="a.txt", old="b\n", new="d")
    assert "more than once, in lines 1, 1;" in await refused(edit_file, context, path="a.txt", old="aa", new="d")
    assert target.read_text() == "aaa\nb\nb\n"
    assert await done(edit_file, context, path="a.txt", old="b", new="c", all=True) == "replaced 2 in a.txt"
    assert target.read_text() == "aaa\nc\nc\n"


@pytest.mark.parametrize(
    ("before", "old", "new", "after"),
    [
        (b"a\r\nb\r\nc\r\n", "a\nb", "a\nx\ny", b"a\r\nx\r\ny\r\nc\r\n"),
        (b"a\r\nb\r\n", "a\r\nb", "x\r\ny", b"x\r\ny\r\n"),
        (b"a\nb\r\n", "b\r\n", "x\n", b"a\nx\n"),
        (b"\xef\xbb\xbfa\n", "a", "b", b"\xef\xbb\xbfb\n"),
        ("日本\n".encode(), "本", "ほん", "日ほん\n".encode()),
        (b"no end", "end", "", b"no "),
    ],
)
async def test_line_ends_and_marks_stay_as_they_are(
    context: ToolContext, before: bytes, old: str, new: str, after: bytes
) -> None:
    target = context.workspace / "a.txt"
    target.write_bytes(before)
    await done(edit_file, context, path="a.txt", old=old, new=new)
    assert target.read_bytes() == after


async def test_edits_at_the_same_time_all_count(context: ToolContext) -> None:
    # complaint 45
    target = context.workspace / "a.txt"
    target.write_text("".join(f"<{n}>\n" for n in range(40)))
    edits = (done(edit_file, context, path="a.txt", old=f"<{n}>", new=f"[{n}]" * 50) for n in range(40))
    await asyncio.gather(*edits)
    assert target.read_text() == "".join(f"[{n}]" * 50 + "\n" for n in range(40))


async def test_a_file_that_is_too_large_to_edit(context: ToolContext) -> None:
    with (context.workspace / "large").open("wb") as file:
        file.truncate(17 * 1024 * 1024)
    assert "more than 16,777,216" in await refused(edit_file, context, path="large", old="a", new="b")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everything")
async def test_a_read_only_file_is_not_replaced(context: ToolContext) -> None:
    target = context.workspace / "a.txt"
    target.write_text("a")
    target.chmod(0o444)
    assert "it is read-only" in await refused(write_file, context, path="a.txt", content="b")
    assert "it is read-only" in await refused(edit_file, context, path="a.txt", old="a", new="b")


async def test_a_folder_is_listed(context: ToolContext) -> None:
    assert await done(list_dir, context) == "(empty)"
    (context.workspace / "sub").mkdir()
    (context.workspace / "b.txt").write_text("12345")
    (context.workspace / "a").symlink_to("nowhere")
    (context.workspace / "new\nline").touch()
    (context.workspace / os.fsdecode(b"\xff")).touch()
    assert await done(list_dir, context) == "a@\nb.txt  5\n'new\\nline'  0\nsub/\n'\\udcff'  0"
    assert await done(list_dir, context, path="sub") == "(empty)"


async def test_a_large_folder_is_listed_in_part(context: ToolContext) -> None:
    for number in range(1003):
        (context.workspace / f"{number:04}").touch()
    lines = (await done(list_dir, context)).splitlines()
    assert len(lines) == 1001
    assert lines[-1] == "[3 of 1,003 entries left out]"


Make = Callable[[str, str], None]


@pytest.fixture
def make(workspace: Path) -> Make:
    def put(path: str, content: str) -> None:
        (workspace / path).parent.mkdir(parents=True, exist_ok=True)
        (workspace / path).write_text(content)

    return put


async def test_matches_are_shown_with_file_and_line(context: ToolContext, make: Make, outside: Path) -> None:
    make("b.py", "import os\nneedle = 1\n")
    make("sub/a.txt", "a needle\r\n" + "x" * 400 + "needle")
    make(".git/config", "needle")
    make("sub/.git/config", "needle")
    make("binary", "needle\0")
    (context.workspace / "link").symlink_to(outside)
    (context.workspace / "link.txt").symlink_to(outside / "private.txt")
    os.mkfifo(context.workspace / "pipe")
    found = await run(search_files, {"pattern": "needle|private"}, context)
    assert found.output.splitlines() == [
        "b.py:2: needle = 1",
        "sub/a.txt:1: a needle",
        f"sub/a.txt:2: {'x' * 299}…",
        "[3 matches in 3 files]",
    ]
    assert (found.summary, found.error) == ("[3 matches in 3 files]", None)


async def test_a_search_can_be_narrowed(context: ToolContext, make: Make) -> None:
    for path in ("a.py", "src/b.py", "src/deep/c.py", "src/d.txt"):
        make(path, "needle")
    for arguments, paths in (
        ({"glob": "*.py"}, ["a.py", "src/b.py", "src/deep/c.py"]),
        ({"path": "src"}, ["src/b.py", "src/d.txt", "src/deep/c.py"]),
        ({"glob": "src/*.py"}, ["src/b.py", "src/deep/c.py"]),
        ({"path": "src/d.txt"}, ["src/d.txt"]),
        ({"glob": "*.md"}, []),
    ):
        output = await done(search_files, context, pattern="^needle$", **arguments)
        assert [line.partition(":")[0] for line in output.splitlines()[:-1]] == paths


async def test_a_search_without_end_stops_with_what_it_found(context: ToolContext, make: Make) -> None:
    make("1", "aaaa\n")
    make("2", "a" * 60 + "b\n")
    outcome = await run(search_files, {"pattern": "(a+)+$", "timeout": 0.5}, context)
    assert outcome.output == "1:1: aaaa\n"
    assert "stopped after 0.5 s; simplify the pattern" in (outcome.error or "")
    assert outcome.seconds < 2


async def test_a_search_with_too_much_to_say_is_bounded(context: ToolContext, make: Make) -> None:
    make("many", "needle\n" * 2000)
    output = await done(search_files, context, pattern="")
    assert len(output.splitlines()) == 501
    assert output.endswith("[stopped at 500 matches; there may be more]\n")


@pytest.mark.parametrize("pattern", ["(", "*a", "a{9999999999999999999}", "(?P<a>x)(?P<a>y)", "\0"])
async def test_a_wrong_pattern_is_explained(context: ToolContext, pattern: str) -> None:
    assert "pattern" in await refused(search_files, context, pattern=pattern)


async def test_names_and_patterns_of_any_kind(context: ToolContext, make: Make) -> None:
    make("日本", "--help\n")
    (context.workspace / os.fsdecode(b"\xff")).write_text("--help\n")
    output = await done(search_files, context, pattern="--help")
    assert output == "日本:1: --help\n\ufffd:1: --help\n[2 matches in 2 files]\n"
    assert "no such file or folder" in await refused(search_files, context, pattern="x", path="none")
