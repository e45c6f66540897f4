"""Row G7: group convolutions commute with C4 and D4, agree with two libraries, and keep no stale filters.

The actions are written here with torch.rot90, flip and a permutation of the orientations, independently of
models/images/group_cnn.py and of the group tables that it uses.
"""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from explorer.declare.groups import group
from models.images.group_cnn import (
    CARD,
    GroupBatchNorm,
    GroupCNN,
    GroupConv2d,
    GroupPool,
    LiftingConv2d,
    build_c4,
    build_d4,
    matrix,
    transformed_indices,
)

DATA = Path(__file__).resolve().parents[1] / "data"
NAMES = ("C4", "D4")
EXACT = 1e-12  # relative, float64
Layer = Callable[[Tensor], Tensor]


def act(x: Tensor, g: int) -> Tensor:
    """Move an image: mirror left-right if g >= 4, then g % 4 quarter turns counter-clockwise."""
    m, r = divmod(g, 4)
    return torch.rot90(x.flip(-1) if m else x, r, (-2, -1))


def goes_to(g: int, h: int) -> int:
    """Return g h: rot^a mirror^m rot^b mirror^n = rot^(a + b or a - b) mirror^(m + n)."""
    (m, a), (n, b) = divmod(g, 4), divmod(h, 4)
    return 4 * ((m + n) % 2) + (a - b if m else a + b) % 4


def act_regular(x: Tensor, g: int, order: int) -> Tensor:
    """Move a regular field (N, C * order, ...): orientation h goes to gh, and images move."""
    fields = x.unflatten(1, (-1, order))
    moved = torch.empty_like(fields)
    for h in range(order):
        moved[:, :, goes_to(g, h)] = fields[:, :, h]
    moved = moved.flatten(1, 2)
    return act(moved, g) if x.ndim == 4 else moved


def law_error(layer: Layer, x: Tensor, order: int, fields_in: bool, fields_out: bool) -> float:
    """Return the largest error of F(g x) = g F(x) over all g, relative to the largest value of F(x)."""

    def move(y: Tensor, g: int, regular: bool) -> Tensor:
        if regular:
            return act_regular(y, g, order)
        return act(y, g) if y.ndim == 4 else y

    with torch.no_grad():
        y = layer(x)
        differences = [(layer(move(x, g, fields_in)) - move(y, g, fields_out)).abs().max() for g in range(order)]
    assert y.abs().max() > 1e-3
    return float(max(differences) / y.abs().max())


def signal(channels: int, size: int = 29) -> Tensor:
    return torch.randn(2, channels, size, size, dtype=torch.float64)


def warmed(norm: GroupBatchNorm) -> GroupBatchNorm:
    """Give a normalisation statistics and scales that differ from field to field."""
    for tensor in (norm.weight, norm.bias, norm.running_mean, norm.running_var):
        assert tensor is not None
        nn.init.uniform_(tensor, 0.5, 2.0)
    return norm.double().eval()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("kernel", "size"), [(3, 29), (5, 15), (3, 8), (1, 7), (2, 8), (4, 9)])
def test_convolutions_commute_with_every_element(name: str, kernel: int, size: int) -> None:
    h = group(name)
    lift = LiftingConv2d(h, 2, 3, kernel).double()
    conv = GroupConv2d(h, 3, 2, kernel).double()
    assert law_error(lift, signal(2, size), h.order, False, True) < EXACT
    assert law_error(conv, signal(3 * h.order, size), h.order, True, True) < EXACT


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("training", [False, True])
def test_pooling_and_normalisation_commute_with_every_element(name: str, training: bool) -> None:
    h = group(name)
    x = signal(3 * h.order, 15)
    norm = warmed(GroupBatchNorm(h, 3)).train(training)
    norm.momentum = 0.0  # statistics of the batch, but none that change between the two sides of the law
    assert law_error(norm, x, h.order, True, True) < EXACT
    assert law_error(GroupPool(h), x, h.order, True, False) == 0.0
    assert law_error(GroupPool(h), x[:, :, 0, 0], h.order, True, False) == 0.0
    for pool in (nn.AvgPool2d(3, 2, 1), nn.MaxPool2d(3, 2, 1)):
        assert law_error(pool, x, h.order, True, True) < EXACT


