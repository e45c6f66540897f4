"""Time watching: a ResNet-18 on 224x224 plain, with one layer watched, with every layer's drawn reduction."""

from __future__ import annotations

from typing import Any


def run(rounds: int = 30) -> list[dict[str, Any]]:
    """Return rows for one watched layer (target 1.02) and for all of them (target 1.05), beside the plain forward."""
    import torch

    from benchmarks.parts.timing import interleaved, row
    from explorer.network.tracing.capture import capture, thumbnails
    from explorer.network.tracing.trace import trace
    from explorer.spaces.grid.fields import grid
    from models.images.resnet import build_resnet18

    torch.manual_seed(0)
    model = build_resnet18().eval()
    x = torch.randn(1, 3, 224, 224)
    names = [layer.name for layer in trace(model, x, grid()).layers]
    middle = names[len(names) // 2]
    reduce = thumbnails()
    with torch.inference_mode():
        times = interleaved(
            {
                "plain forward": lambda: model(x),
                "one layer watched": lambda: capture(model, x, [middle], reduce=reduce),
                f"all {len(names)} layers": lambda: capture(model, x, names, reduce=reduce),
            },
            rounds,
        )
    one, every = list(times)[1:]
    return [row(times, one, "plain forward", 1.02), row(times, every, "plain forward", 1.05)]
