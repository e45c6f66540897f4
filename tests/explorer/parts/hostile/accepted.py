"""Small files without a fault, at least one for every reader: what the mutations begin with, and what must be read."""

from __future__ import annotations

import base64
import gzip
import io
import json
import struct
import zlib
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

_CUBE = np.array([[x, y, z] for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.0, 1.0)])
_QUADS = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
_TRIANGLES = np.array([t for a, b, c, d in _QUADS for t in ((a, b, c), (a, c, d))])
_GREY = (np.add.outer(np.arange(12) * 10, np.arange(14) * 8) % 256).astype(np.uint8)
_RGB = np.stack([_GREY, _GREY[::-1], 255 - _GREY], -1)
_BLOCK = np.arange(10 * 9 * 8, dtype=np.float32).reshape(10, 9, 8)
_PAIRS = np.array([[0, 1, 1, 2, 2, 3, 3, 0], [1, 0, 2, 1, 3, 2, 0, 3]])


def npy(array: Array) -> bytes:
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def npz(packed: bool = False, **arrays: Array) -> bytes:
    file = io.BytesIO()
    (np.savez_compressed if packed else np.savez)(file, **arrays)  # type: ignore[arg-type]
    return file.getvalue()


def lines(*rows: object) -> bytes:
    return "\n".join(" ".join(map(str, row)) if isinstance(row, tuple | list) else str(row) for row in rows).encode()


def _pictures() -> dict[str, tuple[str, bytes]]:
    import tifffile
    from PIL import Image

    def drawn(kind: str, array: Array = _RGB, **options: Any) -> bytes:
        file = io.BytesIO()
        Image.fromarray(array).save(file, kind, **options)
        return file.getvalue()

    def tiff(array: Array, **options: Any) -> bytes:
        file = io.BytesIO()
        tifffile.imwrite(file, array, **options)
        return file.getvalue()

    return {
        "png": ("a.png", drawn("PNG")),
        "png-16": ("a.png", drawn("PNG", _GREY.astype(np.uint16) * 257)),
        "jpeg": ("a.jpg", drawn("JPEG")),
        "webp": ("a.webp", drawn("WEBP", lossless=True)),
        "gif": ("a.gif", drawn("GIF")),
        "bmp": ("a.bmp", drawn("BMP")),
        "tiff": ("a.tif", tiff(_RGB, photometric="rgb")),
        "tiff-zip": ("a.tif", tiff(_GREY, compression="zlib", predictor=True)),
        "tiff-lzw": ("a.tif", drawn("TIFF", compression="tiff_lzw")),
        "tiff-tiles": ("a.tif", tiff(_GREY.astype(np.uint16), tile=(16, 16), bigtiff=True)),
        "stack": ("a.tif", tiff(_BLOCK, photometric="minisblack")),
        "stack-zip": ("a.tif", tiff(_BLOCK.astype(np.uint8), photometric="minisblack", compression="zlib")),
        "npy": ("a.npy", npy(np.asarray(_GREY, np.float32))),
        "npz": ("a.npz", npz(image=_RGB)),
    }


def _volumes() -> dict[str, tuple[str, bytes]]:
    import nibabel

    image = nibabel.Nifti1Image(_BLOCK, np.diag([1.0, 1.0, 2.0, 1.0])).to_bytes()  # type: ignore[no-untyped-call]
    return {
        "volume-npy": ("a.npy", npy(_BLOCK)),
        "volume-npz": ("a.npz", npz(packed=True, volume=_BLOCK)),
        "nifti": ("a.nii", image),
        "nifti-gz": ("a.nii.gz", gzip.compress(image)),
    }


