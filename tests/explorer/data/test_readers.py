"""Every reader against good, cut, mutated and lying files: a sample, or one clear sentence."""

from __future__ import annotations

import base64
import io
import json
import os
import pickle
import struct
import tracemalloc
import warnings
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import nibabel
import numpy as np
import pytest
import tifffile
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from PIL import Image
from safetensors.numpy import save

from explorer.data import in_process as reading
from explorer.data.formats.checks import oriented, scaled
from explorer.data.in_process import read_file, reader_of
from explorer.data.readers import Reader, ReadError, readers
from explorer.data.writers import write_file
from explorer.declare.samples import Sample
from explorer.declare.space import kinds
from explorer.declare.types.fields import Scalar
from explorer.spaces.grid.fields import grid
from explorer.spaces.grid.sample import image_sample
from explorer.work.limits import MAX_SIDE

Array = np.ndarray[Any, np.dtype[Any]]

_Y, _X = np.mgrid[:24, :30]
RGB8 = np.stack([_Y * 10, _X * 8, (_Y * _X * 7) % 256], -1).astype(np.uint8)  # (24, 30, 3), nothing symmetric
GREY8 = RGB8[..., 2]
RGB16 = (RGB8.astype(np.uint16) * 257) ^ (_Y * 37 + _X).astype(np.uint16)[..., None]  # both bytes matter
GREY16 = RGB16[..., 1]
FLOAT = (GREY8.astype(np.float32) - 77) / 13


def chw(array: Array) -> Array:
    return array[None] if array.ndim == 2 else array.transpose(2, 0, 1)


def by_pillow(array: Array | Image.Image, kind: str, **options: Any) -> bytes:
    file = io.BytesIO()
    (array if isinstance(array, Image.Image) else Image.fromarray(array)).save(file, kind, **options)
    return file.getvalue()


def by_tifffile(array: Array, **options: Any) -> bytes:
    file = io.BytesIO()
    tifffile.imwrite(file, array, **options)
    return file.getvalue()


def chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def png16(array: Array, colour: int, *more: bytes, bits: int = 16) -> bytes:
    """Encode (height, width, channels) without Pillow, with the Sub filter in every second row."""
    height, width = array.shape[:2]
    rows = []
    for y in range(height):
        row = array[y].astype(">u2").reshape(width, -1).view(np.uint8).reshape(width, -1)
        if y % 2:
            row = row - np.vstack([np.zeros((1, row.shape[1]), np.uint8), row[:-1]])
        rows.append(bytes([y % 2]) + row.tobytes())
    head = struct.pack(">IIBBBBB", width, height, bits, colour, 0, 0, 0)
    body = chunk(b"IDAT", zlib.compress(b"".join(rows)))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + b"".join(more) + body + chunk(b"IEND", b"")


def npy(array: Array) -> bytes:
    file = io.BytesIO()
    np.save(file, array, allow_pickle=False)
    return file.getvalue()


def npz(**arrays: Array) -> bytes:
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return file.getvalue()


def npy_header(text: str) -> bytes:
    raw = text.encode().ljust(117) + b"\n"
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(raw)) + raw


@cache
def examples() -> dict[str, tuple[str, str, bytes, Array | None]]:
    """{example: (reader, extension, content, exact values or None where the format loses some)}."""
    palette = Image.fromarray(RGB8).quantize(16)
    exact = np.asarray(palette.convert("RGB"))
    stack = np.stack([GREY8, GREY8[::-1], GREY8[:, ::-1]])
    return {
        "png": ("image", ".png", by_pillow(RGB8, "PNG"), chw(RGB8) / 255),
        "png-grey": ("image", ".png", by_pillow(GREY8, "PNG"), chw(GREY8) / 255),
        "png-grey16": ("image", ".png", by_pillow(GREY16, "PNG"), chw(GREY16) / 65535),
        "png-rgb16": ("image", ".png", png16(RGB16, 2), chw(RGB16) / 65535),
        "png-palette": ("image", ".png", by_pillow(palette, "PNG"), chw(exact) / 255),
        "png-1bit": ("image", ".png", by_pillow(GREY8 > 99, "PNG"), chw(GREY8 > 99)),
        "jpeg": ("image", ".jpg", by_pillow(RGB8, "JPEG", quality=95), None),
        "jpeg-progressive": ("image", ".jpeg", by_pillow(RGB8, "JPEG", progressive=True), None),
        "jpeg-grey": ("image", ".jpg", by_pillow(GREY8, "JPEG"), None),
        "webp": ("image", ".webp", by_pillow(RGB8, "WEBP"), None),
        "webp-lossless": ("image", ".webp", by_pillow(RGB8, "WEBP", lossless=True), chw(RGB8) / 255),
        "gif": ("image", ".gif", by_pillow(palette, "GIF"), chw(exact) / 255),
        "bmp": ("image", ".bmp", by_pillow(RGB8, "BMP"), chw(RGB8) / 255),
        "tiff-16": ("tiff", ".tif", by_tifffile(GREY16), chw(GREY16) / 65535),
        "tiff-big-endian": ("tiff", ".tif", by_tifffile(GREY16, byteorder=">"), chw(GREY16) / 65535),
        "tiff-bigtiff": ("tiff", ".tif", by_tifffile(GREY16, bigtiff=True), chw(GREY16) / 65535),
        "tiff-float": ("tiff", ".tiff", by_tifffile(FLOAT), chw(FLOAT)),
        "tiff-half": ("tiff", ".tiff", by_tifffile(FLOAT.astype(np.float16)), chw(FLOAT.astype(np.float16))),
        "tiff-double": ("tiff", ".tiff", by_tifffile(FLOAT.astype(np.float64)), chw(FLOAT)),
        "tiff-int16": ("tiff", ".tif", by_tifffile(FLOAT.astype(np.int16)), chw(FLOAT.astype(np.int16))),
        "tiff-rgb16-zip": (
            "tiff",
            ".tif",
            by_tifffile(RGB16, photometric="rgb", compression="zlib", predictor=True, rowsperstrip=7),
            chw(RGB16) / 65535,
        ),
        "tiff-planar": (
            "tiff",
            ".tif",
            by_tifffile(chw(RGB16), photometric="rgb", planarconfig="separate", tile=(16, 16)),
            chw(RGB16) / 65535,
        ),
        "tiff-lzw": ("tiff", ".tif", by_pillow(RGB8, "TIFF", compression="tiff_lzw"), chw(RGB8) / 255),
        "tiff-packbits": (
            "tiff",
            ".tif",
            by_pillow(GREY16, "TIFF", compression="packbits"),
            chw(GREY16) / 65535,
        ),
        "tiff-fax": ("tiff", ".tif", by_pillow(GREY8 > 99, "TIFF", compression="group4"), chw(GREY8 > 99)),
        "tiff-jpeg": ("tiff", ".tif", by_pillow(RGB8, "TIFF", compression="jpeg"), None),
        "tiff-1bit": ("tiff", ".tif", by_pillow(GREY8 > 99, "TIFF"), chw(GREY8 > 99)),
        "tiff-palette": ("tiff", ".tif", by_pillow(palette, "TIFF"), chw(exact) / 255),
        "tiff-white-is-zero": (
            "tiff",
            ".tif",
            by_tifffile(GREY16, photometric="miniswhite"),
            1 - chw(GREY16) / 65535,
        ),
        "tiff-channels": (
            "tiff",
            ".tif",
            by_tifffile(stack, photometric="minisblack", compression="zlib"),
            stack / 255,
        ),
        "tiff-imagej": (
            "tiff",
            ".tif",
            by_tifffile(stack, imagej=True, metadata={"axes": "CYX"}),
            stack / 255,
        ),
        "tiff-ome": ("tiff", ".tif", by_tifffile(stack, ome=True, metadata={"axes": "CYX"}), stack / 255),
        "npy": ("array", ".npy", npy(FLOAT), chw(FLOAT)),
        "npy-fortran": ("array", ".npy", npy(np.asfortranarray(RGB8)), chw(RGB8) / 255),
        "npy-big-endian": ("array", ".npy", npy(chw(RGB16).astype(">u2")), chw(RGB16) / 65535),
        "npz": ("array", ".npz", npz(picture=chw(FLOAT)[None]), chw(FLOAT)),
    }


