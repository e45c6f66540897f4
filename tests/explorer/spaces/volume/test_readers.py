"""Volumes are read from files, what their content is decides; what is none is refused in one sentence."""

from __future__ import annotations

import gzip
import struct
from pathlib import Path

import nibabel
import numpy as np
import pytest
import tifffile
from PIL import Image

from explorer.data.opening import domain_of, read_file
from explorer.data.readers import ReadError
from explorer.spaces.volume.network.fit import fit_volume

RNG = np.random.default_rng(0)
VOLUME = RNG.random((12, 14, 16), dtype=np.float32)  # slices, rows, columns


def nifti(path: Path, values: np.ndarray, affine: np.ndarray | None = None) -> Path:
    nibabel.save(nibabel.Nifti1Image(values, np.eye(4) if affine is None else affine), path)
    return path


def as_scanned(volume: np.ndarray) -> np.ndarray:
    """Return slices, rows and columns as x, y to the front, z."""
    return volume[:, ::-1].transpose(2, 1, 0)


@pytest.mark.parametrize("ending", [".nii", ".nii.gz"])
def test_a_nifti_is_read_upright(tmp_path: Path, ending: str) -> None:
    path = nifti(tmp_path / f"a{ending}", as_scanned(VOLUME))
    sample = read_file(path)
    assert sample.domain == domain_of(path) == "volume" and sample.title == path.name
    np.testing.assert_array_equal(sample.x.values[0], VOLUME)


def test_axes_that_run_the_other_way_are_turned_round(tmp_path: Path) -> None:
    affine = np.array([[0, -1.0, 0, 0], [0, 0, 1.0, 0], [1.0, 0, 0, 0], [0, 0, 0, 1.0]])  # i is z, j is -x, k is y
    stored = as_scanned(VOLUME)[::-1].transpose(2, 0, 1)
    np.testing.assert_array_equal(read_file(nifti(tmp_path / "a.nii", stored, affine)).x.values[0], VOLUME)


def test_bricks_become_cubes(tmp_path: Path) -> None:
    sample = read_file(nifti(tmp_path / "a.nii", as_scanned(VOLUME), np.diag([1.0, 1.0, 3.0, 1.0])))
    assert sample.x.values.shape == (1, 36, 14, 16) and "1×1×3 mm resampled" in sample.notes[0]
    np.testing.assert_allclose(sample.x.values[0, 1::3], VOLUME, atol=1e-6)


def test_voxel_size_and_ends_of_axes_come_from_the_header(tmp_path: Path) -> None:
    image = nibabel.Nifti1Image(as_scanned(VOLUME)[::-1], np.diag([-2.0, 2.0, 2.0, 1.0]))  # x runs to the left
    image.header.set_xyzt_units("mm")
    nibabel.save(image, tmp_path / "a.nii")
    sample = read_file(tmp_path / "a.nii")
    np.testing.assert_array_equal(sample.x.values[0], VOLUME)
    assert sample.voxel == (2.0,) * 3 and sample.ends == ("L", "R", "P", "A", "I", "S")
    image.header.set_xyzt_units("micron")
    nibabel.save(image, tmp_path / "b.nii")
    assert read_file(tmp_path / "b.nii").voxel == pytest.approx((0.002,) * 3)
    smaller = fit_volume(sample, (1, 6, 7, 8))
    assert smaller.voxel == pytest.approx((4.0,) * 3) and smaller.ends == sample.ends
    assert fit_volume(sample, (1, 12, 7, 16)).voxel == pytest.approx((2.0, 4.0, 2.0))  # no cubes any more
    bare = nibabel.Nifti1Image(as_scanned(VOLUME), None)  # no affine of its own: where right is, nobody knows
    nibabel.save(bare, tmp_path / "c.nii")
    assert read_file(tmp_path / "c.nii").ends == ()


@pytest.mark.parametrize("ending", [".nii", ".nii.gz"])
def test_each_of_several_volumes_can_be_chosen(tmp_path: Path, ending: str) -> None:
    path = nifti(tmp_path / f"a{ending}", np.stack([as_scanned(VOLUME) + k for k in range(3)], -1))
    for k in range(3):
        sample = read_file(path, str(k + 1) if k else "")
        np.testing.assert_array_equal(sample.x.values[0], VOLUME + k)
        assert sample.notes[0].startswith(f"volume {k + 1} of 3") and sample.parts == 3
    with pytest.raises(ReadError, match=r"has no volume '4'.*choose one from 1 to 3"):
        read_file(path, "4")