def _graphs() -> dict[str, tuple[str, bytes]]:
    import torch
    from safetensors.numpy import save

    file = io.BytesIO()
    torch.save({"x": torch.arange(8.0).reshape(4, 2), "edge_index": torch.from_numpy(_PAIRS)}, file)
    ring = [(0, 1), (1, 2), (2, 3), (3, 0)]
    matrix = np.zeros((4, 4))
    for a, b in ring:
        matrix[a, b] = matrix[b, a] = 1
    starts = np.arange(0, 9, 2)
    sparse = {
        "indices": np.array([1, 3, 0, 2, 1, 3, 0, 2], np.int32), "indptr": starts.astype(np.int32),
        "format": np.array(b"csr"), "shape": np.array([4, 4]), "data": np.ones(8),
    }  # fmt: skip
    mol = lines(
        "ring", "  by hand", "", "  3  2  0  0  0  0  0  0  0  0999 V2000",
        "    0.0000    0.0000    0.0000 C   0  0", "    1.5000    0.0000    0.0000 C   0  0",
        "    2.0000    1.4000    0.0000 O   0  0", "  1  2  1  0", "  2  3  1  0", "M  END", "",
    )  # fmt: skip
    newer = lines(
        "ring", "  by hand", "", "  0  0  0     0  0            999 V3000", "M  V30 BEGIN CTAB",
        "M  V30 COUNTS 2 1 0 0 0",
        "M  V30 BEGIN ATOM", "M  V30 1 C 0.0 0.0 0.0 0", "M  V30 2 O 1.2 0.0 0.0 0", "M  V30 END ATOM",
        "M  V30 BEGIN BOND", "M  V30 1 2 1 2", "M  V30 END BOND", "M  V30 END CTAB", "M  END", "$$$$", "",
    )  # fmt: skip
    graphml = (
        '<?xml version="1.0"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
        '<key id="d0" for="node" attr.name="size" attr.type="double"/>\n'
        '<key id="d1" for="edge" attr.name="weight" attr.type="double"><default>1.0</default></key>\n'
        '<graph edgedefault="undirected">\n'
        + "".join(f'<node id="n{k}"><data key="d0">{k}.5</data></node>\n' for k in range(4))
        + "".join(f'<edge source="n{a}" target="n{b}"><data key="d1">2.0</data></edge>\n' for a, b in ring)
        + "</graph>\n</graphml>\n"
    )
    gml = (
        "graph [\n  directed 0\n"
        + "".join(f'  node [ id {k} label "n{k}" size {k}.5 ]\n' for k in range(4))
        + "".join(f"  edge [ source {a} target {b} weight 2.0 ]\n" for a, b in ring)
        + "]\n"
    )
    linked = {
        "directed": False, "nodes": [{"id": k, "size": k + 0.5} for k in range(4)],
        "links": [{"source": a, "target": b, "weight": 2} for a, b in ring],
    }  # fmt: skip
    return {
        "edges": ("a.csv", b"source,target,weight\n0,1,2.5\n1,2,1e-3\n2,3,4\n3,0,0.5\n"),
        "edges-named": ("a.edges", b"# directed\nAnn Bob {'weight': 2}\nBob Zoe {'weight': 3.5}\n"),
        "graphml": ("a.graphml", graphml.encode()),
        "gml": ("a.gml", gml.encode()),
        "node-link": ("a.json", json.dumps(linked).encode()),
        "matrix-text": ("a.csv", b",a,b,c,d\na,0,1,0,1\nb,1,0,1,0\nc,0,1,0,1\nd,1,0,1,0\n"),
        "matrix": ("a.mtx", b"%%MatrixMarket matrix coordinate real symmetric\n% by hand\n3 3 2\n2 1 1.5\n3 2 1e2\n"),
        "matrix-array": ("a.mtx", b"%%MatrixMarket matrix array integer general\n3 3\n0\n1\n1\n1\n0\n1\n1\n1\n0\n"),
        "matrix-npz": ("a.npz", npz(adjacency=matrix, x=np.eye(4))),
        "matrix-csr": ("a.npz", npz(packed=True, **sparse)),  # type: ignore[arg-type]
        "graph-npz": ("a.npz", npz(edge_index=_PAIRS, x=np.eye(4), edge_weight=np.ones(8))),
        "safetensors": ("a.safetensors", save({"x": np.eye(4, dtype=np.float32), "edge_index": _PAIRS})),
        "pt": ("a.pt", file.getvalue()),
        "mol": ("a.mol", mol),
        "sdf": ("a.sdf", newer),
        "smiles": ("a.smi", b"CCO ethanol\nc1ccccc1 benzene\nN[C@@H](C)C(=O)O alanine\n"),
        "xyz": ("a.xyz", b"3\nwater\nO 0.0 0.0 0.119\nH 0.0 0.763 -0.477\nH 0.0 -0.763 -0.477\n"),
        "xyz-cloud": ("a.xyz", b"0.0 0.0 0.5\n1.0 0.5 0.25\n-1e-2 3 4\n"),
    }  # fmt: skip


