"""Files that must be refused, for every reader, and what the sentence must say."""

from __future__ import annotations

import gzip
import io
import json
import pickle
import struct
import zipfile
import zlib
from collections.abc import Mapping
from functools import cache

import numpy as np

from tests.explorer.parts.hostile.accepted import accepted_files, gltf, npy, npz, ply

Refused = tuple[str, bytes, str]  # the name of the file, its content, a pattern of the sentence


_LISTED = (  # a coordinate of which each vertex has a list
    b"ply\nformat ascii 1.0\nelement vertex 3\nproperty list uchar float x\nproperty float y\nproperty float z\n"
    b"element face 1\nproperty list uchar int vertex_indices\nend_header\n1 0 0 0\n1 1 0 0\n1 1 1 0\n3 0 1 2\n"
)


def claiming(shape: tuple[int, ...], kind: str = "<f8") -> bytes:
    """Return the header of an NPY without its numbers."""
    text = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}".encode().ljust(117) + b"\n"
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(text)) + text


def bomb(name: str, head: bytes, megabytes: int, packing: int = zipfile.ZIP_DEFLATED) -> bytes:
    """Return an archive with an array of zeros: deflate packs a thousand of them into a byte, bzip2 a million."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", packing) as archive, archive.open(name, "w") as member:
        member.write(head)
        for _ in range(megabytes):
            member.write(bytes(2**20))
    return file.getvalue()


def _circle(case: str) -> bytes:
    """Return a TIFF whose last page is followed by its first."""
    content = bytearray(accepted_files()[case][1])
    at = first = struct.unpack_from("<I", content, 4)[0]
    while True:
        (entries,) = struct.unpack_from("<H", content, at)
        pointer = at + 2 + 12 * entries
        if not (after := struct.unpack_from("<I", content, pointer)[0]):
            struct.pack_into("<I", content, pointer, first)
            return bytes(content)
        at = after


def _entries(count: int) -> bytes:
    """Return a TIFF whose first page has so many entries, all of them alike."""
    return b"II*\0\x08\0\0\0" + struct.pack("<H", count) + struct.pack("<HHII", 254, 4, 1, 0) * count + bytes(4)


def _tagged(case: str, changes: Mapping[int, tuple[int, int | None]]) -> bytes:
    """Return a TIFF with other types and values of the tags of its first page."""
    content = bytearray(accepted_files()[case][1])
    at = struct.unpack_from("<I", content, 4)[0] + 2
    while tag := struct.unpack_from("<H", content, at)[0]:
        kind, value = changes.get(tag, (0, None))
        if kind:
            struct.pack_into("<H", content, at + 2, kind)
        if value is not None:
            struct.pack_into("<H", content, at + 8, value)
        if tag >= max(changes):
            return bytes(content)
        at += 12
    raise AssertionError(f"{case} has not all of these tags")


def _chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def _png(side: int) -> bytes:
    body = zlib.compress(bytes(1000))
    head = struct.pack(">IIBBBBB", side, side, 8, 6, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", head) + _chunk(b"IDAT", body) + _chunk(b"IEND", b"")


def _without_palette() -> bytes:
    head = struct.pack(">IIBBBBB", 29, 29, 8, 3, 0, 0, 0)
    body = zlib.compress(bytes(30 * 29))
    return b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", head) + _chunk(b"IDAT", body) + _chunk(b"IEND", b"")


def _stride_zero() -> bytes:
    import torch

    file = io.BytesIO()
    index = torch.zeros(2, 1, dtype=torch.long)
    torch.save({"x": torch.ones(1).expand(1000, 3_000_000), "edge_index": index}, file)
    return file.getvalue()


def _safetensors(header: dict[str, object]) -> bytes:
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text


def _of(case: str) -> bytes:
    return accepted_files()[case][1]


def _csr(**changed: np.ndarray) -> dict[str, np.ndarray]:
    """Return the arrays of a sparse matrix of two nodes, some of them changed."""
    ends = {"indices": np.array([0, 1]), "indptr": np.array([0, 1, 2]), "data": np.ones(2)}
    return ends | {"format": np.array(b"csr"), "shape": np.array([2, 2])} | changed


def _locked(flag: int = 1) -> bytes:
    """Return an archive with a flag at its first member: locked by a password, 0x20 that it is a patch of another."""
    content = bytearray(_of("points-npz"))
    content[content.find(b"PK\3\4") + 6] |= flag
    content[content.find(b"PK\1\2") + 8] |= flag
    return bytes(content)


def _pickled(opcodes: bytes) -> bytes:
    """Return what torch.save would have written, with that for a pickle."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a/data.pkl", opcodes)
        archive.writestr("a/version", b"3")
    return file.getvalue()


