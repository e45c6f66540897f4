"""Synthetic frames on graphs: what the views of graphs may meet, without a network."""

from __future__ import annotations

from dataclasses import replace

import networkx as nx
import numpy as np

from explorer.spaces.graph.analysis.distance import hop_distances
from explorer.spaces.graph.analysis.energy import layer_energies
from explorer.spaces.graph.analysis.laplacian import normalised_adjacency
from explorer.spaces.graph.analysis.spectrum import make_spectrum
from explorer.spaces.graph.drawing.values import GraphPart, Structure
from explorer.square.frame import Frame, LayerInfo, Square
from explorer.state.state import State
from tests.widgets.parts.frames.sample_frames import make_square

NAMES = ("embed", "conv1", "conv2", "conv3", "conv4")


def structure_of(graph: nx.Graph, *, places: bool = False, names: bool = True, batch: np.ndarray | None = None):
    graph = nx.convert_node_labels_to_integers(graph)
    listed = [(u, v) for u, v in graph.edges()] + [(v, u) for u, v in graph.edges() if u != v]
    edges = np.array(listed, dtype=np.int64).reshape(-1, 2).T
    positions = None
    if places:
        at = nx.kamada_kawai_layout(graph)
        positions = np.array([at[i] for i in range(len(graph))])
    said = tuple(f"member {i + 1}" for i in range(len(graph))) if names else ()
    return Structure(len(graph), edges, f"made {len(graph)}", names=said, positions=positions, graph_of=batch)


def graph_square(structure: Structure, *, model: str = "gcn", mix: float = 1.0, node: int | None = None,
                 layers: tuple[str, ...] = NAMES, spectral: bool = True, seed: int = 0) -> Square:  # fmt: skip
    """Return a square of a network that smooths with (1 - mix) I + mix A_hat in every layer, its third one selected."""
    n, rng = structure.nodes, np.random.default_rng(seed)
    hat = normalised_adjacency(structure.edges, n).toarray()
    hat = (1 - mix) * np.eye(n) + mix * (np.eye(n) + hat) / 2
    x = rng.standard_normal((n, 6)).astype(np.float32)
    values, current = {}, x.astype(np.float64)
    for name in layers:
        current = hat @ current
        values[name] = current
    picked = min(2, len(layers) - 1)
    infos = tuple(LayerInfo(name, "GCNConv", (n, 6), 42, "node scalar", False) for name in layers)
    chosen = values[layers[picked]].astype(np.float32)
    influence = distance = None
    if node is not None and n:
        influence = 6 * np.linalg.matrix_power(hat, picked + 1)[node]
        distance = hop_distances(structure.edges, n, node)
    order = np.arange(n)
    part = GraphPart(
        structure=structure, order=order, edge_order=np.arange(structure.edges.shape[1]), kind="node", x=x, gx=x,
        values=chosen, moved=chosen, expected=chosen, difference=0 * chosen, influence=influence, distance=distance,
        energy=layer_energies(values, structure.edges),
        spectrum=make_spectrum(structure.edges, n, x, chosen) if spectral else None,
    )  # fmt: skip
    return replace(make_square(model), layer=infos[picked], layers=infos, measures={}, part=part, places=n)


def graph_frame(*squares: Square, node: int | None = None) -> Frame:
    compare = squares[1].model if len(squares) > 1 else ""
    state = State(model=squares[0].model, sample="karate", node=node, compare=compare)
    return Frame(state, squares, 4.0, 2.0, "cpu", "Zachary's karate club")


def karate(node: int | None = None, compare: bool = False, places: bool = False) -> Frame:
    structure = structure_of(nx.karate_club_graph(), places=places)
    squares = [graph_square(structure, node=node)]
    if compare:
        residual = (*NAMES, "conv5", "conv6")
        squares.append(graph_square(structure, model="residual-gcn", mix=0.4, node=node, layers=residual))
    return graph_frame(*squares, node=node)


def pair_frame(apart: float = 0.0, node: int | None = None, alike: bool = True) -> Frame:
    """Return a hexagon and two triangles in one batch (or, not alike, a path), with outputs that far apart."""
    other = nx.disjoint_union(nx.complete_graph(3), nx.complete_graph(3)) if alike else nx.path_graph(6)
    both = structure_of(nx.disjoint_union(nx.cycle_graph(6), other), batch=np.repeat([0, 1], 6), names=False)
    square = graph_square(both, model="gin", node=node)
    part = replace(square.of(GraphPart), x=np.ones((12, 1), np.float32))
    output = np.array([[1.0, 2.0], [1.0, 2.0 + apart]])
    return graph_frame(replace(square, part=part, output=output, output_g=output), node=node)
