"""What a file is, by its content where that is cheap: declared MIME types are often missing or wrong.

Pure. `HEAD` bytes of a file are enough.
"""

import codecs
import re
from functools import cache
from mimetypes import MimeTypes

HEAD = 64 * 1024
"""Bytes of a file that are looked at."""
UNKNOWN = "application/octet-stream"

_SIGNATURES: tuple[tuple[bytes, str], ...] = (
    (rb"\x89PNG\r\n\x1a\n", "image/png"),
    (rb"\xff\xd8\xff", "image/jpeg"),
    (rb"RIFF.{4}WEBP", "image/webp"),
    (rb"GIF8[79]a", "image/gif"),
    (rb"BM.{4}\0{4}", "image/bmp"),
    (rb"II\*\0|MM\0\*", "image/tiff"),
    (rb"\0\0\x01\0", "image/x-icon"),
    (rb"icns", "image/icns"),
    (rb"\0\0\0\x0cjP  |\xffO\xffQ", "image/jp2"),
    (rb"8BPS\0", "image/vnd.adobe.photoshop"),
    (rb"qoif", "image/qoi"),
    (rb"DDS \x7c\0\0\0", "image/vnd.ms-dds"),
    (rb".{4}ftyp(avi[fs]|(mif1|msf1).{4}(.{4}){0,12}avi[fs])", "image/avif"),
    (rb".{4}ftyp(he[iv][a-z]|mif1|msf1)", "image/heic"),
    (rb".{4}ftypM4[AB] ", "audio/mp4"),
    (rb".{4}ftypqt  ", "video/quicktime"),
    (rb".{4}ftyp3g", "video/3gpp"),
    (rb".{4}ftyp", "video/mp4"),
    (rb"\x1aE\xdf\xa3.{0,60}webm", "video/webm"),
    (rb"\x1aE\xdf\xa3", "video/x-matroska"),
    (rb"RIFF.{4}AVI ", "video/avi"),
    (rb"0&\xb2u\x8ef\xcf\x11", "video/wmv"),
    (rb"FLV\x01", "video/x-flv"),
    (rb"\0\0\x01[\xb3\xba]", "video/mpeg"),
    (rb"RIFF.{4}WAVE", "audio/wav"),
    (rb"FORM.{4}AIF[CF]", "audio/aiff"),
    (rb"OggS.{24,40}theora", "video/ogg"),
    (rb"OggS", "audio/ogg"),
    (rb"fLaC", "audio/flac"),
    (rb"ID3|\xff[\xf2\xf3\xfa\xfb]", "audio/mp3"),
    (rb"\xff[\xf0\xf1\xf8\xf9]", "audio/aac"),
    (rb"\x02?#!SILK", "audio/silk"),
    (rb"#!AMR", "audio/amr"),
    (rb"MThd", "audio/midi"),
    (rb"PK\x03\x04", UNKNOWN),
)
"""How a file begins -> its type; first match wins. A zip may be any office format: its name tells."""
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_EITHER = frozenset({"video/mp4", "video/webm", "video/wmv"})
"""Containers of which only the name or the sender says that there is nothing but sound in them. Not 3GP: Python's table
says so of every film of it."""
_TOLD_BY_CONTENT = frozenset({"application/pdf", "image/heic", "image/heif"})
"""Types that no name and no sender can give: they would be sent unseen, and be refused."""
_PDF, _JUNK = b"%PDF-", 1024
"""How a PDF begins, after so many bytes of anything at most."""
_SOUND = {".m4a": "audio/mp4", ".weba": "audio/webm", ".wma": "audio/x-ms-wma"}
"""Names of containers with nothing but sound."""


@cache
def _names() -> MimeTypes:
    """Python's own table, the same on every machine, with what it lacks. It takes 20 ms to make."""
    names = MimeTypes()
    for ending, kind in _SOUND.items():
        names.add_type(kind, ending)
    return names


def kind_of(head: bytes, name: str, declared: str) -> str:
    """The MIME type of a file that begins with `head`; "text/plain" for any text, UNKNOWN if nothing tells."""
    if head.startswith(_PDF):
        return "application/pdf"
    if head and encoding_of(head) is not None:
        return "text/plain"
    if _PDF in head[:_JUNK]:
        return "application/pdf"
    hints = [hint for hint in (_names().guess_type(name)[0], _bare(declared)) if hint and hint != UNKNOWN]
    found = next((mime for pattern, mime in _SIGNATURES if re.match(pattern, head, re.DOTALL)), UNKNOWN)
    if found in _EITHER and any(hint.startswith("audio/") for hint in hints):
        return found.replace("video", "audio")
    if found == UNKNOWN:
        found = next((hint for hint in hints if hint not in _TOLD_BY_CONTENT), UNKNOWN)
    return UNKNOWN if found.startswith("text/") and b"\0" in head else found


def encoding_of(head: bytes) -> tuple[int, str] | None:
    """(length of the byte order mark, encoding) if `head` begins a text: UTF-8 or by a mark, and without NUL."""
    mark, encoding = next(((mark, name) for mark, name in _BOMS if head.startswith(mark)), (b"", "utf-8"))
    try:
        text = codecs.getincrementaldecoder(encoding)().decode(head[len(mark) :])
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else (len(mark), encoding)


def _bare(mime_type: str) -> str:
    return mime_type.partition(";")[0].strip().lower()
