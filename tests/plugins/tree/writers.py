"""Trees as text."""

from pathlib import Path

import numpy as np

from equiscope.data import Sample, Writer


def _write(sample: Sample, path: Path) -> tuple[str, ...]:
    np.savetxt(path, sample.x.values)
    return ()


WRITER = Writer("heap", "Tree as a heap", (".heap",), _write, ("bintree",))
