"""What files become: real ones, by what is in them, whatever they are called."""

import os
import struct
import wave
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageStat

from kesoku.history.compile import compile_turns
from kesoku.history.weight import MEDIA
from kesoku.llm.gemini import convert
from kesoku.llm.gemini.kind import kind_of
from kesoku.llm.gemini.media import INLINE_LIMIT, TEXT_LIMIT, MediaRoom, Pictures
from kesoku.llm.gemini.profile import profile_of
from kesoku.llm.gemini.size import beyond_pictures
from kesoku.messages.content import Attachment
from kesoku.messages.turn import MediaBlock, ResultBlock, Turn, TurnRequest
from kesoku.testing.gemini import media as rules
from kesoku.testing.talk import Talk

PDF = (
    b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Count 0>>endobj trailer<</Root 1 0 R>>"
)
ORIENTATION = 0x0112
Stage = Callable[..., MediaBlock]


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    def stage(name: str, data: bytes, mime_type: str = "application/octet-stream") -> MediaBlock:
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}"
        path.write_bytes(data)
        return MediaBlock(path=str(path), mime_type=mime_type, name=name)

    return stage


@pytest.fixture
def room() -> MediaRoom:
    return MediaRoom(profile=profile_of("gemini-3.5-flash"), uploads=None)


async def shown(room: MediaRoom, *blocks: MediaBlock) -> list[Any]:
    """All parts of some files of one turn."""
    parts = await room.parts([Turn(role="user", blocks=blocks)], None)
    return [part for block in blocks for part in parts[block]]


def image(form: str, mode: str = "RGB", size: tuple[int, int] = (32, 20), **options: Any) -> bytes:
    out = BytesIO()
    Image.linear_gradient("L").resize(size).convert(mode).save(out, form, **options)
    return out.getvalue()


def animation(form: str) -> bytes:
    frames = [Image.new("RGB", (9, 9), colour) for colour in ("red", "blue")]
    out = BytesIO()
    frames[0].save(out, form, save_all=True, append_images=frames[1:])
    return out.getvalue()


def open_files() -> int:
    return len(list(Path("/dev/fd").iterdir()))


def sound() -> bytes:
    out = BytesIO()
    with wave.open(out, "wb") as file:
        file.setparams((1, 2, 8_000, 0, "NONE", ""))
        file.writeframes(bytes(1_400))
    return out.getvalue()


def container(brand: bytes) -> bytes:
    return struct.pack(">I", 24) + b"ftyp" + brand + bytes(12) + b"\xff" * 9


WEBM = b"\x1aE\xdf\xa3\x9fB\x86\x81\x01B\x82\x84webm\xff\0"


@pytest.mark.parametrize(
    ("name", "data", "declared", "sent"),
    [
        ("a.png", image("PNG"), "image/png", "image/png"),
        ("a.jpg", image("PNG"), "image/jpg", "image/png"),
        ("a", image("JPEG"), "", "image/jpeg"),
        ("a.bin", image("WEBP"), "application/octet-stream", "image/webp"),
        ("a.txt", sound(), "text/plain", "audio/wav"),
        ("a.heic", container(b"heic"), "", "image/heic"),
        ("a.mp4", container(b"isom"), "", "video/mp4"),
        ("a.mp4", container(b"isom"), "audio/mp4", "audio/mp4"),
        ("a.m4a", container(b"M4A "), "", "audio/mp4"),
        ("a.m4a", container(b"mp42"), "", "audio/mp4"),
        ("a.weba", WEBM, "", "audio/webm"),
        ("a.mov", container(b"qt  "), "", "video/quicktime"),
        ("a.webm", WEBM, "video/webm", "video/webm"),
        ("a.webm", WEBM, "audio/webm;codecs=opus", "audio/webm"),
        ("voice.ogg", b"OggS\0\2\xff\xff", "application/ogg", "audio/ogg"),
        ("a", b"ID3\4\0\xff", "", "audio/mp3"),
        ("a.aac", b"\xff\xf1\x50\x80", "", "audio/aac"),
        ("a.dat", PDF, "text/plain", "application/pdf"),
        ("a.dat", b"\xff" * 1_019 + PDF, "", "application/pdf"),
        ("a.mpg", b"\0\0\1\xba\xff", "", "video/mpeg"),
        ("a.wmv", b"0&\xb2u\x8ef\xcf\x11\xff", "", "video/wmv"),
        ("a.avi", b"RIFF\xff\0\0\0AVI LIST", "", "video/avi"),
        ("a.flv", b"FLV\1\xff", "", "video/x-flv"),
        ("a.3gp", container(b"3gp4"), "", "video/3gpp"),
        ("a.3gp", container(b"3gp5"), "audio/3gpp", "video/3gpp"),
        ("a.aiff", b"FORM\xff\0\0\0AIFF", "", "audio/aiff"),
        ("a.flac", b"fLaC\xff", "", "audio/flac"),
        ("a.heif", container(b"mif1"), "image/heif", "image/heic"),
    ],
)
async def test_what_the_family_takes_goes_as_it_is(
    room: MediaRoom, stage: Stage, name: str, data: bytes, declared: str, sent: str
) -> None:
    # complaint 87: a voice message is heard
    assert await shown(room, stage(name, data, declared)) == [{"inline_data": {"mime_type": sent, "data": data}}]
    assert sent in rules.TYPES


