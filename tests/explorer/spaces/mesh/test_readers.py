"""Readers and writers of meshes against VTK, libigl and files written by hand; bad files, and what is in the way."""

from __future__ import annotations

import base64
import json
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import igl
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from explorer.data.finding import find_sample
from explorer.data.opening import read_file
from explorer.data.readers import ReadError
from explorer.data.writers import writable, write_file
from explorer.declare.samples import Sample
from explorer.spaces.mesh.sample import mesh_sample
from explorer.work.limits import MAX_FACES

TETRA = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], np.float64)
SIDES = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]])

# VTK may not be imported here: it writes its files in a process of its own
OF_VTK = """
import sys
import numpy as np, pyvista as pv
from vtkmodules import vtkIOLegacy, vtkIOXML
folder = sys.argv[1]
given = np.load(folder + "/given.npz")
mesh = pv.PolyData.from_regular_faces(given["vertices"], given["faces"])
mesh["height"] = given["vertices"][:, 2]
mesh["pair"] = given["vertices"][:, :2]
for binary in (False, True):
    mesh.save(f"{folder}/poly-{binary}.vtk", binary=binary)
    mesh.cast_to_unstructured_grid().save(f"{folder}/grid-{binary}.vtk", binary=binary)
    mesh.cast_to_unstructured_grid().save(f"{folder}/grid-{binary}.vtu", binary=binary)
    mesh.save(f"{folder}/a-{binary}.stl", binary=binary)
    mesh.save(f"{folder}/a-{binary}.ply", binary=binary)
    writer = vtkIOLegacy.vtkPolyDataWriter()
    writer.SetFileVersion(42)
    writer.SetFileType(1 + binary)
    writer.SetInputData(mesh)
    writer.SetFileName(f"{folder}/old-{binary}.vtk")
    writer.Write()
mesh.strip().save(f"{folder}/strips.vtk")
mesh.strip().save(f"{folder}/strips.vtp")
number = 0
for mode in (0, 1, 2):
    for packed in ("None", "ZLib", "LZMA"):
        for encoded in (0, 1):
            for wide in (0, 1):
                writer = vtkIOXML.vtkXMLPolyDataWriter()
                writer.SetInputData(mesh)
                writer.SetDataMode(mode)
                getattr(writer, f"SetCompressorTypeTo{packed}")()
                writer.SetEncodeAppendedData(encoded)
                (writer.SetHeaderTypeToUInt64 if wide else writer.SetHeaderTypeToUInt32)()
                (writer.SetByteOrderToBigEndian if wide else writer.SetByteOrderToLittleEndian)()
                writer.SetBlockSize(1024)  # several blocks
                writer.SetFileName(f"{folder}/xml-{number}.vtp")
                writer.Write()
                number += 1
for inline in (False, True):
    plotter = pv.Plotter(off_screen=True)
    plotter.add_mesh(mesh)
    plotter.export_gltf(f"{folder}/{inline}.gltf", inline_data=inline)
"""