def ply(order: str = "<") -> bytes:
    form = {"": "ascii", "<": "binary_little_endian", ">": "binary_big_endian"}[order]
    head = lines(
        "ply", f"format {form} 1.0", "element vertex 8", "property float x", "property float y", "property float z",
        "property uchar red", "property uchar green", "property uchar blue", "element face 6",
        "property list uchar int vertex_indices", "end_header", "",
    )  # fmt: skip
    if not order:
        return head + lines(*((*v, 9, 99, 199) for v in _CUBE.tolist()), *((4, *q) for q in _QUADS), "")
    body = b"".join(struct.pack(f"{order}fffBBB", *v, 9, 99, 199) for v in _CUBE)
    return head + body + b"".join(struct.pack(f"{order}Biiii", 4, *q) for q in _QUADS)


def gltf(binary: bool = False, nodes: int = 1) -> bytes:
    places, corners = _CUBE.astype("<f4").tobytes(), _TRIANGLES.astype("<u2").tobytes()
    data = places + corners + b"\0" * (-len(corners) % 4)
    whole = {
        "asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": list(range(nodes))}],
        "nodes": [{"mesh": 0, "translation": [k, 0, 0]} for k in range(nodes)],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": 8, "type": "VEC3"},
            {"bufferView": 1, "componentType": 5123, "count": 36, "type": "SCALAR"},
        ],
        "bufferViews": [
            {"buffer": 0, "byteOffset": 0, "byteLength": len(places)},
            {"buffer": 0, "byteOffset": len(places), "byteLength": len(corners)},
        ],
        "buffers": [{"byteLength": len(data)}],
    }  # fmt: skip
    if not binary:
        whole["buffers"] = [{
            "byteLength": len(data), "uri": "data:application/octet-stream;base64," + base64.b64encode(data).decode()
        }]  # fmt: skip
        return json.dumps(whole).encode()
    text = json.dumps(whole).encode()
    text += b" " * (-len(text) % 4)
    chunks = struct.pack("<II", len(text), 0x4E4F534A) + text + struct.pack("<II", len(data), 0x004E4942) + data
    return b"glTF" + struct.pack("<II", 2, 12 + len(chunks)) + chunks


def vtp(packed: bool) -> bytes:
    arrays = {
        "Points": _CUBE.astype("<f4"), "connectivity": _TRIANGLES.astype("<i4"),
        "offsets": np.arange(3, 37, 3, dtype="<i4"), "height": _CUBE[:, 2].astype("<f4"),
    }  # fmt: skip
    kinds = {"Points": "Float32", "connectivity": "Int32", "offsets": "Int32", "height": "Float32"}

    def node(name: str) -> str:
        wide = ' NumberOfComponents="3"' if name == "Points" else ""
        if packed:
            raw = zlib.compress(arrays[name].tobytes())
            head = struct.pack("<IIII", 1, arrays[name].nbytes, 0, len(raw))
            text, form = (base64.b64encode(head) + base64.b64encode(raw)).decode(), "binary"
        else:
            text, form = " ".join(map(str, arrays[name].ravel().tolist())), "ascii"
        return f'<DataArray type="{kinds[name]}" Name="{name}"{wide} format="{form}">{text}</DataArray>'

    how = ' header_type="UInt32" compressor="vtkZLibDataCompressor"' if packed else ""
    return (
        f'<?xml version="1.0"?>\n<VTKFile type="PolyData" version="0.1" byte_order="LittleEndian"{how}>\n<PolyData>\n'
        f'<Piece NumberOfPoints="8" NumberOfVerts="0" NumberOfLines="0" NumberOfStrips="0" NumberOfPolys="12">\n'
        f"<PointData>{node('height')}</PointData>\n<Points>{node('Points')}</Points>\n"
        f"<Polys>{node('connectivity')}{node('offsets')}</Polys>\n</Piece>\n</PolyData>\n</VTKFile>\n"
    ).encode()


