"""Pyramids and axes: what is read off them is what numpy says of the values themselves."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from PySide6.QtGui import QColor

from widgets.base.look import theme
from widgets.spaces.sequence.timeline.items.tiles import colours, fitted, table
from widgets.spaces.sequence.timeline.pyramids.pyramid import AT_ONCE, BASE, Pyramid, bucket_for, fold


def plain(values: np.ndarray, first: int, bucket: int, count: int) -> tuple[np.ndarray, ...]:
    parts = [values[k : k + bucket] for k in range(first, min(len(values), first + bucket * count), bucket)]
    return tuple(np.array([f(part, axis=0) for part in parts]) for f in (np.mean, np.min, np.max))


@pytest.mark.parametrize("steps", [1, 2, 31, 32, 33, 1000, 5000])
@pytest.mark.parametrize("bucket", [1, 2, 16, 32, 64, 128, 512, 1024])
def test_buckets_are_means_and_extremes_of_their_steps(steps, bucket):
    values = np.random.default_rng(steps).standard_normal((steps, 3))
    pyramid = Pyramid(values)
    assert pyramid.ready
    found = pyramid.buckets(0, bucket, 10_000)
    mean, low, high = plain(values, 0, bucket, 10_000)
    np.testing.assert_allclose(found.low, low, atol=1e-6)
    np.testing.assert_allclose(found.high, high, atol=1e-6)
    whole = steps // bucket  # the last one may be of fewer steps, whose weights the levels do not keep
    np.testing.assert_allclose(found.mean[:whole], mean[:whole], atol=1e-5)
    assert len(found.mean) == len(mean)


@given(arrays(np.float32, st.tuples(st.integers(40, 300), st.integers(1, 4)), elements=st.floats(-100, 100, width=32)))
def test_no_extreme_is_lost_at_any_zoom(values):
    pyramid = Pyramid(values)
    for bucket in (1, 4, 32, 64, 128, 512):
        found = pyramid.buckets(0, bucket, 1000)
        assert found.low.min() == values.min() and found.high.max() == values.max()


def test_a_stretch_from_the_middle_is_the_same_as_cut_out():
    values = np.random.default_rng(0).standard_normal((4096, 2)).astype(np.float32)
    found = Pyramid(values).buckets(1024, 64, 7)
    mean, low, high = plain(values, 1024, 64, 7)
    np.testing.assert_allclose(found.mean, mean, atol=1e-5)
    np.testing.assert_array_equal(found.low, low)
    np.testing.assert_array_equal(found.high, high)


def test_gaps_are_left_out_and_stay_gaps_where_nothing_is_known():
    values = np.arange(256, dtype=np.float32)[:, None].copy()
    values[3], values[64:128] = np.nan, np.nan
    found = Pyramid(values).buckets(0, 64, 4)
    assert found.mean[0, 0] == pytest.approx(np.nanmean(values[:64]), rel=0.02)
    assert found.low[0, 0] == 0 and found.high[0, 0] == 63
    assert np.isnan(found.mean[1, 0]) and np.isnan(found.low[1, 0])
    assert found.mean[2, 0] == pytest.approx(159.5)


def test_a_long_recording_is_built_in_slices_and_shown_roughly_until_then():
    values = np.random.default_rng(0).standard_normal((AT_ONCE // 16 + 4096, 32)).astype(np.float32)
    pyramid = Pyramid(values)
    assert not pyramid.ready
    rough = pyramid.buckets(0, 1024, 8)
    assert rough.rough
    np.testing.assert_array_equal(rough.mean, values[: 8 * 1024 : 1024])
    done = list(pyramid.build())
    assert len(done) > 3 and done[-1] == 1.0 and done == sorted(done) and pyramid.ready
    np.testing.assert_allclose(pyramid.buckets(0, 1024, 8).mean, plain(values, 0, 1024, 8)[0], atol=1e-5)
    assert sum(level.mean.size for level in pyramid.levels) < values.size / BASE * 1.4


def test_means_alone_are_the_same_means():
    part = Pyramid(np.random.default_rng(0).standard_normal((64, 2))).buckets(0, 1, 64)
    np.testing.assert_array_equal(fold(part, 4, extremes=False).mean, fold(part, 4).mean)


def test_peaks_keep_a_single_spike():
    values = np.zeros((10_000, 1), np.float32)
    values[4321], values[77] = -5.0, 2.0
    found = Pyramid(values).buckets(0, 512, 20)
    assert found.peak[4321 // 512, 0] == -5.0 and found.peak[0, 0] == 2.0
    assert abs(found.mean).max() < 0.05


@pytest.mark.parametrize(("per_pixel", "bucket"), [(0.01, 1), (1.0, 1), (1.99, 1), (2.0, 2), (7.9, 4), (800.0, 512)])
def test_a_bucket_is_never_wider_than_a_pixel(per_pixel, bucket):
    assert bucket_for(per_pixel) == bucket


def test_colours_put_zero_in_the_middle_and_gaps_apart():
    found = colours(np.array([[-2.0, 0.0, 2.0, 5.0, np.nan]], np.float32), "signed", 2.0)[0]
    np.testing.assert_array_equal(found[:4], table("signed")[[0, 126, 252, 252]])
    assert QColor(*found[4].tolist()) == QColor(theme.current().raised)
    np.testing.assert_array_equal(colours(np.array([[0.0, 1.0]]), "gate", 1.0)[0], table("gate")[[0, 252]])


def test_more_units_than_pixels_are_averaged_or_the_largest_stands_for_them():
    values = np.zeros((2, 8), np.float32)
    values[0, 3] = -4.0
    assert fitted(values, 4, peak=False)[0].tolist() == [0, -2, 0, 0]
    assert fitted(values, 4, peak=True)[0].tolist() == [0, -4, 0, 0]