def place(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def refused(path: Path) -> str:
    """Return the sentence after checking its form."""
    with pytest.raises(ReadError) as caught:
        read_file(path)
    text = str(caught.value)
    assert text.startswith(f"cannot read {path.name}: ") and text.endswith(".") and ";" in text, text
    assert "\n" not in text and "Traceback" not in text and "failed (" not in text and len(text) < 400, text
    return text


def triangles(vertices: np.ndarray, faces: np.ndarray, digits: int = 5) -> list[Any]:
    """Return the triangles as places, in an order that does not depend on how vertices and faces are numbered."""
    at = np.round(np.asarray(vertices)[faces], digits) + 0.0
    first = [np.lexsort(one.T[::-1])[0] for one in at]
    return sorted(tuple(map(tuple, np.roll(one, -k, 0).tolist())) for one, k in zip(at, first))


def of(sample: Sample) -> tuple[np.ndarray, np.ndarray]:
    return np.array(sample.x.values), np.array(sample.signals["faces"].values)


@pytest.fixture(scope="module")
def vtk_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("vtk")
    vertices, faces = of(find_sample("mesh-torus"))
    np.savez(folder / "given.npz", vertices=vertices, faces=faces)
    subprocess.run([sys.executable, "-c", OF_VTK, str(folder)], check=True, capture_output=True, timeout=100)
    return folder


@pytest.mark.slow
def test_files_of_vtk(vtk_files: Path) -> None:
    """Both kinds of STL and PLY, legacy files of two versions, XML files in 36 encodings."""
    given = triangles(*of(find_sample("mesh-torus")))
    height = {key: key[2] for one in given for key in one}
    found = [path for path in sorted(vtk_files.iterdir()) if path.suffix in (".vtk", ".vtp", ".vtu", ".stl", ".ply")]
    assert len(found) == 50
    for path in found:
        sample = read_file(path)
        assert triangles(*of(sample)) == given, path.name
        assert sample.domain == "mesh" and sample.name == path.stem
        assert not any("turned" in note for note in sample.notes), path.name
        if path.suffix in (".vtk", ".vtp", ".vtu"):
            told = sample.signals["scalar:height"].values
            assert_allclose(told, [height[tuple(at)] for at in (np.round(of(sample)[0], 5) + 0.0).tolist()], atol=1e-5)
            assert sample.signals["scalar:pair"].values.shape == (len(told), 2)


@pytest.mark.slow
def test_scenes_of_vtk_as_gltf(vtk_files: Path) -> None:
    """VTK's exporter turns the scene so that y is up: (x, y, z) -> (y, z, x)."""
    vertices, faces = of(find_sample("mesh-torus"))
    for inline in (False, True):
        assert triangles(*of(read_file(vtk_files / f"{inline}.gltf")), 4) == triangles(vertices[:, [1, 2, 0]], faces, 4)
    buffers = json.loads((vtk_files / "False.gltf").read_text())["buffers"]
    (vtk_files / buffers[0]["uri"]).unlink()
    assert f"'{buffers[0]['uri']}' with its buffer 0 is not beside it" in refused(vtk_files / "False.gltf")


@pytest.mark.parametrize("ending", [".obj", ".off", ".stl", ".ply"])
def test_libigl_and_this_agree(ending: str, tmp_path: Path) -> None:
    vertices, faces = of(find_sample("saddle"))
    igl.write_triangle_mesh(str(tmp_path / f"theirs{ending}"), vertices, faces)
    assert triangles(*of(read_file(tmp_path / f"theirs{ending}")), 3) == triangles(vertices, faces, 3)
    write_file(find_sample("saddle"), tmp_path / f"ours{ending}")
    theirs = igl.read_triangle_mesh(str(tmp_path / f"ours{ending}"))
    assert triangles(*theirs, 3) == triangles(vertices, faces, 3)


# written and read back


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    body = find_sample("body")
    vertices, faces = of(body)
    colour = np.random.default_rng(0).integers(0, 256, (len(vertices), 3)) / 255
    more = {
        "scalar:colour": colour,
        "scalar:my height": vertices[:, 2],
        "label:side": body.signals["label:side"].values,
    }
    labels = np.array(body.signals["label"].values)
    sample = mesh_sample("all", vertices, faces, labels=labels, more=more, poses={"up": vertices + 1})
    assert set(writable("mesh")) == {".obj", ".off", ".ply", ".stl"}
    for ending in writable("mesh"):
        notes = " ".join(write_file(sample, tmp_path / f"all{ending}"))
        again = read_file(tmp_path / f"all{ending}")
        assert "pose:up" in notes
        if ending == ".stl":
            assert "rounded to 32 bits" in notes
            assert triangles(*of(again)) == triangles(vertices, faces)
            continue
        assert_array_equal(again.x.values, vertices)
        assert_array_equal(again.signals["faces"].values, faces)
        assert_allclose(again.signals["scalar:colour"].values, colour, atol=1e-6)
    again = read_file(tmp_path / "all.ply")
    assert_array_equal(again.signals["label"].values, body.signals["label"].values)
    assert_array_equal(again.signals["label:side"].values, body.signals["label:side"].values)
    assert_allclose(again.signals["scalar:my_height"].values, vertices[:, 2], atol=1e-6)
    assert "pose" in notes and not list(tmp_path.glob(".*"))


# files written by hand


@pytest.mark.parametrize(
    ("name", "content", "notes"),
    [
        ("a.obj", "# no\no all\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1/1 2/2 4/3\n"
         "f 2//1 3//1 4//1\nf 1/1/1 4 3\n", ""),
        ("b.obj", "v 0 0 0 1\r\nv 1 0 0 1\r\nv 0 1 0 1\r\nf -3 -1 -2\r\nv 0 0 1 1\r\nf -4 -3 -1\r\n"
         "f 2 3 4\r\nf 1 4 3 # end\r\n", ""),
        ("c.obj", "o a\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\no b\nf 1 2 4\nf 2 3 4\nf 1 4 3\n",
         "2 objects taken together"),
        ("a.off", "OFF\n4 4 6\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 2 1\n3 0 1 3\n3 1 2 3 255 0 0\n3 0 3 2\n", ""),
        ("b.off", "OFF 4 4 0 # counts\n\n0 0 0\n1 0 0 # here\n0 1 0\n0 0 1\n3 0 2 1\n3 0 1 3\n3 1 2 3\n3 0 3 2", ""),
        ("c.off", "COFF\n4 4 0\n0 0 0 255 0 0 255\n1 0 0 0 0 0 255\n0 1 0 0 0 0 255\n0 0 1 0 0 0 255\n"
         "3 0 2 1\n3 0 1 3\n3 1 2 3\n3 0 3 2\n", ""),
        ("a.ply", "ply\nformat ascii 1.0\ncomment no\nelement vertex 4\nproperty float x\nproperty float y\n"
         "property float z\nproperty int label\nelement face 4\nproperty list uchar int vertex_index\n"
         "property int flag\n"
         "element edge 1\nproperty int a\nend_header\n"
         "0 0 0 5\n1 0 0 5\n0 1 0 5\n0 0 1 6\n3 0 2 1 9\n3 0 1 3 9\n3 1 2 3 9\n3 0 3 2 9\n"
         "7\n", ""),
        ("a.stl", "solid a b\n" + "".join(
            "facet normal 0 0 0\nouter loop\n" + "".join(f"vertex {x} {y} {z}\n" for x, y, z in TETRA[face]) +
            "endloop\nendfacet\n" for face in SIDES) + "endsolid a b\n", "8 vertices merged"),
        ("a.vtk", "# vtk DataFile Version 3.0\ntitle\nASCII\nDATASET POLYDATA\nPOINTS 4 float\n0 0 0 1 0 0\n"
         "0 1 0 0 0 1\nPOLYGONS 4 16\n3 0 2 1\n3 0 1 3\n3 1 2 3\n3 0 3 2\nCELL_DATA 4\nSCALARS c int\n"
         "LOOKUP_TABLE default\n1 2 3 4\nPOINT_DATA 4\nSCALARS nice float 1\nLOOKUP_TABLE default\n1 2 3 4\n", ""),
    ],
)  # fmt: skip
def test_ways_to_write_a_tetrahedron(name: str, content: str, notes: str, tmp_path: Path) -> None:
    sample = read_file(place(tmp_path, name, content))
    assert triangles(*of(sample)) == triangles(TETRA, SIDES)
    assert (notes in " ".join(sample.notes)) if notes else not sample.notes
    if name == "c.off":
        assert_array_equal(sample.signals["scalar:colour"].values[0], [1, 0, 0])
    if name == "a.ply":
        assert_array_equal(sample.signals["label"].values, [5, 5, 5, 6])
    if name == "a.vtk":
        assert_array_equal(sample.signals["scalar:nice"].values, [1, 2, 3, 4])


def test_polygons_become_triangles(tmp_path: Path) -> None:
    text = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 2 0 0\nv 3 1 0\nv 2 2 0\nf 1 2 3 4\nf 2 5 6 7 3\nl 1 2\n"
    sample = read_file(place(tmp_path, "a.obj", text))
    assert of(sample)[1].tolist() == [[0, 1, 2], [0, 2, 3], [1, 4, 5], [1, 5, 6], [1, 6, 2]]
    assert "1 quad and 1 polygon cut into triangles, in a fan around the first corner" in sample.notes


def test_cells_of_every_flat_kind(tmp_path: Path) -> None:
    """Two unit squares as a pixel and a quad, a triangle, a strip of two, a polygon, and a line: 7 units of area."""
    points = "0 0 0 1 0 0 0 1 0 1 1 0 2 0 0 2 1 0 3 0 0 3 1 0 4 0 0 4 1 0 5 0 0 5 1 0 6 0 0 6 1 0"
    cells = "4 0 1 2 3\n4 1 4 5 3\n3 4 6 5\n3 6 7 5\n4 6 8 7 9\n4 8 10 11 9\n2 10 12\n4 10 12 13 11\n"
    head = VTK.split("DATASET")[0] + "DATASET UNSTRUCTURED_GRID\nPOINTS 14 float\n"
    text = f"{head}{points}\nCELLS 8 36\n{cells}CELL_TYPES 8\n8 9 5 5 6 7 3 9\n"
    vertices, faces = of(read_file(place(tmp_path, "a.vtk", text)))
    a, b, c = np.moveaxis(vertices[faces], 1, 0)
    assert_allclose(np.cross(b - a, c - a), np.tile([0, 0, 1], (12, 1)))  # each half a unit, all on the same side
    assert_allclose([len(vertices), len(faces)], [14, 12])


def test_pieces_are_taken_together(tmp_path: Path) -> None:
    def array(kind: str, name: str, values: Any) -> str:
        text = " ".join(map(str, np.ravel(values)))
        return f'<DataArray type="{kind}" Name="{name}" NumberOfComponents="1" format="ascii">{text}</DataArray>'

    cells = array("Int64", "connectivity", SIDES) + array("Int64", "offsets", [3, 6, 9, 12])
    pieces = "".join(
        f'<Piece NumberOfPoints="4" NumberOfPolys="4"><PointData>{array("Int32", "label", [k] * 4)}</PointData>'
        f"<Points>{array('Float64', 'Points', TETRA + 3 * k)}</Points><Polys>{cells}</Polys></Piece>"
        for k in range(3)
    )
    text = f'<VTKFile type="PolyData"><PolyData>{pieces}</PolyData></VTKFile>'
    sample = read_file(place(tmp_path, "a.vtp", text))
    all_ = np.concatenate([TETRA + 3 * k for k in range(3)]), np.concatenate([SIDES + 4 * k for k in range(3)])
    assert triangles(*of(sample)) == triangles(*all_) and "3 pieces taken together" in sample.notes
    assert_array_equal(sample.signals["label"].values, np.repeat([0, 1, 2], 4))


@pytest.mark.parametrize(("mode", "corners"), [(5, [0, 1, 2, 3, 4]), (6, [0, 1, 3, 4, 2])])
def test_strips_and_fans_of_gltf(mode: int, corners: list[int], tmp_path: Path) -> None:
    """A strip 0 1 2 3 4 of two rows; a fan around the corner 0."""
    places = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 2, 0]], "<f4")
    data = places.tobytes() + np.array(corners, "<u4").tobytes()
    whole = gltf(scenes=[], meshes=[{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1, "mode": mode}]}])
    whole["accessors"] = [
        {"bufferView": 0, "componentType": 5126, "count": 5, "type": "VEC3"},
        {"bufferView": 1, "componentType": 5125, "count": 5, "type": "SCALAR"},
    ]
    whole["bufferViews"] = [{"buffer": 0, "byteLength": 60}, {"buffer": 0, "byteOffset": 60, "byteLength": 20}]
    whole["buffers"] = [{"byteLength": 80, "uri": "data:;base64," + base64.b64encode(data).decode()}]
    vertices, faces = of(read_file(place(tmp_path, "a.gltf", json.dumps(whole))))
    a, b, c = np.moveaxis(vertices[faces], 1, 0)
    area = np.cross(b - a, c - a)[:, 2] / 2
    assert (area > 0).all() and area.sum() == pytest.approx(1.5)


