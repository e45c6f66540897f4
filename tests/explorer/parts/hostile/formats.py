"""Make files of one format that lie about their structure: packed, nested, or with headers that fit nothing."""

from __future__ import annotations

import gzip
import json
import re
import struct
import warnings
import zipfile
import zlib
from collections.abc import Callable, Mapping
from io import BytesIO
from random import Random
from typing import Any

from tests.explorer.parts.hostile.accepted import gltf

Made = tuple[str, bytes]  # the name of the file, its content
WORDS = (
    *(b"-1", b"0", b"-0", b"00", b"+1", b"1.", b".5", b"1e", b"1e5", b"1e308", b"1e999", b"-1e999", b"nan", b"-nan"),
    *(b"inf", b"Infinity", b"None", b"True", b"null", b"1_000", b"0x1F", b"0b1", b"1j", b"1+2j", b"1/2", b"1,5"),
    *(b"2147483647", b"-2147483648", b"4294967296", b"9223372036854775808", b"-9223372036854775809", b"1" * 5000),
    *("٣".encode(), "½".encode(), "²".encode(), "−1".encode(), "１".encode(), "Größe".encode(), "한글".encode()),
    *("\u202e1".encode(), "\ufeff1".encode(), "\u20281".encode(), "e\u0301".encode(), "😀".encode(), b"\xed\xa0\x80"),
    *(b"\xc0\x80", b"\x1a", b"\x85", b"\x0b", b"\x00", b"%s%n", b"{0}", b"../../etc/passwd", b"=1+1", b"a" * 70_000),
    *(b"[]", b"{}", b"()", b"''", b'""', b"<", b"&", b"#", b"$", b"*", b"?", b"\\", b"\\u0000", b"lambda:0", b"x[0]"),
)  # fmt: skip
VALUES = (0, 1, 2, 3, 4, 7, 8, 16, 31, 32, 127, 128, 255, 256, 32767, 32768, 65535, 65536, 2**24, 2**31 - 1, 2**31,
           2**32 - 1, 2**32, 2**53, 2**62, 2**63 - 1, 2**63, 2**64 - 1)  # fmt: skip
_JSON: tuple[object, ...] = (
    None, True, False, [], {}, "", "\0", "\ud800", -1, 0, 1, 3, 0.5, -0.0, 1e308, 2**31, 2**53 + 1, 2**63, 2**64,
    10**400, float("nan"), float("inf"), -float("inf"), [[]], [None], [1, 2, 3], {"a": 1}, "1", "x" * 70_000,
    "한글\u202e",
    [[[[[[[[[[]]]]]]]]]], [0] * 5000,
)  # fmt: skip
_LITERALS = (
    "-1", "True", "None", "2**9", "1e3", "1.0", "'3'", "[3]", "(3,)", "9" * 30, "9" * 5000, "0x7f", "1_0", "()", "{}",
    "f'{1}'", "x", "lambda: 0", "__import__('os')", "(" * 90 + ")" * 90, "-" * 500 + "1", "3 if 1 else 2", "...", "1j",
)  # fmt: skip
_KINDS = ("<f8", ">f8", "<f2", "<f16", "<c16", "|b1", "|i1", ">i8", "<u8", "|O", "<M8[ns]", "<m8[D]", "|S0", "|S9",
          "<U0", "<U3", "|V0", "|V8", "<f3", "f8,f8", "", "<f8,", "2<f4", "object", "<i999999999", "(2,2)f4",
          "[('a', '<f8')]", "[('a', '<f8', (2, 2))]", "[('a', [('b', '|O')])]", "[]", "5", "None")  # fmt: skip


# formats that hold others -------------------------------------------------------------------------------------
def _changed_json(value: Any, chance: Random) -> Any:
    """Return a value of JSON with one thing in it replaced, left out, renamed or repeated."""
    if isinstance(value, dict) and value and chance.random() < 0.75:
        key = chance.choice(list(value))
        if (what := chance.random()) < 0.1:
            return {k: v for k, v in value.items() if k != key}
        if what < 0.15:
            return {(f"{k}x" if k == key else k): v for k, v in value.items()}
        return value | {key: _changed_json(value[key], chance)}
    if isinstance(value, list) and value and chance.random() < 0.75:
        at = chance.randrange(len(value))
        if (what := chance.random()) < 0.1:
            return value[:at] + value[at + 1 :]
        if what < 0.2:
            return value + [value[at]] * chance.choice((1, 2000))
        return [*value[:at], _changed_json(value[at], chance), *value[at + 1 :]]
    return chance.choice(_JSON)


