"""Samples, readers and writers: what a file exports as SAMPLES, READER or WRITER, and data by name."""

from explorer.data.finding import find_sample
from explorer.data.formats.checks import Broken, file_bytes, refusing
from explorer.data.opening import read_file
from explorer.data.readers import Reader, ReadError
from explorer.data.writers import Writer, write_file
from explorer.declare.samples import Sample, SampleSpec, Signal
from explorer.spaces.graph.sample import graph_sample
from explorer.spaces.grid.readers.picture import picture
from explorer.spaces.grid.sample import image_sample
from explorer.spaces.mesh.sample import mesh_sample
from explorer.spaces.sequence.sample import sequence_sample

__all__ = [
    "Broken",
    "ReadError",
    "Reader",
    "Sample",
    "SampleSpec",
    "Signal",
    "Writer",
    "file_bytes",
    "find_sample",
    "graph_sample",
    "image_sample",
    "mesh_sample",
    "picture",
    "read_file",
    "refusing",
    "sequence_sample",
    "write_file",
]