@pytest.mark.parametrize("name", NAMES)
def test_the_law_holds_after_every_layer_of_the_network(name: str) -> None:
    h = group(name)
    network = GroupCNN(h, (2, 3, 2))
    for module in network.modules():
        if isinstance(module, GroupBatchNorm):
            warmed(module)
    network.double().eval()
    steps: list[nn.Module] = []
    regular = False
    for layer_name, layer in network.named_children():
        steps.append(layer)
        regular = {"lift": True, "group_pool": False}.get(layer_name, regular)
        assert law_error(nn.Sequential(*steps), signal(1), h.order, False, regular) < EXACT, layer_name
    assert torch.equal(nn.Sequential(*steps)(signal(1)[:1] * 0), network(signal(1)[:1] * 0))


@pytest.mark.parametrize("name", NAMES)
def test_the_helper_sees_broken_layers(name: str) -> None:
    h = group(name)
    x = signal(2 * h.order, 9)

    permuted = GroupConv2d(h, 2, 2).double()  # orientations permuted by h instead of by h⁻¹
    by_inverse = transformed_indices(h, 3, lifted=True)[[h.inverse(g) for g in h.elements()]]
    permuted.index.copy_(torch.from_numpy(by_inverse))
    assert law_error(permuted, x, h.order, True, True) > 1e-2

    unmoved = GroupConv2d(h, 2, 2).double()  # filters turned, but their orientations left where they are
    spatial = torch.from_numpy(transformed_indices(h, 3, lifted=False))
    unmoved.index.copy_((torch.arange(h.order)[None, :, None] * 9 + spatial[:, None, :]).flatten(1))
    assert law_error(unmoved, x, h.order, True, True) > 1e-2

    lift = LiftingConv2d(h, 1, 2).double()  # turned clockwise
    lift.index.copy_(torch.from_numpy(transformed_indices(h, 3, False)[[h.inverse(g) for g in h.elements()]]))
    assert law_error(lift, signal(1, 9), h.order, False, True) > 1e-2

    norm = nn.BatchNorm2d(2 * h.order).double().eval()  # statistics per channel
    nn.init.uniform_(norm.weight)
    assert law_error(norm, x, h.order, True, True) > 1e-2
    pool = nn.AvgPool2d(3, 2, 1)  # an even size has no window at its centre
    assert law_error(pool, signal(2 * h.order, 8), h.order, True, True) > 1e-2


def test_a_filter_that_does_not_fit_its_grid_is_refused() -> None:
    with pytest.raises(ValueError, match="C8 does not map a 3 x 3 filter onto its own grid points"):
        LiftingConv2d(group("C8"), 1, 1)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("size", [1, 2, 3, 4, 5])
def test_the_index_permutation_is_the_action_on_filters(name: str, size: int) -> None:
    order = group(name).order
    theta = torch.randn(1, order, size, size)
    for lifted in (False, True):
        filters = theta if lifted else theta[:, :1]
        index = torch.from_numpy(transformed_indices(group(name), size, lifted))
        for g in range(order):
            expected = act_regular(filters, g, order) if lifted else act(filters, g)
            assert torch.equal(filters.flatten()[index[g]], expected.flatten())


def test_the_sum_of_equation_31() -> None:
    """Σ_u x_u θ_{g⁻¹u}, with loops over everything, at a few g = kh."""
    h = group("D4")
    lift = LiftingConv2d(h, 1, 1, kernel_size=3).double()
    x = signal(1, 7)[:1]
    y = lift(x)[0]
    theta, centre = lift.weight[0, 0], 3
    for g in h.elements():
        for k in [(0, 0), (1, -2), (-1, 1)]:  # (right, up)
            total = lift.bias[0].clone()
            for row in range(7):
                for column in range(7):
                    u = np.array([column - centre - k[0], centre - row - k[1]])
                    right, up = np.rint(h.matrices[g].T @ u).astype(int)  # h⁻¹(u - k)
                    if abs(right) <= 1 and abs(up) <= 1:
                        total += x[0, 0, row, column] * theta[1 - up, 1 + right]
            torch.testing.assert_close(y[g, centre - k[1], centre + k[0]], total, rtol=0, atol=1e-12)


# Reference arrays of escnn 1.0.11 and GrouPy: tests/models/data/README.md states their conventions.

GROUPY_ORDER = {"C4": [0, 1, 2, 3], "D4": [0, 1, 2, 3, 6, 5, 4, 7]}  # our (1, r) is its (1, 2 - r)


def from_groupy(weight: Tensor, name: str) -> Tensor:
    """Return GrouPy's free weight (O, I, 1 or n, k, k) in our order of the orientations."""
    return weight[:, :, 0] if weight.shape[2] == 1 else weight[:, :, GROUPY_ORDER[name]]