def changed_json(chance: Random, case: str, name: str, content: bytes) -> Made | None:
    if case in ("gltf", "node-link"):
        made = json.loads(content)
        for _ in range(chance.choice((1, 1, 2, 3))):
            made = _changed_json(made, chance)
        return name, json.dumps(made).encode("utf-8", "surrogatepass")
    if case == "jsonl":
        rows = [_changed_json(json.loads(row), chance) for row in content.splitlines()]
        return name, "\n".join(map(json.dumps, rows)).encode("utf-8", "surrogatepass")
    if case == "safetensors":
        (size,) = struct.unpack_from("<Q", content)
        text = json.dumps(_changed_json(json.loads(content[8 : 8 + size]), chance)).encode()
        return name, struct.pack("<Q", len(text)) + text + content[8 + size :]
    if case == "glb":
        (size,) = struct.unpack_from("<I", content, 12)
        text = json.dumps(_changed_json(json.loads(content[20 : 20 + size]), chance)).encode()
        text += b" " * (-len(text) % 4)
        rest = content[20 + size :]
        body = struct.pack("<II", len(text), 0x4E4F534A) + text + rest
        return name, b"glTF" + struct.pack("<II", 2, 12 + len(body)) + body
    return None


def changed_deep(chance: Random, case: str, name: str, content: bytes) -> Made | None:
    depth = chance.choice((50, 500, 5_000, 100_000))
    made: Mapping[str, Callable[[], bytes]] = {
        "node-link": lambda: b'{"nodes": ' + b"[" * depth + b"]" * depth + b"}",
        "jsonl": lambda: b'{"x": ' * depth + b"1" + b"}" * depth,
        "gml": lambda: b"graph [ node [ id 0 " + b"a [ " * depth + b"] " * depth + b"] ]",
        "graphml": lambda: content.replace(b"<node", b"<graph>" * depth + b"<node", 1),
        "vtp": lambda: content.replace(b"<Piece", b"<Piece>" * depth + b"<Piece", 1),
        "gltf": lambda: _chain(depth, chance.random() < 0.5),
        "smiles": lambda: chance.choice((b"C(" * depth + b"C" + b")" * depth, b"C1CC" * depth, b"[C@@H]" * depth)),
        "nifti-gz": lambda: _gzipped(_gzipped(content)),
        "npz": lambda: _zipped({"a.npz": content}),
        "npy": lambda: _claiming("(" * depth + "3" + ",)" * depth),
        "edges-named": lambda: b"a b {'x': " + b"[" * depth + b"]" * depth + b"}\n",
    }  # fmt: skip
    return (name, made[case]()) if case in made else None


def _chain(depth: int, circle: bool) -> bytes:
    whole = json.loads(gltf())
    nodes = [{"children": [k + 1]} for k in range(depth)] + [{"mesh": 0, "children": [0]} if circle else {"mesh": 0}]
    return json.dumps(whole | {"nodes": nodes, "scenes": [{"nodes": [0]}]}).encode()


def _claiming(shape: str, kind: str = "'<f8'", order: str = "False", version: int = 1, more: str = "") -> bytes:
    text = f"{{'descr': {kind}, 'fortran_order': {order}, 'shape': {shape}, {more}}}\n".encode()
    return b"\x93NUMPY" + bytes((version, 0)) + struct.pack("<H" if version == 1 else "<I", len(text) % 65536) + text


def changed_header(chance: Random, case: str, name: str, content: bytes) -> Made | None:
    """Write a header of an array in Python's words that are none of an array's."""
    if not case.endswith(("npy", "npz")):
        return None
    shape = chance.choice((*_LITERALS, f"({chance.choice(_LITERALS)}, 3)", f"(3, {chance.choice(_LITERALS)}, 3)"))
    kind = chance.choice(_KINDS)
    kind = kind if kind[:1] in "[5N" else f"'{kind}'"
    usual = chance.random() < 0.4
    head = _claiming(
        "(4, 3)" if usual else shape, kind if usual or chance.random() < 0.2 else "'<f8'",
        chance.choice(("False", "True", "1", "None", "'x'")), chance.choice((1, 1, 1, 2, 3, 9)),
        chance.choice(("", "", "'more': 1", "'shape': (1,)", "**{}")),
    )  # fmt: skip
    raw = head + bytes(chance.choice((0, 1, 96, 5000)))
    if case.endswith("npy"):
        return name, raw
    with zipfile.ZipFile(BytesIO(content)) as archive:
        key = chance.choice(archive.namelist())
        members = {n: archive.read(n) for n in archive.namelist()}
    return name, _zipped(members | {key: raw}, chance)