@pytest.mark.parametrize("name", ["v.npy", "v.npz", "plain.tif", "packed.tif", "imagej.tif", "unsaid.tif"])
def test_stacks_and_arrays_of_three_long_axes_are_volumes(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    match name:
        case "v.npy":
            np.save(path, VOLUME)
        case "v.npz":
            np.savez(path, volume=VOLUME)
        case "plain.tif":
            tifffile.imwrite(path, VOLUME)
        case "packed.tif":
            tifffile.imwrite(path, VOLUME, compression="zlib")
        case "unsaid.tif":  # to ImageJ slices that nobody calls so are channels
            tifffile.imwrite(path, VOLUME.astype(np.float32), imagej=True)
        case _:
            tifffile.imwrite(path, VOLUME, imagej=True, metadata={"axes": "ZYX"})
    sample = read_file(path)
    assert sample.domain == "volume"
    np.testing.assert_array_equal(sample.x.values[0], VOLUME)


@pytest.mark.parametrize("kind", ["tiff_lzw", "packbits", "tiff_adobe_deflate"])
@pytest.mark.parametrize("mode", ["u1", "u2", "f4", "i4", "white"])
def test_stacks_that_numpy_cannot_unpack_are_read_by_libtiff(tmp_path: Path, kind: str, mode: str) -> None:
    path = tmp_path / "packed.tif"
    stored = np.round(200 * VOLUME).astype("u1" if mode == "white" else mode)
    pages = [Image.fromarray(page) for page in stored]
    # where white is zero Pillow stores what is seen the other way round
    said = {"tiffinfo": {262: 0}} if mode == "white" else {}
    if kind == "tiff_lzw" and mode in ("u1", "u2"):
        said = {"tiffinfo": {317: 2}}  # differences along a row
    pages[0].save(path, save_all=True, append_images=pages[1:], compression=kind, **said)
    sample = read_file(path)
    assert sample.domain == "volume" and f"{len(VOLUME)} pages read as slices" in sample.notes
    wanted = stored / {"u1": 255, "u2": 65535, "white": 255}.get(mode, 1)
    np.testing.assert_allclose(sample.x.values[0], wanted, atol=1e-7)


def test_a_packed_stack_that_is_cut_or_damaged_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "packed.tif"
    pages = [Image.fromarray(page) for page in RNG.integers(0, 255, (12, 40, 40), np.uint8)]
    pages[0].save(path, save_all=True, append_images=pages[1:], compression="tiff_lzw")
    with tifffile.TiffFile(path) as tif:
        at, count = tif.pages[5].dataoffsets[0], tif.pages[5].databytecounts[0]  # type: ignore[union-attr]
    whole = path.read_bytes()
    path.write_bytes(whole[: at + 20] + bytes(count - 40) + whole[at + count - 20 :])
    with pytest.raises(ReadError, match=r"page 6|packed pixels"):
        read_file(path)
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ReadError, match="truncated"):
        read_file(path)


@pytest.mark.parametrize(
    "shape", [(14, 16), (3, 14, 16), (14, 16, 3), (1, 3, 14, 16), (7, 14, 16)], ids=lambda s: "x".join(map(str, s))
)
def test_pictures_stay_pictures(tmp_path: Path, shape: tuple[int, ...]) -> None:
    np.save(tmp_path / "a.npy", np.zeros(shape, np.float32))
    assert domain_of(tmp_path / "a.npy") == "grid"


def test_a_stack_of_few_pages_or_of_colours_stays_a_picture(tmp_path: Path) -> None:
    tifffile.imwrite(tmp_path / "few.tif", VOLUME[:6])
    tifffile.imwrite(tmp_path / "rgb.tif", RNG.integers(0, 255, (9, 14, 16, 3), np.uint8), photometric="rgb")
    assert domain_of(tmp_path / "few.tif") == domain_of(tmp_path / "rgb.tif") == "grid"


def _oblique() -> np.ndarray:
    c, s = np.cos(0.3), np.sin(0.3)
    return np.array([[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1.0]])