def from_escnn(filters: Tensor, fields: int, order: int) -> Tensor:
    """Return the block of the identity of escnn's expanded filters (O*n, I*n, k, k) as our weight."""
    k = filters.shape[-1]
    block = filters.view(-1, order, fields, filters.shape[1] // fields, k, k)[:, 0]
    return block[:, :, 0] if block.shape[2] == 1 else block


def loaded(layer: nn.Module, weight: Tensor, bias: Tensor) -> nn.Module:
    layer.double().eval().load_state_dict({"weight": weight, "bias": bias})
    return layer


@pytest.mark.parametrize(
    ("file", "name", "tolerance"),
    # escnn samples its basis in float32: its own filters are turned copies of each other to 3.4e-7 only
    [
        ("groupy_p4", "C4", 1e-13),
        ("groupy_p4m", "D4", 1e-13),
        ("escnn_c4", "C4", 1e-6),
        ("escnn_d4", "D4", 1e-6),
    ],
)
def test_outputs_are_those_of_an_independent_library(file: str, name: str, tolerance: float) -> None:
    stored = {k: torch.from_numpy(v) for k, v in np.load(DATA / f"{file}.npz").items()}
    library = file.partition("_")[0]
    h = group(name)
    n = h.order

    def field(key: str) -> Tensor:
        """Return a stored regular field as ours: (N, C*n, Y, X), or (n, N, C*n, Y, X) when transformed."""
        array = stored[key]
        if library == "groupy":
            array = array[..., GROUPY_ORDER[name], :, :].flatten(-4, -3)
        return array

    def layer(key: str, module: nn.Module, in_fields: int) -> nn.Module:
        bias = stored[f"{key}_bias"]
        if library == "groupy":
            return loaded(module, from_groupy(stored[f"{key}_weight"], name), bias)
        return loaded(module, from_escnn(stored[f"{key}_filter"], in_fields, n), bias.view(-1, n)[:, 0])

    lift = layer("lift", LiftingConv2d(h, 2, 3, 3), 2)
    gconv5 = layer("gconv5", GroupConv2d(h, 3, 2, 5), 3)
    gconv3 = layer("gconv3", GroupConv2d(h, 2, 2, 3), 2)
    with torch.no_grad():
        y1 = lift(stored["x"])
        y2 = gconv5(torch.relu(y1))
        y3 = gconv3(field("z"))
    for ours, key in ((y1, "y1"), (y2, "y2"), (y3, "y3")):
        theirs = field(key)
        assert ours.shape == theirs.shape
        difference = float((ours - theirs).abs().max() / theirs.abs().max())
        assert difference < tolerance, f"{file} {key}: {difference:.1e}"
    if library == "escnn":  # its element order is ours, so its own action is the one written above
        for g in range(n):
            torch.testing.assert_close(act_regular(y2, g, n), stored["y2_transformed"][g], rtol=0, atol=1e-3)
            torch.testing.assert_close(act(stored["x"], g), stored["x_transformed"][g], rtol=0, atol=1e-12)
            assert all(goes_to(g, k) == stored["mult"][g, k] for k in range(n))


def conv(name: str = "D4") -> GroupConv2d:
    return GroupConv2d(group(name), 2, 2).eval()


def fresh(layer: GroupConv2d, x: Tensor) -> Tensor:
    theta, bias = layer.filters()
    return F.conv2d(x, theta, bias, padding=1)


def replace_weight(layer: GroupConv2d) -> None:
    layer.weight = nn.Parameter(torch.randn_like(layer.weight))


def reload_weights(layer: GroupConv2d, assign: bool = False) -> None:
    layer.load_state_dict({k: torch.randn_like(v) for k, v in layer.state_dict().items()}, assign=assign)


def train_a_step(layer: GroupConv2d) -> None:
    optimizer = torch.optim.SGD(layer.parameters(), lr=1.0)
    with torch.enable_grad():
        layer(torch.randn(1, 16, 5, 5)).sum().backward()
    optimizer.step()


def write_through_data(layer: GroupConv2d) -> None:
    layer.train()
    layer.weight.data.mul_(2.0)
    layer.eval()


CHANGES: dict[str, Callable[[GroupConv2d], object]] = {
    "in place": lambda layer: layer.weight.mul_(2.0),
    "bias in place": lambda layer: layer.bias.add_(1.0),
    "init": lambda layer: nn.init.normal_(layer.weight),
    "reset_parameters": lambda layer: layer.reset_parameters(),
    "load_state_dict": reload_weights,
    "load_state_dict, assign": lambda layer: reload_weights(layer, assign=True),
    "another parameter": replace_weight,
    "another .data": lambda layer: setattr(layer.weight, "data", torch.randn_like(layer.weight)),
    "vector_to_parameters": lambda layer: nn.utils.vector_to_parameters(
        torch.randn(2 * 2 * 72 + 2), layer.parameters()
    ),
    "an optimizer's step": train_a_step,
    "in place through .data, in training": write_through_data,
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode])
def test_kept_filters_are_made_again_after_a_change(
    change: str, mode: Callable[[], torch.no_grad | torch.inference_mode]
) -> None:
    layer, x = conv(), torch.randn(1, 16, 5, 5)
    with mode():
        before = layer(x)
    with torch.no_grad():
        CHANGES[change](layer)
    with mode():
        after = layer(x)
    assert not torch.equal(before, after)
    assert torch.equal(after, fresh(layer, x))


