"""Numbers and measurements put into words: the same in every view, read-out and caption."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from explorer.declare.elements import chain_text
from explorer.declare.space import Kind, kinds
from explorer.declare.states.model_name import PARTLY, code_of, in_training, split_name
from explorer.declare.telling.numerals import with_minus
from explorer.square.frame import Frame, Measure, Square

WITHHELD = "withheld"  # in place of every verdict, while a lesson asks for it
FLAT = 0.01  # relative distance of unrelated inputs, below which values are nearly constant


def figure(value: float | None) -> str:
    """Return a number in the fewest characters that tell it: "0.213", "2.0e-7", "0", "no law" for None."""
    if value is None:
        return "no law"
    if math.isnan(value):
        return "not a number"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if value == 0 or 1e-3 <= abs(value) < 1000:
        return with_minus(f"{value:.3g}")
    return with_minus(f"{value:.1e}")


def percent(share: float) -> str:
    """Return a share in per cent with one decimal: "0" is none at all, "100 %" all but what no decimal tells."""
    if share <= 0:
        return "0"
    if share < 0.0005:
        return "< 0.1 %"
    return "100 %" if share >= 0.9995 else f"{100 * share:.1f} %"


def duration(milliseconds: float) -> str:
    """Return a time for reading: "8.4 ms", "300 ms", "18.1 s"."""
    if milliseconds >= 1000:
        return f"{milliseconds / 1000:.1f} s"
    return f"{milliseconds:.0f} ms" if milliseconds >= 100 else f"{milliseconds:.1f} ms"


def guilty(measure: Measure | None) -> bool:
    """Say whether this layer itself breaks the law: its own error, not an inherited one, is above its tolerance."""
    return measure is not None and measure.verdict == "broken" and measure.local is not None


def inherited(measure: Measure | None) -> bool:
    """Say whether a layer does no wrong itself but shows the error that earlier ones have made."""
    return measure is not None and measure.verdict == "holds" and measure.seen


def badge(measure: Measure | None) -> str:
    """Return the verdict on a layer in a word or two: the same on the stage, in tables and captions."""
    if measure is None:
        return "no law"
    if inherited(measure):
        return "broken earlier"  # the square does not commute, though this layer does nothing wrong
    if measure.verdict == "unmoved":
        return "nothing to test"
    if measure.verdict == WITHHELD:
        return "behind Reveal"
    if measure.verdict == "no law" and measure.seen:
        return "broken up to here"  # whether by this layer or before it cannot be asked
    read = measure.cumulative is not None or measure.emptied
    return "no verdict" if measure.verdict == "no law" and read else measure.verdict


def untested(square: Square) -> str:
    """Return why nothing was tested, in one sentence; "" where something was."""
    if square.message and square.verdict in ("undefined", "no law"):
        return f"{square.message[:1].upper()}{square.message[1:]}."
    found = [m for m in (square.measures.get(layer.name) for layer in square.layers) if m is not None]
    if square.verdict == "unmoved":
        return f"Nothing to test yet: {move(square)}."
    if square.verdict != "no law" or not found:
        return ""
    if all(m.cumulative is None and not m.emptied for m in found):
        return "This element has no action on any layer here, so there is no law to test."
    if square.cut_off:
        return f"{square.cut_off[:1].upper()}{square.cut_off[1:]}."
    if any(m.exact for m in found):
        return "The output has no law for this element."
    return "This element puts values between places: there is an error to read, and no verdict."


def unjudged(square: Square) -> str:
    """Return at how many layers a verdict is wanting while others have one, and why; "" where there are none."""
    found = [m for m in (square.measures.get(layer.name) for layer in square.layers) if m is not None]
    between = [m for m in found if m.verdict == "no law" and m.cumulative is not None and not m.exact]
    if square.verdict not in ("holds", "broken") or not between:
        return ""
    count = "one layer" if len(between) == 1 else f"{len(between):,} of {len(square.layers):,} layers"
    return f"no verdict at {count}, where this element puts values between places"


def move(square: Square) -> str:
    """Return what a person does to this kind of data: "turn it"."""
    return kinds().get(square.domain, Kind("")).move


def verdict_sentence(square: Square) -> str:
    """Return what the measurement says of the whole network, in a few words, and whether it was intervened in."""
    count = len(square.interventions)
    changed = f" (with {count} intervention{'s' * (count != 1)})" if count else ""
    return _verdict(square) + changed


def _verdict(square: Square) -> str:
    found = [m for m in (square.measures.get(layer.name) for layer in square.layers) if m is not None]
    if not found:
        return "not measured yet"
    broken = [n.name for n in square.layers if (m := square.measures.get(n.name)) and m.verdict == "broken"]
    match square.verdict:
        case "undefined":
            errors = {n.name: m.cumulative for n in square.layers if (m := square.measures.get(n.name)) is not None}
            strange = (name for name, error in errors.items() if error is not None and math.isnan(error))
            return f"no number: {next(strange, 'it')} gives NaN or infinite values"
        case "no law" if square.message:
            return f"no verdict: {square.brief}"
        case "unmoved":
            return f"nothing to test yet: {move(square)}"
        case "broken" if square.guilty:
            names, more = square.guilty[:2], len(square.guilty) - 2
            by = f"{', '.join(names)} and {more} more" if more > 0 else " and ".join(names)
            made = _makes(square, square.guilty[0])
            return f"{f'broken by {by}' if made else f'broken from {by} on'}{_so_far(square, len(found))}"
        case "broken":
            seen = (n.name for n in square.layers if (m := square.measures.get(n.name)) is not None and m.seen)
            return f"broken from {square.shows or next(seen, square.layer.name)} on{_so_far(square, len(found))}"
        case "holds" if broken:
            return f"the output holds; {broken[0]} does not follow its guessed field"
        case "holds" if all(m.verdict == "holds" for m in found):
            return "holds at every layer"
        case "holds":
            return "holds wherever there is a law"
        case "withheld":
            return "the verdict is behind Reveal"
        case "":
            return f"being measured: {len(found):,} of {len(square.layers):,} layers"
    if any(m.emptied for m in found):
        return "no verdict: nothing is left to compare"
    if all(m.cumulative is None for m in found):
        return "no law: this element has no action here"
    if any(m.exact for m in found):
        return "the output has no law"
    # an element that cuts something off puts nothing between places
    return "a curve, no verdict" if square.cut_off else "resampled element: a curve, no verdict"


def _makes(square: Square, name: str) -> bool:
    """Say whether a guilty layer was tested alone; else code before it may make what it is called guilty of."""
    measure, layers = square.measures.get(name), square.layers
    return measure is None or measure.local is not None or bool(layers and layers[0].name == name)


def _so_far(square: Square, found: int) -> str:
    """Return how many layers were asked who breaks the law, while others still have to be; "" after the last."""
    return f" so far ({found:,} of {len(square.layers):,} layers measured)" if found < len(square.layers) else ""


def verdict_in_brief(square: Square) -> str:
    """Return `verdict_sentence` in one or two words, for where there is no room for it."""
    brief = {"undefined": "no number", "no law": "no verdict", "unmoved": "nothing to test", "withheld": "?"}
    return brief.get(square.verdict, square.verdict or "being measured")


def named_in_brief(square: Square) -> str:
    """Return the shorter name of a model: that of its card with the file of its weights, else its title.

    Weights that were trained are often called as those that are shipped, so their folder is named as well.
    """
    if code_of(square.model) is not None:
        return square.title
    base, weights = split_name(square.model)
    if in_training(square.model):
        return f"{base} in training"
    folder_and_file = re.split(r"[/\\]", weights.removeprefix(PARTLY))[-2:]
    return f"{base}, {'/'.join(folder_and_file)}" if weights else base


def verdict_colour_role(square: Square) -> str:
    """Return "bad", "good" or "muted": the role of the theme's colour that goes with `verdict_sentence`."""
    return {"broken": "bad", "undefined": "bad", "holds": "good"}.get(square.verdict, "muted")