def _claims(path: Path, sides: tuple[int, ...]) -> Path:
    """Write a NIfTI whose header claims another size than its content."""
    data = bytearray(nifti(path, as_scanned(VOLUME)).read_bytes())
    struct.pack_into("<8h", data, 40, len(sides), *sides, *[1] * (7 - len(sides)))
    path.write_bytes(data)
    return path


def _bomb(path: Path) -> Path:
    head = _claims(path.with_suffix(""), (32000, 32000, 32000)).read_bytes()[:400]
    path.write_bytes(gzip.compress(head + bytes(10**6)))
    return path


def _cut(path: Path) -> Path:
    path.write_bytes(nifti(path, as_scanned(VOLUME)).read_bytes()[:900])
    return path


def _header_of_giant(path: Path) -> Path:
    np.save(path, VOLUME)
    data = path.read_bytes().replace(b"(12, 14, 16)", b"(9999, 9999, 99)"[:12].ljust(12))
    path.write_bytes(data.replace(b"(9999, 9999,", b"(999,999,99)"))
    return path


def _nan(path: Path) -> Path:
    values = VOLUME.copy()
    values[1, 2, 3] = np.nan
    np.save(path, values)
    return path


def _truncated_stack(path: Path) -> Path:
    tifffile.imwrite(path, VOLUME)
    path.write_bytes(path.read_bytes()[:-4000])
    return path


def _written(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


HOSTILE = {
    "oblique": (lambda d: nifti(d / "a.nii", VOLUME, _oblique()), "obliquely, turned by 17 degrees"),
    "singular": (lambda d: _singular(d / "a.nii"), "affine"),
    "a header of a giant": (lambda d: _claims(d / "a.nii", (30000, 30000, 30000)), "and the most is"),
    "a packed header of a giant": (lambda d: _bomb(d / "a.nii.gz"), "and the most is"),
    "negative sides": (lambda d: _claims(d / "a.nii", (-3, 14, 16)), "."),
    "one dimension": (lambda d: _claims(d / "a.nii", (12,)), "is no volume"),
    "a cut NIfTI": (lambda d: _cut(d / "a.nii"), "truncated"),
    "complex values": (lambda d: nifti(d / "a.nii", VOLUME.astype(np.complex64)), "not real numbers"),
    "NaN": (lambda d: _nan(d / "a.npy"), "1 of its 2688 values is not finite, the first at slice, row, column 1, 2, 3"),
    "an array of a giant": (lambda d: _header_of_giant(d / "a.npy"), "truncated"),
    "a cut stack": (lambda d: _truncated_stack(d / "a.tif"), "truncated|damaged"),
    "nothing": (lambda d: _written(d / "a.nii", ""), "empty"),
    "text": (lambda d: _written(d / "a.nii", "no volume"), "no NIfTI volume"),
}


def _singular(path: Path) -> Path:
    image = nibabel.Nifti1Image(VOLUME, None)
    image.header["sform_code"], image.header["qform_code"] = 1, 0
    image.header["srow_x"] = image.header["srow_y"] = image.header["srow_z"] = [1, 0, 0, 0]
    path.write_bytes(image.to_bytes())
    return path


@pytest.mark.parametrize("what", HOSTILE)
def test_a_bad_file_is_refused_in_one_sentence(tmp_path: Path, what: str) -> None:
    make, words = HOSTILE[what]
    with pytest.raises(ReadError, match=words) as refused:
        read_file(make(tmp_path))
    text = str(refused.value)
    assert text.startswith("cannot read a.") and text.endswith(".") and "\n" not in text and len(text) < 400


@pytest.mark.parametrize("name", ["few.tif", "few.npy"])
def test_few_slices_are_a_volume_where_a_person_says_so_and_the_refusal_tells_how(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    tifffile.imwrite(path, VOLUME[:5]) if path.suffix == ".tif" else np.save(path, VOLUME[:5])
    with pytest.raises(ValueError, match=r"few\.(tif|npy)\?as=\S+ is read as a volume, as an? .* of 8 or more") as told:
        fit_volume(read_file(path), (1, None, None, None))
    way = str(told.value).split("?as=")[1].split()[0]
    assert read_file(path, asked={"as": way}).x.values.shape == (1, 5, *VOLUME.shape[1:])
