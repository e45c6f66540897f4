"""Odd and bad files of points, molecules, volumes and panoramas: taken with a note, or refused in a sentence."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import nibabel
import numpy as np
import tifffile
from PIL import Image

TEN_MILLION = 10_000_000
WATER = np.array([[0.0, 0.0, 0.119], [0.0, 0.763, -0.477], [0.0, -0.763, -0.477]])
CELL = "".join(f"_cell_length_{a} 5.64\n" for a in "abc") + "".join(
    f"_cell_angle_{a} 90\n" for a in ("alpha", "beta", "gamma")
)
SITES = "loop_\n_atom_site_label\n_atom_site_fract_x\n_atom_site_fract_y\n_atom_site_fract_z\n"
PCD = (
    "# .PCD v0.7\nVERSION 0.7\nFIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nCOUNT 1 1 1\nWIDTH {n}\nHEIGHT 1\nPOINTS {n}\n"
    "DATA {}\n"
)
PLY = "ply\nformat binary_little_endian 1.0\nelement vertex {}\n"
PLY += "".join(f"property float {axis}\n" for axis in "xyz") + "end_header\n"


@dataclass(frozen=True)
class Case:
    """A file: its name, what writes it, the pattern of what is said, whether it is refused, and for which network."""

    name: str
    write: Callable[[Path], object]
    said: str
    refused: bool
    model: str

    def made(self, folder: Path) -> Path:
        """Write it into a folder."""
        path = folder / self.name
        self.write(path)
        return path


def molecule(places: np.ndarray, symbols: Sequence[str] = "OHH", comment: str = "water") -> str:
    """Return an XYZ file."""
    rows = "".join(f"{s} {x:.6f} {y:.6f} {z:.6f}\n" for s, (x, y, z) in zip(symbols, places, strict=True))
    return f"{len(places)}\n{comment}\n{rows}"


EXTENDED = "Properties=species:S:1:pos:R:3"


def _text(content: str) -> Callable[[Path], object]:
    return lambda path: path.write_text(content)


def _bytes(content: bytes) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(content)


def _npz(points: np.ndarray) -> Callable[[Path], object]:
    return lambda path: np.savez(path, points=points)


def _sparse(head: str, size: int) -> Callable[[Path], object]:
    """Return what writes a header and zeros behind it, which take no room on the disk."""

    def write(path: Path) -> None:
        with path.open("wb") as file:
            file.write(head.encode())
            file.truncate(len(head) + size)

    return write


def _header_of(points: int) -> Callable[[Path], object]:
    def write(path: Path) -> None:
        import zipfile

        text = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({points}, 3), }}".encode().ljust(117) + b"\n"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("points.npy", "w") as file:
            file.write(b"\x93NUMPY\1\0" + len(text).to_bytes(2, "little") + text)
            for _ in range(points // 1000):
                file.write(bytes(12 * 1000))

    return write


def _nifti(values: np.ndarray, affine: np.ndarray | None = None) -> Callable[[Path], object]:
    def write(path: Path) -> None:
        image = nibabel.Nifti1Image(values, None)
        image.header.set_sform(np.eye(4) if affine is None else affine, code=1)
        nibabel.save(image, path)

    return write


def _oblique() -> np.ndarray:
    c, s = np.cos(0.3), np.sin(0.3)
    return np.array([[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1.0]])


def _singular() -> np.ndarray:
    return np.diag([1.0, 1.0, 0.0, 1.0])


def _picture(rows: int, columns: int) -> Callable[[Path], object]:
    pixels = np.random.default_rng(0).integers(0, 255, (rows, columns, 3), dtype=np.uint8)
    return lambda path: Image.fromarray(pixels).save(path)


def _points() -> list[Case]:
    def refused(name: str, write: Callable[[Path], object], said: str) -> Case:
        return Case(name, write, said, True, "egnn")

    def taken(name: str, write: Callable[[Path], object], said: str = "") -> Case:
        return Case(name, write, said, False, "egnn")

    nan, holes = np.full((3, 3), np.nan), np.array([[0, 0, 0], [np.nan, 0, 0], [1, 0, 0], [0, 1, 0]], "<f4")
    pdb = "ATOM      1  N   ALA A   1      11.104   6.134  -6.504  1.00  0.00           {}  \n"
    together = r"\d of 3 points lie where another one does"
    unknown = "is no chemical element"
    crowd = "".join(f"C {x:.5f} {y:.5f} {z:.5f}\n" for x, y, z in np.random.default_rng(0).random((2000, 3)))
    return [
        # several points at one place
        taken("together.xyz", _text(molecule(WATER[[0, 1, 1]])), "1 of 3 points lie"),
        taken("together.extxyz", _text(molecule(WATER[[0, 0, 0]], comment=EXTENDED)), together),
        taken("together.npz", _npz(np.zeros((3, 3))), together),
        taken("together.ply", _bytes(PLY.format(3).encode() + bytes(36)), together),
        taken("together.cif", _text(f"data_a\n{CELL}{SITES}Na 0 0 0\nNa 0 0 0\nCl .5 .5 .5\n"), "1 of 3 sites lie"),
        # one alone
        taken("alone.xyz", _text("1\nalone\nHe 0 0 0\n")),
        taken("alone.pdb", _text(pdb.format("N") + "END\n")),
        taken("alone.npz", _npz(np.ones((1, 3)))),
        taken("alone.pcd", _bytes(PCD.format("binary", n=1).encode() + bytes(12))),
        # elements that nobody knows
        refused("unknown.xyz", _text(molecule(WATER, ("Qq", "H", "H"))), "'Qq', which is no chemical element"),
        refused("unknown.extxyz", _text(molecule(WATER, ("Qq", "H", "H"), EXTENDED)), f"'Qq' {unknown}"),
        refused("unknown.cif", _text(f"data_a\n{CELL}{SITES}Qq1 0 0 0\n"), f"'Qq' {unknown}"),
        taken("unknown.npz", lambda p: np.savez(p, points=WATER, numbers=np.array([200, 1, 1]))),
        # cells that are missing, or none
        refused("cell.cif", _text(f"data_a\n{SITES}Na 0 0 0\nCl .5 .5 .5\n"), "shares of a cell, and it does not say"),
        refused("flat.cif", _text(f"data_a\n{CELL.replace('c 5.64', 'c 0')}{SITES}Na 0 0 0\n"), "no cell has"),
        taken("cell.extxyz", _text(molecule(WATER, comment=f'{EXTENDED} pbc="T T T"')), "has no cell"),
        # other units
        taken("nanometres.xyz", _text(molecule(0.1 * WATER)), "nearer than any bond"),
        taken("bohr.xyz", _text(molecule(WATER / 0.529177)), "in bohr"),
        taken("shares.extxyz", _text(molecule(0.1 * WATER, comment=EXTENDED)), "shares of a cell"),
        # no numbers
        refused("nan.xyz", _text(molecule(WATER).replace("0.119000", "nan")), "position that is NaN, infinite"),
        refused("nan.extxyz", _text(molecule(WATER, comment=EXTENDED).replace("0.119000", "nan")), "no finite place"),
        refused("nan.cif", _text(f"data_a\n{CELL}{SITES}Na ? 0 0\n"), "no number"),
        refused("nan.npz", _npz(nan), "point 0 is at no finite place"),
        taken("nan.pcd", _bytes(PCD.format("binary", n=4).encode() + holes.tobytes()), "1 point without"),
        taken("nan.ply", _bytes(PLY.format(4).encode() + holes.tobytes()), "1 point without a place is left out"),
        refused("nan-all.ply", _bytes(PLY.format(3).encode() + nan.astype("<f4").tobytes()), "none of its points"),
        # nothing at all
        *(refused(f"empty{ending}", _bytes(b""), "empty")
          for ending in (".xyz", ".extxyz", ".sdf", ".pdb", ".cif", ".pcd", ".ply", ".npz")),
        refused("none.npz", _npz(np.zeros((0, 3))), "no points"),
        refused("none.pcd", _text(PCD.format("ascii", n=0)), "no points"),
        refused("none.xyz", _text("0\nnothing\n"), "no nodes"),
        # too many
        refused("many.pcd", _sparse(PCD.format("binary", n=TEN_MILLION), 12 * TEN_MILLION), "10,000,000 points"),
        refused("many.ply", _sparse(PLY.format(TEN_MILLION), 12 * TEN_MILLION), "10,000,000 points"),
        refused("many.npz", _header_of(TEN_MILLION), "10,000,000 points"),
        refused("many.xyz", _text(f"{TEN_MILLION}\nmany\n" + "C 0 0 0\n" * 9), "the most is"),
        refused("many.cif", _text(f"data_a\n{CELL}_symmetry_space_group_name_H-M 'F m -3 m'\n{SITES}{crowd}"),
                "more than 200,000 atoms"),
    ]  # fmt: skip


def _volumes() -> list[Case]:
    values = np.random.default_rng(0).random((12, 14, 16), dtype=np.float32)
    holes = values.copy()
    holes[3, 4, 5] = np.nan

    def refused(name: str, write: Callable[[Path], object], said: str) -> Case:
        return Case(name, write, said, True, "oh-cnn")

    def taken(name: str, write: Callable[[Path], object], said: str = "") -> Case:
        return Case(name, write, said, False, "oh-cnn")

    return [
        taken("bricks.nii", _nifti(values, np.diag([1.0, 1.0, 3.0, 1.0])), "1×1×3 mm resampled to 1 mm"),
        refused("needles.nii", _nifti(values, np.diag([1.0, 1.0, 9e4, 1.0])), "times as long|the most is"),
        refused("oblique.nii", _nifti(values, _oblique()), "obliquely, turned by 17 degrees"),
        refused("singular.nii.gz", _nifti(values, _singular()), "affine has no inverse"),
        taken("left-handed.nii", _nifti(values, np.diag([-1.0, 1.0, 1.0, 1.0]))),
        refused("nan.nii", _nifti(holes), "1 of its 2688 values is not finite"),
        refused("nan.npy", lambda p: np.save(p, holes), "1 of its 2688 values is not finite"),
        refused("nan.tif", lambda p: tifffile.imwrite(p, holes), "not finite"),
        refused("complex.nii", _nifti(values.astype(np.complex64)), "not real numbers"),
        *(refused(f"empty{ending}", _bytes(b""), "empty") for ending in (".nii", ".nii.gz", ".npy", ".tif")),
        refused("none.nii", _nifti(values[:0]), "no values|truncated|damaged"),
        taken("one-slice.nii", _nifti(values[:, :, :1])),
        taken("constant.npy", lambda p: np.save(p, np.ones((12, 14, 16), np.float32))),
    ]  # fmt: skip


def _panoramas() -> list[Case]:
    broken = io.BytesIO()
    Image.new("RGB", (64, 32)).save(broken, "png")
    return [
        Case("panorama.png", _picture(32, 64), "", False, "sphere-cnn"),
        Case("cut.png", _bytes(broken.getvalue()[:40]), "truncated|damaged", True, "sphere-cnn"),
        Case("empty.png", _bytes(b""), "empty", True, "sphere-cnn"),
    ]


@cache
def spatial_files() -> Mapping[str, Case]:
    """Return all cases by the names of their files."""
    cases = [*_points(), *_volumes(), *_panoramas()]
    assert len({case.name for case in cases}) == len(cases)
    return {case.name: case for case in cases}