def tensors_file() -> bytes:
    return save({"x": np.eye(3, dtype=np.float32), "edge_index": np.array([[0, 1], [1, 2]])})


def mol_file() -> bytes:
    atoms = "".join(f"{x:10.4f}{0.0:10.4f}{0.0:10.4f} {symbol:<3} 0\n" for x, symbol in ((0.0, "C"), (1.4, "O")))
    return f"methanol\n\n\n  2  1  0  0  0  0  0  0  0  0999 V2000\n{atoms}  1  2  1\nM  END\n".encode()


# {reader: (extension, content, domain, how much of it is cut off at the end)}; more in test_graph_readers.py
GRAPHS: dict[str, tuple[str, bytes, str, int]] = {
    "persona-chat": (".persona", b"1 your persona: i cook.\n2 hello .\thi .\t\tno .|hi .|x", "set", 1),
    "edges": (".csv", b"source,target,weight\na,b,1\nb,c,2\n", "graph", 4),
    "matrix-text": (".csv", b",a,b,c,d\na,0,1,0,1\nb,1,0,1,0\nc,0,1,0,1\nd,1,0,1,0\n", "graph", 40),
    "gml": (".gml", b"graph [\n node [ id 0 ]\n node [ id 1 ]\n edge [ source 0 target 1 ]\n]\n", "graph", 9),
    "graphml": (
        ".graphml",
        b"<graphml><graph edgedefault='directed'><node id='a'/><node id='b'/><edge source='a' target='b'/>"
        b"</graph></graphml>",
        "graph",
        9,
    ),
    "node-link": (".json", b'{"nodes": [{"id": 0}, {"id": 1}], "links": [{"source": 0, "target": 1}]}', "graph", 9),
    "adjacency": (".mtx", b"%%MatrixMarket matrix coordinate real general\n3 3 2\n1 2 1\n2 3 1\n", "graph", 6),
    "molfile": (".sdf", mol_file(), "graph", 20),
    "smiles": (".smi", b"CCO ethanol\nC1CCCCC1 cyclohexane\n", "graph", 15),
    "tensors": (".safetensors", tensors_file(), "graph", 9),
    "xyz": (".xyz", b"1 2 3\n4 5 6\n7 8 9\n", "set", 3),
}


def wav_file() -> bytes:
    form = struct.pack("<HHIIHH", 1, 1, 8000, 16000, 2, 16)
    body = b"WAVEfmt " + struct.pack("<I", 16) + form + b"data" + struct.pack("<I", 20) + bytes(range(20))
    return b"RIFF" + struct.pack("<I", len(body)) + body


# {reader: (extension, content, domain, how much of it is cut off at the end)}; more in test_sequence_readers.py
SEQUENCES: dict[str, tuple[str, bytes, str, int]] = {
    "series": (".csv", b"time,a,b\n0,1.5,2\n1,2.5,3\n", "sequence", 3),
    "series-array": (".npy", npy(np.arange(7.0)), "sequence", 3),
    "sound": (".wav", wav_file(), "sequence", 3),
    "text": (".text", "Sie gehen über die Brücke.".encode()[:-1] + "é".encode(), "sequence", 1),
    "fasta": (".fasta", b">one\nACGT\n", "sequence", 5),
    "jsonl": (".jsonl", b'{"a": 1}\n{"a": 2}\n', "sequence", 3),
    "series-json": (".json", b'[{"a": 1}, {"a": 2}]', "sequence", 3),
}


