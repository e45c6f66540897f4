"""An audit of every layer of a ResNet-50-sized network over 16 shifts, beside ways that go layer by layer.

`capture` runs the 16 moved images in batches and reduces every layer inside its hook. Beside it: the network run once
more for each layer and element, as a check of one function at a time has to (a few layers, scaled to all); each layer
fed alone, an element at a time, as lie-deriv's attributions do; and tmeasures' TransformationVarianceSameEquivariance,
in the interpreter that EQUISCOPE_PEERS names. Each pair gives the same numbers; target 0.2 of the time. The times are
those of the processor.

    EQUISCOPE_PEERS=/path/to/python python benchmarks/measuring/layerwise.py
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PEERS = "EQUISCOPE_PEERS"  # environment: an interpreter that has tmeasures
SIDE, BATCH, TARGET = 128, 4, 0.2
SHIFTS = [(32 * right, 32 * down) for right in range(4) for down in range(4)]  # whole steps on every grid
SAMPLED = 4  # layers for which the network is run again; the others would take as long

Row = dict[str, Any]


def run(rounds: int = 3) -> list[Row]:
    """Return rows for one thread and for two."""
    found = []
    for threads in (1, 2):
        python = os.environ.get(PEERS) or sys.executable
        environment = os.environ | {"OMP_NUM_THREADS": str(threads), "PYTHONPATH": str(ROOT)}
        words = [python, "-W", "ignore", __file__, str(rounds)]
        done = subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(done.stderr[-2000:])
        found += [{**row, "threads": threads} for row in json.loads(done.stdout.splitlines()[-1])]
    return found


def ask(rounds: int) -> list[Row]:
    """Return the rows of this process."""
    import torch

    from benchmarks.parts.networks import resnet50
    from benchmarks.parts.timing import interleaved, row
    from explorer.network.tracing.capture import capture

    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    torch.manual_seed(0)
    model, x = resnet50().eval(), torch.randn(1, 3, SIDE, SIDE)
    rows = []
    with torch.no_grad():
        names = list(capture(model, x, [n for n, _ in model.named_modules() if n])[0])
        leaves = [n for n in names if not list(model.get_submodule(n).children())]
        audits: list[tuple[str, Callable[[], Any], str, Callable[[], Any], float]] = [
            ("all layers at once", lambda: cumulative(model, x, names), "again for each layer and element",
             lambda: again(model, x, names[:: len(names) // SAMPLED][:SAMPLED]), len(names) / SAMPLED),
            ("each layer alone, in batches", lambda: local(model, x, leaves, BATCH), "each layer alone, by element",
             lambda: local(model, x, leaves, 1), 1.0),
        ]  # fmt: skip
        if find_spec("tmeasures"):
            audits.append(("spread, all layers at once", lambda: spread(model, x, names), "tmeasures",
                           lambda: tmeasures(model, x, names), 1.0))  # fmt: skip
        for ours, mine, theirs, other, times in audits:
            apart = difference(mine(), other())
            assert apart < 1e-4, f"{ours} and {theirs} differ by {apart}"
            taken = interleaved({ours: mine, theirs: other}, rounds, warmup=0, clock=time.process_time)
            taken[theirs] = [t * times for t in taken[theirs]]
            rows.append({**row(taken, ours, theirs, TARGET), "layers": len(mine()), "apart": apart})
    return rows


def difference(one: dict[str, Any], other: dict[str, Any]) -> float:
    """Return the largest difference of two audits, whose figures are relative errors or of the order of 1."""
    return max(float((one[name] - figures).abs().max()) for name, figures in other.items())


def moved(value: Any, right: int, down: int) -> Any:
    """Return (batch, channel, height, width) shifted around by pixels of the input; what has no places stays."""
    if value.ndim != 4 or value.shape[-1] == 1:
        return value
    step = SIDE // value.shape[-1]
    return value.roll((down // step, right // step), (-2, -1))


def off(expected: Any, answer: Any) -> Any:
    """Return ||answer - expected|| / ||expected|| of each sample."""
    return (answer - expected).flatten(1).norm(dim=1) / expected.flatten(1).norm(dim=1)


def batches(size: int) -> list[list[tuple[int, int]]]:
    return [SHIFTS[k : k + size] for k in range(0, len(SHIFTS), size)]


def cumulative(model: Any, x: Any, names: list[str]) -> dict[str, Any]:
    """Return {layer: error of each element}, in one pass over the elements."""
    import torch

    from explorer.network.tracing.capture import capture

    values, _ = capture(model, x, names)
    found: dict[str, list[Any]] = {name: [] for name in names}
    for part in batches(BATCH):

        def reduce(name: str, answer: Any, part: list[tuple[int, int]] = part) -> None:
            found[name] += [off(moved(values[name], *g), a[None]) for g, a in zip(part, answer, strict=True)]

        capture(model, torch.cat([moved(x, *g) for g in part]), names, reduce=reduce)
    return {name: torch.cat(errors) for name, errors in found.items()}


def again(model: Any, x: Any, names: list[str]) -> dict[str, Any]:
    """Return the same of some layers, each by forward passes of its own."""
    import torch

    found = {}
    for name in names:
        seen: list[Any] = []
        handle = model.get_submodule(name).register_forward_hook(lambda m, a, r, seen=seen: seen.append(r))
        model(x)
        for g in SHIFTS:
            model(moved(x, *g))
        handle.remove()
        found[name] = torch.cat([off(moved(seen[0], *g), a) for g, a in zip(SHIFTS, seen[1:], strict=True)])
    return found


def local(model: Any, x: Any, leaves: list[str], batch: int) -> dict[str, Any]:
    """Return {layer: error of each element when it alone is given the moved input}."""
    import torch

    from explorer.network.tracing.capture import capture

    values, fed = capture(model, x, leaves, inputs=True)
    found = {}
    for name in leaves:
        module, errors = model.get_submodule(name), []
        for part in batches(batch):
            answers = module(torch.cat([moved(fed[name][0], *g) for g in part]))
            errors += [off(moved(values[name], *g), a[None]) for g, a in zip(part, answers, strict=True)]
        found[name] = torch.cat(errors)
    return found


def spread(model: Any, x: Any, names: list[str]) -> dict[str, Any]:
    """Return {layer: standard deviation over the elements of what comes back}, unit by unit, as tmeasures does."""
    import torch

    from explorer.network.tracing.capture import capture

    sums: dict[str, Any] = {}
    first: dict[str, Any] = {}
    for part in batches(BATCH):

        def reduce(name: str, answer: Any, part: list[tuple[int, int]] = part) -> None:
            for (right, down), a in zip(part, answer, strict=True):
                back = moved(a[None], -right, -down)[0].double()
                if name not in first:
                    first[name], sums[name] = back, (torch.zeros_like(back), torch.zeros_like(back))
                    continue
                back = back - first[name]  # deviations from the first, so that squares lose nothing
                sums[name][0].add_(back)
                sums[name][1].addcmul_(back, back)

        capture(model, torch.cat([moved(x, *g) for g in part]), names, reduce=reduce)
    n = len(SHIFTS)
    return {name: ((b - a * a / n) / (n - 1)).clamp_min(0).sqrt() for name, (a, b) in sums.items()}


def tmeasures(model: Any, x: Any, names: list[str]) -> dict[str, Any]:
    """Return the same by tmeasures."""
    import logging

    import tmeasures.pytorch as tm  # type: ignore[import-not-found]
    import torch

    from explorer.network.tracing.capture import capture

    class Roll(tm.PyTorchTransformation):
        def __init__(self, right: int, down: int) -> None:
            super().__init__()
            self.by = right, down

        def forward(self, value: Any) -> Any:
            return moved(value[None], *self.by)[0]

        __call__ = forward

        def inverse(self) -> Roll:
            return Roll(-self.by[0], -self.by[1])

        def parameters(self) -> Any:
            return torch.tensor(self.by)

    class Activations(tm.ActivationsModule):
        def activation_names(self) -> list[str]:
            return names

        def forward_activations(self, given: Any) -> list[Any]:
            return list(capture(model, given, names)[0].values())

    logging.disable(logging.INFO)
    options = tm.PyTorchMeasureOptions(batch_size=BATCH, verbose=False)
    measure = tm.TransformationVarianceSameEquivariance()
    result = measure.eval([x[0]], [Roll(*g) for g in SHIFTS], Activations(), options)
    return dict(zip(names, result.layers, strict=True))


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    if len(sys.argv) > 1:
        print(json.dumps(ask(int(sys.argv[1]))))
    else:
        for line in run():
            print("  ".join(f"{k} {v:.3g}" if isinstance(v, float) else f"{k} {v}" for k, v in line.items()))