def _meshes() -> dict[str, tuple[str, bytes]]:
    stl = bytes(80) + struct.pack("<I", 12)
    stl += b"".join(struct.pack("<12fH", 0, 0, 0, *_CUBE[list(t)].ravel(), 0) for t in _TRIANGLES)
    text = "solid a\n"
    for t in _TRIANGLES:
        at = "".join(f"vertex {x} {y} {z}\n" for x, y, z in _CUBE[list(t)])
        text += f"facet normal 0 0 0\nouter loop\n{at}endloop\nendfacet\n"
    cells = np.concatenate([np.full((12, 1), 3), _TRIANGLES], 1)
    head = "# vtk DataFile Version 3.0\na cube\n{}\nDATASET POLYDATA\nPOINTS 8 float\n"
    binary = head.format("BINARY").encode() + _CUBE.astype(">f4").tobytes() + b"\nPOLYGONS 12 48\n"
    binary += cells.astype(">i4").tobytes() + b"\nPOINT_DATA 8\nSCALARS height float 1\nLOOKUP_TABLE default\n"
    binary += _CUBE[:, 2].astype(">f4").tobytes() + b"\n"
    return {
        "off": ("a.off", lines("OFF", "8 6 0", *map(tuple, _CUBE.tolist()), *((4, *q) for q in _QUADS), "")),
        "obj": ("a.obj", lines("o cube", *(("v", *v) for v in _CUBE.tolist()),
                               *(("f", *(f"{k + 1}//1" for k in q)) for q in _QUADS), "")),
        "stl": ("a.stl", stl),
        "stl-text": ("a.stl", (text + "endsolid a\n").encode()),
        "ply": ("a.ply", ply()),
        "ply-big": ("a.ply", ply(">")),
        "ply-text": ("a.ply", ply("")),
        "vtk": ("a.vtk", binary),
        "vtk-text": ("a.vtk", head.format("ASCII").encode() + lines(*map(tuple, _CUBE.tolist()), "POLYGONS 12 48",
                                                                    *map(tuple, cells.tolist()), "")),
        "vtp": ("a.vtp", vtp(False)),
        "vtp-zip": ("a.vtp", vtp(True)),
        "gltf": ("a.gltf", gltf()),
        "glb": ("a.glb", gltf(True)),
    }  # fmt: skip