@pytest.mark.parametrize(
    ("name", "data", "declared", "text"),
    [
        ("a.py", b"print()", "text/x-python", "print()"),
        ("a.json", b"{}", "application/json", "{}"),
        ("a.svg", b"<svg/>", "image/svg+xml", "<svg/>"),
        ("a.png", "é".encode(), "image/png", "é"),
        ("a", b"\xef\xbb\xbfhi", "", "hi"),
        ("a.txt", "漢字".encode("utf-16"), "", "漢字"),
        ("a.txt", b"\xfe\xff" + "x\ud83d".encode("utf-16-be", "surrogatepass"), "", "x\ufffd"),
        ("a.txt", "hi".encode("utf-32"), "", "hi"),
        ("a.ts", b"let x;", "video/mp2t", "let x;"),
        ("id3.txt", b"ID3 tags", "", "ID3 tags"),
    ],
)
async def test_text_is_known_by_its_content(
    room: MediaRoom, stage: Stage, name: str, data: bytes, declared: str, text: str
) -> None:
    assert await shown(room, stage(name, data, declared)) == [{"text": f"[File {name}]\n{text}"}]


async def test_text_that_cannot_be_read_is_shown_as_far_as_it_can(room: MediaRoom, stage: Stage) -> None:
    (part,) = await shown(room, stage("latin.txt", b"caf\xe9!"))
    assert part["text"] == "[File latin.txt, not all UTF-8: \ufffd stands for what cannot be read]\ncaf\ufffd!"


@pytest.mark.parametrize(
    ("encoding", "rest"), [("utf-8", b""), ("utf-16", b""), ("utf-16", b"\0"), ("utf-32", b"\0\0\0")]
)
async def test_of_a_long_text_the_ends_are_shown(room: MediaRoom, stage: Stage, encoding: str, rest: bytes) -> None:
    (part,) = await shown(room, stage("a.log", ("A" + "é" * TEXT_LIMIT + "Z").encode(encoding) + rest))
    assert part["text"].startswith("[File a.log]\nAéé")
    assert part["text"].endswith("ééZ")
    assert "bytes are left out here" in part["text"]
    assert "\ufffd" not in part["text"]
    assert TEXT_LIMIT // 4 <= len(part["text"]) <= TEXT_LIMIT // 2 + 100


async def test_texts_take_no_more_than_half_of_what_the_model_reads(stage: Stage) -> None:
    room = MediaRoom(profile=profile_of("gemma-3-27b"), uploads=None)
    parts = await shown(room, *(stage(f"{n}.txt", b"x" * 200_000) for n in range(3)))
    assert ["is not shown: there is no room" in part["text"] for part in parts] == [False, False, True]


