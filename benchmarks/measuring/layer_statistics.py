"""Time statistics of every layer: beside a plain forward, inside the reductions of a capture, and in memory.

In the window they are taken in idle time, of values that are kept anyway: a frame pays nothing for them. Measured on
networks of the size of a ResNet-50 and of a small GPT-2, with random weights.
"""

from __future__ import annotations

from functools import partial
from typing import Any

SIDE = 224
TOKENS, WIDTH, BLOCKS = 256, 768, 12


def networks() -> dict[str, tuple[Any, Any]]:
    """Return {name: (network, input)}."""
    import torch
    from torch import nn

    class Bottleneck(nn.Module):
        def __init__(self, given: int, inner: int, stride: int) -> None:
            super().__init__()
            kernel = ((given, inner, 1, 1), (inner, inner, 3, stride), (inner, 4 * inner, 1, 1))
            self.convs = nn.ModuleList(nn.Conv2d(i, o, k, s, k // 2, bias=False) for i, o, k, s in kernel)
            self.norms = nn.ModuleList(nn.BatchNorm2d(o) for _, o, _, _ in kernel)
            self.acts = nn.ModuleList(nn.ReLU() for _ in kernel)
            same = stride == 1 and given == 4 * inner
            self.short = nn.Identity() if same else nn.Conv2d(given, 4 * inner, 1, stride, bias=False)

        def forward(self, x: Any) -> Any:
            h = x
            for k, (conv, norm) in enumerate(zip(self.convs, self.norms, strict=True)):
                h = norm(conv(h))
                h = self.acts[k](h + self.short(x) if k == 2 else h)
            return h

    blocks: list[nn.Module] = [nn.Conv2d(3, 64, 7, 2, 3), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    given = 64
    for inner, count in ((64, 3), (128, 4), (256, 6), (512, 3)):
        for k in range(count):
            blocks.append(Bottleneck(given, inner, 2 if k == 0 and inner > 64 else 1))
            given = 4 * inner
    resnet = nn.Sequential(*blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(2048, 1000)).eval()
    layer = nn.TransformerEncoderLayer(WIDTH, 12, 4 * WIDTH, activation="gelu", batch_first=True, norm_first=True)
    gpt = nn.TransformerEncoder(layer, BLOCKS, enable_nested_tensor=False).eval()
    return {
        f"ResNet-50 on {SIDE}x{SIDE}": (resnet, torch.randn(1, 3, SIDE, SIDE)),
        f"GPT-2-small on {TOKENS} tokens": (gpt, torch.randn(1, TOKENS, WIDTH)),
    }


def run(rounds: int = 7) -> list[dict[str, Any]]:
    """Return rows of ratios to the plain forward, and of the peak of extra memory to the activations' total."""
    import torch

    from benchmarks.parts.timing import interleaved, row
    from explorer.network.describing.statistics import moments, statistics
    from explorer.network.tracing.capture import capture, thumbnails

    torch.manual_seed(0)
    rows: list[dict[str, Any]] = []
    for name, (model, x) in networks().items():
        layers = [n for n, m in model.named_modules() if n and not list(m.children())]
        layers = [n for n in layers if "self_attn.out_proj" not in n]  # read by the attention, never called
        thumbnail = thumbnails()

        def both(layer: str, value: Any, thumbnail: Any = thumbnail) -> Any:
            return thumbnail(layer, value), moments(value)

        with torch.inference_mode():
            kept, _ = capture(model, x, layers)
            calls = {
                "plain forward": partial(model, x),
                "reductions": partial(capture, model, x, layers, reduce=thumbnail),
                "with statistics": partial(capture, model, x, layers, reduce=both),
                "statistics alone": partial(statistics, kept),
            }
            times = interleaved(calls, rounds, 1)
            for what, target in (("reductions", 1.10), ("with statistics", 1.15), ("statistics alone", 0.10)):
                rows.append({"network": name, "layers": len(layers)} | row(times, what, "plain forward", target))
            total = sum(v.nbytes for v in kept.values())
            extra = peak(lambda kept=kept: statistics(kept))
            rows.append({
                "network": name, "what": "peak memory of statistics", "mib": extra / 2**20, "peer": "activations",
                "peer_mib": total / 2**20, "ratio": extra / total, "target": 0.05,
            })  # fmt: skip
    return rows


def peak(work: Any) -> int:
    """Return the most bytes beyond those at the start that torch and numpy hold while `work` runs on the processor."""
    import tracemalloc

    import torch
    from torch.profiler import ProfilerActivity, profile

    work()
    tracemalloc.start()  # numpy's memory; not together with the profiler, whose own records it would count
    start = tracemalloc.get_traced_memory()[0]
    tracemalloc.reset_peak()
    work()
    most_numpy = tracemalloc.get_traced_memory()[1] - start
    tracemalloc.stop()
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as seen:
        work()
    held = most = 0
    for event in seen.profiler.kineto_results.events():
        if event.name() == "[memory]" and event.device_type() == torch.profiler.DeviceType.CPU:
            held += event.nbytes()
            most = max(most, held)
    return most + most_numpy