class _Calls:
    def __reduce__(self) -> tuple[object, ...]:
        return io.open, ("executed", "w")


def _cut(case: str, share: float = 0.5) -> bytes:
    content = _of(case)
    return content[: int(len(content) * share)]


def _with(case: str, old: bytes, new: bytes) -> bytes:
    content = _of(case)
    assert old in content
    return content.replace(old, new, 1)


@cache
def refused_files() -> Mapping[str, tuple[Refused, ...]]:
    """Return the files for each reader by its name."""
    market = b"%%MatrixMarket matrix coordinate real general\n"
    nifti = _of("nifti")
    xyz = "3\nProperties=species:S:1:pos:R:3\n"
    return {
        "image": (
            ("a.png", _png(8000), "cannot hold"),
            ("a.png", _cut("png"), "truncated"),
            ("a.jpg", _cut("jpeg"), "truncated"),
            ("a.png", _without_palette(), "a part that it needs is missing"),
            ("a.png", _png(29)[:33] + _chunk(b"IEND", b""), "0 bytes cannot hold its 29x29 pixels"),
            ("a.gif", _with("gif", struct.pack("<HH", 14, 12), b"\0\x20\0\x20"), "a file of"),
            (
                "a.png",
                _with("png", b"\0\0\0\0IEND", _chunk(b"zTXt", b"key\0\1x") + bytes(4) + b"IEND"),
                "zTXt is packed",
            ),
            ("a.png", _png(29)[:33] + _chunk(b"cHRM", b"x") + _png(29)[33:], "its block cHRM is cut off"),
            (
                "a.bmp",
                _of("bmp")[:28] + b"\10\0" + _of("bmp")[30:46] + b"\0\0\2\0" + _of("bmp")[50:],
                "more colours than",
            ),
            ("a.bmp", _of("bmp")[:28] + b"  " + _of("bmp")[30:], "claims 8224 bits for a pixel"),
        ),
        "tiff": (
            ("a.tif", _cut("tiff"), "truncated|damaged"),
            ("a.tif", b"II*\0" + bytes(20), "no picture"),
            ("a.tif", b"II*\0\xff\xff\xff\x7f", "truncated"),
            ("a.tif", _tagged("tiff-lzw", {258: (2, None), 262: (3, 6)}), "3 channels of unknown bits, YCBCR, LZW"),
            ("a.tif", _circle("tiff"), "circle"),
            ("a.tif", _tagged("tiff", {278: (3, 0)}), "its strips have 0 rows"),
            ("a.tif", _tagged("stack-zip", {258: (3, 2)}), "packed in a way that is not read"),
            ("a.tif", _entries(65535), "its page claims 65535 entries"),
            ("a.tif", _circle("tiff-zip"), "circle"),
        ),
        "array": (
            ("a.npy", claiming((8000, 8000)), "truncated"),
            ("a.npy", claiming((90000, 90000)), "longest side"),
            ("a.npz", bomb("x.npy", claiming((8000, 8000)), 8), "truncated"),
            ("a.npz", bomb("x.npy", claiming((4000, 5000)), 160, zipfile.ZIP_BZIP2), "packed with bzip2 or LZMA"),
            ("a.npy", claiming((3, 3), "|O"), "Python objects"),
        ),
        "stack": (
            ("a.tif", _circle("stack"), "circle"),
            ("a.tif", _circle("stack-zip"), "circle"),
            ("a.tif", _cut("stack", 0.99), "truncated|damaged"),
            ("a.tif", _cut("stack-zip", 0.9), "truncated|damaged"),
        ),
        "volume-array": (
            ("a.npy", claiming((500, 500, 500)), "truncated"),
            ("a.npy", claiming((9000, 9000, 9000)), "the most is"),
            ("a.npz", bomb("volume.npy", claiming((500, 500, 500)), 4), "truncated"),
        ),
        "nifti": (
            ("a.nii", _cut("nifti"), "truncated"),
            ("a.nii.gz", gzip.compress(_cut("nifti", 0.3)), "truncated|damaged"),
            ("a.nii", bytes(400), "no NIfTI"),
            ("a.nii", nifti[:70] + struct.pack("<hh", 128, 24) + nifti[74:], "records of R, G, B, not"),
            ("a.nii", nifti[:116] + struct.pack("<f", float("nan")) + nifti[120:], "finite"),
            ("a.nii.gz", gzip.compress(gzip.compress(nifti)), "."),
            ("a.nii", nifti[:40] + struct.pack("<5h", 4, 1, 1, 1, 1) + nifti[50:352], "0 are there"),
            ("a.nii", nifti[:252] + struct.pack("<hhf", 1, 0, 3.0) + nifti[260:], "rotation in its header"),
        ),
        "edges": (
            ("a.csv", b"# nodes: 16000000\n0,1\n1,2\n", "claims 16000000 nodes"),
            ("a.edges", b"0\n1\n", "one column"),
            ("a.edges", b"0 1 2\n1 2 x\n", "'x'"),
            ("a.csv", b"source,target\n0,\n", "no target"),
            ("a.edges", b"a" * 400_000 + b",b\nc,d\n", "more than 131072 characters"),
            ("a.csv", b"," * 3_000_000, "more than 1048576 characters"),
            ("a.edges", b"a b " + b"{'w':" * 3000 + b"1" + b"}" * 3000 + b"\n", "line 1|nested"),
        ),
        "matrix-text": (
            ("a.csv", b",a,b,c,d\n", "a heading and no line"),
            ("a.txt", b"0 1 1\n1 0 x\n1 1 0\n", "line 2"),
        ),
        "graphml": (
            ("a.graphml", _cut("graphml"), "damaged in line"),
            ("a.graphml", b"<graphml><!--" + b"a" * 20_000_000, "a tag or a comment in it has more than"),
            ("a.graphml", b"a" * 8_000_000, "damaged in line 1, column 1"),
            ("a.graphml", _with("graphml", b"</node>", b"</nude>"), "damaged in line 6, column"),
            ("a.graphml", _with("graphml", b"2.0", b"two"), "not a number"),
            ("a.graphml", b"<!DOCTYPE a [<!ENTITY b 'c'>]><graphml/>", "document type"),
            ("a.graphml", b"<graphml>" * 100, "nested"),
            ("a.graphml", b'<?xml version="1.0" encoding="utf-7"?><graphml/>', "encoding that is not read"),
        ),
        "gml": (
            ("a.gml", _cut("gml"), "truncated|no value"),
            (
                "a.gml",
                b"graph [\n \xff\xfe",
                "line 2 of the GML cannot be read at a sign that GML does not have, column 2",
            ),
            ("a.gml", b"graph [ " + b"node [ " * 100, "nested"),
            ("a.gml", b"graph [ node [ id 0 ] edge [ source 0 target 9 ] ]", "no such node"),
        ),
        "node-link": (
            ("a.json", _cut("node-link"), "damaged in line"),
            ("a.json", b"null", "holds null"),
            ("a.json", b"[[0.1, 0.2], [0.3, 1]]", "holds a list"),
            ("a.json", b'[["a", "b"], ["a"]]', "holds a list"),
            ("a.json", b'[["a", "b", "far"]]', "holds a list"),
            ("a.json", b'{"nodes": ' + b"[" * 99999, "nested|damaged"),
            ("a.json", b'{"nodes": [{"id": 1}], "links": [{"source": 1}]}', "no 'source' and 'target'"),
            ("a.json", b'{"x": ' + b"9" * 5000 + b"}", "more than 4,300 digits"),
        ),
        "adjacency": (
            ("a.mtx", market + b"3 3 1\n1 2 \x001\n", "no number"),
            ("a.mtx", market + b"9 9 99999\n1 2 1\n", "more than the file"),
            ("a.mtx", b"%%MatrixMarket matrix array real general\n16000 16000\n1\n", "more than the file"),
            ("a.mtx", market + b"16000000 16000000 1\n1 2 1\n", "claims 16000000 nodes"),
            ("a.mtx", market + b"3 3 2\n1 2 1\n", "truncated"),
            ("a.mtx", b"%%MatrixMarket\n", "line 1 does not say 'matrix'"),
            ("a.mtx", market + b"3 3 2\n1 2 1\n2 3 4x\n", "after its first 5 numbers"),
            ("a.mtx", market + b"3 3 1\n1 2 1 4\n", "more numbers"),
            ("a.npz", bomb("adjacency.npy", claiming((32000, 32000)), 4), "the most is 16384"),
            ("a.npz", npz(adjacency=np.ones((3, 4))), "not square"),
            ("a.npz", npz(**_csr(format=np.array([b"csr", b"csr"]))), "several values where one is told"),
            ("a.npz", npz(**_csr(indptr=np.array([0, 2**40, 2]))), "."),
            ("a.npz", npz(**_csr(indices=np.array([-1, 5]))), "."),
        ),
        "tensors": (
            ("a.pt", _stride_zero(), "claims 3000000000 numbers and 1 are there"),
            ("a.pt", _cut("pt"), "archive"),
            ("a.pt", bytes(5000), "none of torch's formats"),
            ("a.pt", b"\x80\x02\x8a\x02ab.", "none of torch's formats"),
            ("a.pt", b"<!DOCTYPE html><title>404 Not Found</title>", "none of torch's formats"),
            ("a.pt", bomb("a/data.pkl", b"\x80\2", 160, zipfile.ZIP_BZIP2), "packed with bzip2 or LZMA"),
            ("a.pt", _pickled(b"\x80\x02" + b"]" * 500_000 + b"a" * 499_999 + b"."), "."),
            ("a.pt", _pickled(b"\x80\x02]r\xff\xff\xff\x7f."), "."),
            ("a.pt", _pickled(pickle.dumps(_Calls(), 2)), "run code|never run|not tensors|no dict"),
            (
                "a.safetensors",
                _safetensors({"x": {"dtype": "F32", "shape": [9, 9], "data_offsets": [0, 324]}}),
                "damaged",
            ),
            ("a.safetensors", struct.pack("<Q", 2**40) + b"{}", "damaged"),
        ),
        "molfile": (
            ("a.mol", _cut("mol"), "truncated|no atom"),
            ("a.mol", _with("mol", b"  1  2  1  0", b"  1  9  1  0"), "atom 9"),
            ("a.sdf", _with("sdf", b"V30 1 2 1 2", b"V30 x 2 1"), "no bond|no line|atom"),
        ),
        "smiles": (
            ("a.smi", b"C(C\n", "no molecule"),
            ("a.smi", b"C" * 10_001, "the most is 10000"),
            ("a.smi", b"C\0C\n", "no text"),
        ),
        "xyz": (
            ("a.xyz", b"9\nwater\nO 0 0 0\n", "truncated"),
            ("a.xyz", b"1\nx\nQq 0 0 0\n", "no chemical element"),
            ("a.xyz", b"999999999\nx\nO 0 0 0\n", "the most is"),
        ),
        "off": (
            ("a.off", b"OFF\n12000000 4000000 0\n0 0 0\n", "truncated"),
            ("a.off", _with("off", b"1.0", b"one"), "'one'"),
            ("a.off", _with("off", b"4 0 1 3 2", b"9 0 1 3 2"), "claims 9 corners"),
        ),
        "obj": (
            ("a.obj", _with("obj", b"f 1//1", b"f 99//1"), "vertex 99"),
            ("a.obj", b"f 1 2 3\n", "no line 'v x y z'"),
            ("a.obj", _with("obj", b"v 0.0", b"v nan"), "finite|not a number|NaN|nan"),
        ),
        "stl": (
            ("a.stl", _cut("stl", 0.9), "truncated"),
            ("a.stl", _with("stl-text", b"endsolid", b"")[:600], "truncated"),
            ("a.stl", bytes(80) + b"\xff\xff\xff\xff" + bytes(50), "the most is|claims"),
        ),
        "ply": (
            ("a.ply", ply()[:-3], "truncated"),
            ("a.ply", ply().replace(b"face 6", b"face 4000000"), "truncated"),
            ("a.ply", ply().replace(b"face 6", b"face 99999999999"), "the most is"),
            ("a.ply", ply("").replace(b"4 0 1 3 2", b"5 0 1 3 2"), "takes 6"),
            ("a.ply", _LISTED, "x of its vertices is a list"),
            ("a.ply", ply().replace(b"float z", b"float x"), "'x' of 'vertex' a second time"),
        ),
        "vtk": (
            ("a.vtk", _cut("vtk"), "truncated"),
            ("a.vtk", _with("vtk", b"POINTS 8", b"POINTS 99999999999"), "the most is"),
            ("a.vtk", _with("vtk-text", b"POINTS 8 float", b"POINTS 8 words"), "of the type 'words'"),
        ),
        "vtk-xml": (
            ("a.vtp", _cut("vtp"), "damaged in line"),
            ("a.vtp", _with("vtp", b'="8"', b'="9"'), "27"),
            (
                "a.vtp",
                _with("vtp", b'<Points><DataArray type="Float32"', b"<Points><DataArray"),
                "does not say of what type",
            ),
            ("a.vtp", _with("vtp", b'<?xml version="1.0"?>', b"<!DOCTYPE a>"), "document type"),
        ),
        "gltf": (
            ("a.glb", _cut("glb"), "truncated"),
            ("a.gltf", _with("gltf", b'"count": 8', b'"count": 8000000'), "beyond its buffer"),
            ("a.gltf", gltf(nodes=20_000), "10000 parts"),
            (
                "a.gltf",
                _with("gltf", b'"count": 8', b'"count": "%s"' % (b"8" * 999)),
                "'count' is '8{30,}.*, which is no size",
            ),
            ("a.gltf", _cut("gltf"), "cannot be read at line"),
            ("a.gltf", _with("gltf", b'"2.0"', b'{"a":' * 200 + b"1" + b"}" * 200), "glTF an object; "),
            ("a.gltf", _with("gltf", b";base64,", ";base64,\ufeff".encode()), "buffer 0 are no base64"),
            ("a.gltf", _with("gltf", b'"uri": "data:', b'"uri": "http://a/'), "elsewhere"),
        ),
        "persona-chat": (
            ("a.persona", b"1 your persona: a.\n", "no turn"),
            ("a.persona", b"2 your persona: a.\n", "begins the file"),
            ("a.persona", b"1 hi\tyes\t\t" + b"a|" * 2000 + b"b\n", "the most is 1000"),
        ),
        "series-json": (
            ("a.json", b'[{"x": 1}, {"x": 2}', "damaged in line 1"),
            ("a.json", b'[{"x": 1}, [2]]', "no list of records"),
            ("a.json", b'{"x": [1, 2], "y": [1]}', "not equally long"),
            ("a.json", b'[{"x": 1, "y": ' + b"[" * 9999, "plain JSON|damaged"),
        ),
        "jsonl": (
            ("a.jsonl", _cut("jsonl"), "is no JSON; correct"),
            ("a.jsonl", b'{"a": 1}\n[2]\n', "line 2"),
            ("a.jsonl", b"{" * 9999, "line 1|nested"),
        ),
        "text": (
            ("a.text", b"a\0b", "control character"),
            ("a.text", "é ".encode() + b"\xff", "UTF-8"),
            ("a.text", b"\n", "nothing but"),
        ),
        "series-array": (
            ("a.npy", claiming((1_000_000,)), "truncated"),
            ("a.npy", claiming((2**40,)), "the most is"),
            ("a.npz", bomb("series.npy", claiming((1_000_000, 8)), 2), "truncated"),
        ),
        "series": (
            ("a.csv", b"t,a\n0,1\n1,x\n2,3\n", "'x'"),
            ("a.csv", b"t,a\n1,1\n0,2\n", "not later"),
            ("a.csv", b"t,a\n0,1,2\n", "column"),
            ("a.csv", b"0.5," * 5000 + b"1\n", "the most is 4096"),
        ),
        "sound": (
            ("a.wav", _cut("wav"), "truncated"),
            ("a.ogg", _cut("ogg"), "truncated"),
            ("a.flac", _cut("flac"), "truncated|damaged"),
            ("a.flac", _of("flac")[:42] + bytes(60), "damaged near its beginning; save"),
            ("a.aiff", _cut("aiff", 0.1), "truncated|missing|damaged"),
        ),
        "fasta": (("a.fa", b">a\nAC1T\n", "line 2"), ("a.fq", b"@a\nACGT\n+\nII\n", "line"), ("a.fa", b">a\n", "no")),
        "pcd": (
            ("a.pcd", _with("pcd", b"POINTS 8", b"POINTS 4000000"), "truncated"),
            ("a.pcd", _with("pcd-text", b"POINTS 8", b"POINTS 9"), "truncated"),
            ("a.pcd", _with("pcd", b"DATA binary", b"DATA packed"), "'packed'"),
            ("a.pcd", _with("pcd", b"SIZE 4", b"SIZE 65536"), "size that it has not"),
            ("a.pcd", b"# .PCD v0.7\nFIELDS\nSIZE\nTYPE\nPOINTS 8\nDATA ascii\n", "no x, y and z"),
            ("a.pcd", _with("pcd", b"POINTS 8", b"POINTS x"), "after POINTS is no whole number"),
            (
                "a.pcd",
                _with("pcd", b"DATA binary\n", b"DATA binary_compressed\n" + struct.pack("<II", 2**31, 96)),
                "claims 2,147,483,648 compressed bytes",
            ),
        ),
        "points-npy": (
            ("a.npy", npy(np.full((9, 3), np.nan)), "finite place"),
            ("a.npy", claiming((900_000, 3)), "truncated"),
            ("a.npy", claiming((True, 3)) + bytes(24), "a side that is no whole number"),
        ),
        "points-npz": (
            ("a.npz", npz(points=np.ones((3, 4))), r"\(points, 3\)"),
            ("a.npz", _locked(), "locked by a password"),
            ("a.npz", _locked(0x20), "packed in a way that is not known"),
            ("a.npz", npz(points=np.full((3, 3), np.nan)), "finite"),
            ("a.npz", bomb("points.npy", claiming((900_000, 3)), 2), "truncated"),
            ("a.npz", bomb("points.npy", claiming((12_000_000, 3), "<f2"), 69), "12,000,000 points"),
        ),
        "points-ply": (
            ("a.ply", _with("points-ply", b"vertex 8", b"vertex 4000000"), "truncated"),
            ("a.ply", _with("points-ply-text", b"vertex 8", b"vertex 9"), "truncated"),
            ("a.ply", _cut("points-ply", 0.9), "truncated"),
        ),
        "extxyz": (
            ("a.extxyz", xyz.replace("3", "999999999", 1).encode() + b"C 0 0 0\n", "truncated"),
            ("a.extxyz", xyz.replace("pos:R", "pos:[[").encode() + b"C 0 0 0\n" * 3, "a type that is none of S, R"),
            ("a.extxyz", xyz.replace("R:3", "R:1000000000").encode() + b"C 0 0 0\n" * 3, "columns"),
            ("a.extxyz", _with("extxyz", b"pos:R:3", b"pos:R:0"), "places that are not three"),
            ("a.extxyz", xyz.replace("pos:", ":").encode() + b"C 0 0 0\n" * 3, "no name that can be read"),
            ("a.extxyz", xyz.encode() + b"C 0 0 0\n", "truncated"),
            ("a.extxyz", _with("extxyz", b'Lattice="5', b'Lattice="nan'), "the cell of point 0 is no finite number"),
            ("a.extxyz", xyz.encode() + b"C 0 0 0\nC 0 0\nC 0 0 0\n", "line 4 has 3 columns"),
            ("a.extxyz", xyz.encode() + b"C 0 0 0\nC 0 1,5 0\nC 0 0 0\n", "line 4: column 3 is no number"),
        ),
        "pdb": (("a.pdb", b"ATOM  \n", "line 1: columns 31"), ("a.pdb", b"HEADER a\nEND\n", "no atoms|no whole")),
        "cif": (
            ("a.cif", b"data_a\nloop_\n", "structure|damaged"),
            ("a.cif", _cut("cif"), "structure|damaged|cell"),
            ("a.cif", _of("cif") + b"loop_\n_symmetry_equiv_pos_as_xyz\nx,y,z\n-x,-y,-z+1/0\n", "its space group"),
            (
                "a.cif",
                _of("cif") + b"loop_\n_symmetry_equiv_pos_as_xyz\nx,y,-z+1" + b"0" * 400 + b"/3\n",
                "finite|space group",
            ),
            ("a.cif", _with("cif", b"5.64", b"q" * 5000), "of the cell is 'q{37}\\.\\.\\.', and no number; correct it"),
        ),
    }
