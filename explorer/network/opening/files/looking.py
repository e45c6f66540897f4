"""Look into a model file and say what it holds, by what it is and not only by its name. Nothing is executed."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import stat
import zipfile
import zlib
from dataclasses import replace
from pathlib import Path
from typing import IO

from explorer.data.formats.archives import BOUNDED_PACKING
from explorer.network.opening.files.contents import (
    EXPORTED,
    FOLDER,
    SCRIPT,
    Contents,
    Damaged,
    FileError,
    PickledName,
    TensorEntry,
    Tier,
    attacks,
)
from explorer.network.opening.files.headers import read_header
from explorer.network.opening.files.listing import exported_tensors, listed
from explorer.network.opening.files.onnx import read_onnx
from explorer.network.opening.files.pickles import LONGEST, Bounded, Reading, judged, read_pickle, tensors_in
from explorer.network.opening.files.python_text import code_files, read_python
from explorer.work.files.places import at_home
from explorer.work.progress import step

ENDINGS = (".py", ".safetensors", ".pt", ".pth", ".pt2", ".onnx", ".bin", ".ckpt", ".pkl", ".pickle", ".ts")
AT_ONCE = 2**24  # bytes of a file that are read before somebody may ask for its end
MOST_MEMBERS = 200_000  # of an archive
MOST_GROWTH = 200  # times that a member may grow when it is unpacked; torch stores without packing
GRAPH = (
    "It is a graph of operators, which torch does not run. Open the Python file that it was made from, or save the "
    "network there as .pt2: torch.export.save(torch.export.export(network, (x,)), FILE)."
)
LARGEST_TEXT = 64 * 2**20  # bytes of a JSON file
LEGACY_PARTS = 5  # pickles before the numbers in torch's format of before 2020
_LEGACY = 0x1950A86A20F9469CFC6C
_INDEX = "model.safetensors.index.json"
_TOLD = ("architectures", "model_type", "transformers_version")  # of a config.json


def contents(path: str | Path) -> Contents:
    """Return what a file or folder of a model holds.

    Raises:
        FileError: in one sentence, why it cannot be said.
    """
    path = at_home(path)
    try:
        return _folder(path) if _kind_of(path) == "folder" else _file(path)
    except Damaged as error:
        raise FileError(str(path), f"{path.name} cannot be read as a model: {error}") from None
    except OSError as error:
        reason = (error.strerror or type(error).__name__).lower()
        raise FileError(str(path), f"{path.name} cannot be read: {reason}") from None


def tensor_names(path: Path) -> tuple[str, ...]:
    """Return the names of the tensors in a file of weights, read without its numbers; () where there are none."""
    try:
        if _kind_of(path) != "file":
            return ()
        if path.suffix.lower() == ".safetensors":
            return tuple(t.name for t in read_header(path)[0])
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                readings = _pickles_of(archive, _members(archive, path.stat().st_size))
            return tuple(t.name for reading in readings for t in tensors_in(reading.value))
    except (Damaged, OSError, zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError, RuntimeError):
        pass
    return ()


def _kind_of(path: Path) -> str:
    """Return "file" or "folder"; raise Damaged for what is neither, which is never opened: reading could not end."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        link = f"it is a link to {os.readlink(path)}, which is not there" if path.is_symlink() else "it is not there"
        raise Damaged(link) from None
    except (RuntimeError, ValueError) as error:
        raise Damaged(str(error)) from None
    if stat.S_ISDIR(mode):
        return "folder"
    if not stat.S_ISREG(mode):
        raise Damaged("it is no file but a device or a pipe")
    return "file"


def _file(path: Path) -> Contents:
    with path.open("rb") as file:
        head = file.read(16)
    size = path.stat().st_size
    if not head:
        raise Damaged("it is empty")
    ending = path.suffix.lower()
    if head.startswith(b"PK\x03\x04") or head.startswith(b"PK\x05\x06"):
        found = _archive(path)
    elif ending == ".py":
        found = _python(path)
    elif ending == ".safetensors" or head[8:9] == b"{":
        found = _safetensors(path)
    elif ending == ".onnx":
        found = _onnx(path)
    elif head[:1] == b"\x80" or ending in (".pt", ".pth", ".bin", ".ckpt", ".pkl", ".pickle"):
        found = _pickle(path)
    else:
        known = ", ".join(ENDINGS)
        raise Damaged(f"neither its content nor its name is of a known kind; give one of {known} or a folder")
    if found.tier == "code" and not found.code:
        asked = dict.fromkeys(name.name.rpartition(".")[0] for name in found.names if name.verdict != "allowed")
        found = replace(found, code=code_files(path, asked))
    return _linked(path, replace(found, sha256=digest_of(path), size=size))


