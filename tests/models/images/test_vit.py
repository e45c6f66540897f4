"""Row G11: a vision transformer is timm's and torchvision's, and what moves with a patch, a pixel or a turn is known.

The actions are written here with roll and rot90 on grids of patches.
"""

from __future__ import annotations

import importlib
from types import ModuleType

import pytest
import torch
from torch import Tensor, nn

from explorer.declare.types.fields import FieldType
from explorer.network.opening.loading import load_model
from explorer.spaces.grid.elements.affine import Affine
from explorer.spaces.grid.fields import TokenPairs, Tokens
from models.images.transformers.vit import CARD, ERRORS, KINDS, PATCH, SIDE, build_tiny
from models.layers.vision.blocks import VisionTransformer, symmetrised
from models.layers.vision.positions import RelativeBias, Rotary, sinusoids
from models.training.images.patches import judge

GRID = SIDE // PATCH
EXACT, BROKEN = 1e-12, 1e-2  # relative, float64


def theirs(name: str) -> ModuleType:
    """Import timm or torchvision; their CUDA build registers operators that a torch for the processor has not."""
    kept = torch.library.register_fake
    try:
        torch.library.register_fake = lambda *_, **__: lambda f: f  # type: ignore[assignment]
        return importlib.import_module(name)
    except ImportError:
        pytest.skip(f"{name} is not installed")
    finally:
        torch.library.register_fake = kept


def layers_of(network: nn.Module, x: Tensor) -> dict[str, Tensor]:
    found: dict[str, Tensor] = {}
    handles = [
        m.register_forward_hook(lambda _m, _x, y, name=name: found.__setitem__(name or "output", y))
        for name, m in network.named_modules()
    ]
    with torch.no_grad():
        network(x)
    for handle in handles:
        handle.remove()
    return found


def moved_tokens(values: Tensor, move) -> Tensor:
    """Move the patches of (N, T, C), whose class token, if there is one, stays first."""
    extra = values.shape[1] - GRID * GRID
    maps = values[:, extra:].transpose(1, 2).unflatten(2, (GRID, GRID))
    return torch.cat([values[:, :extra], move(maps).flatten(2).transpose(1, 2)], 1)


def expected(values: Tensor, move) -> Tensor:
    if values.ndim == 3:
        return moved_tokens(values, move)
    if values.ndim == 2:
        return values
    if values.shape[-1] == GRID:
        return move(values)
    for _ in range(2):  # pairs of tokens: rows, then columns
        values = moved_tokens(values.flatten(0, 1), move).unflatten(0, values.shape[:2]).transpose(-1, -2)
    return values


def worst(network: nn.Module, on_pixels, on_patches) -> float:
    x = torch.rand(2, 1, SIDE, SIDE, dtype=torch.float64)
    before, after = layers_of(network, x), layers_of(network, on_pixels(x))
    errors = [
        float((after[name] - expected(value, on_patches)).norm() / after[name].norm().clamp_min(1e-30))
        for name, value in before.items()
        if not name.endswith("rotary")  # a field of every head's tokens
    ]
    return max(errors)


def shifts(pixels: int):
    patches = pixels // PATCH
    return (lambda x: x.roll((pixels, -pixels), (-2, -1))), (lambda x: x.roll((patches, -patches), (-2, -1)))


def turns(r: int):
    return (lambda x: torch.rot90(x, r, (-2, -1)),) * 2


def trained(positions: str, symmetric: bool = False) -> VisionTransformer:
    network = load_model(CARD[0], {"positions": KINDS.index(positions), "patches": int(symmetric)})
    assert isinstance(network, VisionTransformer)
    return network.double().eval()


@pytest.mark.parametrize("kind", KINDS)
def test_a_shift_by_a_patch_is_exact_without_positions_and_only_then(kind: str) -> None:
    error = worst(trained(kind), *shifts(PATCH))
    assert (error < EXACT) == (kind == "none") and (kind == "none" or error > BROKEN)


def test_a_shift_by_a_pixel_breaks_the_patch_embedding() -> None:
    network, x = trained("none"), torch.rand(1, 1, SIDE, SIDE, dtype=torch.float64)
    before, after = (layers_of(network, v)["patch_embed.proj"] for v in (x, x.roll(1, -1)))
    nearest = min(float((after - before.roll(k, -1)).norm() / before.norm()) for k in range(GRID))
    assert nearest > BROKEN


@pytest.mark.parametrize("r", [1, 2, 3])
def test_quarter_turns_are_exact_with_symmetrised_patches_and_no_positions(r: int) -> None:
    assert worst(trained("none", True), *turns(r)) < EXACT
    assert worst(trained("none", False), *turns(r)) > BROKEN, "plain patches"
    assert worst(trained("learned", True), *turns(r)) > BROKEN, "learned positions"