@pytest.mark.parametrize(
    ("form", "mode"),
    [
        *(("GIF", "P"), ("BMP", "RGB"), ("TIFF", "CMYK"), ("TIFF", "I;16"), ("TIFF", "F"), ("ICO", "RGBA")),
        *(("AVIF", "RGB"), ("JPEG2000", "RGB"), ("PPM", "RGB"), ("TGA", "RGBA"), ("PCX", "L"), ("QOI", "RGB")),
        *(("SGI", "RGB"), ("DDS", "RGBA")),
    ],
)
async def test_other_pictures_become_png(room: MediaRoom, stage: Stage, form: str, mode: str) -> None:
    size = (64, 64) if form == "ICO" else (32, 20)
    (part,) = await shown(
        room,
        stage("a", image(form, mode, size), f"image/{form.lower()}"),
    )
    assert part["inline_data"]["mime_type"] == "image/png"
    with Image.open(BytesIO(part["inline_data"]["data"])) as png:
        assert (png.format, png.size) == ("PNG", size)


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (image("JPEG2000", no_jp2=True), "image/jp2"),
        (image("JPEG2000"), "image/jp2"),
        (image("QOI"), "image/qoi"),
        (image("DDS"), "image/vnd.ms-dds"),
        (image("ICNS"), "image/icns"),
        (image("AVIF"), "image/avif"),
        (image("AVIF").replace(b"ftypavif", b"ftypmif1", 1), "image/avif"),
        (b"8BPS\0\1" + bytes(9), "image/vnd.adobe.photoshop"),
    ],
    ids=["j2k", "jp2", "qoi", "dds", "icns", "avif", "mif1", "psd"],
)
def test_pictures_are_known_by_their_content(data: bytes, kind: str) -> None:
    assert kind_of(data, "a", "") == kind


async def test_sixteen_bits_of_grey_are_not_cut_to_eight(room: MediaRoom, stage: Stage) -> None:
    noise, out = os.urandom(2 * 2_000 * 2_000), BytesIO()
    Image.frombytes("I;16", (2_000, 2_000), noise).save(out, "PNG", compress_level=0)
    *_, part = await shown(room, stage("a.png", out.getvalue()))
    with Image.open(BytesIO(part["inline_data"]["data"])) as picture:
        assert picture.mode == "L"
        assert 100 < ImageStat.Stat(picture).mean[0] < 156


def test_every_format_has_a_reader() -> None:
    Image.init()
    assert set(convert._FORMATS) <= set(Image.OPEN)


@pytest.mark.parametrize("form", ["GIF", "TIFF"])
async def test_of_an_animation_the_first_frame_is_shown_and_that_is_said(
    room: MediaRoom, stage: Stage, form: str
) -> None:
    note, part = await shown(room, stage("a", animation(form)))
    assert note == {"text": "[File a: only its first frame is shown]"}
    with Image.open(BytesIO(part["inline_data"]["data"])) as png:
        assert png.convert("RGB").getpixel((0, 0)) == (255, 0, 0)


async def test_a_picture_lies_as_its_camera_says(room: MediaRoom, stage: Stage) -> None:
    exif = Image.Exif()
    exif[ORIENTATION] = 6
    untouched = image("JPEG", exif=exif)
    (part,) = await shown(room, stage("a.jpg", untouched))
    assert part["inline_data"]["data"] == untouched
    (part,) = await shown(room, stage("a.tif", image("TIFF", exif=exif)))
    with Image.open(BytesIO(part["inline_data"]["data"])) as png:
        assert png.size == (20, 32)
        assert ORIENTATION not in png.getexif()


@pytest.mark.parametrize(("form", "mode", "shape"), [("JPEG", "L", (2_561, 4_096)), ("TIFF", "1", (4_096, 2_561))])
async def test_a_huge_picture_is_scaled_down(
    room: MediaRoom, stage: Stage, form: str, mode: str, shape: tuple[int, int]
) -> None:
    huge, exif = BytesIO(), Image.Exif()
    exif[ORIENTATION] = 6 if form == "JPEG" else 1
    Image.new(mode, (8_000, 5_001)).save(huge, form, exif=exif)
    note, part = await shown(room, stage("a", huge.getvalue()))
    scaled = f"scaled down from 8000 x 5001 to {shape[0]} x {shape[1]} pixels"
    assert note == {"text": f"[File a: {scaled}]"}
    with Image.open(BytesIO(part["inline_data"]["data"])) as picture:
        assert (picture.format, picture.size) == ("JPEG", shape)
        assert ORIENTATION not in picture.getexif()