def test_filters_are_kept_while_nothing_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    layer, x = conv(), torch.randn(1, 16, 5, 5)
    made: list[int] = []
    filters = layer.filters
    monkeypatch.setattr(layer, "filters", lambda: (made.append(1), filters())[1])
    for _ in range(3):
        with torch.no_grad():
            layer.eval()
            layer(x)
        with torch.inference_mode():
            layer(x)
    assert len(made) == 1
    layer.train()
    with torch.no_grad():
        layer(x), layer(x)
    assert len(made) == 3


def test_kept_filters_follow_the_precision_and_copies() -> None:
    layer, x = conv(), torch.randn(1, 16, 5, 5)
    size = len(pickle.dumps(layer))
    with torch.no_grad():
        layer(x)
        assert len(pickle.dumps(layer)) == size, "the filters are no part of a file"
        assert layer.double()(x.double()).dtype == torch.float64
        assert torch.equal(layer(x.double()), fresh(layer, x.double()))
        assert layer.bfloat16()(x.bfloat16()).dtype == torch.bfloat16
        assert torch.equal(layer.float()(x), fresh(layer, x))
        for twin in (copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))):
            assert torch.equal(twin(x), layer(x))
            twin.weight.mul_(2.0)
            assert torch.equal(twin(x), fresh(twin, x))
            assert not torch.equal(twin(x), layer(x))


def test_gradients_pass_in_eval_mode() -> None:
    """With filters kept from before, and whether or not they want a gradient themselves."""
    layer, x = conv(), torch.randn(1, 16, 5, 5)
    with torch.inference_mode():
        layer(x)
    layer(x).square().sum().backward()
    assert layer.weight.grad is not None and layer.weight.grad.abs().max() > 0
    layer.requires_grad_(False)
    x.requires_grad_()
    layer(x).square().sum().backward()
    assert x.grad is not None and x.grad.abs().max() > 0


def test_a_layer_made_in_inference_mode_works() -> None:
    with torch.inference_mode():
        layer, x = conv(), torch.randn(1, 16, 5, 5)
        before = layer(x)
        layer.weight.mul_(2.0)
        assert not torch.equal(before, layer(x))


@pytest.mark.parametrize(("build", "parameters"), [(build_c4, 31870), (build_d4, 30180)])
def test_parameters_do_not_grow_with_the_group(build: Callable[[], GroupCNN], parameters: int) -> None:
    network = build()
    a, b, c = network.lift.weight.shape[0], network.conv2.weight.shape[0], network.conv3.weight.shape[0]
    n = network.lift.group.order
    filters = a * 25 + b * a * n * 9 + c * b * n * 25
    rest = (a + b + c) + 2 * (a + b + c) + (c + 1) * 10  # biases, normalisations, head
    assert sum(p.numel() for p in network.parameters()) == filters + rest == parameters
    expanded = network.conv2.filters()[0]
    assert expanded.numel() == n * network.conv2.weight.numel()
    assert set(network.lift.state_dict()) == {"weight", "bias"}


def test_the_picture_of_the_filters_shows_turned_copies() -> None:
    network = build_d4()
    assert isinstance(network, GroupCNN)
    pictures = matrix(network)
    lift, conv2 = (picture.detach().numpy() for picture in pictures.values())
    theta = network.lift.weight.detach().double()
    for h in range(8):
        column = slice(6 * h, 6 * h + 5)
        np.testing.assert_array_equal(lift[6:11, column], act(theta[1, 0], h).numpy())
    assert lift.shape == (8 * 6 - 1, 8 * 6 - 1) and conv2.shape == (31, 31)
    assert np.all(lift[5] == 0)


def test_both_groups_have_a_card() -> None:
    assert [card.name for card in CARD] == ["c4-cnn", "d4-cnn"]
    for card in CARD:
        for number in ("(29)", "(31)", "(32)"):
            assert number in card.equation