def _gzipped(content: bytes) -> bytes:
    return gzip.compress(content, mtime=0)  # the time of day would make another file each time


def _zipped(members: Mapping[str, bytes], chance: Random | None = None) -> bytes:
    file = BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED if chance and chance.random() < 0.5 else 0) as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name), content, archive.compression)
    return file.getvalue()


def changed_archive(chance: Random, case: str, name: str, content: bytes) -> Made | None:
    """Make an archive whose members are renamed, doubled, packed otherwise or not where they are said to be."""
    if content[:2] != b"PK":
        return None
    with zipfile.ZipFile(BytesIO(content)) as archive:
        members = [(n, archive.read(n)) for n in archive.namelist()]
    k = chance.randrange(len(members))
    match chance.randrange(7):
        case 0:
            names = (
                "../../x.npy",
                "/etc/passwd",
                "C:\\x",
                "",
                "a/",
                "x\0y.npy",
                "한글.npy",
                "\u202e.npy",
                "x" * 60_000,
            )
            members[k] = chance.choice(names), members[k][1]
        case 1:
            members.append((members[k][0], chance.choice(members)[1]))
        case 2:
            members = members * chance.choice((2, 200))
        case 3:
            members[k] = members[k][0], bytes(chance.choice((0, 1, 10**6)))
        case 4:
            members[k] = members[k][0], content
        case _:
            pass
    file = BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with zipfile.ZipFile(file, "w", chance.choice((0, 8, 12, 14))) as archive:
            for n, c in members:
                archive.writestr(zipfile.ZipInfo(n or "_"), c, archive.compression)
            archive.comment = chance.choice((b"", b"", b"x" * 60_000))
    made = bytearray(file.getvalue())
    if chance.random() < 0.6:  # a number of a header is another one
        mark = chance.choice((b"PK\1\2", b"PK\3\4", b"PK\5\6"))
        found = [m.start() for m in re.finditer(re.escape(mark), made)]
        if found:
            at = chance.choice(found) + chance.randrange(4, 22 if mark == b"PK\5\6" else 40, 2)
            if at + 4 <= len(made):
                form = chance.choice(("<H", "<I"))
                struct.pack_into(form, made, at, chance.choice(VALUES) & (2 ** (8 * struct.calcsize(form)) - 1))
    return name, bytes(made)


def changed_bomb(chance: Random, case: str, name: str, content: bytes) -> Made | None:
    """Pack what is a thousand times as large as the file, behind a head that fits."""
    zeros = 2 ** chance.choice((20, 24, 27))
    if case == "nifti-gz":
        return name, _gzipped(gzip.decompress(content) + bytes(zeros))
    if case.startswith("png"):
        body = zlib.compress(bytes(zeros), 9)
        kind = chance.choice((b"zTXt", b"iCCP", b"IDAT", b"iTXt"))
        told = {b"zTXt": b"a\0\0", b"iCCP": b"a\0\0", b"IDAT": b"", b"iTXt": b"a\0\1\0\0\0"}[kind] + body
        chunk = struct.pack(">I", len(told)) + kind + told + struct.pack(">I", zlib.crc32(kind + told))
        return name, content[:33] + chunk * chance.choice((1, 1, 8)) + content[33:]
    if case == "vtp-zip":
        return name, content.replace(b"<Piece", b"<!--" + b"x" * 10**6 + b"--><Piece", 1)
    if case.endswith("npz") or case == "matrix-csr":
        with zipfile.ZipFile(BytesIO(content)) as archive:
            members = {n: archive.read(n) for n in archive.namelist()}
        file = BytesIO()
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            for n, c in members.items():
                archive.writestr(zipfile.ZipInfo(n), c + bytes(zeros), archive.compression)
        return name, file.getvalue()
    return None


