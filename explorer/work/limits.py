"""Limit the size of fields: checked against what a file or a text declares, before anything is allocated."""

from __future__ import annotations

MAX_SIDE = 8192
MAX_ELEMENTS = 2**28  # 1 GiB of float32: four channels at the largest side
MAX_NODES = 2**24  # of a graph
MAX_LISTED = 2**25  # edges of a graph, both directions of an undirected one counted: 512 MiB of edge_index
MAX_FACES = 2**22  # triangles of a mesh
MAX_VERTICES = 3 * MAX_FACES  # of a mesh: three for each face that shares none


def excess(channels: int, height: int, width: int) -> str:
    """Return what is wrong with an image of this size as a clause ("it is 9000x20 ..."), or ""."""
    if min(channels, height, width) < 1:
        return f"it has no values, its size is {channels}x{height}x{width}"
    if max(height, width) > MAX_SIDE:
        return f"it is {width}x{height} and the longest side that can be shown is {MAX_SIDE}"
    if channels * height * width > MAX_ELEMENTS:
        values = channels * height * width
        return f"it holds {channels}x{height}x{width} = {values} values and the most is {MAX_ELEMENTS}"
    return ""
