"""Every shipped sample, the tensors made from text, finding and fitting."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from PIL import Image

from explorer.data import finding as sampling
from explorer.data.finding import find_sample, samples
from explorer.data.readers import ReadError
from explorer.declare.samples import Sample
from explorer.declare.types.fields import Scalar
from explorer.spaces.grid.fields import grid
from explorer.spaces.grid.network.fit import fit
from explorer.spaces.grid.sample import image_sample
from explorer.spaces.grid.samples import digit_images as digits
from explorer.spaces.grid.samples import digits as shipped
from explorer.spaces.grid.samples.patterns import FOLDER, PATTERNS, SIDES, write_photos
from explorer.spaces.grid.samples.tensors import CUT, low_pass, tensor_sample
from explorer.spaces.sequence.drawing.thumbnail import sequence_thumbnail
from explorer.spaces.sequence.fields import STEP_INPUT

Array = np.ndarray[Any, np.dtype[Any]]

ROOT = Path(__file__).resolve().parents[3]
NAMES = sorted(samples())
DOMAINS = {"grid", "graph", "set", "sequence", "mesh", "points", "volume", "sphere"}
IMAGES = [name for name in NAMES if samples()[name].domain == "grid"]
SEQUENCES = [name for name in NAMES if samples()[name].domain == "sequence"]
HEAVY = ("torch", "torch_geometric", "networkx", "igraph", "rdkit", "sklearn", "scipy", "PySide6")


def beyond(values: Array, cut: float) -> float:
    """Return the share of power above `cut` of the Nyquist frequency, in any direction."""
    height, width = values.shape
    power = np.abs(np.fft.fft2(values - values.mean())) ** 2
    radius = np.hypot(np.fft.fftfreq(height)[:, None], np.fft.fftfreq(width)[None, :]) * 2
    total = float(power.sum())
    return float(power[radius > cut].sum()) / total if total else 0.0


def outside_disc(values: Array) -> float:
    """Return the largest magnitude at a pixel whose centre a rotation about the middle can carry out."""
    height, width = values.shape[-2:]
    y, x = np.mgrid[:height, :width]
    radius = np.hypot(y - (height - 1) / 2, x - (width - 1) / 2)
    return float(np.abs(values[..., radius > (min(height, width) - 1) / 2]).max(initial=0))


# the registry


def test_every_sample_is_declared_whole() -> None:
    """Graphs and sets are held to their word in test_graph_samples.py, meshes in test_mesh_samples.py,
    volumes in test_volumes.py, spheres in test_sphere.py."""
    for name, spec in samples().items():
        assert spec.name == name and spec.title and spec.summary and spec.domain in DOMAINS
        assert name == name.lower() and " " not in name and ":" not in name and "/" not in name
    assert {s.domain for s in samples().values()} == DOMAINS
    assert len(IMAGES) >= 38 and len(SEQUENCES) >= 31


@pytest.mark.parametrize("name", IMAGES)
def test_every_image_keeps_its_word(name: str) -> None:
    spec = samples()[name]
    sample = spec.make()
    values = sample.x.values
    assert sample.name == name and sample.domain == spec.domain and sample.source
    assert values.dtype == np.float32 and values.ndim == 3 and values.shape[0] in (1, 3)
    assert not values.flags.writeable and values.flags.c_contiguous
    assert np.isfinite(values).all() and values.min() >= 0 and values.max() <= 1
    assert np.ptp(values) > 0.5, "a sample with hardly any contrast shows nothing"
    assert sample.x.field == grid(Scalar(intensity=True))
    assert_array_equal(spec.make().x.values, values)
    assert ("colour" in spec.tags) == (values.shape[0] == 3)
    if "photo" not in spec.tags:
        assert values.shape[1] == values.shape[2]
        assert values.shape[1] % 2 or "caption" in spec.tags, "the middle is a pixel, but where six tokens make a side"


@pytest.mark.parametrize("name", SEQUENCES)
def test_every_sequence_has_steps_and_channels_and_a_picture(name: str) -> None:
    """Ask for the data alone; test_sequence_samples.py holds against each what it is said to hold."""
    sample = samples()[name].make()
    values = sample.x.values
    assert sample.name == name and sample.domain == "sequence" and sample.x.field == STEP_INPUT
    assert values.dtype == np.float32 and values.ndim == 2 and len(values) > 1 and values.shape[1] >= 1
    assert not values.flags.writeable and np.isfinite(values).all()
    for key, signal in sample.signals.items():
        assert len(signal.values) == len(values) and not signal.values.flags.writeable, key
        assert np.isfinite(signal.values).all(), key
    assert len(sample.names) in (0, len(values)) and len(sample.channels) in (0, values.shape[1])
    picture = sequence_thumbnail(sample)
    assert picture.shape == (48, 48, 3) and picture.dtype == np.uint8
    assert len(np.unique(picture.reshape(-1, 3), axis=0)) > 1, "an empty picture shows nothing"


def test_the_shipped_samples_are_those_promised() -> None:
    expected = {f"digit-{d}{copy}" for d in range(10) for copy in ("", "b")}
    expected |= {f"{p.name}{suffix}" for p in PATTERNS for suffix in ("", "-65")}
    assert {"letter-f", "cross", "pinwheel", "rings", "grating", "checkerboard", "blobs", "edge"} <= expected
    assert expected | {"photo-china", "photo-flower"} <= set(NAMES)


@pytest.mark.slow
def test_listing_imports_nothing_heavy() -> None:
    code = (
        "import sys\n"
        "from explorer.data.finding import samples\n"
        "from explorer.data.readers import readers\n"
        "samples(), readers()\n"
        f"heavy = {{'PIL', 'tifffile', *{HEAVY}}} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
        "samples()['digit-3'].make(), samples()['rings'].make(), samples()['photo-china'].make()\n"
        f"assert not set({HEAVY}) & set(sys.modules), set({HEAVY}) & set(sys.modules)\n"
        "samples()['ecg'].make(), samples()['dna-motif'].make(), samples()['alice-words'].make()\n"
        f"assert not set({HEAVY}) & set(sys.modules), set({HEAVY}) & set(sys.modules)\n"
        "samples()['karate'].make(), samples()['torus'].make(), samples()['caffeine'].make()\n"
        f"heavy = (set({HEAVY}) - {{'networkx', 'scipy'}}) & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT, timeout=60)


def test_shipped_files_are_small_and_attributed() -> None:
    photos = [FOLDER / "china.jpg", FOLDER / "flower.jpg"]
    assert sum(p.stat().st_size for p in photos) < 150_000
    assert shipped.FILE.stat().st_size < 50_000
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    for path in (*photos, shipped.FILE):
        assert f"`{path.name}`" in text
    assert "CC BY 2.0" in text and "CC BY 4.0" in text
    for name in ("photo-china", "photo-flower"):
        assert "CC BY 2.0" in samples()[name].make().source


# digits


def test_the_split_is_what_it_was_when_the_weights_were_trained() -> None:
    train, train_labels = digits.load("train")
    test, test_labels = digits.load("test")
    assert train.shape == (1297, 1, 29, 29) and test.shape == (500, 1, 29, 29)
    assert train.dtype == test.dtype == np.float32 and train_labels.dtype == test_labels.dtype == np.int64
    assert digits.load("train")[0] is train and not train.flags.writeable and not test_labels.flags.writeable
    share = np.bincount(test_labels) / (np.bincount(train_labels) + np.bincount(test_labels))
    assert_allclose(share, 500 / 1797, atol=0.006)
    # the very indices: a shipped weight file's test error means nothing when they move
    from sklearn.datasets import load_digits

    labels = load_digits().target
    # the file is read without its package; where it lies elsewhere the package is asked
    assert_array_equal(digits.table(), np.column_stack([load_digits().data, labels]))
    first, second = digits.split_indices(labels)
    assert_array_equal(np.sort(np.concatenate([first, second])), np.arange(1797))
    assert second[:8].tolist() == [9, 10, 14, 17, 18, 21, 23, 25] and int(second.sum()) == 446391
    with pytest.raises(ValueError, match="'train' and 'test'"):
        digits.load("valid")  # type: ignore[arg-type]


def test_digits_lose_no_ink_when_turned() -> None:
    for split in ("train", "test"):
        images, _ = digits.load(split)  # type: ignore[arg-type]
        assert images.min() == 0 and images.max() <= 1
        assert outside_disc(images) == 0
        ink = images.max((0, 1)) > 0
        rows, columns = np.flatnonzero(ink.any(1)), np.flatnonzero(ink.any(0))
        assert rows.min() >= 4 and rows.max() <= 24 and columns.min() >= 4 and columns.max() <= 24


def test_enlarging_is_centred_and_keeps_shapes() -> None:
    rng = np.random.default_rng(0)
    small = rng.random((3, 8, 8))
    large = digits.enlarge(small)
    assert large.shape == (3, 1, 29, 29) and large.dtype == np.float32
    # turning before or after is the same: the centre of the one is the centre of the other
    assert_allclose(digits.enlarge(np.rot90(small, 1, (1, 2))), np.rot90(large, 1, (2, 3)), atol=1e-6)
    assert_allclose(digits.enlarge(small[:, :, ::-1]), large[..., ::-1], atol=1e-6)
    # constant inside: the kernel's weights add up to one
    assert_allclose(digits.enlarge(np.full((1, 8, 8), 0.5))[0, 0, 10:19, 10:19], 0.5, atol=1e-6)


def test_shipped_digits_come_from_the_test_split(tmp_path: Path) -> None:
    images, labels = digits.load("test")
    train, _ = digits.load("train")
    shown = [name for name in IMAGES if name.startswith("digit-")]
    assert len(shown) == 20
    for name in shown:
        sample = samples()[name].make()
        assert sample.label == int(name[6])
        distance = np.abs(images - sample.x.values).max((1, 2, 3))
        assert distance.min() < 1e-6 and labels[distance.argmin()] == sample.label
        assert np.abs(train - sample.x.values).max((1, 2, 3)).min() > 0.05
    for digit in range(10):
        one, other = samples()[f"digit-{digit}"].make(), samples()[f"digit-{digit}b"].make()
        assert not np.array_equal(one.x.values, other.x.values)
    shipped.write_file(tmp_path / "again.npz")
    with np.load(tmp_path / "again.npz") as again, np.load(shipped.FILE) as before:
        assert again.files == before.files
        for key in again.files:
            assert_allclose(again[key], before[key], atol=1e-6)


# patterns

D4: dict[str, Callable[[Array], Array]] = {
    "quarter": lambda a: np.rot90(a, 1, (1, 2)),
    "half": lambda a: np.rot90(a, 2, (1, 2)),
    "left-right": lambda a: a[:, :, ::-1],
    "up-down": lambda a: a[:, ::-1],
    "diagonal": lambda a: a.transpose(0, 2, 1),
    "other diagonal": lambda a: np.rot90(a, 2, (1, 2)).transpose(0, 2, 1),
}
KEPT: dict[str, set[str]] = {
    "C1": set(),
    "C2": {"half"},
    "C4": {"quarter", "half"},
    "D4": set(D4),
    "mirror": {"up-down"},
}


@pytest.mark.parametrize("size", SIDES)
@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda p: p.name)
def test_patterns_have_exactly_the_symmetry_they_declare(pattern: Any, size: int) -> None:
    name = pattern.name + ("" if size == SIDES[0] else f"-{size}")
    values = samples()[name].make().x.values
    assert values.shape == (1, size, size)
    assert pattern.symmetry in samples()[name].tags
    kept = {move for move, act in D4.items() if np.array_equal(act(values), values)}
    assert kept == KEPT[pattern.symmetry]
    for move in set(D4) - kept:  # not just by rounding
        assert np.abs(D4[move](values) - values).max() > 0.1


@pytest.mark.parametrize("name", ["rings", "grating", "blobs", "rings-65", "grating-65", "blobs-65"])
def test_smooth_patterns_are_band_limited(name: str) -> None:
    assert beyond(samples()[name].make().x.values[0], 0.5) < 1e-3


@pytest.mark.parametrize("name", [n for n in IMAGES if "pattern" in samples()[n].tags and "checker" not in n])
def test_patterns_lose_nothing_when_turned(name: str) -> None:
    assert outside_disc(samples()[name].make().x.values) == 0


def test_the_photos_can_be_made_again(tmp_path: Path) -> None:
    write_photos(tmp_path)
    for name in ("china.jpg", "flower.jpg"):
        with Image.open(tmp_path / name) as again, Image.open(FOLDER / name) as before:
            difference = np.abs(np.asarray(again, float) - np.asarray(before, float))
            assert again.size == before.size == (224, 224) and difference.mean() < 2  # JPEG libraries differ


# tensors


def test_noise_is_seeded_band_limited_and_of_unit_size() -> None:
    sample = tensor_sample("random:1x3x33x33", 7)
    values = sample.x.values
    assert values.shape == (3, 33, 33) and values.dtype == np.float32 and not values.flags.writeable
    assert_array_equal(values, find_sample("random:1x3x33x33", 7).x.values)
    assert np.abs(values - tensor_sample("random:1x3x33x33", 8).x.values).max() > 0.5
    assert_allclose(np.mean(values**2, (1, 2)), 1, atol=1e-5)
    assert np.abs(values.mean((1, 2))).max() < 0.3
    assert np.abs(np.corrcoef(values.reshape(3, -1)) - np.eye(3)).max() < 0.3
    for plane in values:
        assert beyond(plane, CUT) < 1e-10
        assert beyond(plane, 0.35) > 0.01, "the band is used up to its end"
    assert sample.x.field == grid(Scalar(intensity=True))


def test_the_low_pass_is_radial() -> None:
    for height, width in ((33, 33), (32, 32), (33, 48)):
        gain = low_pass(height, width)
        assert gain.shape == (height, width // 2 + 1) and gain[0, 0] == 1
        radius = np.hypot(np.fft.fftfreq(height)[:, None], np.fft.rfftfreq(width)[None, :]) * 2
        assert (gain[radius > 0.5 + 1e-12] == 0).all() and (gain[radius < 0.4] == 1).all()
        order = np.argsort(radius, axis=None)
        assert (np.diff(gain.ravel()[order]) <= 1e-12).all(), "a function of the radius alone, falling"


def test_a_ramp_rises_in_row_major_order() -> None:
    values = tensor_sample("ramp:1x2x3x4").x.values
    assert_allclose(values.ravel(), np.arange(24) / 23, atol=1e-7)
    assert tensor_sample("ramp:1x1x1x1").x.values.item() == 0


@pytest.mark.parametrize("shape", ["1x1x1x1", "1x1x1x9", "1x2x7x1", "1x1x2x2", "1x4x16x31"])
def test_small_and_narrow_noise(shape: str) -> None:
    values = tensor_sample(f"random:{shape}").x.values
    assert values.shape == tuple(int(s) for s in shape.split("x"))[1:]
    assert np.isfinite(values).all()
    assert_allclose(np.mean(values.astype(np.float64) ** 2, (1, 2)), 1, atol=1e-5)


@pytest.mark.parametrize(
    ("text", "clue"),
    [
        ("random:", "write it like"),
        ("random:3", "1 axes"),
        ("random:3x3x3", "3 axes"),
        ("random:1x1x1x3x3x3", "6 axes"),
        ("random:2x1x3x3", "batch of 2"),
        ("random:0x1x3x3", "batch of 0"),
        ("random:1x1x0x3", "no values"),
        ("random:1x1x-3x3", "write it like"),
        ("random:1x1x3.5x3", "write it like"),
        ("random:1x1x3x", "write it like"),
        ("ramp:1x1x9x8193", "8192"),
        ("ramp:1x1x9x9999999999999", "write it like"),
        ("random:1x5x8192x8192", "268435456"),
        ("random:1x999999999x1x1", "268435456"),
        ("random:1x1x٣x3", "write it like"),
        ("random:1x1x3x3\n", "write it like"),
    ],
)
def test_malformed_tensors(text: str, clue: str) -> None:
    for make in (tensor_sample, find_sample):
        with pytest.raises(ValueError) as caught:
            make(text, 0)
        assert clue in str(caught.value) and "\n" not in str(caught.value)
    with pytest.raises(ValueError, match="seed"):
        tensor_sample("random:1x1x3x3", -1)


@settings(max_examples=200, deadline=None)
@given(st.one_of(st.text(max_size=30), st.from_regex(r"(random|ramp):[0-9x]{0,20}", fullmatch=True)))
def test_any_text_makes_a_sample_or_one_sentence(text: str) -> None:
    head, _, shape = text.partition(":")
    if head in ("random", "ramp") and all(s.isdigit() and int(s) > 200 for s in shape.split("x")[-2:]):
        return  # possible and large: nothing to learn, and slow
    try:
        sample = find_sample(text)
    except ValueError as error:
        assert "\n" not in str(error)
    else:
        assert isinstance(sample, Sample)


# finding


def test_finding_by_name_and_by_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert find_sample("digit-3").name == "digit-3"
    monkeypatch.chdir(tmp_path)
    values = np.random.default_rng(0).random((5, 6), np.float32)
    for name in ("here.npy", "digit-3", "no-extension"):
        with (tmp_path / name).open("wb") as file:
            np.save(file, values)
    assert_array_equal(find_sample("here.npy").x.values[0], values)
    assert_array_equal(find_sample(str(tmp_path / "here.npy")).x.values[0], values)
    assert_array_equal(find_sample("no-extension").x.values[0], values)
    assert_array_equal(find_sample("./digit-3").x.values[0], values)
    assert find_sample("digit-3").label == 3
    for text in ("gone.png", "folder/gone", "./gone"):
        with pytest.raises(ReadError, match="no such file"):
            find_sample(text)
    with pytest.raises(ReadError, match="directory"):
        find_sample(str(tmp_path))


@pytest.mark.parametrize(
    ("text", "near"),
    [("digit3", "digit-3"), ("pinwhel", "pinwheel"), ("photo-chian", "photo-china"), ("DIGIT-3", "")],
)
def test_a_wrong_name_gets_the_nearest(text: str, near: str) -> None:
    with pytest.raises(ValueError) as caught:
        find_sample(text)
    assert repr(text) in str(caught.value)
    assert ("did you mean" in str(caught.value)) == bool(near) and near in str(caught.value)


# fitting


def picture(channels: int, height: int, width: int, seed: int = 0) -> Sample:
    values = np.random.default_rng(seed).random((channels, height, width), np.float32)
    return image_sample(values, "picture", title="Picture", label=4, source="here", notes=("noted",))


@pytest.mark.parametrize("shape", [(3, 12, 12), (3, None, None), (3, 12, None), (3, None, 12)])
def test_what_fits_is_left_alone(shape: tuple[int, int | None, int | None]) -> None:
    sample = picture(3, 12, 12)
    assert fit(sample, shape) is sample


def test_channels_are_converted() -> None:
    colour = picture(3, 9, 9)
    grey = fit(colour, (1, None, None))
    r, g, b = colour.x.values
    assert_allclose(grey.x.values[0], 0.2126 * r + 0.7152 * g + 0.0722 * b, atol=1e-6)
    assert grey.notes[0] == "noted" and any("709" in note for note in grey.notes)
    assert (grey.label, grey.source, grey.title, grey.name) == (4, "here", "Picture", "picture")
    again = fit(grey, (3, 9, 9))
    assert_array_equal(again.x.values, np.repeat(grey.x.values, 3, 0))
    assert any("repeated" in note for note in again.notes)
    white = image_sample(np.ones((3, 4, 4)), "white")
    assert_allclose(fit(white, (1, 4, 4)).x.values, 1, atol=1e-6)
    for have, wanted in ((2, 3), (4, 3), (5, 1), (3, 4)):
        with pytest.raises(ValueError, match=f"{have} channels .* {wanted}"):
            fit(picture(have, 5, 5), (wanted, None, None))


@settings(max_examples=80, deadline=None)
@given(
    have=st.tuples(st.sampled_from([1, 3]), st.integers(1, 40), st.integers(1, 40)),
    channels=st.sampled_from([1, 3]),
    height=st.one_of(st.none(), st.integers(1, 40)),
    width=st.one_of(st.none(), st.integers(1, 40)),
)
def test_any_image_fits_any_network(
    have: tuple[int, int, int], channels: int, height: int | None, width: int | None
) -> None:
    sample = picture(*have)
    fitted = fit(sample, (channels, height, width))
    values = fitted.x.values
    assert values.shape[0] == channels and values.dtype == np.float32 and not values.flags.writeable
    assert height in (None, values.shape[1]) and width in (None, values.shape[2])
    assert values.min() >= sample.x.values.min() - 1e-6 and values.max() <= sample.x.values.max() + 1e-6
    assert fitted.x.field == sample.x.field
    assert (fitted is sample) or len(fitted.notes) > len(sample.notes)
    assert fit(fitted, (channels, height, width)).x is fitted.x


@pytest.mark.parametrize(("have", "want"), [((40, 60), (29, 29)), ((61, 40), (20, 20)), ((9, 9), (29, 29))])
def test_resizing_keeps_the_centre_and_the_mean(have: tuple[int, int], want: tuple[int, int]) -> None:
    height, width = have
    y, x = np.mgrid[:height, :width]
    y, x = y - (height - 1) / 2, x - (width - 1) / 2
    radius = min(have) / 6
    blob = np.exp(-(x**2 + y**2) / (2 * radius**2)).astype(np.float32)[None]
    small = fit(image_sample(blob, "blob"), (1, *want)).x.values[0]
    # every move of the square leaves the centred blob where it is
    assert_allclose(small[::-1], small, atol=1e-6)
    assert_allclose(small[:, ::-1], small, atol=1e-6)
    assert_allclose(small.T, small, atol=1e-3)  # the filter reaches past the square on two sides only
    # and it is as wide as the crop's scale says
    scale = min(have) / want[0]
    y, x = np.mgrid[: want[0], : want[1]] - (np.array(want).reshape(2, 1, 1) - 1) / 2
    expected = np.exp(-((x * scale) ** 2 + (y * scale) ** 2) / (2 * radius**2))
    assert_allclose(small, expected, atol=0.06)


def test_shrinking_is_antialiased() -> None:
    stripes = np.tile(np.array([0, 1], np.float32), (64, 32))[None].copy()
    small = fit(image_sample(stripes, "stripes"), (1, 16, 16)).x.values
    assert np.abs(small[0, :, 2:-2] - 0.5).max() < 0.05


def test_proportions_are_kept_with_one_side_given() -> None:
    assert fit(picture(1, 20, 30), (1, None, 15)).x.values.shape == (1, 10, 15)
    assert fit(picture(1, 20, 30), (1, 10, None)).x.values.shape == (1, 10, 15)


def test_a_constant_image_is_pointed_out_once() -> None:
    flat = image_sample(np.full((1, 8, 8), 0.25), "flat")
    once = fit(flat, (1, 8, 8))
    assert any("constant" in note and "0.25" in note for note in once.notes)
    assert fit(once, (1, 8, 8)) is once
    assert not any("constant" in note for note in fit(picture(1, 8, 8), (1, 4, 4)).notes)


def test_only_images_are_fitted() -> None:
    graph = Sample("molecule", "graph", picture(1, 2, 2).signals)
    with pytest.raises(ValueError, match="graph"):
        fit(graph, (1, 2, 2))


def test_the_registry_is_scanned_once() -> None:
    assert sampling.samples() is sampling.samples()