def changed_xml(chance: Random, case: str, name: str, content: bytes) -> Made | None:
    if case not in ("graphml", "vtp", "vtp-zip"):
        return None
    entity = b'<!DOCTYPE a [<!ENTITY b "%s">]>'
    doing: tuple[Callable[[], bytes], ...] = (
        lambda: content.replace(b"?>", b"?>" + entity % (b"x" * 100), 1),
        lambda: content.replace(b"?>", b'?><!DOCTYPE a SYSTEM "file:///etc/passwd">', 1),
        lambda: content.replace(b'version="1.0"', b'version="1.0" encoding="%s"' % chance.choice(
            (b"utf-16", b"cp037", b"bogus", b"utf-7", b"latin-1", b"x" * 3000)), 1),
        lambda: content.replace(b">", b"><!--" + b"-x" * 30_000 + b"-->", chance.choice((1, 3))),
        lambda: content.replace(b">", b"><![CDATA[" + b"x" * 30_000 + b"]]>", 3),
        lambda: content.replace(b">", b"><?php echo 1 ?>", 5),
        lambda: re.sub(rb' \w+="[^"]*"', b"", content, count=chance.choice((1, 2, 5))),
        lambda: re.sub(rb'"[^"]*"', lambda m: b'"' + chance.choice((m[0], *WORDS)).replace(b'"', b"") + b'"', content),
        lambda: content.replace(b"<node", b"<node " + b" ".join(b'a%d="1"' % k for k in range(5000)), 1),
        lambda: re.sub(rb"<(\w+)", lambda m: b"<" + chance.choice((m[1], b"a", b"graph", b"data", b"Piece")), content),
        lambda: content.replace(b"</", b"&lt;&#0;</", 1),
        lambda: content.replace(b"</", b"&#xD800;&bogus;</", 1),
    )  # fmt: skip
    return name, chance.choice(doing)()


def changed_tags(chance: Random, case: str, name: str, content: bytes) -> Made | None:
    """Change the type, the count or the value of an entry of a TIFF."""
    if not case.startswith(("tiff", "stack")) or content[:4] != b"II*\0":
        return None
    data = bytearray(content)
    (at,) = struct.unpack_from("<I", data, 4)
    for _ in range(chance.choice((0, 0, 1, 3))):  # a later page
        (entries,) = struct.unpack_from("<H", data, at)
        (after,) = struct.unpack_from("<I", data, at + 2 + 12 * entries)
        at = after or at
    (entries,) = struct.unpack_from("<H", data, at)
    for _ in range(chance.choice((1, 1, 2))):
        place = at + 2 + 12 * chance.randrange(entries)
        match chance.randrange(5):
            case 0:
                struct.pack_into(
                    "<H",
                    data,
                    place,
                    chance.choice(
                        (
                            254,
                            256,
                            257,
                            258,
                            259,
                            262,
                            273,
                            277,
                            279,
                            284,
                            317,
                            320,
                            322,
                            324,
                            330,
                            338,
                            339,
                            347,
                            34412,
                            50838,
                            65000,
                        )
                    ),
                )
            case 1:
                struct.pack_into("<H", data, place + 2, chance.choice((*range(19), 255)))
            case 2:
                struct.pack_into("<I", data, place + 4, chance.choice(VALUES) & 0xFFFFFFFF)
            case _:
                struct.pack_into(
                    "<I", data, place + 8, chance.choice((*VALUES, 5, 6, 32773, 34712, 50000)) & 0xFFFFFFFF
                )
    return name, bytes(data)


_TAGS = (254, 256, 257, 258, 259, 262, 273, 277, 279, 284, 317, 320, 322, 324, 330, 338, 339, 347, 34412, 50838, 65000)
_NIFTI = (
    ("<i", 0), *(("<h", 40 + 2 * k) for k in range(8)), ("<h", 70), ("<h", 72), *(("<f", 76 + 4 * k) for k in range(8)),
    ("<f", 108), ("<f", 112), ("<f", 116), ("<h", 252), ("<h", 254), *(("<f", 280 + 4 * k) for k in range(12)),
)  # fmt: skip


def changed_nifti(chance: Random, case: str, name: str, content: bytes) -> Made | None:
    if case not in ("nifti", "nifti-gz"):
        return None
    data = bytearray(gzip.decompress(content) if case == "nifti-gz" else content)
    for _ in range(chance.choice((1, 1, 2, 4))):
        form, at = chance.choice(_NIFTI)
        if form == "<f":
            struct.pack_into(
                form, data, at, chance.choice((0.0, -1.0, 1e30, 1e38, float("nan"), float("inf"), 1e-38, 352.5))
            )
        else:
            size = 8 * struct.calcsize(form)
            whole = chance.choice((*VALUES, 348, 540, 64, 512, 1024, 1536, 1792, 2304)) & (2**size - 1)
            struct.pack_into(form, data, at, whole - 2**size if whole >= 2 ** (size - 1) else whole)
    return name, _gzipped(bytes(data)) if case == "nifti-gz" else bytes(data)
