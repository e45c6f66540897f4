"""The digit sum of Deep Sets, trained anew: how many lists of 5 to 95 digits are added up without a mistake.

Zaheer et al., 2017, figure 2 (text): trained on at most 10 digits, Deep Sets stay near 100 % on up to 100, while an
LSTM and a GRU fall off soon after the lengths that they were trained on. The paper shows curves and no table. The GRU
here learns from a part of the lists, for the time's sake: read how it falls off, not where it starts.

    python -m benchmarks.published.published_sets
"""

from __future__ import annotations

import time
from typing import Any

PAPER = "near 1 at all lengths (figure); LSTM and GRU fall off beyond 10"


def run(seed: int = 0, recurrent: bool = True) -> list[dict[str, Any]]:
    """Train both networks; return a row for each length with the accuracies, and the seconds of training."""
    from models.graphs.sets import deep_sets

    start = time.perf_counter()
    _, metrics = deep_sets.train(seed=seed)
    seconds = time.perf_counter() - start
    gru: dict[int, float] = {}
    gru_seconds = float("nan")
    if recurrent:
        start = time.perf_counter()
        gru = gru_accuracy(seed)
        gru_seconds = time.perf_counter() - start
    return [
        {
            "length": length,
            "deep_sets": metrics[f"accuracy_{length}"],
            "gru": gru.get(length, float("nan")),
            "paper": PAPER,
            "train_seconds": seconds,
            "gru_seconds": gru_seconds,
        }
        for length in deep_sets.LENGTHS
    ]


def gru_accuracy(seed: int, count: int = 20_000, epochs: int = 12) -> dict[int, float]:
    """Train a GRU(80) on lists of 1 to 9 digits; return {length: accuracy}, its own length 5 included."""
    import torch
    from torch import Tensor, nn
    from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence

    from models.graphs.sets import deep_sets

    torch.manual_seed(seed)
    embedding, gru, head = nn.Embedding(deep_sets.DIGITS, 100), nn.GRU(100, 80, batch_first=True), nn.Linear(80, 1)
    parameters = [*embedding.parameters(), *gru.parameters(), *head.parameters()]

    def predict(drawn: list[Tensor]) -> Tensor:
        lengths = torch.tensor([len(one) for one in drawn])
        packed = pack_padded_sequence(
            embedding(pad_sequence(drawn, batch_first=True)), lengths, batch_first=True, enforce_sorted=False
        )
        found: Tensor = head(gru(packed)[1][0])
        return found[:, 0]

    chance = torch.Generator().manual_seed(seed)
    drawn = deep_sets.lists(count, range(1, 10), chance)
    sums = torch.tensor([float(one.sum()) for one in drawn])
    optimizer = torch.optim.Adam(parameters, lr=3e-3)
    steps = epochs * -(-count // 128)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 3e-3, total_steps=steps)
    for _ in range(epochs):
        for rows in torch.randperm(count, generator=chance).split(128):
            loss = (predict([drawn[k] for k in rows.tolist()]) - sums[rows]).abs().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
    found = {}
    with torch.no_grad():
        for length in deep_sets.LENGTHS:
            judged = deep_sets.lists(1000, length, torch.Generator().manual_seed(1000 + length))
            right = predict(judged).round() == torch.stack([one.sum() for one in judged])
            found[length] = float(right.double().mean())
    return found


def main() -> None:
    rows = run()
    print(f"trained in {rows[0]['train_seconds']:.1f} s (GRU, a fifth of the lists: {rows[0]['gru_seconds']:.1f} s)")
    print(f"paper: {PAPER}")
    print("length  Deep Sets     GRU")
    for r in rows:
        print(f"{r['length']:>6}  {r['deep_sets']:>9.3f}  {r['gru']:>6.3f}")


if __name__ == "__main__":
    main()