@pytest.mark.parametrize(
    ("form", "mode", "sent", "size", "edge"),
    [
        ("PNG", "RGB", "JPEG", 1_600, 1_600),
        ("PNG", "RGBA", "PNG", 1_400, 1_024),
        ("BMP", "RGB", "JPEG", 1_600, 1_600),
    ],
)
async def test_a_heavy_picture_is_made_lighter(
    room: MediaRoom, stage: Stage, form: str, mode: str, sent: str, size: int, edge: int
) -> None:
    out = BytesIO()
    Image.frombytes(mode, (size, size), os.urandom(size * size * len(mode))).save(out, form, compress_level=0)
    *_, part = await shown(room, stage("a", out.getvalue()))
    assert len(part["inline_data"]["data"]) < convert.BYTES < len(out.getvalue())
    with Image.open(BytesIO(part["inline_data"]["data"])) as picture:
        assert (picture.format, picture.mode, picture.size) == (sent, mode, (edge, edge))


async def test_a_picture_is_opened_once_however_often_it_is_sent(room: MediaRoom, stage: Stage) -> None:
    blocks = [stage(name, image("GIF")) for name in ("a", "b")]
    first, second = await shown(room, *blocks)
    assert first["inline_data"]["data"] is second["inline_data"]["data"]
    assert (await shown(room, blocks[0]))[0]["inline_data"]["data"] is first["inline_data"]["data"]


def bomb(width: int) -> bytes:
    """A PNG that says it is `width` pixels wide and high."""
    whole = bytearray(image("PNG"))
    whole[16:24] = struct.pack(">II", width, width)
    from zlib import crc32

    whole[29:33] = struct.pack(">I", crc32(bytes(whole[12:29])))
    return bytes(whole)


@pytest.mark.parametrize(
    ("name", "data", "declared", "said"),
    [
        ("deck.pptx", b"PK\3\4\xff", "", "deck.pptx (application/octet-stream, 5 bytes) is not shown: this"),
        ("a.zip", b"PK\3\4\xff\0", "application/zip", "a.zip (application/zip, 6 bytes) is not shown: this model does"),
        ("a", b"PK\3\4\xff\0", "", "a (application/octet-stream, 6 bytes) is not shown: this model does not take"),
        ("a.silk", b"\2#!SILK_V3\xff", "audio/silk", "(audio/silk, 11 bytes) is not shown: this model does not take"),
        ("a.amr", b"#!AMR\n\xff", "", "audio/amr"),
        ("a.mid", b"MThd\0\0\0\6", "", "audio/midi"),
        ("a.mkv", b"\x1aE\xdf\xa3\xff\0", "", "video/x-matroska"),
        ("a.ogv", b"OggS\xff" + bytes(24) + b"theora", "", "video/ogg"),
        ("a.txt", b"a\0b", "text/plain", "a.txt (application/octet-stream, 3 bytes) is not shown"),
        ("a.png", image("PNG")[:60], "", "a.png (image/png, 60 bytes) is not shown: it is broken"),
        ("a.jpg", b"\xff\xd8\xff\xe0", "", "it is broken"),
        ("a.gif", b"\xff\0", "image/gif", "it is broken"),
        ("a.heic", b"\xff\0", "image/heic", "(application/octet-stream, 2 bytes) is not shown: this model does not"),
        ("a.pdf", b"\xff" * 1_020 + PDF, "application/pdf", "a.pdf (application/octet-stream, 1,"),
        ("a.png", bomb(10_000), "", "10000 x 10000 pixels are too many|it has too many pixels"),
        ("a.png", bomb(7_500), "", "7500 x 7500 pixels are too many"),
        ("a.png", bomb(60_000), "", "it has too many pixels"),
        ("a.png", b"", "image/png", "a.png (image/png, 0 bytes) is not shown: it is empty"),
        ('a\n\x1b[2J`\u202e"\0.zip', b"PK\3\4\0", "x/\ny", "[File a [2J'\" .zip (application/zip, 5 bytes) is not"),
    ],
)
async def test_what_cannot_be_shown_is_named(
    room: MediaRoom, stage: Stage, name: str, data: bytes, declared: str, said: str
) -> None:
    # complaint 85
    (part,) = await shown(room, stage(name, data, declared))
    assert any(each in part["text"] for each in said.split("|"))
    assert part["text"].count("\n") == 0


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda path: None, "No such file or directory"),
        (Path.mkdir, "it is no regular file"),
        (os.mkfifo, "it is no regular file"),
        (lambda path: path.symlink_to(path), "symbolic links"),
    ],
    ids=["missing", "folder", "pipe", "loop"],
)
async def test_what_cannot_be_read_is_named(
    room: MediaRoom, tmp_path: Path, make: Callable[[Path], Any], why: str
) -> None:
    path = tmp_path / "a.png"
    make(path)
    held = open_files()
    (part,) = await shown(room, MediaBlock(path=str(path), mime_type="image/png", name="a.png"))
    assert part["text"].startswith("[File a.png (image/png) is not shown: it cannot be read (")
    assert why in part["text"]
    assert open_files() == held