def gltf_file() -> bytes:
    data = np.eye(3, dtype="<f4").tobytes()
    whole = {
        "asset": {"version": "2.0"},
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
        "accessors": [{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3"}],
        "bufferViews": [{"buffer": 0, "byteLength": 36}],
        "buffers": [{"byteLength": 36, "uri": "data:;base64," + base64.b64encode(data).decode()}],
    }
    return json.dumps(whole).encode()


def vtp_file() -> bytes:
    def array(kind: str, name: str, text: str) -> str:
        return f'<DataArray type="{kind}" Name="{name}" format="ascii">{text}</DataArray>'

    cells = array("Int64", "connectivity", "0 1 2") + array("Int64", "offsets", "3")
    piece = f"<Points>{array('Float32', 'Points', '0 0 0 1 0 0 0 1 0')}</Points><Polys>{cells}</Polys>"
    piece = f'<PolyData><Piece NumberOfPoints="3" NumberOfPolys="1">{piece}</Piece></PolyData>'
    return f'<?xml version="1.0"?>\n<VTKFile type="PolyData">{piece}</VTKFile>'.encode()


# {reader: (extension, content, domain, how much of it is cut off at the end)}; more in test_mesh_readers.py
MESHES: dict[str, tuple[str, bytes, str, int]] = {
    "obj": (".obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "mesh", 9),
    "off": (".off", b"OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n", "mesh", 9),
    "ply": (
        ".ply", b"ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n"
        b"element face 1\nproperty list uchar int vertex_indices\nend_header\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n",
        "mesh", 9,
    ),
    "stl": (".stl", b"\0" * 80 + struct.pack("<I12fH", 1, *[0.0] * 6, 1.0, 0, 0, 0, 1, 0, 0), "mesh", 5),
    "gltf": (".gltf", gltf_file(), "mesh", 5),
    "vtk": (
        ".vtk", b"# vtk DataFile Version 3.0\nt\nASCII\nDATASET POLYDATA\nPOINTS 3 float\n0 0 0 1 0 0 0 1 0\n"
        b"POLYGONS 1 4\n3 0 1 2\n", "mesh", 9,
    ),
    "vtk-xml": (".vtp", vtp_file(), "mesh", 9),
}  # fmt: skip
# {reader: (extension, content, domain, how much of it is cut off at the end)}; more in test_points.py
POINTS: dict[str, tuple[str, bytes, str, int]] = {
    "extxyz": (".extxyz", b"2\nProperties=species:S:1:pos:R:3\nH 0 0 0\nH 0 0 0.74\n", "points", 12),
    "pdb": (".pdb", b"ATOM      1  N   ALA A   1      11.104   6.134  -6.504  1.00  0.00           N\n", "points", 40),
    "cif": (
        ".cif", b"data_a\n_cell_length_a 5\n_cell_length_b 5\n_cell_length_c 5\n_cell_angle_alpha 90\n"
        b"_cell_angle_beta 90\n_cell_angle_gamma 90\nloop_\n_atom_site_type_symbol\n_atom_site_fract_x\n"
        b"_atom_site_fract_y\n_atom_site_fract_z\nNa 0 0 0\n", "points", 9,
    ),
    "pcd": (
        ".pcd", b"# .PCD v0.7\nVERSION 0.7\nFIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nCOUNT 1 1 1\nWIDTH 2\nHEIGHT 1\n"
        b"POINTS 2\nDATA ascii\n1 2 3\n4 5 6\n", "points", 6,
    ),
    "points-ply": (
        ".ply", b"ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n"
        b"end_header\n0 0 0\n1 0 0\n0 1 0\n", "points", 9,
    ),
    "points-npy": (".npy", npy(np.linspace(-1, 1, 30).reshape(10, 3)), "points", 10),
    "points-npz": (".npz", npz(points=np.zeros((2, 3)) + np.arange(3.0)), "points", 30),
}  # fmt: skip
BLOCK = np.linspace(0, 1, 9 * 10 * 11, dtype=np.float32).reshape(9, 10, 11)
# more in tests/explorer/spaces/volume/test_readers.py
VOLUMES: dict[str, tuple[str, bytes, str, int]] = {
    "nifti": (".nii", nibabel.Nifti1Image(BLOCK, np.eye(4)).to_bytes(), "volume", 400),
    "stack": (".tif", by_tifffile(BLOCK, photometric="minisblack"), "volume", 400),
    "volume-array": (".npy", npy(BLOCK), "volume", 400),
}
EXAMPLES = sorted(examples())
# formats that say where they end: not one byte may be missing
COMPLETE = [name for name in EXAMPLES if name.startswith(("png", "jpeg", "webp", "bmp", "npy", "npz"))]


def place(folder: Path, name: str, content: bytes) -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def refused(path: Path, read: Callable[[Path], Sample] = read_file) -> str:
    """Read what must be refused; return the sentence after checking its form."""
    with pytest.raises(ReadError) as caught:
        read(path)
    return sentence(caught.value, path)


def sentence(error: ReadError, path: Path) -> str:
    text = str(error)
    assert "\n" not in text and text.endswith(".") and ";" in text, text
    assert path.name in text and text.count("cannot read") == 1, text
    assert "Traceback" not in text and " at 0x" not in text and len(text) < 700, text
    return text


def outcome(path: Path, read: Callable[[Path], Sample] = read_file) -> Array | None:
    """Read and return the values, or None for a ReadError; anything else, or any warning, is a failure."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            sample = read(path)
        except ReadError as error:
            sentence(error, path)
            sample = None
    assert not heard, [str(w.message) for w in heard]
    if sample is None:
        return None
    values = sample.x.values
    assert values.dtype == np.float32 and values.ndim == {"grid": 3, "volume": 4}.get(sample.domain, 2)
    assert all(np.isfinite(signal.values).all() for signal in sample.signals.values())
    return values


# the registry


def example_of(name: str) -> tuple[str, bytes, str, int]:
    """Return (extension, content, domain of the sample, bytes to cut off) of a file that the reader is for."""
    if name in (known := GRAPHS | SEQUENCES | MESHES | POINTS | VOLUMES):
        return known[name]
    extension, content = next((e[1], e[2]) for e in examples().values() if e[0] == name)
    return extension, content, "grid", len(content) // 2


def opened(path: Path, name: str) -> Sample:
    """Read a file by the reader of that name; skip where it needs a library that is not installed."""
    if name == "smiles":
        pytest.importorskip("rdkit")
    return read_file(path)


@pytest.mark.parametrize("name", sorted(readers()))
def test_every_reader_is_declared_whole_and_has_an_example(name: str) -> None:
    reader = readers()[name]
    assert reader.title and reader.domain in kinds()
    assert reader.extensions and all(e.startswith(".") and e == e.lower() for e in reader.extensions)
    # where several readers share an ending, all but one of them look into the file
    others = [e for r in readers().values() if r is not reader and not (r.fits or r.rates) for e in r.extensions]
    assert reader.fits or reader.rates or not set(reader.extensions) & set(others)
    assert any(example[0] == name for example in examples().values()) == (reader.domain == "grid")
    assert (name in GRAPHS) == (reader.domain in ("graph", "set"))
    assert (name in SEQUENCES) == (reader.domain == "sequence")
    assert (name in MESHES) == (reader.domain == "mesh")
    assert (name in POINTS) == (reader.domain == "points")
    assert (name in VOLUMES) == (reader.domain == "volume")
    for garbage in (b"", b"\0" * 64, b"hello world", b"PK", b"II", b"BM and more text follows here"):
        assert not reader.sniff(garbage)


@pytest.mark.parametrize("name", sorted(readers()))
def test_every_reader_reads_its_example(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    extension, content, domain, _ = example_of(name)
    assert extension in readers()[name].extensions
    path = place(tmp_path, "a file" + extension, content)
    inside = readers()[name].fits
    if inside is None or not inside(path):  # what looks into the file is asked before what looks at its first bytes
        assert [r.name for r in readers().values() if r.sniff(content[:64]) and r.name != name] == []
    sample = opened(path, name)
    assert (sample.domain, sample.name, sample.title) == (domain, "a file", "a file" + extension)
    assert sample.source == str(path) and not sample.x.values.flags.writeable
    # no other reader takes the file: what was just read came from this one
    broken = replace(readers()[name], read=lambda _: 1 / 0)  # type: ignore[arg-type, return-value]
    known = readers() | {name: broken}
    monkeypatch.setattr(reading, "readers", lambda: known)
    assert f"the reader {name!r} failed" in refused(path)


# what is in these could be many things: their name decides
ANY_TEXT = {"edges", "matrix-text", "series", "smiles", "text", "xyz"}


@pytest.mark.parametrize("name", sorted(set(readers()) - ANY_TEXT))
@pytest.mark.parametrize("ending", [".raw", ".bin", "", ".csv", ".txt", ".png", ".npy", ".json"])
def test_the_content_decides_where_the_name_does_not_fit(name: str, ending: str, tmp_path: Path) -> None:
    extension, content, *_ = example_of(name)
    named, misnamed = place(tmp_path, "a" + extension, content), place(tmp_path, "b" + ending, content)
    assert reader_of(misnamed).name == name
    expected, sample = read_file(named), read_file(misnamed)
    assert sample.domain == expected.domain and sample.signals.keys() == expected.signals.keys()
    assert all(np.array_equal(sample.signals[k].values, expected.signals[k].values) for k in sample.signals)


def test_what_content_tells_is_no_more_than_it_is(tmp_path: Path) -> None:
    """A molecule in XYZ and a text STL are told by their beginning; points and an essay on solids are not."""
    assert reader_of(place(tmp_path, "a.raw", b"2\nhydrogen\nH 0 0 0\nH 0 0 0.74\n")).name == "xyz"
    assert reader_of(place(tmp_path, "b.raw", b"solid a\n facet normal 0 0 1\n")).name == "stl"
    assert reader_of(place(tmp_path, "c.txt", b"solid as a rock, they said, and it was.\n")).name == "text"
    assert reader_of(place(tmp_path, "d.csv", b"1 2 3\n4 5 6\n7 8 9\n")).name == "edges"
    for content in (b"1 2 3\n", b'{"nodes": 3}', b'{"a": 1}\n', b"v 1 2 3\nw 1\n", b"M  END"):
        assert "none of the known types" in refused(place(tmp_path, "e.raw", content))


@pytest.mark.parametrize("name", sorted(readers()))
def test_every_reader_refuses_what_was_cut_off(name: str, tmp_path: Path) -> None:
    extension, content, _, cut = example_of(name)
    path = place(tmp_path, "cut" + extension, content[:-cut])
    refused(path)
    refused(path, readers()[name].read)


@pytest.mark.parametrize("name", sorted(readers()))
@pytest.mark.parametrize(
    "content", [b"", b"\0", b"II*\0\x08", b"hello, this is a text\n" * 9, os.urandom(999)], ids=len
)
def test_every_reader_refuses_what_is_not_its_own(name: str, content: bytes, tmp_path: Path) -> None:
    reader = readers()[name]
    if name == "text" and content.startswith(b"hello"):
        pytest.skip("any text is its own")
    path = place(tmp_path, "file" + reader.extensions[0], content)
    refused(path)
    refused(path, reader.read)
    if not content:
        assert "empty" in refused(path)


@pytest.mark.parametrize("name", sorted(readers()))
def test_every_reader_refuses_directories_and_missing_files(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = readers()[name]
    folder = tmp_path / f"folder{reader.extensions[0]}"
    folder.mkdir()
    missing = tmp_path / f"missing{reader.extensions[0]}"
    for read in (read_file, reader.read):
        assert "directory" in refused(folder, read)
        assert "no such file" in refused(missing, read)
    extension, content, *_ = example_of(name)
    path = place(tmp_path, "locked" + extension, content)

    def locked(*_: Any, **__: Any) -> Any:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", locked)  # root may read everything, so a mode would prove nothing
    assert "permission" in refused(path)


# good files


@pytest.mark.parametrize("name", EXAMPLES)
def test_values_are_as_encoded(name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    reader, extension, content, exact = examples()[name]
    path = place(tmp_path, "a picture" + extension, content)
    assert readers()[reader].sniff(content[:64])
    assert [r.name for r in readers().values() if r.sniff(content[:64])] == [reader]
    sample = read_file(path)
    values = sample.x.values
    assert values.dtype == np.float32 and not values.flags.writeable
    assert (sample.name, sample.title, sample.source) == ("a picture", "a picture" + extension, str(path))
    assert sample.x.field == grid(Scalar(intensity=True))
    if exact is None:
        original = GREY8 if "grey" in name else RGB8
        assert values.shape == chw(original).shape
        # the test picture is noisy: a loose bound that a swapped axis or channel still breaks
        assert np.abs(values - chw(original) / 255).mean() < 0.12
    else:
        assert_allclose(values, exact, atol=1e-7, rtol=1e-6)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("colour", [4, 6])
def test_deep_png_keeps_all_bits_under_opaque_alpha(colour: int, tmp_path: Path) -> None:
    pixels = (RGB16 if colour == 6 else GREY16[..., None]).astype(np.uint16)
    opaque = np.full((*pixels.shape[:2], 1), 65535, np.uint16)
    sample = read_file(place(tmp_path, "a.png", png16(np.dstack([pixels, opaque]), colour)))
    assert_allclose(sample.x.values, chw(pixels) / 65535, atol=1e-7)
    assert any("opaque" in note for note in sample.notes)
    alpha = (opaque * (_X[..., None] / 29)).astype(np.uint16)
    sample = read_file(place(tmp_path, "b.png", png16(np.dstack([pixels, alpha]), colour)))
    share = alpha / 65535
    assert_allclose(sample.x.values, chw(pixels / 65535 * share + 1 - share), atol=1e-6)


def test_transparent_colour_of_a_png_becomes_white(tmp_path: Path) -> None:
    r, g, b = (int(v) for v in RGB16[3, 4])
    key = chunk(b"tRNS", struct.pack(">HHH", r, g, b))
    sample = read_file(place(tmp_path, "a.png", png16(RGB16, 2, key)))
    expected = (RGB16 / 65535).copy()
    expected[(RGB16 == RGB16[3, 4]).all(-1)] = 1
    assert_allclose(sample.x.values, chw(expected), atol=1e-7)
    grey = read_file(place(tmp_path, "g.png", by_pillow(GREY8, "PNG", transparency=int(GREY8[3, 4]))))
    assert_allclose(grey.x.values[0], np.where(GREY8 == GREY8[3, 4], 1, GREY8 / 255), atol=1e-7)


def test_alpha_is_blended_over_white_and_said_so(tmp_path: Path) -> None:
    alpha = np.broadcast_to((_X * 8).astype(np.uint8)[..., None], (24, 30, 1))
    share = alpha / 255
    for name, content in {
        "a.png": by_pillow(np.dstack([RGB8, alpha]), "PNG"),
        "a.webp": by_pillow(np.dstack([RGB8, alpha]), "WEBP", lossless=True, exact=True),
        "a.tif": by_tifffile(np.dstack([RGB8, alpha]), photometric="rgb", extrasamples=["unassalpha"]),
        "b.tif": by_pillow(np.dstack([RGB8, alpha]), "TIFF", compression="tiff_lzw"),
    }.items():
        sample = read_file(place(tmp_path, name, content))
        assert_allclose(sample.x.values, chw(RGB8 / 255 * share + 1 - share), atol=1e-6, err_msg=name)
        assert "transparency blended over white" in sample.notes
    grey = read_file(place(tmp_path, "g.png", by_pillow(np.dstack([GREY8, alpha]), "PNG")))
    assert_allclose(grey.x.values, (GREY8 / 255 * share[..., 0] + 1 - share[..., 0])[None], atol=1e-6)
    premultiplied = (RGB8 * share).astype(np.uint8)
    content = by_tifffile(np.dstack([premultiplied, alpha]), photometric="rgb", extrasamples=["assocalpha"])
    sample = read_file(place(tmp_path, "p.tif", content))
    assert_allclose(sample.x.values, chw(premultiplied / 255 + 1 - share), atol=1e-6)


def test_palette_with_transparency(tmp_path: Path) -> None:
    palette = Image.fromarray(RGB8).quantize(16)
    clear = int(np.asarray(palette)[3, 4])
    expected = np.asarray(palette.convert("RGB")) / 255
    expected[np.asarray(palette) == clear] = 1
    by_index = by_pillow(palette, "PNG", transparency=clear)
    by_table = by_pillow(palette, "PNG", transparency=bytes(0 if i == clear else 255 for i in range(16)))
    gif = by_pillow(palette, "GIF", transparency=clear)
    for name, content in {"i.png": by_index, "t.png": by_table, "g.gif": gif}.items():
        sample = read_file(place(tmp_path, name, content))
        assert_allclose(sample.x.values, chw(expected), atol=1e-7, err_msg=name)
        assert "transparency blended over white" in sample.notes


def test_animations_give_their_first_frame(tmp_path: Path) -> None:
    frames = [Image.fromarray(a).quantize(16) for a in (RGB8, 255 - RGB8, RGB8[::-1].copy())]
    for kind, extension in (("GIF", ".gif"), ("PNG", ".png")):
        content = by_pillow(frames[0], kind, save_all=True, append_images=frames[1:])
        sample = read_file(place(tmp_path, "a" + extension, content))
        assert_allclose(sample.x.values, chw(np.asarray(frames[0].convert("RGB"))) / 255, atol=1e-7)
        assert any("first frame" in note for note in sample.notes)


UPRIGHT: dict[int, Callable[[Array], Array]] = {  # stored -> upright, from the definition of the tag
    1: lambda a: a,
    2: lambda a: a[:, ::-1],
    3: lambda a: np.rot90(a, 2),
    4: lambda a: a[::-1],
    5: lambda a: a.swapaxes(0, 1),
    6: lambda a: np.rot90(a, -1),
    7: lambda a: np.rot90(a, 2).swapaxes(0, 1),
    8: lambda a: np.rot90(a, 1),
}


@pytest.mark.parametrize("orientation", UPRIGHT)
def test_exif_orientation(orientation: int, tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x0112] = orientation
    expected = chw(UPRIGHT[orientation](RGB8)) / 255
    assert_array_equal(oriented(chw(RGB8).astype(np.float32), orientation)[0] / np.float32(255), np.float32(expected))
    for name, content in {
        "a.png": by_pillow(RGB8, "PNG", exif=exif),
        "a.webp": by_pillow(RGB8, "WEBP", lossless=True, exif=exif),
        "a.tif": by_tifffile(RGB8, photometric="rgb", extratags=[(274, "H", 1, orientation, True)]),
        "b.tif": by_pillow(RGB8, "TIFF", compression="tiff_lzw", tiffinfo={274: orientation}),
    }.items():
        sample = read_file(place(tmp_path, name, content))
        assert_allclose(sample.x.values, expected, atol=1e-6, err_msg=name)
        assert any(f"orientation {orientation}" in note for note in sample.notes) == (orientation != 1)
    sample = read_file(place(tmp_path, "a.jpg", by_pillow(RGB8, "JPEG", exif=exif, quality=95)))
    assert sample.x.values.shape == expected.shape and np.abs(sample.x.values - expected).mean() < 0.1


@pytest.mark.parametrize("compression", ["raw", "tiff_lzw"])
def test_sixteen_bit_colour_tiff_keeps_both_bytes(compression: str, tmp_path: Path) -> None:
    path = tmp_path / "a.tif"
    if compression == "raw":
        path.write_bytes(by_tifffile(RGB16, photometric="rgb"))
    else:
        # nothing installed writes this, so: an 8-bit LZW file of the same bytes, its tags rewritten
        wide = RGB16.astype("<u2").view(np.uint8)  # (24, 30, 6)
        content = bytearray(by_pillow(wide.reshape(24, 180)[:, :180], "TIFF", compression=compression))
        content = rewrite_tags(content, {256: 30, 258: 16, 262: 2, 277: 3})
        path.write_bytes(content)
    assert_allclose(read_file(path).x.values, chw(RGB16) / 65535, atol=1e-7)


def test_sixteen_bit_white_is_zero_through_libtiff(tmp_path: Path) -> None:
    content = rewrite_tags(bytearray(by_pillow(GREY16, "TIFF", compression="tiff_lzw")), {262: 0})
    assert_allclose(read_file(place(tmp_path, "a.tif", bytes(content))).x.values[0], 1 - GREY16 / 65535, atol=1e-6)


def rewrite_tags(content: bytearray, values: dict[int, int]) -> bytearray:
    """Set short tags of a little-endian TIFF in place."""
    (at,) = struct.unpack_from("<I", content, 4)
    (count,) = struct.unpack_from("<H", content, at)
    left = dict(values)
    for entry in range(at + 2, at + 2 + 12 * count, 12):
        tag, _ = struct.unpack_from("<HH", content, entry)
        if tag in left:
            struct.pack_into("<I", content, entry + 8, left.pop(tag))
    if left:  # move the table to the end, with the new entries in order
        old = bytes(content[at + 2 : at + 2 + 12 * count])
        entries = [old[i : i + 12] for i in range(0, len(old), 12)]
        entries += [struct.pack("<HHII", tag, 3, 1, value) for tag, value in left.items()]
        entries.sort(key=lambda e: struct.unpack_from("<H", e)[0])
        struct.pack_into("<I", content, 4, len(content))
        content += struct.pack("<H", len(entries)) + b"".join(entries) + b"\0\0\0\0"
    return content


def test_stacks_give_their_first_page_with_a_note(tmp_path: Path) -> None:
    pages = np.stack([FLOAT + i for i in range(6)])
    for name, content in {
        "stack.tif": by_tifffile(pages, photometric="minisblack"),
        "z.tif": by_tifffile(pages, imagej=True, metadata={"axes": "ZYX"}),
        "lzw.tif": by_pillow(
            Image.fromarray(FLOAT),
            "TIFF",
            compression="tiff_lzw",
            save_all=True,
            append_images=[Image.fromarray(p) for p in pages[1:]],
        ),
    }.items():
        sample = read_file(place(tmp_path, name, content))
        assert_array_equal(sample.x.values, FLOAT[None])
        assert any("first of 6 pages" in note for note in sample.notes), name


def test_a_stack_whose_axes_have_no_names_gives_its_first_page(tmp_path: Path) -> None:
    pages = np.arange(120, dtype=np.float32).reshape(2, 3, 1, 4, 5)
    sample = read_file(place(tmp_path, "many.tif", by_tifffile(pages, photometric="minisblack")))
    assert_array_equal(sample.x.values, pages[:, 0, 0])
    assert any("first of 3 pages" in note for note in sample.notes), sample.notes


@pytest.mark.parametrize("extension", [".jpg", ".tif", ".npy", ".txt", "", ".GIF"])
def test_content_wins_over_the_name(extension: str, tmp_path: Path) -> None:
    for name in ("png", "tiff-16", "npy", "npz"):
        reader, _, content, exact = examples()[name]
        sample = read_file(place(tmp_path, f"{name}{extension}", content))
        assert_allclose(sample.x.values, exact, atol=1e-7)
        if reader == "image":
            assert any("although the name ends in" in note for note in sample.notes)


# bad files


@pytest.mark.parametrize("name", EXAMPLES)
def test_cut_files_are_refused_or_whole(name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    _, extension, content, _ = examples()[name]
    whole = outcome(place(tmp_path, "whole" + extension, content))
    assert whole is not None
    size = len(content)
    cuts = {
        1,
        5,
        9,
        20,
        33,
        size // 5,
        size // 3,
        size // 2,
        size * 3 // 4,
        size * 9 // 10,
        size - 13,
        size - 1,
    }
    for cut in sorted(c for c in cuts if 0 < c < size):
        values = outcome(place(tmp_path, f"cut{cut}{extension}", content[:cut]))
        if name in COMPLETE:
            assert values is None, f"cut at {cut} of {size}"
        elif values is not None:  # what was lost held no pixels: a GIF's end mark, a TIFF's remarks
            assert_array_equal(values, whole, err_msg=f"cut at {cut} of {size}")
    assert capfd.readouterr() == ("", "")


def test_a_picture_of_which_libtiff_complains_is_refused(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    content = bytearray(examples()["tiff-fax"][2])
    (start,) = struct.unpack_from("<I", content, 4)
    strip = min(start, len(content)) if start > 8 else 8
    damaged = 0
    for at in range(8, strip if strip > 8 else len(content) - 8):
        bad = content.copy()
        bad[at] ^= 0xFF
        damaged += outcome(place(tmp_path, "a.tif", bytes(bad))) is None
    assert damaged > 0
    assert capfd.readouterr() == ("", "")


def test_a_tiff_strip_beyond_the_end_is_refused(tmp_path: Path) -> None:
    content = bytearray(by_tifffile(GREY16))
    path = place(tmp_path, "a.tif", bytes(rewrite_tags(content, {273: len(content) - 100})))
    assert "truncated" in refused(path) and str(len(content)) in refused(path)


def test_what_a_decoder_only_grumbles_about_stays_with_it(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    jpeg = by_pillow(RGB8, "JPEG", exif=b"Exif\0\0II*\0\x08\0\0\0\x05\0" + b"\x12\x01\x03\0\x09")
    path = place(tmp_path, "a.jpg", jpeg)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        with Image.open(path) as image:
            image.getexif()
    assert heard, "the file is meant to make Pillow warn"
    assert outcome(path) is not None

    content = rewrite_tags(bytearray(by_tifffile(GREY16)), {60000: 7})
    at = content.rindex(struct.pack("<HH", 60000, 3))
    struct.pack_into("<H", content, at + 2, 77)  # a type of value that does not exist
    path = place(tmp_path, "a.tif", bytes(content))
    with tifffile.TiffFile(path):
        assert caplog.records, "the file is meant to make tifffile log"
    caplog.clear()
    assert_allclose(outcome(path), chw(GREY16) / 65535, atol=1e-7)
    assert not caplog.records


def test_a_flipped_bit_in_a_png_is_noticed(tmp_path: Path) -> None:
    content = bytearray(examples()["png"][2])
    at = content.index(b"IDAT") + 20
    content[at] ^= 1
    assert "check sum" in refused(place(tmp_path, "a.png", bytes(content)))


def lying_png(width: int, height: int) -> bytes:
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    body = chunk(b"IDAT", zlib.compress(b"\0" * 1000))
    return b"\x89PNG\r\n\x1a\n" + head + body + chunk(b"IEND", b"")


def lying_jpeg(width: int, height: int) -> bytes:
    content = bytearray(examples()["jpeg"][2])
    at = content.index(b"\xff\xc0")
    struct.pack_into(">HH", content, at + 5, height, width)
    return bytes(content)


def lying_gif(width: int, height: int) -> bytes:
    content = bytearray(examples()["gif"][2])
    struct.pack_into("<HH", content, 6, width, height)
    return bytes(content)


def lying_bmp(width: int, height: int) -> bytes:
    content = bytearray(examples()["bmp"][2])
    struct.pack_into("<ii", content, 18, width, height)
    return bytes(content)


def lying_webp(width: int, height: int) -> bytes:
    content = bytearray(examples()["webp-lossless"][2])
    (old,) = struct.unpack_from("<I", content, 21)
    packed = min(width - 1, 0x3FFF) | min(height - 1, 0x3FFF) << 14 | old & 0xF0000000
    struct.pack_into("<I", content, 21, packed)
    return bytes(content)


def lying_tiff(width: int, height: int) -> bytes:
    content = bytearray(by_tifffile(GREY16, compression="zlib"))
    (at,) = struct.unpack_from("<I", content, 4)
    (count,) = struct.unpack_from("<H", content, at)
    for entry in range(at + 2, at + 2 + 12 * count, 12):
        tag = struct.unpack_from("<H", content, entry)[0]
        if tag in (256, 257, 278):
            struct.pack_into("<HIi", content, entry + 2, 4, 1, width if tag == 256 else height)
    return bytes(content)


def lying_npy(width: int, height: int) -> bytes:
    return npy_header(f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({height}, {width}), }}") + b"\0" * 64


def lying_npz(width: int, height: int) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.npy", lying_npy(width, height))
    return file.getvalue()


LIARS = {
    ".png": lying_png,
    ".jpg": lying_jpeg,
    ".gif": lying_gif,
    ".bmp": lying_bmp,
    ".webp": lying_webp,
    ".tif": lying_tiff,
    ".npy": lying_npy,
    ".npz": lying_npz,
}


@pytest.mark.parametrize("extension", LIARS)
@pytest.mark.parametrize("size", [(MAX_SIDE + 1, 2), (5, MAX_SIDE + 1), (16000, 16000), (65535, 65535)])
def test_a_header_beyond_the_limit_is_refused_before_decoding(
    extension: str, size: tuple[int, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = LIARS[extension](*size)
    path = place(tmp_path, "liar" + extension, content)

    def decode(*_: Any, **__: Any) -> Any:
        pytest.fail("decoding began")

    monkeypatch.setattr(Image, "open", decode)
    monkeypatch.setattr(tifffile.TiffPage, "asarray", decode)
    tracemalloc.start()
    try:
        text = refused(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert str(MAX_SIDE) in text
    assert peak < 2**23


@pytest.mark.parametrize("extension", [".png", ".bmp", ".tif", ".npy", ".npz"])
def test_a_header_within_the_limit_that_lies_allocates_nothing(extension: str, tmp_path: Path) -> None:
    path = place(tmp_path, "liar" + extension, LIARS[extension](MAX_SIDE, MAX_SIDE))
    text = refused(path)  # imports the decoders
    # Pillow's own memory is not traced, so for PNG it must be the check before it that speaks
    assert extension != ".png" or "cannot hold" in text
    tracemalloc.start()
    try:
        refused(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 2**23


def test_the_largest_side_is_accepted(tmp_path: Path) -> None:
    strip = np.tile(np.arange(256, dtype=np.uint8), (2, MAX_SIDE // 256))
    for name, content in {
        "a.png": by_pillow(strip, "PNG"),
        "a.tif": by_tifffile(strip, compression="zlib"),
        "a.npy": npy(strip),
    }.items():
        assert_allclose(read_file(place(tmp_path, name, content)).x.values[0], strip / 255, atol=1e-7)


def test_a_tiff_strip_that_inflates_too_far_is_refused(tmp_path: Path) -> None:
    bomb = zlib.compress(b"\0" * 2**24, 9)
    content = bytearray(by_tifffile(np.zeros((24, 30), np.uint8), compression="zlib", rowsperstrip=24))
    start = len(content)
    content += bomb
    content = rewrite_tags(content, {273: start, 279: len(bomb)})
    path = place(tmp_path, "a.tif", bytes(content))
    tracemalloc.start()
    try:
        text = refused(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert "does not hold the pixels" in text
    assert peak < 2**23


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("kind", ["tif", "npy", "npz"])
def test_values_that_are_not_numbers_are_counted_and_located(bad: float, kind: str, tmp_path: Path) -> None:
    values = np.stack([FLOAT, FLOAT])
    values[1, 3, 4] = values[1, 5, 2] = bad
    make = {"tif": lambda a: by_tifffile(a, photometric="minisblack"), "npy": npy, "npz": lambda a: npz(a=a)}[kind]
    text = refused(place(tmp_path, f"a.{kind}", make(values)))
    assert "2 of its 1440 values" in text and "row 3, column 4, channel 1" in text
    huge = np.full((3, 4), 1e300)
    assert "12 of its 12 values" in refused(place(tmp_path, f"b.{kind}", make(huge)))


# arrays


@pytest.mark.parametrize(
    ("shape", "expected", "note"),
    [
        ((5, 7), (1, 5, 7), ""),
        ((1, 1), (1, 1, 1), ""),
        ((5, 7, 1), (1, 5, 7), "(height, width, channels)"),
        ((5, 7, 3), (3, 5, 7), "(height, width, channels)"),
        ((5, 7, 4), (4, 5, 7), "(height, width, channels)"),
        ((3, 5, 7), (3, 5, 7), "(channels, height, width)"),
        ((3, 5, 3), (3, 5, 3), "(channels, height, width)"),
        ((6, 5, 7), (6, 5, 7), "(channels, height, width)"),
        ((1, 6, 5, 3), (6, 5, 3), ""),
    ],
)
def test_array_shapes(shape: tuple[int, ...], expected: tuple[int, ...], note: str, tmp_path: Path) -> None:
    array = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    sample = read_file(place(tmp_path, "a.npy", npy(array)))
    assert sample.x.values.shape == expected
    assert any(note in n for n in sample.notes) if note else not sample.notes
    moved = array.transpose(2, 0, 1) if "(height" in note else array.reshape(expected)
    assert_array_equal(sample.x.values, moved)


@pytest.mark.parametrize("shape", [(), (2, 3, 5, 7), (1, 1, 3, 5, 7), (0, 4), (3, 0, 4)])
def test_array_shapes_that_are_no_image(shape: tuple[int, ...], tmp_path: Path) -> None:
    refused(place(tmp_path, "a.npy", npy(np.zeros(shape, np.float32))))


@pytest.mark.parametrize(
    ("dtype", "scale"),
    [("?", 1), ("u1", 255), ("u2", 65535), ("i1", 1), ("i2", 1), ("u4", 1), ("i8", 1), ("f2", 1), ("f8", 1)],
)
def test_array_types(dtype: str, scale: float, tmp_path: Path) -> None:
    array = np.array([[0, 1], [1, 100]]).astype(dtype)
    assert_allclose(read_file(place(tmp_path, "a.npy", npy(array))).x.values[0], array / scale, rtol=1e-6)


@pytest.mark.parametrize("dtype", ["c8", "c16", "S3", "U3", "M8[s]", "m8[s]", "V4", [("a", "f4"), ("b", "f4")]])
def test_array_types_that_are_no_numbers(dtype: Any, tmp_path: Path) -> None:
    assert "not real numbers" in refused(place(tmp_path, "a.npy", npy(np.zeros((4, 5), dtype))))


class _Trap:
    """Leaves a file behind when it is unpickled."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return (open, (self.path, "w"))


@pytest.mark.parametrize("extension", [".npy", ".npz"])
def test_nothing_is_unpickled(extension: str, tmp_path: Path) -> None:
    sprung = tmp_path / "sprung"
    array = np.array([[_Trap(str(sprung))]], dtype=object)
    path = tmp_path / f"a{extension}"
    (np.save if extension == ".npy" else np.savez)(path, array, allow_pickle=True)
    assert "Python objects" in refused(path)
    place(tmp_path, "b" + extension, pickle.dumps(_Trap(str(sprung))))
    refused(tmp_path / f"b{extension}")
    assert not sprung.exists()


def test_the_first_image_of_an_archive_is_taken(tmp_path: Path) -> None:
    content = npz(labels=np.arange(5), scale=np.float64(3), image=FLOAT, other=GREY8)
    sample = read_file(place(tmp_path, "a.npz", content))
    assert_array_equal(sample.x.values, FLOAT[None])
    assert any("'image'" in n and "of 4" in n for n in sample.notes)
    text = refused(place(tmp_path, "b.npz", npz(labels=np.arange(5), text=np.array(["a"]))))
    assert "labels" in text and "text" in text
    assert "no arrays" in refused(place(tmp_path, "c.npz", npz()))


def test_a_damaged_archive_is_refused(tmp_path: Path) -> None:
    plain = io.BytesIO()
    np.savez(plain, image=FLOAT)  # not compressed: only the check sum tells
    for content in (npz(image=FLOAT), plain.getvalue()):
        for at in range(60, len(content) - 120, 41):
            bad = bytearray(content)
            bad[at] ^= 0x10
            values = outcome(place(tmp_path, "a.npz", bytes(bad)))
            assert values is None or np.array_equal(values, FLOAT[None])
    longer = io.BytesIO()
    with zipfile.ZipFile(longer, "w") as archive:
        archive.writestr("image.npy", npy(FLOAT) + b"\0")
    assert "more bytes" in refused(place(tmp_path, "c.npz", longer.getvalue()))
    bad = bytearray(plain.getvalue())
    bad[-1500] ^= 0x10
    refused(place(tmp_path, "b.npz", bytes(bad)))


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    shape=st.tuples(*[st.integers(1, 9)] * 3),
    seed=st.integers(0, 99),
    extension=st.sampled_from([".npy", ".npz"]),
)
def test_what_is_written_is_read_back(shape: tuple[int, int, int], seed: int, extension: str, tmp_path: Path) -> None:
    values = np.random.default_rng(seed).standard_normal(shape).astype(np.float32)
    path = tmp_path / f"a{extension}"
    write_file(image_sample(values.copy(), "a"), path)
    assert_array_equal(read_file(path).x.values, values)
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith(".")] == []


def test_a_failed_write_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = place(tmp_path, "a.npy", b"precious")

    def full(*_: Any, **__: Any) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(np, "save", full)
    with pytest.raises(OSError, match="disk full"):
        write_file(image_sample(FLOAT[None].copy(), "a"), path)
    assert path.read_bytes() == b"precious" and [p.name for p in tmp_path.iterdir()] == ["a.npy"]


# reading


def test_an_unknown_type_lists_what_can_be_read(tmp_path: Path) -> None:
    text = refused(place(tmp_path, "notes.zzz", b"something else"))
    for reader in readers().values():
        assert reader.extensions[0] in text
    assert len(text) <= 300


@pytest.mark.parametrize(
    ("name", "way"),
    [("a.xlsx", "save the sheet as CSV"), ("a.pdf", "as PNG"), ("a.MP3", "as WAV"), ("a.zip", "unpack")],
)
def test_a_file_of_another_program_is_refused_with_a_way(name: str, way: str, tmp_path: Path) -> None:
    assert way in refused(place(tmp_path, name, b"PK\x03\x04junk"))


def test_a_readers_defect_is_a_read_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: Path) -> Sample:
        raise KeyError("oops\nsecond line")

    reader = Reader("broken", "Broken", (".brk",), "grid", lambda head: head == b"x", broken)
    monkeypatch.setattr(reading, "readers", lambda: {"broken": reader})
    text = refused(place(tmp_path, "a.brk", b"x"))
    assert "'broken'" in text and "KeyError" in text


