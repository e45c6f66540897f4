"""A text of 16,384 letters, from the choice to the first frame of a Transformer, beside one forward pass of it.

One thread; the pass is timed in the same process, after the frame. Aimed at: 2 s of the processor beyond the pass.

    python -m benchmarks.data.tokens_open
"""

from __future__ import annotations

import random
import tempfile
import time
from pathlib import Path
from typing import Any

STEPS = 16_384
MODEL = "transformer"


def run(steps: int = STEPS) -> list[dict[str, Any]]:
    """Return the seconds to the first frame, by the clock and of the processor, and the passes that this would be."""
    import torch

    import models
    from explorer.app.answering.engine import LocalEngine
    from explorer.declare.registry import scan
    from explorer.state.state import State

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    engine = LocalEngine(scan(models, "CARD"))
    letters = random.Random(0)
    try:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "letters.txt")
            path.write_text("".join(letters.choice("abcdefgh") for _ in range(steps)), encoding="utf-8")
            state = State(model=MODEL, sample=str(path))
            start, used = time.perf_counter(), time.process_time()
            engine.answer(state, lambda: False)
            seconds, processor = time.perf_counter() - start, time.process_time() - used
            prepared = engine.prepared(state, MODEL)
            start, used = time.perf_counter(), time.process_time()
            with torch.no_grad():
                prepared.model(*prepared.inputs.arguments)
            forward, forward_processor = time.perf_counter() - start, time.process_time() - used
    finally:
        torch.set_num_threads(threads)
    return [{
        "what": f"{MODEL}, {steps} letters", "first_frame_seconds": seconds, "processor_seconds": processor,
        "beyond_seconds": processor - forward_processor, "target_seconds": 2.0, "forward_seconds": forward,
        "forward_processor_seconds": forward_processor, "processor_ratio": processor / forward_processor,
    }]  # fmt: skip


if __name__ == "__main__":
    for found in run():
        print("  ".join(f"{k} {v:.2f}" if isinstance(v, float) else f"{k} {v}" for k, v in found.items()))
