"""LSTM with every gate recorded, against nn.LSTM that shows none, and against plain loops that show all.

512 units, 1000 steps, batches of 32. All four give the same numbers. Peers take turns, and the least time of
each counts: what else the machine does only adds to it. Read the ratios.

    python -m benchmarks.layers.lstm_gates
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from benchmarks.parts.timing import interleaved

if TYPE_CHECKING:
    from torch import Tensor, nn

UNITS, STEPS, BATCH = 512, 1000, 32
TOLERANCE = 1e-5  # of values of order 1, after a thousand steps in single precision
TARGETS = {"nn.LSTM": 2.0, "best loop": 1.2}


def run(
    repeats: int = 3, units: int = UNITS, steps: int = STEPS, batch: int = BATCH, device: str = ""
) -> list[dict[str, Any]]:
    """Time the four in turn; return a row per width of the input (1 and `units`) and per peer.

    A row holds `ours_ms` and `peer_ms`, the least of all rounds, `ratio`, ours by the peer's, the `target` for it,
    `difference`, the largest to nn.LSTM, and `threads`. The best loop is the faster of the two.

    Raises:
        AssertionError: they do not give the same numbers.
    """
    import torch
    from torch import nn

    from models.layers.recurrent.recurrence import Recurrence
    from models.sequences.recurrent.stacked import copied

    device = device or str(torch.get_default_device())
    rows: list[dict[str, Any]] = []
    for inputs in (1, units):
        torch.manual_seed(0)
        peer = nn.LSTM(inputs, units).to(device)
        ours = copied(peer).get_submodule("layer1")
        assert isinstance(ours, Recurrence)
        x = torch.randn(steps, batch, inputs, device=device)

        def timed(call: Callable[[], Any]) -> Callable[[], Any]:
            def finished() -> Any:
                found = call()
                if device != "cpu":
                    torch.cuda.synchronize()
                return found

            return finished

        calls = {
            "ours": timed(lambda: ours.run(x)),  # noqa: B023
            "nn.LSTM": timed(lambda: peer(x)[0]),  # noqa: B023
            "loop of cells": timed(lambda: cells(peer, x)),  # noqa: B023
            "loop of one product": timed(lambda: one_product(peer, x)),  # noqa: B023
        }
        with torch.inference_mode():
            expected, found = calls["nn.LSTM"](), calls["ours"]()
            difference = float((found["hidden"] - expected).abs().max())
            for name in ("loop of cells", "loop of one product"):
                for mine, theirs in zip(found.values(), calls[name](), strict=True):
                    difference = max(difference, float((mine - theirs).abs().max()))
            assert difference <= TOLERANCE, f"{difference:.1e}"
            del expected, found
            least = {name: 1e3 * min(times) for name, times in interleaved(calls, repeats, warmup=0).items()}
        least["best loop"] = min(least["loop of cells"], least["loop of one product"])
        rows += [
            {
                "what": f"LSTM, {inputs} inputs, gates recorded, by {name}",
                "threads": torch.get_num_threads(),
                "device": device,
                "ours_ms": least["ours"],
                "peer_ms": least[name],
                "ratio": least["ours"] / least[name],
                "target": target,
                "difference": difference,
            }
            for name, target in TARGETS.items()
        ]
    return rows


def cells(peer: nn.LSTM, x: Tensor) -> list[Tensor]:
    """Record the gates in the plainest way: both products in every step, values stacked at the end."""
    import torch
    from torch.nn import functional as F

    w, u, b, d = (peer.get_parameter(f"{name}_l0") for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"))
    h = c = x.new_zeros(x.shape[1], peer.hidden_size)
    steps = []
    for now in x:
        z = F.linear(now, w, b) + F.linear(h, u, d)
        i, f, g, o = z.chunk(4, 1)
        i, f, g, o = i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()
        c = f * c + i * g
        h = o * c.tanh()
        steps.append((i, f, g, o, c, h))
    return [torch.stack(values) for values in zip(*steps, strict=True)]


def one_product(peer: nn.LSTM, x: Tensor) -> list[Tensor]:
    """Record the gates with the inputs' product of all steps taken out of the loop, values stacked at the end."""
    import torch
    from torch.nn import functional as F

    w, u, b, d = (peer.get_parameter(f"{name}_l0") for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"))
    given = F.linear(x, w, b + d)
    h = c = x.new_zeros(x.shape[1], peer.hidden_size)
    steps = []
    for now in given:
        i, f, g, o = torch.addmm(now, h, u.t()).chunk(4, 1)
        i, f, g, o = i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()
        c = f * c + i * g
        h = o * c.tanh()
        steps.append((i, f, g, o, c, h))
    return [torch.stack(values) for values in zip(*steps, strict=True)]


def main() -> None:
    import torch

    print(f"{UNITS} units, {STEPS} steps, batch {BATCH}")
    for device in ("cpu", "cuda") if torch.cuda.is_available() else ("cpu",):
        rows = run(device=device)
        print(f"{device}, {rows[0]['threads']} threads\n{'what':<56} ours ms    peer ms   ratio  target  difference")
        for r in rows:
            print(
                f"{r['what']:<52}  {r['ours_ms']:>9.1f}  {r['peer_ms']:>9.1f}  "
                f"{r['ratio']:>6.3f}  {r['target']:>6.2f}  {r['difference']:>10.1e}"
            )


if __name__ == "__main__":
    main()