@pytest.mark.parametrize("name", ["a\0b.png", "x" * 300 + ".png", "/dev/null"])
def test_impossible_names(name: str, tmp_path: Path) -> None:
    with pytest.raises(ReadError) as caught:
        read_file(tmp_path / name)
    assert "\n" not in str(caught.value)


# properties

MAGIC = [
    b"",
    b"\x89PNG\r\n\x1a\n",
    b"\xff\xd8\xff",
    b"GIF89a",
    b"BM",
    b"RIFF\x40\0\0\0WEBPVP8L",
    b"II*\0\x08\0\0\0",
]
MAGIC += [b"MM\0*\0\0\0\x08", b"II+\0\x08\0\0\0", b"\x93NUMPY\1\0v\0", b"PK\x03\x04", b"PK\x05\x06"]
MAGIC += [
    b"graph [ node [ id 0",
    b"<graphml><graph>",
    b'{"nodes": [',
    b"%%MatrixMarket matrix coordinate real general\n",
]
MAGIC += [b"source,target\n0,1\n", b"CCO\n", b"1\n\nC 0 0 0\n"]
QUICK = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@QUICK
@given(magic=st.sampled_from(MAGIC), tail=st.binary(max_size=200), reader=st.sampled_from(sorted(readers())))
def test_random_bytes_never_do_more_than_fail(magic: bytes, tail: bytes, reader: str, tmp_path: Path) -> None:
    path = place(tmp_path, "random.bin", magic + tail)
    outcome(path)
    outcome(path, readers()[reader].read)