def big_endian(order: str) -> bytes:
    """Return a PLY with triangles and quads mixed, colours and a list at the vertices."""
    head = (
        f"ply\nformat binary_{'big' if order == '>' else 'little'}_endian 1.0\nelement vertex 8\nproperty double x\n"
        "property double y\nproperty double z\nproperty uchar red\nproperty uchar green\nproperty uchar blue\n"
        "property list uchar short more\nelement face 8\nproperty uchar flag\nproperty list uint uint vertex_indices\n"
        "end_header\n"
    )
    corners = [[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)]
    rows = b"".join(
        struct.pack(f"{order}dddBBBB{k % 3}h", *at, 255, 0, 51, k % 3, *range(k % 3)) for k, at in enumerate(corners)
    )
    faces = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5], [0, 5, 1], [2, 3, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7, 3]]
    rows += b"".join(struct.pack(f"{order}BI{len(face)}I", 9, len(face), *face) for face in faces)
    return head.encode() + rows


@pytest.mark.parametrize("order", ["<", ">"])
def test_binary_ply_with_lists_of_unequal_length(order: str, tmp_path: Path) -> None:
    sample = read_file(place(tmp_path, "a.ply", big_endian(order)))
    vertices, faces = of(sample)
    assert len(vertices) == 8 and len(faces) == 12 and "4 quads cut" in " ".join(sample.notes)
    a, b, c = np.moveaxis(vertices[faces], 1, 0)
    assert np.einsum("fi,fi->", a, np.cross(b, c)) / 6 == pytest.approx(1)
    assert_allclose(sample.signals["scalar:colour"].values, np.tile([1, 0, 0.2], (8, 1)))


