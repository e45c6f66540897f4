"""Let the other tools measure their own modules, and write down what they say, with their versions.

Each tool is asked where it is installed; what others said before stays. None of them is needed to run the tests.

    python -m tests.explorer.equivariance.other_tools.record [folder of github.com/ngruver/lie-deriv]

escnn needs NumPy 1 and so an environment of its own. The numbers that a tool draws at random are replaced: x by
`waves`, e3nn's rotation by each of ours.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import torch
from torch import Tensor, nn

from tests.explorer.equivariance.other_tools import networks, ours

STYLEGAN3 = "96014fc32fa4095b72c96d85980fea43b7b4f720"  # the commit of lie-deriv that has StyleGAN3's file
FIGURES = Path(__file__).with_name("figures.json")


def escnn() -> dict[str, Any]:
    """Ask `EquivariantModule.check_equivariance` of two group convolutions."""
    from escnn import gspaces  # type: ignore[import-not-found]
    from escnn import nn as enn

    turns = gspaces.rot2dOnR2(4)
    image, regular = enn.FieldType(turns, [turns.trivial_repr]), enn.FieldType(turns, [turns.regular_repr])
    convs = [enn.R2Conv(a, regular, 3, padding=1, bias=False).double() for a in (image, regular)]
    for k, conv in enumerate(convs):
        conv.weights.data.copy_(networks.waves(conv.weights.numel(), pitch=0.9 + k))
    sound = enn.SequentialModule(convs[0], enn.ReLU(regular), convs[1]).double().eval()
    filters = [conv.expand_parameters()[0].detach().tolist() for conv in convs]

    class Broken(enn.EquivariantModule):  # type: ignore[misc]
        """Their two layers, and a convolution of which one number is wrong."""

        def __init__(self) -> None:
            super().__init__()
            self.in_type, self.out_type = image, regular
            self.plain = networks.quarter_turns(filters, True)

        def forward(self, x: Any) -> Any:
            return enn.GeometricTensor(self.plain(x.tensor), regular)

        def evaluate_output_shape(self, shape: Any) -> Any:
            return (shape[0], 4, *shape[2:])

    x = networks.waves(3, 1, 10, 10)
    found: dict[str, Any] = {"filters": filters, "version": version("escnn"), "torch": torch.__version__}
    for name, module in (("sound", sound), ("broken", Broken())):
        with mock.patch.object(torch, "randn", lambda *_: x.clone()), contextlib.redirect_stdout(io.StringIO()):
            np.random.seed(0)  # noqa: NPY002 - where escnn draws elements from
            errors = enn.EquivariantModule.check_equivariance(module, atol=10.0)
            # its default of 1e-7 is less than what its own rotations leave of a sound network, 1.8e-7
            passes = _passes(lambda m=module: enn.EquivariantModule.check_equivariance(m, atol=1e-6))
        given = enn.GeometricTensor(x, image)
        excess = 0.0
        for element in turns.testing_elements:
            expected, answer = module(given).transform(element).tensor, module(given.transform(element)).tensor
            over = (expected - answer).abs() - 1e-5 * answer.abs()
            excess = max(excess, float(over.max()))
        mean = {str(element.value): float(error) for element, error in errors}
        found[name] = {"mean |e| by quarter turns": mean, "passes": passes, "excess over rtol": max(excess, 0.0)}
    return found


def e3nn() -> dict[str, Any]:
    """Ask `equivariance_error` of a linear map of vectors and a nonlinearity of their lengths."""
    from e3nn import nn as enn  # type: ignore[import-not-found]
    from e3nn import o3
    from e3nn.util.test import assert_equivariant, equivariance_error  # type: ignore[import-not-found]

    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        irreps = o3.Irreps("1x1o")
        linear = o3.Linear(irreps, irreps)
        linear.weight.data.fill_(1.3)
        gate = enn.NormActivation(irreps, torch.sigmoid)
        weight = float(linear(torch.eye(3))[0, 0].detach())
        sound: Callable[[Tensor], Tensor] = lambda x: gate(linear(x))  # noqa: E731
        broken: nn.Module = networks.Vectors(weight, True)
        found: dict[str, Any] = {"weight": weight, "version": version("e3nn"), "torch": torch.__version__}
        x = ours.vectors().x
        for name, function in (("sound", sound), ("broken", broken)):
            errors = []
            for matrix in ours.motions():
                proper = matrix * torch.linalg.det(matrix).round()
                parity = int(torch.linalg.det(matrix) < 0)
                with mock.patch.object(o3, "rand_matrix", lambda proper=proper, **_: proper.clone()):
                    figures = equivariance_error(function, [x], [irreps], [irreps])
                errors.append({"matrix": matrix.tolist(), "max |e|": float(figures[parity, False])})
            passes = _passes(lambda f=function: assert_equivariant(f, [x], [irreps], [irreps]))
            found[name] = {"elements": errors, "passes": passes}
        return found
    finally:
        torch.set_default_dtype(before)


def lie_deriv(folder: Path) -> dict[str, Any]:
    """Ask `translation_lie_deriv`, once with a spectral shift in the place of its bilinear one, once as it is."""
    sys.path.insert(0, str(folder))
    module = importlib.import_module("lee.lie_derivs")
    commit = _git(folder, "rev-parse", "HEAD").strip()
    x = networks.smooth(16)
    found: dict[str, Any] = {"commit": commit, "torch": torch.__version__}
    for name in ("sound", "broken"):
        network = networks.Circles(name == "broken")
        with mock.patch.object(module, "translate", ours.spectral_shift):
            spectral = module.translation_lie_deriv(network, x).detach()
        own = module.translation_lie_deriv(network.float(), x.float()).detach()
        found[name] = {
            "mean square": float(spectral.square().mean()), "mean |.|": float(spectral.abs().mean()),
            "mean |.| by its bilinear shift, of half a width": float(own.abs().mean()),
        }  # fmt: skip
    return found


def stylegan3(folder: Path) -> dict[str, Any]:
    """Ask StyleGAN3's `apply_integer_translation` and its last lines for EQ-T, from the copy that lie-deriv keeps."""
    source = _git(folder, "show", f"{STYLEGAN3}:stylegan3_metrics.py")
    source = source[source.index("def apply_integer_translation") :]
    source = source[: source.index("\n#---")]
    names: dict[str, Any] = {"torch": torch}
    exec(source, names)
    x, found = networks.waves(2, 1, 12, 12), {"commit": STYLEGAN3, "torch": torch.__version__}
    for name in ("sound", "broken"):
        network = networks.padded(name == "broken")
        shifted, _ = names["apply_integer_translation"](x, 3 / 12, -2 / 12)
        with torch.no_grad():
            expected, mask = names["apply_integer_translation"](network(x), 3 / 12, -2 / 12)
            square = (expected - network(shifted)).square() * mask
        mse = (square.sum() / mask.sum()).numpy()
        with np.errstate(divide="ignore"):
            found[name] = {"EQ-T": min(float(np.log10(2) * 20 - np.log10(mse) * 10), 1e6)}
    return found


def _git(folder: Path, *words: str) -> str:
    return subprocess.run(["git", "-C", folder, *words], capture_output=True, text=True, check=True).stdout


def _passes(check: Callable[[], object]) -> bool:
    try:
        check()
    except AssertionError:
        return False
    return True


def main(folder: str = "") -> None:
    known = json.loads(FIGURES.read_text()) if FIGURES.exists() else {}
    asked: dict[str, Callable[[], dict[str, Any]]] = {"escnn": escnn, "e3nn": e3nn}
    if folder:
        asked |= {"lie-deriv": lambda: lie_deriv(Path(folder)), "stylegan3": lambda: stylegan3(Path(folder))}
    for name, ask in asked.items():
        try:
            known[name] = ask()
        except ImportError as error:
            print(f"{name}: {error}; what it said before stays")
    FIGURES.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
