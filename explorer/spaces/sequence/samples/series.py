"""Series: waves, walks, beats and the adding task, all computed; the random ones from a fixed seed.

`python -m explorer.spaces.sequence.samples.series` makes the shipped sound again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from explorer.declare.samples import Sample, SampleSpec
from explorer.spaces.sequence.sample import sequence_sample
from explorer.work.files.places import RESOURCES

Floats = NDArray[np.float64]

FOLDER = RESOURCES / "samples" / "sequences"
TONES = FOLDER / "tones.wav"
RATE = 8000
# the first three formants in hertz of ah, ee, oo, eh (G. Peterson, H. Barney, 1952: men)
VOWELS = ((730, 1090, 2440), (270, 2290, 3010), (300, 870, 2240), (530, 1840, 2480))
# a beat as five bumps P, Q, R, S, T: angle, height, width (P. McSharry et al., 2003, table 1)
WAVES = (
    (-np.pi / 3, 1.2, 0.25), (-np.pi / 12, -5.0, 0.1), (0.0, 30.0, 0.1), (np.pi / 12, -7.5, 0.1),
    (np.pi / 2, 0.75, 0.4),
)  # fmt: skip


def sine(steps: int, period: float) -> Floats:
    """Return a sine of that many steps a period."""
    return np.asarray(np.sin(2 * np.pi * np.arange(steps) / period))


def chirp(steps: int, slow: float, fast: float) -> Floats:
    """Return a sine whose frequency rises evenly from 1/slow to 1/fast a step."""
    t = np.arange(steps)
    return np.asarray(np.sin(2 * np.pi * (t / slow + (1 / fast - 1 / slow) * t**2 / (2 * steps))))


def square_steps(steps: int) -> Floats:
    """Return plateaus of unequal length and height."""
    heights, lengths = (0.0, 1.0, -0.5, 0.5, -1.0, 0.25, 0.75, 0.0), (16, 24, 12, 32, 20, 12, 28, 16)
    return np.resize(np.repeat(heights, lengths), steps)


def damped(steps: int, period: float, decay: float) -> Floats:
    """Return a swing that begins at step 8 and falls to 1/e in `decay` steps."""
    t = np.arange(steps) - 8.0
    return np.where(t >= 0, np.exp(-np.maximum(t, 0) / decay) * np.cos(2 * np.pi * t / period), 0.0)


def random_walk(steps: int, seed: int) -> Floats:
    """Return a sum of independent normal steps, divided by the square root of how many there are."""
    return np.asarray(np.cumsum(np.random.default_rng(seed).standard_normal(steps)) / np.sqrt(steps))


def sunspots(steps: int, seed: int) -> Floats:
    """Return yearly numbers that rise and fall like those of sunspots: quick to rise, slow to fall, about 11 years.

    The square of an oscillation whose frequency and height wander, steeper on the way up.
    """
    chance = np.random.default_rng(seed)
    phase = np.cumsum(2 * np.pi / 22 * (1 + 0.12 * chance.standard_normal(steps)))
    height = 0.65 + 0.25 * np.sin(2 * np.pi * np.arange(steps) / 90) + 0.1 * random_walk(steps, seed + 1)
    wave = np.sin(phase + 0.25 * np.sin(2 * phase)) ** 2
    return np.asarray(np.clip(height * wave + 0.03 * chance.standard_normal(steps), 0, None))


def heart_beats(steps: int, beat: float, seed: int) -> Floats:
    """Return beats of about `beat` steps, no two equally long; the R wave is 1 high.

    P. McSharry, G. Clifford, L. Tarassenko, L. Smith, A dynamical model for generating synthetic electrocardiogram
    signals, 2003: each wave is the integral of its term of eq. 1, a bump in the angle of the beat.
    """
    chance = np.random.default_rng(seed)
    turn = np.cumsum(2 * np.pi / (beat * (1 + 0.08 * np.repeat(chance.standard_normal(steps // 40 + 1), 40)[:steps])))
    value = np.zeros(steps)
    for angle, height, width in WAVES:
        away = (turn - np.pi - angle + np.pi) % (2 * np.pi) - np.pi
        value += height * width**2 * np.exp(-(away**2) / (2 * width**2))
    return np.asarray(value / 0.3 + 0.01 * chance.standard_normal(steps))


def adding(steps: int, chance: np.random.Generator) -> tuple[NDArray[np.float32], float]:
    """Draw one example of the adding task: (steps, 2) of values and markers, and the sum of the two marked values.

    One mark lies in the first half and one in the second (S. Hochreiter, J. Schmidhuber, 1997, section 5.4, as used by
    C. Tallec, Y. Ollivier, Can recurrent neural networks warp time?, 2018).
    """
    x = np.zeros((steps, 2), np.float32)
    x[:, 0] = chance.random(steps)
    marks = [int(chance.integers(0, steps // 2)), int(chance.integers(steps // 2, steps))]
    x[marks, 1] = 1.0
    return x, float(x[marks, 0].sum())


def tones(seconds: float = 0.5) -> Floats:
    """Return four tones like vowels: the overtones of a falling voice, louder near the formants of each."""
    t = np.arange(round(seconds * RATE)) / RATE
    phase = 2 * np.pi * np.cumsum(130 - 40 * t / seconds) / RATE
    part = np.minimum((t / seconds * len(VOWELS)).astype(int), len(VOWELS) - 1)
    value = np.zeros(len(t))
    for overtone in range(1, 28):
        frequency = overtone * (130 - 40 * t / seconds)
        for k, formants in enumerate(VOWELS):
            gain = sum(1 / (1 + ((frequency - f) / (60 + 0.04 * f)) ** 2) / (1 + n) for n, f in enumerate(formants))
            value += np.where(part == k, gain / np.sqrt(overtone) * np.sin(overtone * phase), 0.0)
    within = t / seconds * len(VOWELS) % 1
    value *= np.clip(np.minimum(within, 1 - within) / 0.15, 0, 1)
    return np.asarray(0.8 * value / np.abs(value).max())


def write_sound(path: Path = TONES) -> None:
    """Make the shipped sound: 16 bits, one channel."""
    import wave

    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes((tones() * 32767).round().astype("<i2").tobytes())


def _series(name: str, title: str, make: Callable[[], Floats], source: str, *notes: str) -> Sample:
    return sequence_sample(name, make(), title=title, source=source, notes=notes)


def _adding() -> Sample:
    x, total = adding(200, np.random.default_rng(0))
    return sequence_sample(
        "adding-task", x, title="Adding task, 200 steps", channels=("value", "marker"), source="seed 0",
        notes=(f"the two marked values add up to {total:.4f}; saying 1 always has a mean squared error of 1/6",),
    )  # fmt: skip


def _irregular() -> Sample:
    chance = np.random.default_rng(4)
    time = np.sort(chance.uniform(0, 10, 120))
    # what happened between the samples is not known: a pause as sensors have them
    time = time[(time < 4) | (time > 5.5)]
    x = np.sin(2 * np.pi * time / 2.5) * np.exp(-time / 12)
    return sequence_sample(
        "irregular-series", x, time=time, title="Sampled irregularly", source="seed 4",
        notes=("a slowly dying sine of period 2.5 at random times from 0 to 10, none between 4 and 5.5",),
    )  # fmt: skip


def _tones() -> Sample:
    from explorer.spaces.sequence.readers.sound import READER

    made = READER.read(TONES)
    return replace(made, name="spoken-tones", title="Tones like vowels", source="computed, read from tones.wav")


def _sorting() -> Sample:
    x = np.random.default_rng(1).random(5)
    return sequence_sample(
        "sorting-set", x, title="Five numbers to sort", label=np.argsort(x, kind="stable"),
        names=tuple(f"{v:.2f}" for v in x),
        source="seed 1", notes=("label: which number comes first, second, ... in ascending order",),
    )  # fmt: skip


def _unequal() -> Sample:
    lengths = (20, 45, 30, 64)
    parts = [sine(n, period) for n, period in zip(lengths, (10, 15, 7.5, 32))]
    return sequence_sample(
        "unequal-lengths", np.concatenate(parts), batch=np.repeat(np.arange(len(lengths)), lengths),
        title="Four sines of unequal length", source="computed",
        notes=("sequences of " + ", ".join(map(str, lengths)) + " steps",),
    )  # fmt: skip


def _spec(name: str, title: str, summary: str, make: Callable[[], Floats], source: str, *notes: str) -> SampleSpec:
    return SampleSpec(
        name, title, "sequence", partial(_series, name, title, make, source, *notes), summary, ("series",)
    )


SAMPLES = (
    _spec("sine", "Sine", "One frequency: a delay of a period changes nothing.", partial(sine, 128, 32), "computed"),
    _spec("chirp", "Chirp", "From slow to quick: what a warp of time undoes.", partial(chirp, 256, 64, 8), "computed"),
    _spec("square-steps", "Plateaus", "Values that are to be held a while.", partial(square_steps, 160), "computed"),
    _spec("damped-oscillation", "Damped oscillation", "One impulse, and how it dies away.",
          partial(damped, 160, 20, 40), "computed"),
    _spec("random-walk", "Random walk", "The best prediction is the last value.",
          partial(random_walk, 256, 2), "seed 2"),
    _spec("sunspots", "Like sunspots", "Cycles of about 11 years, none like the other.", partial(sunspots, 200, 11),
          "seed 11", "made up: a step for each year, not what was observed"),
    _spec("ecg", "Like a heartbeat", "Sharp waves between slow ones.",
          partial(heart_beats, 360, 72, 3), "seed 3, after McSharry et al. 2003",
          "made up; a beat takes about 72 steps"),
    SampleSpec("adding-task", "Adding task", "sequence", _adding, "Two marked values of 200 are to be added.",
        ("task",)),
    SampleSpec("irregular-series", "Sampled irregularly", "sequence", _irregular, "A time for each step.", ("series",)),
    SampleSpec("spoken-tones", "Tones like vowels", "sequence", _tones, "Half a second of sound at 8 kHz.", ("audio",)),
    SampleSpec("sorting-set", "Five numbers to sort", "sequence", _sorting, "Whose order is the answer.", ("task",)),
    SampleSpec("unequal-lengths", "Unequal lengths", "sequence", _unequal, "Four sequences in one batch.", ("batch",)),
)  # fmt: skip


if __name__ == "__main__":
    write_sound()