@QUICK
@given(data=st.data(), name=st.sampled_from(EXAMPLES))
def test_mutated_files_never_do_more_than_fail(data: st.DataObject, name: str, tmp_path: Path) -> None:
    _, extension, content, _ = examples()[name]
    changed = bytearray(content)
    # headers are where a byte does the most harm, at the start of most formats and at the end of some
    places = st.one_of(
        st.integers(0, min(63, len(content) - 1)),
        st.integers(max(0, len(content) - 300), len(content) - 1),
        st.integers(0, len(content) - 1),
    )
    for _ in range(data.draw(st.integers(1, 4))):
        changed[data.draw(places)] = data.draw(st.one_of(st.sampled_from([0, 1, 127, 128, 255]), st.integers(0, 255)))
    if data.draw(st.booleans()):
        at = data.draw(places)
        del changed[at : at + data.draw(st.integers(1, 40))]
    if changed:
        outcome(place(tmp_path, "mutated" + extension, bytes(changed)))


@pytest.mark.parametrize(("largest", "told"), [(4095, "as of 12 bits, so it is dark"), (65535, ""), (40000, "")])
def test_an_image_of_few_bits_in_many_is_told_to_be_dark(largest: int, told: str) -> None:
    values, notes = scaled(np.array([[[0, largest]]], np.uint16))
    assert values.max() == np.float32(largest) / np.float32(65535)
    assert notes[0].endswith(told or "1/65535")