def test_symmetrised_filters_are_left_alone_by_turns_and_are_their_own_mean() -> None:
    w = torch.randn(3, 1, 4, 4, dtype=torch.float64)
    s = symmetrised(w)
    torch.testing.assert_close(torch.rot90(s, 1, (-2, -1)), s, rtol=0, atol=1e-15)
    torch.testing.assert_close(symmetrised(s), s, rtol=0, atol=1e-15)
    assert float((s - w).abs().max()) > 0.1


def test_rotary_logits_depend_on_the_difference_of_places_alone() -> None:
    rotary = Rotary((4, 4), 12, 1)
    q, k = torch.randn(2, 12, dtype=torch.float64)
    turned_q, turned_k = (rotary(v.expand(1, 1, 17, 12)) for v in (q, k))
    logits = (turned_q @ turned_k.transpose(-1, -2))[0, 0, 1:, 1:].reshape(4, 4, 4, 4)
    torch.testing.assert_close(logits[:3, :3, :3, :3], logits[1:, 1:, 1:, 1:], rtol=0, atol=1e-12)
    assert float((logits[0, 0] - logits[0, 0, 0, 0]).abs().max()) > 0.1
    assert torch.equal(rotary(torch.ones(1, 1, 17, 12))[0, 0, 0], torch.ones(12))  # the class token stays


def test_a_relative_bias_has_one_number_for_each_difference() -> None:
    bias = RelativeBias((3, 4), 2, 1)
    with torch.no_grad():
        bias.table.copy_(torch.randn(bias.table.shape))
    found = bias()[:, 1:, 1:].reshape(2, 3, 4, 3, 4)
    assert torch.equal(found[:, :2, :3, :2, :3], found[:, 1:, 1:, 1:, 1:])
    assert len(found[0].unique()) == 5 * 7
    assert len(bias()[0].unique()) == 5 * 7 + 3


def test_sinusoids_are_those_of_vaswani_along_each_axis() -> None:
    from models.sequences.transformer import sinusoids as along

    found = sinusoids((5, 3), 16).reshape(5, 3, 16)
    like = torch.empty((), dtype=torch.float64)
    torch.testing.assert_close(found[:, 1, :8], along(5, 8, like))
    torch.testing.assert_close(found[2, :, 8:], along(3, 8, like))


def test_pairs_of_tokens_move_as_their_tokens_do() -> None:
    of = Tokens((3, 4), 2.0, 1)
    field, tokens = FieldType(TokenPairs(of)), FieldType(of)
    q, k = torch.randn(2, 1, 13, 6, dtype=torch.float64)
    for element in (Affine(shift=(4.0, -2.0)), Affine((1.0, 0.0, 0.0, -1.0))):
        both = element.act(q, tokens) @ element.act(k, tokens).transpose(-1, -2)
        moved = element.act((q @ k.transpose(-1, -2))[:, None], field)
        torch.testing.assert_close(moved, both[:, None], rtol=1e-12, atol=1e-12)  # a product rounds by its place


@pytest.mark.slow
def test_the_shipped_weights_read_digits_as_stated() -> None:
    found = judge(trained("learned").float(), SIDE)
    assert found.pop("none_c4_turned") == found["none_c4"]
    assert found == pytest.approx(ERRORS, abs=0.006)


def test_it_is_timms_vit_tiny() -> None:
    timm = theirs("timm")
    reference = timm.create_model("vit_tiny_patch16_224", pretrained=False).eval()
    ours = build_tiny().eval()
    ours.load_state_dict(reference.state_dict(), strict=True)
    x = torch.randn(2, 3, 224, 224)
    with torch.no_grad():
        torch.testing.assert_close(ours(x), reference(x), rtol=1e-5, atol=1e-5)
        ours.blocks[3].attn.heads = 1
        assert float((ours(x) - reference(x)).abs().max()) > 1e-3, "another number of heads would not be noticed"


def test_weights_by_torchvisions_names_fit(tmp_path) -> None:
    from safetensors.torch import save_file

    from explorer.network.opening.stored_weights import load_weights

    made = theirs("torchvision.models").VisionTransformer(224, 16, 12, 3, 192, 768).eval()
    for p in made.parameters():
        nn.init.normal_(p, std=0.05)
    save_file(made.state_dict(), tmp_path / "theirs.safetensors")
    ours = build_tiny().eval()
    assert load_weights(ours, tmp_path / "theirs.safetensors") == ()
    x = torch.randn(1, 3, 224, 224)
    with torch.no_grad():
        torch.testing.assert_close(ours(x), made(x), rtol=1e-5, atol=1e-5)