def code_in(path: Path) -> tuple[tuple[str, str], ...]:
    """Return (path, sha256) of each file that opening this one as a model executes; () if it is no model."""
    if path.suffix.lower() == ".py":
        return code_files(path)
    try:
        return contents(path).code
    except FileError:
        return ()


def _linked(path: Path, found: Contents) -> Contents:
    if not path.is_symlink():
        return found
    return replace(found, facts=(("link to", str(path.resolve())), *found.facts))


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file's bytes.

    Raises:
        Cancelled: nobody waits for it any more: of a file of many gigabytes it takes minutes.
    """
    digest, size, done = hashlib.sha256(), path.stat().st_size, 0
    with path.open("rb") as file:
        while piece := file.read(AT_ONCE):
            digest.update(piece)
            done += len(piece)
            if size > AT_ONCE:
                step(f"Reading {path.name}", min(1.0, done / size))
    return digest.hexdigest()


# kinds of files ----------------------------------------------------------------------------------------------------
def _safetensors(path: Path) -> Contents:
    tensors, metadata = read_header(path)
    facts = tuple((f"metadata {key[:60]}", value[:200]) for key, value in list(metadata.items())[:50])
    return Contents(str(path), "safetensors", "weights", tensors=tensors, facts=facts)


def _python(path: Path) -> Contents:
    found = read_python(path)
    code = code_files(path)
    own = [Path(file).name for file, _ in code[1:]]
    facts = list(found.constants)
    if own:
        facts.append(("runs as well, from its folder", ", ".join(own)))
    return Contents(
        str(path), "Python file", "code", callables=found.callables, facts=tuple(facts), dangers=found.reaches,
        text=found.text, error=found.error, code=code,
    )  # fmt: skip


def _onnx(path: Path) -> Contents:
    found = read_onnx(path)
    operators = ", ".join(f"{count} {name}" for name, count in found.nodes.most_common(12))
    facts = [
        ("operators", f"{found.nodes.total():,}: {operators}"), ("inputs", ", ".join(found.inputs[:12])),
        ("outputs", ", ".join(found.outputs[:12])), ("operator sets", ", ".join(found.opsets[:12])),
        ("written by", found.producer),
    ]  # fmt: skip
    dangers = []
    for place in dict.fromkeys(found.elsewhere):
        outside = Path(place).is_absolute() or ".." in Path(place.replace("\\", "/")).parts
        if outside or "\\" in place or ":" in place:
            dangers.append(f"It asks for numbers in {place[:200]!r}, a file outside of its folder.")
    if found.foreign:
        dangers.append(f"It needs operators that are no part of ONNX: {', '.join(sorted(found.foreign))[:200]}.")
    if len(dangers) < len(found.elsewhere):
        facts.append(("numbers also in", ", ".join(dict.fromkeys(found.elsewhere))[:200]))
    shown = tuple((what, value) for what, value in facts if value)
    return Contents(
        str(path), "ONNX graph", "inspect", tensors=tuple(found.tensors), facts=shown, dangers=tuple(dangers),
        listing=found.lines(), listed="Nodes", instead=GRAPH,
    )  # fmt: skip


def _pickle(path: Path) -> Contents:
    """Say what a pickle of no archive holds: torch's own format of before 2020, or any other."""
    readings = []
    legacy = False
    with path.open("rb") as file:
        bounded = Bounded(file, LONGEST)
        readings.append(read_pickle(bounded))
        if readings[0].value == _LEGACY:
            legacy = True
            readings += [read_pickle(bounded) for _ in range(LEGACY_PARTS - 1)]
    kind = "checkpoint in torch's old format" if legacy else "pickle"
    return replace(_checked(path, kind, readings, loads=legacy), listing=listed(readings))