def read_out(name: str, measure: Measure | None, sep: str = " · ", accused: bool = True) -> str:
    """Return every number of a layer's measurement in one line (or several, with another separator).

    Args:
        accused: it is called guilty if it breaks its law; a module that only holds such layers is not.
    """
    if measure is None:
        return f"{name}{sep}not measured"
    words = [name]
    if measure.emptied:
        words.append("nothing is left to compare")
    elif measure.cumulative is None:
        words.append("no law: the field has no action of this element")
    else:
        words.append(f"cumulative {figure(measure.cumulative)}")
    words.append("local not measurable alone" if measure.local is None else f"local {figure(measure.local)}")
    words.append(f"floor {figure(measure.floor)}")
    if measure.chance is not None:
        words.append(f"chance {figure(measure.chance)}")
        if measure.cumulative and 0 < measure.chance < FLAT:  # a large constant makes every relative error small
            words.append(f"{figure(measure.cumulative / measure.chance)} times what another input changes")
    if measure.decibel is not None:
        words.append(f"{figure(measure.decibel)} dB")
    if measure.attributed is not None:
        effect = _estimate(measure.attributed, measure.attributed_within)
        words.append(f"its effect on the output, to first order, {effect}")
    if measure.kept < 1:
        words.append(f"{measure.kept:.0%} of places compared")
    verdict = "broken earlier; this layer holds" if inherited(measure) else badge(measure)
    words.append("guilty" if accused and guilty(measure) else verdict)
    return sep.join(words)


