"""The verb `train` of the command line."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from explorer.app.doors import BadInput, Doors


def trained(args: argparse.Namespace, doors: Doors) -> int:
    """Train a built-in network again and write its weights."""
    from explorer.app.writing import save_weights
    from explorer.network.loading import find_card

    card = find_card(args.model, doors.cards())
    if card.train is None:
        raise BadInput(f"{card.name} has no training: it is shown with its initial parameters")
    if args.seed < 0:
        raise BadInput("--seed must not be negative")
    if args.epochs is not None and args.epochs < 1:
        raise BadInput("--epochs must be at least 1")
    path = Path(args.out or f"{card.name}.safetensors")
    if path.suffix != ".safetensors":
        raise BadInput(f"--out {path} must end in .safetensors")
    if not path.parent.is_dir():
        raise BadInput(f"there is no folder {path.parent}")

    def progress(epoch: int, epochs: int, text: str) -> None:
        print(f"\repoch {epoch}/{epochs}  {text}", end="", file=sys.stderr, flush=True)

    model, metrics = card.train(epochs=args.epochs, seed=args.seed, progress=progress)
    print(file=sys.stderr)
    told = {k: f"{v:.6g}" for k, v in metrics.items()}
    save_weights(path, model, {"model": card.name, "seed": str(args.seed), **told})
    print(f"{path}  " + "  ".join(f"{k} {v:.4g}" for k, v in metrics.items()))
    return 0