def _archive(path: Path) -> Contents:
    """Say what a zip archive holds: a checkpoint, TorchScript, or an exported program."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = _members(archive, path.stat().st_size)
            names = [info.filename for info in members]
            inside = {name.partition("/")[2] if "/" in name else name for name in names}
            facts = [("members", f"{len(names):,}"), ("first members", ", ".join(names[:8]))]
            readings = _pickles_of(archive, members)
            script = any(name.startswith("code/") for name in inside)
            exported = bool(inside & {"archive_format", "models/model.json", "serialized_exported_program.json"})
            if not (script or exported or "data.pkl" in inside):
                raise Damaged("it is a zip archive of no known kind")
            if script or exported:
                kind = SCRIPT if script else EXPORTED
                found = _program(path, kind, readings, tuple(facts), exported_tensors(archive, members))
            else:
                found = _checked(path, "checkpoint", readings, loads=True, facts=tuple(facts))
            return replace(found, listing=listed(readings, members))
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError, RuntimeError, ValueError, OSError) as error:
        if isinstance(error, OSError) and error.errno != errno.EINVAL:  # of a place before the beginning
            raise
        raise Damaged(f"its archive is damaged or cut off ({_fault(error)})") from None


def _fault(error: Exception) -> str:
    """Say in our words where an archive is at fault; those of libraries hold its bytes."""
    text = str(error)
    found = (
        ("not a zip file", "it has no directory at its end"), ("central directory", "its directory is cut off"),
        ("file header", "its directory points at what is no member"), ("in directory", "a member has two names"),
        ("extra field", "an entry of its directory is damaged"), ("multiple disks", "parts of it are elsewhere"),
        ("CRC", "a member is not what was packed"), ("compression", "a member is packed in a way that is not read"),
        ("password", "a member is encrypted"), ("decompressing", "a member cannot be unpacked"),
        ("version", "a member asks for a later kind of zip"),
    )  # fmt: skip
    if isinstance(error, UnicodeError):
        return "a name in its directory is no text"
    return next((said for word, said in found if word in text), "its directory does not fit its members")


def _members(archive: zipfile.ZipFile, size: int) -> list[zipfile.ZipInfo]:
    """Return the members of an archive, none of which is a trick.

    Raises:
        Damaged: a bomb, two members in one place, a name that leads out of the archive, or too many.
    """
    members = archive.infolist()
    if len(members) > MOST_MEMBERS:
        raise Damaged(f"it has {len(members):,} members, more than {MOST_MEMBERS:,}")
    if len({info.filename for info in members}) < len(members):
        raise Damaged("two members of its archive have one name")
    packed = sum(info.compress_size for info in members)
    if packed > size:
        raise Damaged("members of its archive overlap, as those of a zip bomb do")
    for info in members:
        parts = info.filename.replace("\\", "/").split("/")
        if ".." in parts or info.filename.startswith("/"):
            raise Damaged(f"the member {info.filename[:80]!r} leads out of its archive")
        if info.file_size > max(2**20, MOST_GROWTH * info.compress_size):
            raise Damaged(f"the member {info.filename[:80]!r} would grow to {info.file_size:,} bytes: a zip bomb")
        if stat.S_ISLNK(info.external_attr >> 16):
            raise Damaged(f"the member {info.filename[:80]!r} is a link")
        if info.compress_type not in BOUNDED_PACKING:  # zipfile unpacks a piece whole: a kilobyte can hold gigabytes
            raise Damaged(f"the member {info.filename[:80]!r} is packed with bzip2 or LZMA, which no checkpoint is")
    return members


def _pickles_of(archive: zipfile.ZipFile, members: list[zipfile.ZipInfo]) -> list[Reading]:
    """Return what the pickles in an archive say, the main one first, and those in files of torch.save within it."""
    pickles = [info for info in members if info.filename.endswith(".pkl")]
    pickles.sort(key=lambda info: not info.filename.endswith("data.pkl"))
    readings = []
    for info in pickles:
        if info.file_size > LONGEST:
            raise Damaged(f"its pickle {info.filename[:80]!r} has {info.file_size:,} bytes, which no checkpoint has")
        with archive.open(info) as file:
            readings.append(read_pickle(Bounded(file, info.file_size)))
    for info in members:
        if info.filename.endswith((".pt", ".pth")):
            with archive.open(info) as file:
                readings += _saved_within(file, info)
    return readings


def _saved_within(file: IO[bytes], info: zipfile.ZipInfo) -> list[Reading]:
    """Return what the pickles in a member say that torch.save wrote: an archive itself, or pickles alone."""
    if zipfile.is_zipfile(file):
        with zipfile.ZipFile(file) as archive:
            members = [one for one in _members(archive, info.file_size) if one.filename.endswith(".pkl")]
            return _pickles_of(archive, members)
    file.seek(0)
    return [read_pickle(Bounded(file, min(info.file_size, LONGEST)))]


def _program(
    path: Path, kind: str, readings: list[Reading], facts: tuple[tuple[str, str], ...], stored: tuple[TensorEntry, ...]
) -> Contents:
    """Say what a program in an archive holds: torch executes code and pickles while it loads one.

    Args:
        stored: tensors that lie in the archive beside its pickles.
    """
    names = _names(readings)
    tensors = tuple(t for reading in readings for t in tensors_in(reading.value))
    dangers = [f"Loading {kind} executes what lies in it, also the pickles."]
    dangers += [_told(n) for n in names if attacks(n)]
    dangers += [danger for reading in readings for danger in reading.dangers]
    return Contents(
        str(path), kind, "code", tensors=stored or tensors, names=names, facts=facts, dangers=tuple(dangers)
    )


def _checked(
    path: Path, kind: str, readings: list[Reading], loads: bool, facts: tuple[tuple[str, str], ...] = ()
) -> Contents:
    """Say what pickles hold, and whether torch reads them without executing: only then they are weights."""
    names = _names(readings)
    tensors: dict[str, TensorEntry] = {}
    for reading in readings:
        for entry in tensors_in(reading.value):
            tensors.setdefault(entry.name, entry)
    dangers = [_told(name) for name in names if name.verdict != "allowed"]
    dangers += [danger for reading in readings for danger in reading.dangers]
    if not loads:
        dangers.append("It is a pickle that torch did not write, so nothing reads it without executing it.")
    tier: Tier = "weights" if loads and not dangers else "code"
    return Contents(
        str(path), kind, tier, tensors=tuple(tensors.values()), names=names, facts=facts,
        dangers=tuple(dict.fromkeys(dangers)),
    )  # fmt: skip


def _names(readings: list[Reading]) -> tuple[PickledName, ...]:
    every: dict[str, bool] = {}
    for reading in readings:
        for name, called in reading.names.items():
            every[name] = every.get(name, False) or called
    return judged(every)


def _told(name: PickledName) -> str:
    does = "calls" if name.called else "asks for"
    if name.verdict == "hostile":
        return f"Its pickle {does} {name.name[:120]}, which is how a pickle attacks: it is refused."
    return f"Its pickle {does} {name.name[:120]}, which is no part of weights: as weights it is refused."


# folders -----------------------------------------------------------------------------------------------------------
def _folder(path: Path) -> Contents:
    """Say what a folder of Hugging Face's layout holds: config.json beside weights."""
    config = path / "config.json"
    if not config.is_file():
        raise Damaged("it is a folder without config.json, which a model has; of a folder of data, open a file")
    with config.open("rb") as file:
        data = file.read(LARGEST_TEXT + 1)
    try:
        if len(data) > LARGEST_TEXT:
            raise ValueError
        told = json.loads(data)
        if not isinstance(told, dict):
            raise ValueError
    except (ValueError, RecursionError):
        raise Damaged("its config.json is no JSON object") from None
    facts = [(key.replace("_", " "), str(told[key])[:200]) for key in _TOLD if key in told]
    dangers = []
    if "auto_map" in told:
        dangers.append("Its config.json names Python files of its own (auto_map), which are not executed.")
    weights = sorted(path.glob("*.safetensors"))
    for one in (config, *weights):
        if one.is_symlink():
            facts.append((f"{one.name} is a link to", str(one.resolve())))
    digest = hashlib.sha256()
    tensors: list[TensorEntry] = []
    size = len(data)
    for one in weights:
        if _kind_of(one) != "file":
            raise Damaged(f"{one.name} is no file")
        tensors += read_header(one)[0]
        digest.update(bytes.fromhex(digest_of(one)))
        size += one.stat().st_size
    if pickled := sorted(f.name for f in path.glob("pytorch_model*.bin")):
        facts.append(("pickles that are not read", ", ".join(pickled[:6])))
    if (path / _INDEX).is_file():
        facts.append(("in parts", f"{len(weights)} files"))
    tier: Tier = "weights" if tensors else "inspect"
    if len(weights) == 1:
        shown = digest_of(weights[0])
    else:
        shown = digest.hexdigest() if weights else hashlib.sha256(data).hexdigest()
    return Contents(
        str(path), FOLDER, tier, sha256=shown, size=size, tensors=tuple(tensors),
        facts=tuple(facts), dangers=tuple(dangers),
    )  # fmt: skip
