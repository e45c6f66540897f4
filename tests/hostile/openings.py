"""Open changed files of networks: `python -m tests.hostile.openings --count 3000 --seed 1`.

Nobody has trusted them, so nothing in them may run: each is looked at and refused in a sentence. What their code would
do leaves a folder, which must not be there.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import pickle
import re
import tempfile
import time
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random

import torch
from torch import nn

from explorer.network.opening.files.looking import contents
from explorer.network.opening.loading import find_card, load_model
from tests.explorer.parts.hostile.mutations import changed

LONGEST = 320  # characters of a sentence
SLOW_S = 5.0  # of processor for one file
BAD = re.compile(r"Traceback|<class|object at 0x|<ast\.|[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


class Net(nn.Sequential):
    """The network that the files are saved of."""

    def __init__(self) -> None:
        super().__init__(nn.Conv2d(1, 2, 3), nn.ReLU())


class _Calls:
    """Calls something when it is unpickled."""

    def __init__(self, canary: Path) -> None:
        self._canary = canary

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, (str(self._canary),)


def originals(canary: Path) -> dict[str, bytes]:
    """Return files that hold networks, by name; those with code leave the canary when it runs."""
    run = f"import os\nos.mkdir({str(canary)!r})\n"
    code = (
        f"{run}import torch\nfrom torch import nn\nINPUT_SHAPE = (1, 8, 8)\n\n\nclass Net(nn.Module):\n"
        "    def __init__(self, width: int = 2):\n        super().__init__()\n"
        "        self.conv = nn.Conv2d(1, width, 3)\n\n"
        "    def forward(self, x):\n        return self.conv(x)\n\n\nnet = Net()\n"
    )
    found = {"net.py": code.encode()}
    for name, value in (
        ("state.pt", Net().state_dict()), ("whole.pt", Net()), ("calls.pth", {"a": _Calls(canary), "b": torch.ones(3)}),
        ("nested.ckpt", {"state_dict": Net().state_dict(), "epoch": 3, "args": {"lr": 0.1}}),
    ):  # fmt: skip
        file = io.BytesIO()
        torch.save(value, file)
        found[name] = file.getvalue()
    file = io.BytesIO()
    torch.save(Net().state_dict(), file, _use_new_zipfile_serialization=False)
    found["old.bin"] = file.getvalue()
    found["plain.pkl"] = pickle.dumps({"a": _Calls(canary), "w": [1.0, 2.0]})
    file = io.BytesIO()
    torch.jit.save(torch.jit.script(Net()), file)
    found["script.ts"] = file.getvalue()
    file = io.BytesIO()
    torch.export.save(torch.export.export(Net(), (torch.zeros(1, 1, 8, 8),)), file)
    found["program.pt2"] = file.getvalue()
    found["net.onnx"] = _onnx()
    header = {"w": {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]}, "__metadata__": {"format": "pt"}}
    text = json.dumps(header).encode()
    found["weights.safetensors"] = len(text).to_bytes(8, "little") + text + bytes(16)
    folder = {
        "config.json": json.dumps(
            {"model_type": "own", "architectures": ["Net"], "auto_map": {"AutoModel": "modeling.Net"}, "hidden_size": 4}
        ).encode(),
        "modeling.py": code.encode(),
        "model.safetensors": found["weights.safetensors"],
        "pytorch_model.bin": found["calls.pth"],
    }
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:  # stands for the folder
        for name, data in folder.items():
            archive.writestr(name, data)
    found["folder/"] = file.getvalue()
    return found


def _field(number: int, value: bytes | int) -> bytes:
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    return _varint(number << 3 | 2) + _varint(len(value)) + value


def _varint(value: int) -> bytes:
    found = b""
    while True:
        value, low = value >> 7, value & 127
        found += bytes([low | (128 if value else 0)])
        if not value:
            return found


def _onnx() -> bytes:
    """Return a model of ONNX with one Relu, written by hand."""
    size = _field(1, _field(1, 1)) + _field(1, _field(1, 4))
    kind = _field(2, _field(1, _field(1, 1) + _field(2, size)))
    node = _field(1, b"x") + _field(2, b"y") + _field(3, b"relu") + _field(4, b"Relu")
    graph = _field(1, node) + _field(2, b"g") + _field(11, _field(1, b"x") + kind) + _field(12, _field(1, b"y") + kind)
    return _field(1, 8) + _field(7, graph) + _field(8, _field(1, b"") + _field(2, 17))


def mutants(count: int, seed: int, canary: Path) -> Iterator[tuple[str, str, bytes]]:
    """Yield (case, name, content) of changed files, in turn of each kind; the same seed gives the same ones."""
    whole = originals(canary)
    names = sorted(whole)
    for number in range(count):
        name, chance = names[number % len(names)], Random(f"{seed}:{number}")
        data = changed(whole[name], chance, inside=chance.random() < 0.7)
        if chance.random() < 0.1 and not name.endswith("/"):  # another ending
            ending = chance.choice([Path(n).suffix for n in names if not n.endswith("/")])
            name = Path(name).stem + ending
        yield f"{name} {seed}:{number}", name, data


def _written(folder: Path, name: str, data: bytes) -> Path | None:
    path = folder / name.rstrip("/")
    if not name.endswith("/"):
        path.write_bytes(data)
        return path
    path.mkdir()
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for info in archive.infolist():
                if "/" not in info.filename and info.filename.isprintable() and len(info.filename) < 100:
                    (path / info.filename).write_bytes(archive.read(info))
    except Exception:  # the archive only stands for a folder
        pass
    return path


def _unfit(told: str, path: Path) -> list[str]:
    unfit = BAD.search(told) or len(told) > LONGEST + 3 * len(str(path)) or path.name.split(".")[0] not in told
    return [f"sentence: {told[:400]!r}"] if unfit else []


def tried(path: Path, canary: Path) -> tuple[list[str], str]:
    """Return what is wrong with how a file is looked at and opened, and what was said."""
    faults: list[str] = []
    told, began = "opened", time.process_time()
    try:
        contents(path)
    except ValueError as error:
        faults += _unfit(str(error), path)
    except Exception as error:
        faults.append(f"looking: {type(error).__name__}: {error}")
    for name in (str(path), f"{path}:Net"):
        try:
            load_model(find_card(name, {}, trust=False), {})
        except ValueError as error:
            told = str(error) if told == "opened" else told
            faults += _unfit(str(error), path)
        except Exception as error:
            faults.append(f"opening {name}: {type(error).__name__}: {error}")
    if canary.exists():
        faults.append("something ran")
        canary.rmdir()
    if (seconds := time.process_time() - began) > SLOW_S:
        faults.append(f"{seconds:.1f} s of processor")
    return faults, told


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    wrong, kinds = run(args.count, args.seed)
    for text, count in kinds.most_common():
        print(f"{count:5d} x {text}")
    print(f"{args.count} files, {wrong} at fault")
    return 1 if wrong else 0


def run(count: int, seed: int) -> tuple[int, Counter[str]]:
    """Open so many changed files; return how many were at fault, which is printed, and what was said how often."""
    wrong, kinds = 0, Counter[str]()
    with tempfile.TemporaryDirectory() as place:
        canary = Path(place, "canary")
        for number, (case, name, data) in enumerate(mutants(count, seed, canary)):
            folder = Path(place, str(number))
            folder.mkdir()
            path = _written(folder, name, data)
            if path is None:
                continue
            faults, told = tried(path, canary)
            kinds[re.sub(r"\d+|'[^']*'", "#", told.replace(str(path), "FILE"))[:110]] += 1
            wrong += bool(faults)
            if faults:
                print(f"{case}: {faults}", flush=True)
    return wrong, kinds


if __name__ == "__main__":
    raise SystemExit(main())