async def test_a_file_without_a_size_is_read(room: MediaRoom) -> None:
    (part,) = await shown(room, MediaBlock(path="/proc/self/status", mime_type="", name="status"))
    assert part["text"].startswith("[File status]\nName:")
    (part,) = await shown(room, MediaBlock(path="/proc/self/cmdline", mime_type="", name="c"))
    assert "c (application/octet-stream, 0 bytes)" not in part["text"]


async def test_a_path_that_is_none_is_named(room: MediaRoom) -> None:
    for path in ("", "\0", "\ud800"):
        (part,) = await shown(room, MediaBlock(path=path, mime_type="", name="x"))
        assert "it cannot be read" in part["text"]


async def test_older_files_come_first_within_the_limit(room: MediaRoom, stage: Stage, tmp_path: Path) -> None:
    def film(name: str, size: int) -> MediaBlock:
        block = stage(name, container(b"isom"))
        os.truncate(block.path, size)
        return block

    films = [film("a", 10_000_000), film("b", 5_000_001), film("c", 5_000_000), film("d", 1_000)]
    turns = [
        Turn(role="user", blocks=(films[0],)),
        Turn(role="user", blocks=(ResultBlock(call_id="c", name="f", output=None, media=(films[1],)), films[2])),
    ]
    parts = await room.parts(turns, None)
    assert ["inline_data" in parts[each][0] for each in films[:3]] == [True, False, True]
    assert "b (video/mp4, 5,000,001 bytes) is not shown: it is too large to send" in parts[films[1]][0]["text"]
    later = await room.parts([*turns, Turn(role="user", blocks=(films[3],))], None)
    assert {block: later[block] for block in films[:3]} == parts
    assert INLINE_LIMIT == 15_000_000


@pytest.mark.parametrize(
    ("name", "head", "size"), [("a.pdf", PDF, 50_000_001), ("a.mp4", container(b"isom"), 2_000_000_001)]
)
async def test_what_the_api_never_takes_is_named(
    room: MediaRoom, stage: Stage, name: str, head: bytes, size: int
) -> None:
    block = stage(name, head)
    os.truncate(block.path, size)
    (part,) = await shown(room, block)
    assert "bytes can be sent" in part["text"]


async def test_a_family_gets_what_it_takes(stage: Stage) -> None:
    room = MediaRoom(profile=profile_of("gemma-3-27b"), uploads=None)
    picture, voice = await shown(room, stage("a.gif", image("GIF")), stage("a.wav", sound()))
    assert picture["inline_data"]["mime_type"] == "image/png"
    assert "a.wav (audio/wav, 1,444 bytes) is not shown: this model does not take this type" in voice["text"]