def _sequences() -> dict[str, tuple[str, bytes]]:
    import soundfile

    wave = np.sin(np.arange(400) / 7.0)

    def sound(form: str) -> bytes:
        file = io.BytesIO()
        soundfile.write(file, wave, 8000, format=form)
        return file.getvalue()

    dialogue = (
        "1 your persona: i have a dog.\n2 partner's persona: i like to cook.\n"
        "3 hello , do you have pets ?\tyes , a dog.\t\tno .|yes , a dog.|i am fine .\n"
    )
    return {
        "series": ("a.csv", b"t,a,b\n0,1.5,2\n1,2.5,\n2,-3e2,4\n3,1,5\n"),
        "series-dated": ("a.tsv", b"date\tvalue\n2024-01-01\t1.5\n2024-01-02\t2.5\n2024-01-04\t3\n"),
        "series-json": ("a.json", b'[{"t": 0, "x": 1.5}, {"t": 1, "x": null}, {"t": 2, "x": 3}]'),
        "series-json-lists": ("a.json", b'{"t": [0, 1], "x": [1, 2], "name": ["a", "b"]}'),
        "jsonl": ("a.jsonl", b'{"x": [1, 2]}\n{"x": [3, 4.5, 6]}\n'),
        "fasta": ("a.fa", b">one first\nACGTNACGT\nACGT\n>two\nTTTT\n"),
        "fastq": ("a.fq", b"@one\nACGT\n+\nIIII\n@two\nTTGG\n+\nIIII\n"),
        "text": ("a.txt", b"It was the best of times, it was the worst of times.\n"),
        "dialogue": ("a.persona", dialogue.encode()),
        "series-npy": ("a.npy", npy(wave)),
        "series-npz": ("a.npz", npz(packed=True, series=wave.reshape(-1, 2), time=np.arange(200.0))),
        "wav": ("a.wav", sound("WAV")),
        "aiff": ("a.aiff", sound("AIFF")),
        "flac": ("a.flac", sound("FLAC")),
        "ogg": ("a.ogg", sound("OGG")),
    }  # fmt: skip


def _points() -> dict[str, tuple[str, bytes]]:
    head = "# .PCD v0.7\nVERSION 0.7\nFIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nCOUNT 1 1 1\nWIDTH 8\nHEIGHT 1\n"
    head += "VIEWPOINT 0 0 0 1 0 0 0\nPOINTS 8\nDATA {}\n"
    cloud = "ply\nformat {} 1.0\nelement vertex 8\nproperty float x\nproperty float y\nproperty float z\nend_header\n"
    rows = lines(*map(tuple, _CUBE.tolist()), "")
    raw = _CUBE.astype("<f4").tobytes()
    pdb = (
        "ATOM      1  N   ALA A   1      11.104   6.134  -6.504  1.00  0.00           N  \n"
        "ATOM      2  CA  ALA A   1      11.639   6.071  -5.147  1.00  0.00           C  \nEND\n"
    )
    cif = (
        "data_salt\n_cell_length_a 5.64\n_cell_length_b 5.64\n_cell_length_c 5.64\n_cell_angle_alpha 90\n"
        "_cell_angle_beta 90\n_cell_angle_gamma 90\n_symmetry_space_group_name_H-M 'P 1'\nloop_\n_atom_site_label\n"
        "_atom_site_type_symbol\n_atom_site_fract_x\n_atom_site_fract_y\n_atom_site_fract_z\n"
        "Na1 Na 0 0 0\nCl1 Cl 0.5 0.5 0.5\n"
    )
    extended = '2\nLattice="5 0 0 0 5 0 0 0 5" Properties=species:S:1:pos:R:3 pbc="T T T"\nNa 0 0 0\nCl 2.8 2.8 2.8\n'
    return {
        "pcd": ("a.pcd", head.format("binary").encode() + raw),
        "pcd-text": ("a.pcd", head.format("ascii").encode() + rows),
        "points-ply": ("a.ply", cloud.format("binary_little_endian").encode() + raw),
        "points-ply-text": ("a.ply", cloud.format("ascii").encode() + rows),
        "points-npy": ("a.npy", npy(np.asarray(_CUBE, np.float64))),
        "points-npz": ("a.npz", npz(points=_CUBE, numbers=np.array([1, 6, 7, 8, 1, 6, 7, 8]))),
        "extxyz": ("a.extxyz", extended.encode()),
        "pdb": ("a.pdb", pdb.encode()),
        "cif": ("a.cif", cif.encode()),
    }  # fmt: skip


@cache
def accepted_files() -> Mapping[str, tuple[str, bytes]]:
    """Return {case: (name of the file, content)}."""
    return {**_pictures(), **_volumes(), **_graphs(), **_meshes(), **_sequences(), **_points()}
