"""Find by trying what a network of one's own takes of a sequence: the width of x and the axis of time.

PyTorch has several orders: nn.LSTM takes (steps, batch, channels), or (batch, steps, channels) with batch_first, a
temporal convolution (batch, channels, steps). A wrong order often runs as well: then the steps are taken for a batch,
and no step hears of another. So an order counts where one step of x changes the answer at another one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from textwrap import shorten
from types import ModuleType

import torch
from torch import Tensor, nn

from explorer.declare.telling.asking import Named
from explorer.declare.telling.values import told_value
from explorer.network.changing.copying import duplicate
from explorer.network.changing.precision import device_of
from explorer.network.input.arguments import ByName
from explorer.network.input.patience import Patience
from explorer.network.input.recognise import Ambiguous, most_places, table_lengths
from explorer.network.opening.global_state import reseed
from explorer.network.tracing.running import first_tensor, tried
from explorer.network.tracing.walking import modules_of, parameters_of
from explorer.spaces.sequence.network.beside_ids import arguments, said_names
from explorer.spaces.sequence.network.form import KINDS, LAYOUTS, SequenceInput
from explorer.spaces.sequence.network.hearing import (
    STEPS,
    columns_read,
    drawn,
    either_axis,
    keeps_apart,
    mixes,
    orderless,
)
from explorer.spaces.sequence.network.inputs import sequence_inputs

SWAPPED = str.maketrans("TC", "CT")
TEMPORAL = (nn.RNNBase, nn.RNNCellBase, nn.Conv1d, nn.MultiheadAttention)
SPATIAL = (nn.Conv2d, nn.Conv3d)
_WIDTHS = ("input_size", "in_channels", "embed_dim", "in_features")
FEW = 5  # steps that a network with a short table of places takes
_OTHERS = 12  # widths that are tried beside those that layers tell
_LONGEST = 2049  # steps of a table that are tried
_PAIRS = 60  # of a length and a width that are tried
_MOST_NUMBERS = 2**20  # of tokens
_HALVED = 32  # of a network that halves them again and again, and adds what it doubles to what it had


class Unclear(ValueError):
    """Report that the input of a network cannot be found out; a clause that says what to write into its file."""


class Several(Unclear, Ambiguous):
    """Report that several orders of the axes run."""


def reads_sequences(network: nn.Module) -> bool:
    """Return whether a network has layers that run along the steps of a sequence, and none for images."""
    found = list(modules_of(network))
    return any(isinstance(m, TEMPORAL) for m in found) and not any(isinstance(m, SPATIAL) for m in found)


def runs_along_none(network: nn.Module, found: SequenceInput) -> bool:
    """Say whether steps may be the points of a cloud: filters take one at a time, and their order is nothing to it."""
    along = [m for m in modules_of(network) if isinstance(m, TEMPORAL)]
    single = all(isinstance(m, nn.Conv1d) and set(m.kernel_size) == {1} for m in along)
    return single and orderless(network, found.most or STEPS, found.channels or 1, found.layout)


def declared_input(made: object, module: ModuleType) -> dict[str, object]:
    """Return what a class or its file says: {"kind", "layout", "channels", "steps"}, each where it is said.

    Raises:
        Unclear: something that is said cannot be.
    """
    told: dict[str, object] = {}
    for name in ("kind", "layout", "channels", "steps"):
        value = getattr(made, f"input_{name}", getattr(module, f"INPUT_{name.upper()}", None))
        if value is not None:
            told[name] = value
    for name, choices in (("kind", KINDS), ("layout", LAYOUTS)):
        if name in told and told[name] not in choices:
            raise Unclear(f"INPUT_{name.upper()} must be one of {', '.join(choices)}, not {told_value(told[name])}")
    for name in ("channels", "steps"):
        value = told.get(name)
        if name == "channels" and isinstance(value, Mapping):
            continue  # of several arguments
        if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 1):
            raise Unclear(f"INPUT_{name.upper()} must be a whole number above 0, not {told_value(value)}")
    if told.get("kind") == "ids":
        try:
            told["names"] = said_names(getattr(made, "input_names", getattr(module, "INPUT_NAMES", ())))
        except ValueError as error:
            raise Unclear(str(error)) from None
        told["tokenizer"] = str(getattr(made, "input_tokenizer", getattr(module, "INPUT_TOKENIZER", "")))
    return told


def sequence_input(network: nn.Module, told: dict[str, object]) -> SequenceInput:
    """Return what `network` takes, by what is told of it and by trying what is not; it is left as it was.

    Raises:
        Unclear: no order of the axes runs, or several do and differ.
    """
    told_steps = told.get("steps")
    most = told_steps if isinstance(told_steps, int) else None
    tokens = "kind" not in told and "channels" not in told and begins_with_ids(network, min(most or STEPS, STEPS))
    kind = str(told.get("kind", "ids" if tokens else "values"))
    if kind == "ids":
        return _ids(network, told, most)
    widths = [w for w in (told.get("channels"),) if isinstance(w, int)] or (
        [4] if kind == "dna" else widths_in(network)
    )
    orders = [str(told["layout"])] if "layout" in told else list(LAYOUTS)
    if "layout" in told and widths:
        return SequenceInput(widths[0], kind, most, orders[0])
    failed: Exception | None = None
    rest = [] if "channels" in told or kind == "dna" else _other_widths(network, widths)
    for width in [*(widths or [1]), *rest]:
        mixing: list[str] = []
        running: dict[str, Tensor] = {}
        for order in orders:
            for steps in (most,) if most else (STEPS, _HALVED):
                try:
                    heard, by_step = mixes(duplicate(network), steps, [width], order)
                    if steps == _HALVED and not most:  # of no other multiple it is the size of something else
                        mixes(duplicate(network), 2 * steps, [width], order)
                except (torch.OutOfMemoryError, KeyboardInterrupt):
                    raise
                except Exception as error:  # a forward of somebody else's may raise anything
                    failed = failed or error
                    continue
                running[order] = by_step
                mixing += [order] if heard else []
                break
        if running and not mixing and not most:  # fewer steps than in the trial may lie on another axis
            for length in table_lengths(network, _LONGEST):
                mixing = [order for order in orders if length != width and _ends(network, length, width, order)]
                if mixing:
                    return sequence_input(network, {**told, "channels": width, "steps": length})
        if running and not mixing and "channels" not in told and reads_sequences(network):
            # a batch of short sequences runs along no axis: filters that the forward makes tell no width
            others = [w for w in dict.fromkeys((*widths, *rest, 1)) if w != width]
            for wide in (w for w in others if _hears(network, w, orders, most or STEPS)):
                return sequence_input(network, {**told, "channels": wide})
        if width == 1 and running and not told and (columns := columns_read(network, 1, next(iter(mixing or running)))):
            try:
                return sequence_input(network, {"channels": columns})
            except Unclear:
                pass  # it does read a few steps alone
        # where one has a batch axis, the same without it is the same call
        batched = [order for order in mixing if "N" in order] or mixing
        if len(batched) > 1:  # steps that are read one by one are channels of another order
            batched = [order for order in batched if not columns_read(network, width, order)] or batched
        if len(batched) > 1:
            apart = [order for order in batched if keeps_apart(network, most or STEPS, width, order)]
            batched = apart if len(apart) == 1 else batched
        if len(batched) > 1:
            raise Several(
                f"x could be {' or '.join(map(_shown, batched))}; say which in the file, INPUT_LAYOUT = {batched[0]!r}"
            )
        if running and not batched and not {"layout", "channels", "kind"} & set(told) and not reads_sequences(network):
            raise Several(
                f"no layer of it runs along steps: its {width} numbers may be channels of single steps, INPUT_LAYOUT = "
                f"{next(iter(running))!r}, {width} steps of one series, INPUT_LAYOUT = 'CT', INPUT_CHANNELS = 1 and "
                f"INPUT_STEPS = {width}, or a vector, which no group moves; say which in the file"
            )
        answers = list(running.values())
        # where no step hears of another, every order gives the same; else nobody knows
        if not batched and any(a.shape != answers[0].shape or not torch.allclose(a, answers[0]) for a in answers):
            raise Several(
                f"x could be {' or '.join(map(_shown, running))}, and each gives another answer; say which in the "
                f"file, INPUT_LAYOUT = {next(iter(running))!r}"
            )
        if batched or running:
            order = (batched or list(running))[0]
            if "layout" not in told and either_axis(network, most or STEPS, width, order):
                other = order.translate(SWAPPED)
                raise Several(
                    f"x could be {_shown(order)} with {width} channels, which hears nothing of the order of steps, or "
                    f"{_shown(other)} with {width} steps; say which in the file, INPUT_LAYOUT = {order!r}, or "
                    f"INPUT_LAYOUT = {other!r}, INPUT_STEPS = {width} and how many INPUT_CHANNELS"
                )
            return SequenceInput(width, kind, most or _most(network, width, order), order)
    fixed = [] if most else _of_one_length(network, widths, orders)
    if len(fixed) == 1:
        steps, width, order = fixed[0]
        return SequenceInput(width, kind, steps, order)
    if fixed:
        ways = (
            f"INPUT_LAYOUT = {order!r}, INPUT_STEPS = {n} and INPUT_CHANNELS = {width}" for n, width, order in fixed[:2]
        )
        raise Unclear(f"which axis counts steps is not known; say in the file {' or '.join(ways)}")
    if any(_runs_on_two(network, width, order, most or STEPS) for width in widths for order in orders):
        raise Unclear(
            "it runs on two samples at once and not on one alone, as it is run here, as where squeeze() takes the axis "
            "of a batch of one too; name the axis in the file, squeeze(-1)"
        )
    numbers = " or ".join(map(str, widths or [1]))
    said = shorten(str(failed), 100, placeholder="…")
    reason = f" ({type(failed).__name__}: {said})" if failed is not None else ""
    raise Unclear(
        f"it takes no sequence of {most or STEPS} steps and {numbers} channel{'s' * (numbers != '1')}; say in the file "
        "what it takes, INPUT_SHAPE = (1, 28, 28) of an image, else INPUT_LAYOUT = 'NTC', INPUT_CHANNELS = 1 or "
        f"{{'name': 1, ...}} for a dict, INPUT_STEPS where it takes one number of them only{reason}"
    )


def _ids(network: nn.Module, told: dict[str, object], most: int | None) -> SequenceInput:
    """Return that a network takes numbers of tokens: as many as its first table of them has, unless it says so."""
    table = next((m.num_embeddings for m in modules_of(network) if isinstance(m, nn.Embedding)), None)
    named, tokenizer = told.get("names", ()), told.get("tokenizer", "")
    assert isinstance(named, tuple)
    known = told.get("channels", table) or _numbers_known(network, min(most or FEW, FEW), named)
    assert isinstance(known, int | None)
    order = str(told.get("layout") or _order_of_ids(network, min(most or STEPS, STEPS), named))
    most = most or most_places(network, lambda steps: takes_ids(network, steps, named, order))
    if known is None:
        raise Unclear("it takes numbers of tokens, and nothing says how many there are; say INPUT_CHANNELS = 30522")
    return SequenceInput(known, "ids", most, order, names=named, tokenizer=str(tokenizer))


def _order_of_ids(network: nn.Module, steps: int, named: Named) -> str:
    """Return the order of axes in which a token changes the answer at others; a batch first where none does."""
    counts = [n for n in dict.fromkeys((steps, min(steps, FEW))) if takes_ids(network, n, named)]
    return next((order for order in ("NTC", "TNC") if counts and _heard(network, counts[0], named, order)), "NTC")


def _heard(network: nn.Module, steps: int, named: Named, order: str) -> bool:
    """Say whether another token changes the answer at other steps, with numbers of tokens in that order."""
    trial, ids = duplicate(network), torch.zeros(steps, dtype=torch.int64)

    def change() -> Tensor | None:
        before = _of_ids(trial, ids, named, order)
        for at in (steps // 2, steps - 1, 0):
            other = ids.clone()
            other[at] = 1
            after = _of_ids(trial, other, named, order)
            if before is None or after is None or before.shape != after.shape:
                return None
            apart = before != after
            if steps in apart.shape:
                apart = apart.movedim(apart.shape.index(steps), 0)
                apart[at] = False
            if apart.any():
                return before
        return None

    return tried(trial, change) is not None


def _of_ids(network: nn.Module, ids: Tensor, named: Named, order: str) -> Tensor | None:
    """Return what a network says of numbers of tokens, and of what stands beside them."""
    reseed(0)
    device = device_of(network)
    laid = (ids[:, None] if order == "TNC" else ids[None]).to(device)
    if not named:
        return first_tensor(network(laid))
    return first_tensor(ByName(tuple(name for name, _ in named))(network, arguments(named, laid, order[:2])))


def _numbers_known(network: nn.Module, steps: int, named: Named) -> int | None:
    """Return how many numbers of tokens a network knows, by trial; None where it takes any, or none."""
    trial = duplicate(network)

    def runs(number: int) -> bool:
        ids = torch.full((steps,), number, dtype=torch.int64)
        return tried(trial, lambda: _of_ids(trial, ids, named, "NTC")) is not None

    low, high = 1, 2
    while high <= _MOST_NUMBERS and runs(high - 1):
        low, high = high, 2 * high
    if high > _MOST_NUMBERS or not runs(0):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if runs(middle - 1) else (low, middle)
    return low


def has_table(network: nn.Module) -> bool:
    """Return whether a network has a layer that looks whole numbers up."""
    return any(isinstance(m, nn.Embedding) for m in modules_of(network))


def begins_with_ids(network: nn.Module, steps: int = STEPS, named: Named = ()) -> bool:
    """Say by trial whether a network begins with numbers of tokens, so many or a few."""
    return any(takes_ids(network, count, named) for count in dict.fromkeys((steps, min(steps, FEW))))


def takes_ids(network: nn.Module, steps: int, named: Named = (), order: str = "NTC") -> bool:
    """Say by trial whether a network takes numbers of tokens, (1, steps), that it looks up in a table.

    Args:
        named: its arguments, or what it reads off its only one, and what each of them takes.
        order: of the axes, "TNC" for (steps, 1).
    """
    trial, ids = duplicate(network), torch.zeros(steps, dtype=torch.int64)
    if not has_table(network) and tried(trial, lambda: _of_ids(trial, ids.float(), named, order)) is not None:
        return False  # code that looks whole numbers up, or makes one-hot columns of them, takes no others
    return tried(trial, lambda: _of_ids(trial, ids, named, order)) is not None


def _shown(order: str) -> str:
    names = {"N": "batch", "T": "steps", "C": "channels"}
    return f"{order} ({', '.join(names[letter] for letter in order)})"


def widths_in(network: nn.Module) -> list[int]:
    """Return the widths that layers take, in the order in which they stand in the network."""
    found: list[int] = []
    for m in modules_of(network):
        width = next((w for name in _WIDTHS if isinstance(w := getattr(m, name, None), int) and w > 0), None)
        if width is not None and width not in found:
            found.append(width)
    return found


def _other_widths(network: nn.Module, but: Sequence[int]) -> list[int]:
    """Return more widths to try: of tensors that layers of one's own hold, and what they may be put together of."""
    held = [p.shape[1] for p in parameters_of(network) if p.ndim > 1]
    put_together = [w // k for w in but for k in (2, 3) if w % k == 0]
    # of one channel everything can be made by broadcasting
    return [w for w in dict.fromkeys((*held, *put_together)) if w > 1 and w not in but][:_OTHERS]


def _runs_on_two(network: nn.Module, width: int, order: str, steps: int) -> bool:
    """Say whether a network takes a batch of two sequences so wide in that order, where it has one."""
    if (axis := order.find("N")) < 0:
        return False
    trial, (x,) = duplicate(network), drawn(network, steps, [width])
    both = torch.cat([sequence_inputs(x, order).x] * 2, axis)
    return tried(trial, lambda: first_tensor(trial(both))) is not None


def _hears(network: nn.Module, width: int, orders: Sequence[str], steps: int) -> bool:
    """Say whether a network takes sequences so wide in one of these orders, and a step changes the answer at others."""
    trial = duplicate(network)

    def heard(order: str) -> bool | None:
        return tried(trial, lambda: mixes(trial, steps, [width], order)[0])

    return any(map(heard, orders))


def _ends(network: nn.Module, steps: int, width: int, order: str) -> bool:
    """Say whether a network takes so many steps in that order and no more, and one changes the answer at others."""

    def heard(count: int) -> bool | None:
        trial = duplicate(network)
        return tried(trial, lambda: mixes(trial, count, [width], order)[0])

    # an axis of the answer may be as long as the steps are: with one step less it is not
    return heard(steps + 1) is None and bool(heard(steps)) and heard(steps - 1) in (None, True)


def _most(network: nn.Module, width: int, order: str) -> int | None:
    """Return the largest number of steps that a network has a table for; None where it takes many."""
    trial = duplicate(network)

    def runs(steps: int) -> bool:
        (x,) = drawn(network, steps, [width])
        x = sequence_inputs(x, order).x
        return tried(trial, lambda: first_tensor(trial(x))) is not None

    return most_places(network, runs)


def _of_one_length(network: nn.Module, widths: Sequence[int], orders: Sequence[str]) -> list[tuple[int, int, str]]:
    """Return (steps, channels, order) of sequences of a length that a network has a table for, and takes no other."""
    lengths = dict.fromkeys((*widths, *table_lengths(network, _LONGEST)))
    pairs = [(n, w) for w in widths[:_OTHERS] for n in lengths if n != w][:_PAIRS]
    patience = Patience()
    tries = [(n, w, order) for n, w in pairs for order in orders if "N" in order]
    heard = [one for one in tries if patience.allows(partial(_ends, network, *one))]
    return [(n, w, order) for n, w, order in heard if keeps_apart(network, n, w, order)]
