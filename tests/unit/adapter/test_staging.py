"""Files on disk: hostile names, limits, and nothing half written."""

import errno
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kesoku.adapter.staging import Staging, read_file, safe_name, size_text
from kesoku.messages.turn import MediaBlock


async def stream(*pieces: bytes) -> AsyncIterator[bytes]:
    for piece in pieces:
        yield piece


def contents(path: str) -> bytes:
    return Path(path).read_bytes()


HOSTILE = [
    "../../etc/passwd",
    "..\\..\\boot.ini",
    "/etc/shadow",
    "a\0b.txt",
    "evil\u202egpj.exe",
    "line\nbreak.txt",
    "x" * 5000 + ".pdf",
    "😀" * 300 + ".png",
    "a." + "e" * 300,
    "con",
    "NUL.txt",
    "COM1.log",
    "",
    ".",
    "..",
    "   ",
    "-rf",
    "~root",
    ".ssh",
    "trailing. . ",
    "\ud800.txt",
    "a/",
    'q"<>|?*:.txt',
]


def is_harmless(name: str) -> bool:
    return (
        name not in {"", ".", ".."}
        and len(name.encode()) <= 120
        and not any(each in name for each in '/\\\0\n\r\u202e<>:"|?*')
        and name[0] not in ".-~ "
        and name[-1] not in ". "
        and name.split(".", maxsplit=1)[0].lower() not in {"con", "nul", "com1", "aux", "prn"}
    )


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_become_harmless(name: str) -> None:
    assert is_harmless(safe_name(name))


@given(st.text(max_size=400))
def test_any_name_becomes_harmless_and_stays_as_it_is_then(name: str) -> None:
    safe = safe_name(name)
    assert is_harmless(safe)
    assert safe_name(safe) == safe


def test_an_ordinary_name_is_kept_with_its_extension() -> None:
    assert safe_name("report 2026 (final).pdf") == "report 2026 (final).pdf"
    assert safe_name("照片.png") == "照片.png"
    assert safe_name("x" * 500 + ".pdf").endswith("x.pdf")


async def test_a_file_lies_in_the_sessions_folder_by_its_hash(tmp_path: Path) -> None:
    staging = Staging(tmp_path)
    first = await staging.save("s1", "a.txt", stream(b"he", b"llo"), mime_type="text/plain", limit=100)
    again = await staging.save("s1", "a.txt", stream(b"hello"), mime_type="text/plain", limit=100)
    other = await staging.save("s2", "a.txt", stream(b"hello"), mime_type="text/plain", limit=100)
    assert first.path is not None
    assert contents(first.path) == b"hello"
    assert Path(first.path).parent == tmp_path / "s1"
    assert (first.size, first.skipped, first.name) == (5, None, "a.txt")
    assert again == first
    assert other.path != first.path
    assert len(list((tmp_path / "s1").iterdir())) == 1


async def test_beyond_the_limit_nothing_is_kept_and_the_stream_is_not_read_on(tmp_path: Path) -> None:
    # complaint 82
    pulled = []

    async def endless() -> AsyncIterator[bytes]:
        while True:
            pulled.append(1)
            yield b"x" * 1000

    kept = await Staging(tmp_path).save("s", "big.mp4", endless(), mime_type="video/mp4", limit=10_000)
    assert kept.path is None
    assert kept.skipped == "it is larger than 10.0 kB"
    assert len(pulled) == 11
    assert list((tmp_path / "s").iterdir()) == []


async def test_exactly_the_limit_is_kept(tmp_path: Path) -> None:
    kept = await Staging(tmp_path).save("s", "a", stream(b"12345"), mime_type="x/y", limit=5)
    assert kept.size == 5


async def test_a_stream_that_breaks_leaves_nothing_and_is_raised(tmp_path: Path) -> None:
    async def broken() -> AsyncIterator[bytes]:
        yield b"half"
        raise ConnectionResetError(errno.ECONNRESET, "gone")

    with pytest.raises(ConnectionResetError):
        await Staging(tmp_path).save("s", "a", broken(), mime_type="x/y", limit=100)
    assert list((tmp_path / "s").iterdir()) == []


async def test_a_disk_that_does_not_take_it_is_told_as_skipped(tmp_path: Path) -> None:
    (tmp_path / "s").write_text("a file where the folder should be")
    kept = await Staging(tmp_path).save("s", "a", stream(b"x"), mime_type="x/y", limit=100)
    assert kept.path is None
    assert "could not be saved" in str(kept.skipped)


@pytest.mark.parametrize("session_id", ["../up", "a/b", "x" * 300, "sess\0", "..", "", "é"])
def test_a_session_id_cannot_leave_the_root(tmp_path: Path, session_id: str) -> None:
    folder = Staging(tmp_path).folder(session_id)
    assert folder.parent == tmp_path
    assert folder.name not in {"", ".", ".."}


async def test_only_regular_files_are_read(tmp_path: Path) -> None:
    (tmp_path / "real").write_bytes(b"x" * 3_000_000)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    os.mkfifo(tmp_path / "pipe")
    assert sum([len(piece) async for piece in read_file(tmp_path / "real")]) == 3_000_000
    for name in ("link", "pipe", "absent", "."):
        with pytest.raises(OSError, match=r".+"):
            _ = [piece async for piece in read_file(tmp_path / name)]


async def test_a_file_is_copied_as_it_is_now(tmp_path: Path) -> None:
    staging, original = Staging(tmp_path / "staging"), tmp_path / "a.txt"
    original.write_bytes(b"then")
    (tmp_path / "link").symlink_to(original)
    copies = [
        await staging.copy("s", MediaBlock(path=str(path), mime_type="text/plain", name="../b.txt"), limit=4)
        for path in (original, tmp_path / "link")
    ]
    original.write_bytes(b"now")
    assert [(each.name, contents(str(each.path)), each.size) for each in copies] == [("b.txt", b"then", 4)] * 2


@pytest.mark.parametrize("path", ["absent", ".", "circle", "pipe", "a\0b", "long" * 99])
async def test_what_cannot_be_copied_is_skipped(tmp_path: Path, path: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "circle").symlink_to("circle")
    file = MediaBlock(path=f"{tmp_path}/{path}", mime_type="text/plain", name="b.txt")
    copied = await Staging(tmp_path / "staging").copy("s", file, limit=9)
    assert copied.path is None
    assert str(copied.skipped).startswith("it cannot be read (")


def test_sizes_for_people() -> None:
    assert [size_text(n) for n in (0, 999, 1500, 10_700_000)] == ["0 bytes", "999 bytes", "1.5 kB", "10.7 MB"]