def gltf(**changes: Any) -> dict[str, Any]:
    """Return a tetrahedron under two nodes: one moved, one mirrored."""
    data = TETRA.astype("<f4").tobytes() + SIDES.astype("<u2").tobytes()
    whole: dict[str, Any] = {
        "asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}],
        "nodes": [
            {"children": [1, 2], "translation": [10, 0, 0]},
            {"mesh": 0, "rotation": [0, 0, 0.5**0.5, 0.5**0.5], "scale": [2, 2, 2]},
            {"mesh": 0, "matrix": [-1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 5, 1]},
        ],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}, {"mode": 1, "attributes": {}}]}],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": 4, "type": "VEC3"},
            {"bufferView": 1, "componentType": 5123, "count": 12, "type": "SCALAR"},
        ],
        "bufferViews": [{"buffer": 0, "byteLength": 48}, {"buffer": 0, "byteOffset": 48, "byteLength": 24}],
        "buffers": [{"byteLength": 72, "uri": "data:;base64," + base64.b64encode(data).decode()}],
    }  # fmt: skip
    return whole | changes


def glb(whole: dict[str, Any]) -> bytes:
    data = base64.b64decode(whole["buffers"][0].pop("uri").partition(",")[2])
    text = json.dumps(whole).encode()
    text += b" " * (-len(text) % 4)
    body = struct.pack("<II", len(text), 0x4E4F534A) + text + struct.pack("<II", len(data), 0x004E4942) + data
    return b"glTF" + struct.pack("<II", 2, 12 + len(body)) + body


