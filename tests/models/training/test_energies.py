"""Atomisation energies of the G2 set: what is learned, and how far the shipped network is from them."""

from __future__ import annotations

import pytest
import torch
from safetensors.torch import load_file

import models
from explorer.declare.registry import scan
from explorer.spaces.points.g2 import energies as g2_energies
from models.points.schnet import build_energies
from models.training.points import energies
from tests.models.cards.test_cards import WEIGHTS


def test_energies_are_those_of_ase() -> None:
    """ASE's own function knows the first half of the set."""
    from ase.data.g2_1 import get_atomization_energy
    from ase.units import kcal, mol

    known = {name: energy for name, _, _, energy in g2_energies()}
    assert len(known) == 148
    for name in ("CH4", "H2O", "C2H4", "SO2"):
        assert known[name] == pytest.approx(get_atomization_energy(name) * kcal / mol, rel=1e-6)
    assert known["C6H6"] == pytest.approx(59.3, abs=1.0)  # eV, as every table of the set has it


def test_no_molecule_is_learned_and_judged() -> None:
    learned, judged = energies.split(2.5)
    assert not set(learned.names) & set(judged.names) and len(judged) == energies.JUDGED
    assert len(learned) + len(judged) == 148
    # molecules are not joined with each other
    assert torch.equal(learned.molecule[learned.edge_index[0]], learned.molecule[learned.edge_index[1]])


def test_the_shipped_network_errs_as_its_card_says() -> None:
    network = build_energies().eval()
    network.load_state_dict(load_file(WEIGHTS / "schnet-energies.safetensors"))
    found = energies.errors(network)
    (note,) = scan(models, "CARD")["schnet-energies"].notes
    for figure in found.values():
        assert f"{figure:.2f}" in note
    assert found["test_error"] < found["element_error"] < 0.2 * found["mean_error"]


def test_a_few_steps_bring_the_error_down() -> None:
    _, none = energies.train(build_energies, epochs=0)
    _, some = energies.train(build_energies, epochs=12)
    assert some["test_error"] < none["test_error"]