def read_before(measure: Measure | None) -> str:
    """Return what a layer's errors were before its file was edited, "" where they were not measured."""
    if measure is None:
        return ""
    words = [f"{figure(value)}" for value in (measure.cumulative, measure.local) if value is not None]
    names = [name for name in ("cumulative", "local") if getattr(measure, name) is not None]
    return f"before the edit: {', '.join(map(' '.join, zip(names, words))) or 'no law'}"


def words_before(square: Square) -> str:
    """Return which layers broke the law before the file was edited, "" where none did or nothing was edited."""
    broke = [name for name in square.guilty_before if name not in square.guilty]
    return f"before the edit broken by {shorten(broke)}" if broke else ""


def _estimate(value: float, within: tuple[float, float] | None) -> str:
    if within is None:
        return figure(value)
    return f"between {' and '.join(f'{w:.1e}' if w < 1e-3 else f'{w:.2g}' for w in within)} (estimated)"


def subject(frame: Frame) -> str:
    """Return which network was shown what, for captions: "d4-cnn on handwritten 3, rotate:90, float32 on cpu"."""
    state = frame.state
    models = " and ".join(square.model for square in frame.squares) or state.model
    sample = frame.sample_title or state.sample or "no sample"
    element = chain_text(state.steps) or "identity"
    changed = f", {'; '.join(one.told for one in state.interventions)}" if state.interventions else ""
    return f"{models} on {sample}, {element}, {state.dtype} on {frame.device}, seed {state.seed}{changed}"


def counterpart(frame: Frame, index: int, layer: str) -> str:
    """Return the layer of the first square at the relative depth of `layer` in square `index`.

    State.layer names a layer of the first model; the second one shows the same relative depth.
    """
    if index == 0:
        return layer
    names, first = ([one.name for one in frame.squares[k].layers] for k in (index, 0))
    if layer not in names or not first:
        return layer
    return first[round(names.index(layer) / max(1, len(names) - 1) * (len(first) - 1))]


def shorten(words: Sequence[str], limit: int = 3) -> str:
    """Return "a, b, c and 4 more"."""
    return ", ".join(words[:limit]) + (f" and {len(words) - limit} more" if len(words) > limit else "")