def test_gltf_is_put_where_its_nodes_say(tmp_path: Path) -> None:
    turned = 2 * np.stack([-TETRA[:, 1], TETRA[:, 0], TETRA[:, 2]], 1) + [10, 0, 0]
    mirrored = TETRA * [-1, 1, 1] + [10, 0, 5]
    expected = triangles(np.concatenate([turned, mirrored]), np.concatenate([SIDES, SIDES[:, ::-1] + 4]))
    for name, content in (("a.gltf", json.dumps(gltf()).encode()), ("a.glb", glb(gltf())), ("b.bin", glb(gltf()))):
        sample = read_file(place(tmp_path, name, content))
        assert triangles(*of(sample)) == expected
        notes = {"2 parts taken together", "2 sets of points or lines left out", "2 separate parts"}
        assert set(sample.notes) == notes, "nothing had to be turned"


def test_gltf_reads_nothing_but_what_is_beside_it(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    place(tmp_path, "secret.bin", b"x" * 72)
    (tmp_path / "inner" / "link.bin").symlink_to(tmp_path / "secret.bin")
    for uri in (
        "../secret.bin", "%2e%2e/secret.bin", "..\\secret.bin", str(tmp_path / "secret.bin"), "file:///etc/passwd",
        "http://example.org/a.bin", "//example.org/a.bin", "link.bin",
    ):  # fmt: skip
        whole = gltf(buffers=[{"byteLength": 72, "uri": uri}])
        says = refused(place(tmp_path / "inner", "a.gltf", json.dumps(whole)))
        assert "lies elsewhere" in says or "not beside it" in says, uri


# bad files

PLY = "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\nelement face 1\n"
PLY += "property list uchar int vertex_indices\nend_header\n"
VTK = "# vtk DataFile Version 3.0\nt\nASCII\nDATASET POLYDATA\nPOINTS 3 float\n0 0 0 1 0 0 0 1 0\n"
VTP = '<VTKFile type="PolyData"><PolyData><Piece NumberOfPoints="3" NumberOfPolys="1"><Points>{}</Points>'
VTP += "</Piece></PolyData></VTKFile>"


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\nf 1 2 9\n",
         "line 5 has vertex 9, and there are vertices 1 to 3"),
        ("b.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\n\nf 1 2 0\n", "line 5 has vertex 0"),
        ("c.obj", "v 0 0 0\nv 1 0\nv 0 1 0\nf 1 2 3\n", "line 2 has 2 coordinates"),
        ("d.obj", "v 0 0 0\nv 1 zero 0\nv 0 1 0\nf 1 2 3\n", "line 2 has 'zero' where a number must stand"),
        ("e.obj", "# a\nv 0 0 0\nv 1 nan 0\nv 0 1 0\nf 1 2 3\n", "the first is line 3"),
        ("f.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\n", "3 vertices and no faces"),
        ("g.obj", "hello\n", "no line 'v x y z'"),
        ("h.obj", b"v \0\xff", "no text"),
        ("i.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 x\n", "line 4 has 'x'"),
        ("j.obj", "v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n", "none of its 1 face has an area"),
        ("k.obj", "v 0 0 0\nsurf 0 1 0 1 1\n", "curved surfaces"),
        ("l.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 -9\n", "line 4 has vertex -9"),
        ("m.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 1.5\n", "line 4 has 1.5 where the number of a vertex must stand"),
        ("a.off", "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 3\n", "line 6 has vertex 3, and there are 3 vertices"),
        ("b.off", "OFF\n3 2 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n", "truncated: line 2 claims 3 vertices and 2 faces"),
        ("c.off", "OFF\n3 1 0\n0 0 0\n1 0\n0 1 0\n3 0 1 2\n", "line 4 has 2 numbers"),
        ("d.off", "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n4 0 1 2\n", "line 6 claims 4 corners and has 3"),
        ("e.off", "OFF\n9 50000000 0\n0 0 0\n", f"50000000 faces and the most is {MAX_FACES}"),
        ("f.off", "4OFF\n3 1 0\n", "four coordinates"),
        ("g.off", "OFF\n", "how many vertices"),
        ("h.off", "OFF\n3 x 0\n", "line 2 has 'x'"),
        ("i.off", "OFF\n-3 1 0\n", "claims -3"),
        ("a.ply", PLY + "0 0 0\n1 0 0\n0 1 0\n3 0 1 3\n", "line 13 has vertex 3"),
        ("b.ply", PLY + "0 0 0\n1 0 0\n", "truncated: it claims 3 of the element 'vertex'"),
        ("c.ply", PLY + "0 0 0\n1 0 0\n0 one 0\n3 0 1 2\n", "line 12 has 'one'"),
        ("d.ply", PLY + "0 0 0\n1 0 0\n0 1 0\n4 0 1 2\n", "line 13 has 4 numbers and its face takes 5"),
        ("e.ply", PLY + "0 0 0\n1 0 inf\n0 1 0\n3 0 1 2\n", "the first is line 11"),
        ("f.ply", PLY.replace("face 1", "face 50000000"), f"50000000 faces and the most is {MAX_FACES}"),
        ("g.ply", PLY.replace("property float y\n", "property text y\n"), "line 5 of its header cannot be read"),
        ("h.ply", PLY.replace("end_header\n", ""), "header does not end"),
        ("i.ply", PLY.replace("float y", "float w") + "0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n", "no x, y and z"),
        ("j.ply", big_endian("<")[:-9], "truncated: it claims 8 of the element 'face'"),
        ("a.stl", b"x" * 80 + struct.pack("<I", 2) + b"\0" * 50, "claims 2 triangles and 1 are there"),
        ("b.stl", b"x" * 80 + struct.pack("<I", 50_000_000) + b"\0" * 50, "50000000 faces and the most is"),
        ("c.stl", "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0\nvertex 0 1 0\nendsolid\n",
         "line 5 has 2"),
        ("d.stl", "solid a\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\n", "no 'endsolid'"),
        ("e.stl", "solid a\nvertex 0 0 0\nvertex 1 0 0\nendsolid\n", "no multiple of three"),
        ("f.stl", "solid a\nvertex 0 0 0\nvertex 1 nan 0\nvertex 0 1 0\nendsolid\n", "the first is line 3"),
        ("g.stl", b"short", "5 bytes"),
        ("a.vtk", VTK + "POLYGONS 1 4\n3 0 1 7\n", "face 0 has vertex 7"),
        ("b.vtk", VTK + "POLYGONS 1 4\n9 0 1 2\n", "cell 0 reaches beyond"),
        ("c.vtk", VTK.replace("POINTS 3", "POINTS 4"), "claims 12 numbers and 9 can be read"),
        ("d.vtk", VTK.replace("POLYDATA", "STRUCTURED_POINTS"), "holds STRUCTURED_POINTS"),
        ("e.vtk", VTK.replace("POINTS 3", "POINTS 99999999999"), "99999999999 vertices"),
        ("f.vtk", VTK, "3 vertices and no faces"),
        ("g.vtk", VTK.replace("POLYDATA", "UNSTRUCTURED_GRID") + "CELLS 1 5\n4 0 1 2 0\nCELL_TYPES 1\n10\n",
         "solid cells"),
        ("h.vtk", VTK.replace("float", "complex"), "type 'complex'"),
        ("i.vtk", VTK.replace("ASCII", "BINARY").replace("POINTS 3", "POINTS 30000"), "truncated"),
        ("a.vtp", VTP.format('<DataArray type="Float32" NumberOfComponents="3" format="ascii">0 0 0 1</DataArray>'),
         "4 numbers"),
        ("b.vtp", VTP.format(""), "no array"),
        ("c.vtp", '<VTKFile type="ImageData"></VTKFile>', "holds ImageData"),
        ("d.vtp", '<!DOCTYPE a [<!ENTITY b "c">]><VTKFile type="PolyData">&b;</VTKFile>', "document type"),
        ("e.vtp", '<VTKFile type="PolyData">\n<PolyData>', "damaged in line 2"),
        ("f.vtp", VTP.replace('"3"', '"99999999"').format(""), "99999999 vertices"),
        ("g.vtp", '<VTKFile type="PolyData" compressor="vtkLZ4DataCompressor"></VTKFile>', "compressed by LZ4"),
        ("a.gltf", "{}", "no 'asset'"),
        ("b.gltf", "{", "JSON cannot be read"),
        ("c.gltf", '{"asset": {"version": "1.0"}}', "glTF '1.0'"),
        ("d.gltf", json.dumps(gltf(accessors=[])), "no entry 0 in 'accessors'"),
        ("e.gltf", json.dumps(gltf(nodes=[{"children": [0], "mesh": 0}])), "node 0 hangs from several"),
        ("f.gltf", json.dumps(gltf(extensionsRequired=["KHR_draco_mesh_compression"])), "KHR_draco_mesh_compression"),
        ("g.gltf", json.dumps(gltf(bufferViews=[{"buffer": 0, "byteLength": 40}])), "reaches beyond its buffer"),
        ("h.gltf", json.dumps(gltf(buffers=[{"byteLength": 72, "uri": "data:;base64,@@"}])), "no base64"),
        ("i.gltf", json.dumps(gltf(buffers=[{"byteLength": 9999, "uri": "data:;base64,AAAA"}])), "claims 9999 bytes"),
        ("j.gltf", json.dumps(gltf(nodes=[{"mesh": 0, "scale": [1, "x", 1]}])), "'scale' of a node is not 3 numbers"),
        ("k.gltf", "[" * 100_000, "JSON cannot be read"),
        ("l.glb", glb(gltf())[:200], "truncated"),
        ("m.gltf", json.dumps(gltf(meshes=[])), "no entry 0 in 'meshes'"),
    ],
)  # fmt: skip
def test_bad_files_are_refused_with_the_place(name: str, content: str | bytes, says: str, tmp_path: Path) -> None:
    assert says in refused(place(tmp_path, name, content))


