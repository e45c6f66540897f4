"""Writers of graphs, sets and sequences. A writer is ONE file in this package that exports ONE constant, WRITER."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from explorer.declare.registry import scan, scanned
from explorer.declare.samples import Sample
from explorer.declare.space import domain_word
from explorer.work.files.replacing import replacing


@dataclass(frozen=True, slots=True)
class Writer:
    """A way to write a sample to a file of one format.

    `write` gets the path to write to, and returns notes of what the format cannot hold; it raises ValueError, in one
    sentence, where the format cannot hold the sample at all.
    """

    name: str
    title: str
    extensions: tuple[str, ...]
    write: Callable[[Sample, Path], tuple[str, ...]]
    domains: tuple[str, ...]


@scanned
def writers(domain: str) -> dict[str, Writer]:
    """Return every writer of samples of this domain by name."""
    import explorer.spaces as package

    return {name: writer for name, writer in scan(package, "WRITER", "writers").items() if domain in writer.domains}


def writable(domain: str) -> tuple[str, ...]:
    """Return the extensions that a sample of this domain can be written to."""
    return tuple(sorted({e for writer in writers(domain).values() for e in writer.extensions}))


def write_file(sample: Sample, path: str | Path) -> tuple[str, ...]:
    """Write a sample in the format that the name's ending says; return notes of what was left out.

    Written beside and renamed, so that a failure leaves what was there.

    Raises:
        ValueError: no such format, or the format cannot hold the sample; in one sentence.
        OSError: the folder cannot be written.
    """
    path = Path(path)
    ending = path.suffix.lower()
    if ending not in writable(sample.domain):
        raise ValueError(
            f"{path.name}: a {domain_word(sample.domain)} is not written as {ending or 'a file without an ending'}; "
            f"choose one of {', '.join(writable(sample.domain))}"
        )
    writer = next(w for w in writers(sample.domain).values() if ending in w.extensions)
    with replacing(path) as beside:  # whose ending says which of its formats a writer takes
        return writer.write(sample, beside)
