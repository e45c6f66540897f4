"""Text files of every kind are read alike with the mark of three bytes that editors on Windows set before text."""

from __future__ import annotations

from codecs import BOM_UTF8
from pathlib import Path

import pytest
from numpy.testing import assert_array_equal

from explorer.data.opening import read_file

CORNERS = "0 0 0\n1 0 0\n0 1 0\n0 0 1\n"
FACES = "3 0 1 2\n3 0 1 3\n3 0 2 3\n3 1 2 3\n"
HEADER = (
    "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\n"
    "element face 4\nproperty list uchar int vertex_indices\nend_header\n"
)
TRIANGLE = "facet normal 0 0 1\nouter loop\n{}endloop\nendfacet\n"
FILES = {
    "a.off": f"OFF\n4 4 6\n{CORNERS}{FACES}",
    "a.obj": "".join(f"v {line}\n" for line in CORNERS.splitlines()) + "f 1 2 3\nf 1 2 4\nf 1 3 4\nf 2 3 4\n",
    "a.ply": HEADER + CORNERS + FACES,
    "a.stl": "solid a\n"
    + TRIANGLE.format("vertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\n")
    + TRIANGLE.format("vertex 0 0 0\nvertex 1 0 0\nvertex 0 0 1\n")
    + "endsolid a\n",
    "a.mtx": "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 2\n",
    "a.gml": "graph [ node [ id 0 ] node [ id 1 ] edge [ source 0 target 1 ] ]\n",
    "a.smi": "CCO\n",
    "a.xyz": "3\nwater\nO 0 0 0\nH 0 0 1\nH 0 1 0\n",
    "a.csv": "time,temperature\n1,2.5\n2,3.5\n3,1.0\n4,2.2\n5,2.0\n6,3.3\n",
    "a.jsonl": '{"a": 1, "b": 2}\n{"a": 2, "b": 3}\n{"a": 2, "b": 1}\n',
    "a.fasta": ">name\nACGTACGTAGCTAGCT\n",
}


@pytest.mark.parametrize("name", FILES)
def test_a_mark_before_text_changes_nothing(name: str, tmp_path: Path) -> None:
    """A PLY became a cloud without faces, a STL claimed 1,818,521,189 of them, and Matrix Market was none."""
    plain, marked = tmp_path / "plain" / name, tmp_path / "marked" / name
    for path, begin in ((plain, b""), (marked, BOM_UTF8)):
        path.parent.mkdir()
        path.write_bytes(begin + FILES[name].encode())
    one, other = read_file(plain), read_file(marked)
    assert (one.domain, one.notes, one.names) == (other.domain, other.notes, other.names)
    assert one.signals.keys() == other.signals.keys()
    for key, signal in one.signals.items():
        assert_array_equal(signal.values, other.signals[key].values)