def test_a_huge_text_is_refused_by_its_size(tmp_path: Path) -> None:
    path = tmp_path / "huge.obj"
    with path.open("wb") as file:
        file.truncate(2**30)  # sparse: takes no room
    assert "1073741824 bytes and the most for a mesh as text is" in refused(path)


WHOLE = {
    ".obj": b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n",
    ".off": b"OFF\n4 4 6\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 2 1\n3 0 1 3\n3 1 2 3\n3 0 3 2\n",
    ".ply": big_endian("<"),
    ".glb": glb(gltf()),
    ".gltf": json.dumps(gltf()).encode(),
    ".vtk": (VTK + "POLYGONS 1 4\n3 0 1 2\nPOINT_DATA 3\nSCALARS a float\nLOOKUP_TABLE default\n1 2 3\n").encode(),
}


@pytest.mark.parametrize("ending", WHOLE)
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_damaged_files_open_or_are_refused(ending: str, data: st.DataObject, tmp_path: Path) -> None:
    whole = bytearray(WHOLE[ending])
    for _ in range(data.draw(st.integers(1, 3))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(whole)))
    path = place(tmp_path, f"a{ending}", bytes(whole if data.draw(st.booleans()) else whole[:cut]))
    try:
        sample = read_file(path)
    except ReadError as error:
        assert "failed (" not in str(error) and "\n" not in str(error)
    else:
        assert sample.domain in ("mesh", "sequence") and np.isfinite(sample.x.values).all()


@pytest.mark.parametrize("number", [0, 5, 13, 17, 23, 30])
def test_damaged_xml_files_open_or_are_refused(number: int, vtk_files: Path, tmp_path: Path) -> None:
    whole, chance = (vtk_files / f"xml-{number}.vtp").read_bytes(), np.random.default_rng(number)
    for _ in range(25):
        damaged = bytearray(whole[: chance.integers(0, len(whole))] if chance.random() < 0.4 else whole)
        for at in chance.integers(0, max(len(damaged), 1), 4 if damaged else 0):
            damaged[at] = chance.integers(0, 256)
        try:
            read_file(place(tmp_path, "a.vtp", bytes(damaged)))
        except ReadError as error:
            assert "failed (" not in str(error) and "\n" not in str(error)
