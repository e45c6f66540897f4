"""Time watching every module of a large network, and keeping all that they return, beside other tools.

Watching takes what is drawn of each (target 1.10 of the plain forward). Keeping is compared with TransformerLens'
`run_with_cache`, nnsight's trace with everything saved and captum's LayerActivation, each on its own network (target
1.05 of their time). They are run by the interpreter that EQUISCOPE_PEERS names, or by this one if it has them. The
times are those of the processor, all threads together, because they are less disturbed by other programs.

    EQUISCOPE_PEERS=/path/to/python python benchmarks/measuring/watching.py
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PEERS = "EQUISCOPE_PEERS"  # environment: an interpreter that has them
WATCHED, KEPT = 1.10, 1.05

Row = dict[str, Any]


def run(rounds: int = 20) -> list[Row]:
    """Return rows for one thread and for two."""
    found = []
    for threads in (1, 2):
        for what in ("watch", "transformer_lens", "nnsight", "captum"):
            peer = os.environ.get(PEERS) or sys.executable
            python = sys.executable if what == "watch" else peer
            if what != "watch" and peer == sys.executable and find_spec(what) is None:
                continue
            environment = os.environ | {"OMP_NUM_THREADS": str(threads), "PYTHONPATH": str(ROOT)}
            words = [python, "-W", "ignore", __file__, what, str(rounds)]
            done = subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, text=True)
            if done.returncode:
                raise RuntimeError(f"{what}: {done.stderr[-2000:]}")
            found += [{**row, "threads": threads} for row in json.loads(done.stdout.splitlines()[-1])]
    return found


def ask(what: str, rounds: int) -> list[Row]:
    """Return the rows of one comparison, in this process."""
    import torch

    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    torch.manual_seed(0)
    with torch.no_grad():
        return {"watch": watch, "transformer_lens": with_lens, "nnsight": with_nnsight, "captum": with_captum}[what](
            rounds
        )


def large() -> dict[str, tuple[Any, Any]]:
    """Return {name: (network, input)}."""
    import torch

    from benchmarks.parts.networks import GPT2, resnet50

    return {
        "ResNet-50, 224 x 224": (resnet50().eval(), torch.randn(1, 3, 224, 224)),
        "GPT-2 small, 128 tokens": (GPT2().eval(), torch.randint(0, 50257, (1, 128))),
    }


def names_of(model: Any) -> list[str]:
    return [name for name, module in model.named_modules() if name and not _list(module)]


def _list(module: Any) -> bool:
    from torch import nn

    return isinstance(module, nn.ModuleList)  # which is never called


def watch(rounds: int) -> list[Row]:
    from explorer.network.tracing.capture import capture, thumbnails

    rows, reduce = [], thumbnails()
    for title, (model, x) in large().items():
        names = names_of(model)
        peers = {
            "plain forward": partial(model, x),
            f"{title}: drawn of all {len(names)} modules": partial(capture, model, x, names, reduce=reduce),
        }
        rows.append(compared(taken(peers, rounds), list(peers)[1], "plain forward", WATCHED))
    return rows


def with_lens(rounds: int) -> list[Row]:
    import torch
    import transformer_lens as lens  # type: ignore[import-not-found]

    config = lens.HookedTransformerConfig(
        n_layers=12,
        d_model=768,
        n_ctx=1024,
        d_head=64,
        n_heads=12,
        d_mlp=3072,
        d_vocab=50257,
        act_fn="gelu_new",
        seed=0,
    )
    model = lens.HookedTransformer(config, move_to_device=False).eval()
    tokens = torch.randint(0, 50257, (1, 128))
    _, cache = model.run_with_cache(tokens)
    return kept(f"TransformerLens {version('transformer_lens')}", model, tokens, list(cache),
                lambda: model.run_with_cache(tokens), rounds)  # fmt: skip


def with_nnsight(rounds: int) -> list[Row]:
    import nnsight  # type: ignore[import-not-found]

    rows = []
    for title, (model, x) in large().items():
        names = _called(model, x)
        traced = nnsight.NNsight(model)
        envoys = [traced.get(name) for name in names]

        def save(traced: Any = traced, envoys: Any = envoys, x: Any = x) -> Any:
            with traced.trace(x):
                saved = []
                for envoy in envoys:
                    saved.append(envoy.output)
                nnsight.save(saved)
            return saved

        assert len(save()) == len(names)
        rows += kept(f"nnsight {version('nnsight')}, {title}", model, x, names, save, rounds)
    return rows


def with_captum(rounds: int) -> list[Row]:
    from captum.attr import LayerActivation  # type: ignore[import-not-found]

    rows = []
    for title, (model, x) in large().items():
        names = _called(model, x)
        activation = LayerActivation(model, [model.get_submodule(name) for name in names])
        attribute = partial(activation.attribute, x)
        rows += kept(f"captum {version('captum')}, {title}", model, x, names, attribute, rounds)
    return rows


def _called(model: Any, x: Any) -> list[str]:
    """Return the modules in the order in which they return."""
    from explorer.network.tracing.capture import capture

    return list(capture(model, x, names_of(model))[0])


def kept(peer: str, model: Any, x: Any, names: list[str], theirs: Callable[[], object], rounds: int) -> list[Row]:
    from explorer.network.tracing.capture import capture

    # the plain forward is not among them: what was kept and freed before makes it slower
    ours = f"{len(names)} activations kept"
    return [compared(taken({ours: lambda: capture(model, x, names), peer: theirs}, rounds), ours, peer, KEPT)]


def taken(peers: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, list[float]]:
    from benchmarks.parts.timing import interleaved

    return interleaved(peers, rounds, clock=time.process_time)


def compared(times: dict[str, list[float]], name: str, peer: str, target: float) -> Row:
    from benchmarks.parts.timing import row

    return row(times, name, peer, target)


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    if len(sys.argv) > 2:
        print(json.dumps(ask(sys.argv[1], int(sys.argv[2]))))
    else:
        for line in run():
            print("  ".join(f"{k} {v:.3f}" if isinstance(v, float) else f"{k} {v}" for k, v in line.items()))