@settings(max_examples=40)
@given(
    start=st.sampled_from(
        [b"", PDF, image("PNG"), image("GIF"), image("TIFF"), image("JPEG"), sound(), b"BM", b"\xff\xfe"]
    ),
    cut=st.integers(0, 400),
    rest=st.binary(max_size=60),
    name=st.text(st.characters(codec=None), max_size=8),
    declared=st.sampled_from(["", "image/png", "text/plain", "application/zip", "video/mp4", "\ud800;"]),
)
async def test_no_file_makes_a_request_fail(
    tmp_path_factory: pytest.TempPathFactory, start: bytes, cut: int, rest: bytes, name: str, declared: str
) -> None:
    path = tmp_path_factory.getbasetemp() / "any"
    path.write_bytes(start[:cut] + rest)
    room = MediaRoom(profile=profile_of("gemini-3.5-flash"), uploads=None)
    for part in await shown(room, MediaBlock(path=str(path), mime_type=declared, name=name)):
        assert list(rules.media("here", part)) == []
        part.get("text", "").encode()


async def test_fifty_pictures_over_fifty_turns(room: MediaRoom, stage: Stage) -> None:
    # complaint 84
    talk = Talk()
    for number in range(50):
        block = stage(f"{number}.gif", image("GIF", size=(30, 20 + number)))
        attached = Attachment(name=block.name, path=block.path, mime_type="image/gif")
        talk.prompt("look", files=(attached,))
        request = compile_turns(talk.records, talk.steps, TurnRequest(), provider="gemini")
        (parts,) = (await room.parts(request.turns, None)).values()
        assert "inline_data" in parts[0]
        talk.answer("nice")
    assert str(request.turns).count("stripped from history") == 49


def test_converted_pictures_are_kept_within_bounds() -> None:
    pictures, gifs = Pictures(kept=3_000), [image("GIF", size=(20 + n, 20)) for n in range(9)]
    once = [pictures.of(gif, None) for gif in gifs]
    again = [pictures.of(gif, None) for gif in gifs[-2:]]
    assert [each is kept for each, kept in zip(once[-2:], again, strict=True)] == [True, True]
    assert pictures.of(gifs[0], None) is not once[0]
    assert pictures.of(gifs[0], None) == once[0]


@pytest.mark.parametrize(
    ("name", "head", "size", "tokens"),
    [
        ("a.txt", b"word " * 20_000, 100_000, 25_050),
        ("long.log", b"word " * 200_000, 1_000_000, TEXT_LIMIT // 4 + 50),
        ("a.pdf", PDF, 5_000_000, 50_050),
        ("a.mp3", b"ID3\4\0\xff", 480_000, 60 * 32 + 50),
        ("a.mp4", container(b"isom"), 17_400_000, 17_450),
        ("a.png", image("PNG"), 100_000, MEDIA),
        ("a.gif", image("GIF"), 100_000, MEDIA),
        ("a.zip", b"PK\x03\x04", 1_000_000, 50),
    ],
)
def test_what_a_file_costs_is_known_before_it_is_sent(
    stage: Stage, name: str, head: bytes, size: int, tokens: int
) -> None:
    block, profile = stage(name, head), profile_of("gemini-3.5-flash")
    os.truncate(block.path, size)
    result = ResultBlock(call_id="c", name="f", output="", media=(block,))
    once, twice = (Turn(role="user", blocks=blocks) for blocks in ((block,), (block, result)))
    assert beyond_pictures([once], profile) + MEDIA == tokens
    assert beyond_pictures([twice], profile) + 2 * MEDIA == tokens + 50


def test_files_that_cannot_be_opened_cost_the_line_that_says_so(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    blocks = [MediaBlock(path=str(tmp_path / name), mime_type="audio/ogg", name=name) for name in ("pipe", "gone")]
    turn = Turn(role="user", blocks=tuple(blocks))
    assert beyond_pictures([turn], profile_of("gemini-3.5-flash")) + 2 * MEDIA == 2 * 50
