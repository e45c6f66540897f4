"""Networks that bring no recipe learn pairs (x, y)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from torch import Tensor, nn

from explorer.work.training.examples import examples_in, from_examples

CHANCE = torch.Generator().manual_seed(0)
X = torch.randn(60, 4, generator=CHANCE)
SIDE = (X[:, 0] > 0).long()  # the class of each


def linear(outputs: int = 2) -> Callable[[], nn.Module]:
    return lambda: nn.Linear(4, outputs)


def test_classes_and_values_are_learned_and_judged_on_what_was_not_learned() -> None:
    many = torch.randn(600, 4, generator=torch.Generator().manual_seed(1))
    network, figures = from_examples(linear(), (many, (many[:, 0] > 0).long()), "net.py")(epochs=400, seed=1)
    assert set(figures) == {"test_accuracy"} and figures["test_accuracy"] >= 0.9 and not network.training
    wanted = X @ torch.tensor([[1.0], [0.0], [2.0], [0.0]])
    _, first = from_examples(linear(1), (X, wanted), "net.py")(epochs=1)
    _, last = from_examples(linear(1), lambda: (X.numpy(), wanted.numpy()), "net.py")(epochs=800)
    assert last["test_error"] < 0.5 * first["test_error"]


def test_the_seed_decides_everything() -> None:
    def trained(seed: int) -> Tensor:
        network, _ = from_examples(linear(), (X, SIDE), "net.py")(epochs=2, seed=seed)
        return network.weight.detach()  # type: ignore[operator]

    assert torch.equal(trained(3), trained(3)) and not torch.equal(trained(3), trained(4))


class Tokens(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.table, self.out = nn.Embedding(9, 4), nn.Linear(4, 2)

    def forward(self, ids: Tensor) -> Tensor:
        out: Tensor = self.out(self.table(ids).mean(1))
        return out


def test_numbers_of_tokens_stay_whole_and_other_whole_numbers_become_values() -> None:
    ids = torch.randint(9, (20, 5), generator=CHANCE)
    assert "test_accuracy" in from_examples(Tokens, (ids, ids[:, 0] % 2), "net.py")(epochs=1)[1]
    pixels = (255 * torch.rand(20, 4, generator=CHANCE)).to(torch.uint8)
    assert "test_accuracy" in from_examples(linear(), (pixels, SIDE[:20]), "net.py")(epochs=1)[1]


def test_a_list_of_examples_is_learned_as_the_array_that_it_makes() -> None:
    figures = [from_examples(linear(), (x, SIDE), "net.py")(epochs=2)[1] for x in (X, list(X), list(X.numpy()))]
    assert figures[0] == figures[1] == figures[2]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (X, "examples are a pair (x, y), not Tensor"),
        ((X, "classes"), "y is no array of numbers but str"),
        (([X[0], X[1, :3]], SIDE[:2]), "x holds arrays of unequal sizes, (3,) and (4,) among them: bring them to one"),
        (([*X[:2].numpy(), X[2, :3].numpy()], SIDE[:3]), "x holds arrays of unequal sizes, (3,) and (4,) among them"),
        ((X, SIDE[:7]), "x of shape (60, 4) and y of shape (7,) do not go in pairs"),
        ((X[:0], SIDE[:0]), "there is no example to learn from"),
        ((X[:1], SIDE[:1]), "there is one example, and none is left to judge by"),
        ((X, SIDE * 0), "every example is of the class 0: give the training at least two classes"),
        ((X * torch.nan, SIDE), "x holds values that are no finite real numbers"),
        ((X, SIDE + 5), "y holds the class 6, and the network scores 0 to 1"),
        ((X, SIDE - 1), "y holds the class -1, and the network scores 0 to 1"),
        ((X[:, :3], SIDE), "does not go through the network"),
        ((X, torch.rand(60, 3)), "y has the shape (3,) for each example, and the network gives (2,)"),
        ((X, torch.stack([SIDE, SIDE], 1)), "y of shape (60, 2) counts classes"),
    ],
)
def test_what_cannot_be_learned_is_one_sentence(given: Any, said: str) -> None:
    with pytest.raises(ValueError, match=r"^net\.py: ") as found:
        from_examples(linear(), given, "net.py")(epochs=1)
    assert said in str(found.value)


def test_an_answer_that_is_no_tensor_is_one_sentence() -> None:
    with pytest.raises(ValueError, match="gives a dict and not one tensor"):
        from_examples(lambda: Two(4, 2), (X, SIDE), "net.py")(epochs=1)


class Two(nn.Linear):
    def forward(self, x: Tensor) -> Any:
        return {"scores": super().forward(x), "size": x.norm()}


def farthest(answer: Any, wanted: Tensor) -> Tensor:
    return (answer["scores"].softmax(1)[:, 1] - wanted).abs().mean()


def test_a_loss_of_ones_own_is_learned_and_judged_by() -> None:
    said = {"LOSS": farthest, "TRAINING": {"epochs": 200, "batch": 16, "rate": 0.05}}
    _, first = from_examples(lambda: Two(4, 2), (X, SIDE), "net.py", said)(epochs=1)
    _, last = from_examples(lambda: Two(4, 2), (X, SIDE), "net.py", said)()
    assert set(last) == {"test_farthest"}
    assert last["test_farthest"] < 0.5 * first["test_farthest"]
    both = {"far": farthest, "near": lambda answer, wanted: farthest(answer, 1 - wanted)}
    _, figures = from_examples(lambda: Two(4, 2), (X, SIDE), "net.py", {"LOSS": both})(epochs=1)
    assert figures["test_far"] + figures["test_near"] == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({"LOSS": 3}, "LOSS is a function of (answer, y), or a dict of such by name, not int"),
        (
            {"LOSS": lambda answer, y: answer["scores"]},
            "LOSS has to give one number as a tensor, and gives shape (32, 2)",
        ),
        ({"LOSS": lambda answer, y: 3.0}, "LOSS has to give one number as a tensor, and gives float"),
        ({"LOSS": lambda answer, y: answer["logits"]}, "LOSS raised KeyError: 'logits'"),
        ({"TRAINING": {"lr": 0.1}}, "TRAINING is a dict of epochs, batch, rate, and has no 'lr'"),
        ({"TRAINING": [3]}, "TRAINING is a dict of epochs, batch, rate, and has no list"),
        ({"TRAINING": {"epochs": 0}}, "TRAINING['epochs'] is a whole number above zero, not 0"),
        ({"TRAINING": {"rate": "fast"}}, "TRAINING['rate'] is a number above zero, not 'fast'"),
    ],
)
def test_a_recipe_that_cannot_be_followed_is_one_sentence(said: Any, told: str) -> None:
    with pytest.raises(ValueError, match=r"^net\.py: ") as found:
        from_examples(lambda: Two(4, 2), (X, SIDE), "net.py", said)(epochs=1)
    assert told in str(found.value)


def test_files_of_examples(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", x_train=X.numpy(), y_train=SIDE.numpy(), other=np.zeros(1))
    save_file({"images": X, "labels": SIDE}, tmp_path / "b.safetensors")
    for name in ("a.npz", "b.safetensors"):
        x, y = examples_in(tmp_path / name)
        assert torch.equal(x, X) and torch.equal(y, SIDE)
    np.savez(tmp_path / "c.npz", x=X.numpy())
    np.savez(tmp_path / "d.npz", x=np.array([{}], dtype=object), y=np.zeros(1))  # a pickle, which is not opened
    (tmp_path / "e.npz").write_bytes(b"PK\x03\x04 broken")
    for name, said in (
        ("c.npz", "holds x; examples are two arrays"),
        ("d.npz", "it holds objects in place of numbers; pictures of unequal sizes"),
        ("e.npz", "cannot be read"),
        ("f.npz", "there is no file"), ("g.csv", "are read from .npz and .safetensors"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=said):
            examples_in(tmp_path / name)
