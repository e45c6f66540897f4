"""Tensors made from a text: "random:1x3x33x33" (seeded, band-limited noise), "ramp:1x1x9x9" (0 to 1), "ones:...",
"zeros:..." and "constant:1x1x9x9=0.3".
"""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from explorer.declare.samples import Sample
from explorer.spaces.grid.sample import image_sample
from explorer.work.limits import excess

KINDS = ("random", "ramp", "ones", "zeros", "constant")
CUT = 0.5  # of the Nyquist frequency: nothing is left above it
_FLAT = 0.4  # of the Nyquist frequency: below it nothing is taken away

_TEXT = re.compile(
    rf"(?P<kind>{'|'.join(KINDS)}):(?P<shape>[0-9]{{1,9}}(x[0-9]{{1,9}})*)"
    r"(?:(?<=[0-9])=(?P<value>-?[0-9]{1,9}(\.[0-9]{1,9})?))?",
    re.ASCII,
)


def is_tensor_text(text: str) -> bool:
    """Return whether `text` names a tensor (well-formed or not) rather than a sample or a file."""
    return text.split(":", 1)[0] in KINDS and ":" in text


def _shape(text: str) -> tuple[str, int, int, int]:
    match = _TEXT.fullmatch(text)
    if match is None:
        raise ValueError(f"cannot read {text!r} as a tensor; write it like 'random:1x3x33x33' or 'ramp:1x1x9x9'")
    sides = [int(side) for side in match["shape"].split("x")]
    if len(sides) != 4:
        raise ValueError(
            f"{text!r} has {len(sides)} axes; an image has four, 1 x channels x height x width, a volume five"
        )
    batch, channels, height, width = sides
    if batch != 1:
        raise ValueError(f"{text!r} asks for a batch of {batch}; one sample is shown at a time, so write 1 first")
    if wrong := excess(channels, height, width):
        raise ValueError(f"{text!r} is not possible: {wrong}")
    return match["kind"], channels, height, width


def _value(text: str) -> float:
    """Return the number behind "=", 0.5 where there is none; only a constant has one."""
    match = _TEXT.fullmatch(text)
    assert match is not None
    if match["value"] is not None and match["kind"] != "constant":
        raise ValueError(f"{text!r} says a number, which only 'constant:' takes")
    return float(match["value"] or 0.5)


def low_pass(height: int, width: int) -> NDArray[np.float64]:
    """Return the gain at the frequencies of `numpy.fft.rfft2`, (height, width // 2 + 1).

    Radial, so that the limit holds in every direction and turning the field moves nothing across it: 1 up to
    0.4 of the Nyquist frequency, a half cosine down to 0 at 0.5 of it.
    """
    # cycles per pixel; Nyquist is 1/2 along the axes whatever the two sides are
    radius = np.hypot(np.fft.fftfreq(height)[:, None], np.fft.rfftfreq(width)[None, :]) / 0.5
    return np.asarray(0.5 + 0.5 * np.cos(np.pi * np.clip((radius - _FLAT) / (CUT - _FLAT), 0.0, 1.0)))


def _random(channels: int, height: int, width: int, seed: int) -> NDArray[np.float32]:
    generator = np.random.default_rng(seed)
    gain = low_pass(height, width)
    values = np.empty((channels, height, width), np.float32)
    for channel in range(channels):  # one at a time: the largest would not fit in memory as complex numbers
        spectrum = np.fft.rfft2(generator.standard_normal((height, width))) * gain
        noise = np.fft.irfft2(spectrum, s=(height, width))
        # divided by its own size, not by the expected one: small fields would vary by more than a half
        values[channel] = noise / np.sqrt(np.mean(noise**2))
    return values


def tensor_sample(text: str, seed: int = 0) -> Sample:
    """Make the tensor that `text` describes, "kind:1xCxHxW" or "constant:1xCxHxW=0.3", as a sample of (C, H, W).

    "random" has a mean square of 1 in every channel and, periodically continued, no frequency above half of
    Nyquist. "ramp" rises from 0 to 1 in equal steps in row-major order. Both are intensity fields like an
    image that was loaded: they stand in for a network's input, and brightness must act on them.

    Raises:
        ValueError: malformed, another batch than 1, or beyond 8192 a side or 2^28 values.
    """
    kind, channels, height, width = _shape(text)
    if kind == "random":
        if seed < 0:
            raise ValueError(f"the seed must be 0 or more, not {seed}")
        values = _random(channels, height, width, seed)
        return image_sample(values, text, title=f"Noise {channels}x{height}x{width}", source=f"seed {seed}")
    constants = {"ones": 1.0, "zeros": 0.0, "constant": _value(text)}
    if kind in constants:
        values = np.full((channels, height, width), constants[kind], np.float32)
        title = f"{constants[kind]:g} everywhere, {channels}x{height}x{width}"
        return image_sample(values, text, title=title, source="computed")
    count = channels * height * width
    values = np.linspace(0, 1, count, dtype=np.float32).reshape(channels, height, width)
    return image_sample(values, text, title=f"Ramp {channels}x{height}x{width}", source="computed")
