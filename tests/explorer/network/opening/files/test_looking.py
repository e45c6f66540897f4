"""Model files of each kind, sound and hostile: what is said of them, and that nothing of them is executed."""

from __future__ import annotations

import io
import json
import os
import pickle
import socket
import struct
import subprocess
import zipfile
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from explorer.network.opening.files.contents import Contents, FileError, told
from explorer.network.opening.files.looking import contents, digest_of, tensor_names
from explorer.network.opening.refusals import ModelError
from explorer.network.opening.stored_weights import read_weights
from explorer.work.progress import Cancelled, listening


class Attack:
    """An object whose pickle calls something."""

    def __init__(self, *call: Any) -> None:
        self.call = call

    def __reduce__(self) -> tuple[Any, ...]:
        return self.call[0], self.call[1:]


@pytest.fixture
def mark(tmp_path: Path) -> Path:
    """Name a file that exists only if something of an attack was executed."""
    return tmp_path / "attacked"


@pytest.fixture(autouse=True)
def nothing_runs(mark: Path) -> Any:
    yield
    assert not mark.exists(), "something of a file was executed"


def refused(path: Path) -> str:
    """Return the one sentence with which a file is refused."""
    with pytest.raises(FileError) as caught:
        contents(path)
    sentence = str(caught.value)
    assert sentence.startswith(path.name) and "\n" not in sentence and len(sentence) < 300
    assert caught.value.where == str(path)
    return sentence


def verdicts(found: Contents) -> dict[str, str]:
    return {name.name: name.verdict for name in found.names}


# weights -----------------------------------------------------------------------------------------------------------
def test_safetensors_are_read_by_their_header(tmp_path: Path) -> None:
    path = tmp_path / "w.safetensors"
    save_file({"a.weight": torch.zeros(2, 3), "b": torch.zeros(0, dtype=torch.int64)}, path, {"model": "mine"})
    found = contents(path)
    assert (found.kind, found.tier, found.dangers) == ("safetensors", "weights", ())
    assert {(t.name, t.shape, t.dtype) for t in found.tensors} == {
        ("a.weight", (2, 3), "float32"),
        ("b", (0,), "int64"),
    }
    assert found.numel == 6 and dict(found.facts)["metadata model"] == "mine"
    assert found.sha256 == subprocess.check_output(["sha256sum", path], text=True).split()[0]
    assert set(tensor_names(path)) == {"a.weight", "b"}


def raw(header: bytes | dict[str, Any], data: bytes = b"", length: int | None = None) -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + data


def entry(start: int, end: int, shape: list[int], dtype: str = "U8") -> dict[str, Any]:
    return {"dtype": dtype, "shape": shape, "data_offsets": [start, end]}


@pytest.mark.parametrize(
    ("data", "part"),
    [
        (raw({"a": entry(0, 4, [4]), "b": entry(2, 6, [4])}, bytes(6)), "'b' overlaps"),
        (raw({"a": entry(0, 4, [4]), "b": entry(5, 6, [1])}, bytes(6)), "belong to none"),
        (raw({"a": entry(0, 4, [4])}, bytes(2)), "cut off"),
        (raw({"a": entry(0, 4, [4])}, bytes(9)), "belong to no tensor"),
        (raw({"a": entry(0, 4, [5])}, bytes(4)), "does not fit into its bytes"),
        (raw({"a": entry(0, 4, [2**40, 2**40])}, bytes(4)), "does not fit into its bytes"),
        (raw({"a": entry(0, 4, [-1])}, bytes(4)), "no list of sizes"),
        (raw({"a": entry(4, 0, [4])}, bytes(4)), "does not fit"),
        (raw({"a": entry(0, 4, [4], "X9")}, bytes(4)), "unknown type"),
        (raw({"a": 5}), "is not of dtype"),
        (raw(b"{}", length=2**40), "claims 1,099,511,627,776 bytes"),
        (raw(b"{}", length=2**20), "cut off"),
        (raw(b"[" * 100_000), "nested too deeply"),
        (raw(b'{"a": 1, "a": 2}'), "twice"),
        (raw(b"[1]"), "no object"),
        (raw(b"\xff\xfe{}"), "UTF-8"),
        (raw({"__metadata__": {"a": 1}}), "metadata"),
        (b"\1\2", "too short"),
        (b"", "empty"),
    ],
)
def test_hostile_safetensors_are_refused(tmp_path: Path, data: bytes, part: str) -> None:
    path = tmp_path / "bad.safetensors"
    path.write_bytes(data)
    assert part in refused(path)


@pytest.mark.parametrize("new", [True, False], ids=["zip", "old format"])
def test_a_state_dict_holds_weights(tmp_path: Path, new: bool) -> None:
    path = tmp_path / "w.pt"
    network = nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4)).half()
    torch.save(network.state_dict(), path, _use_new_zipfile_serialization=new)
    found = contents(path)
    assert found.tier == "weights" and not found.dangers
    expected = {(k, tuple(v.shape), str(v.dtype).removeprefix("torch.")) for k, v in network.state_dict().items()}
    assert {(t.name, t.shape, t.dtype) for t in found.tensors} == expected
    assert set(verdicts(found).values()) == {"allowed"}
    assert torch.load(path, weights_only=True)  # so torch says too


def test_a_checkpoint_of_a_training_names_its_tensors(tmp_path: Path) -> None:
    path = tmp_path / "run.ckpt"
    weights = {"w": nn.Parameter(torch.zeros(2, dtype=torch.bfloat16))}
    torch.save({"epoch": 3, "state_dict": weights, "optimizer": {"state": {0: {"exp_avg": torch.zeros(2)}}}}, path)
    found = contents(path)
    names = {t.name: t.dtype for t in found.tensors}
    assert names["w"] == "bfloat16" and "optimizer.state.0.exp_avg" in names and found.tier == "weights"


@pytest.mark.parametrize("new", [True, False], ids=["zip", "old format"])
def test_a_whole_network_in_a_pickle_is_code(tmp_path: Path, new: bool) -> None:
    path = tmp_path / "net.pth"
    torch.save(nn.Sequential(nn.Linear(2, 3)), path, _use_new_zipfile_serialization=new)
    found = contents(path)
    assert found.tier == "code" and verdicts(found)["torch.nn.modules.linear.Linear"] == "refused"
    assert any("torch.nn.modules.linear.Linear" in danger and "refused" in danger for danger in found.dangers)
    assert {(t.name, t.shape) for t in found.tensors} == {("0.weight", (3, 2)), ("0.bias", (3,))}


ATTACKS: dict[str, tuple[Any, ...]] = {
    "posix.system": (os.system, "touch {}"),
    "subprocess.Popen": (subprocess.Popen, ["touch", "{}"]),
    "builtins.eval": (eval, "open('{}', 'w')"),
    "builtins.exec": (exec, "open('{}', 'w')"),
    "builtins.open": (open, "{}", "w"),
    "socket.socket": (socket.socket,),
    "pickle.loads": (pickle.loads, b"N."),
    "torch.hub.load": (torch.hub.load, "somebody/something", "model"),
}


@pytest.mark.parametrize("name", ATTACKS)
@pytest.mark.parametrize("form", ["zip", "old format", "pickle"])
def test_an_attack_is_refused_by_name(tmp_path: Path, mark: Path, name: str, form: str) -> None:
    call = [part.replace("{}", str(mark)) if isinstance(part, str) else part for part in ATTACKS[name]]
    call = [[one.replace("{}", str(mark)) for one in part] if isinstance(part, list) else part for part in call]
    path = tmp_path / "w.pt"
    if form == "pickle":
        path.write_bytes(pickle.dumps({"w": Attack(*call)}))
    else:
        held = {"w": torch.zeros(2), "x": Attack(*call)}
        torch.save(held, path, _use_new_zipfile_serialization=form == "zip")
    found = contents(path)
    assert found.tier == "code"
    wanted = "io.open" if name == "builtins.open" else name
    named = {n.lstrip("_"): v for n, v in verdicts(found).items()}
    assert named[wanted] == "hostile"
    assert any("calls" in told and wanted in told and "attacks" in told for told in found.dangers)


@pytest.mark.parametrize(
    ("opcodes", "part"),
    [
        (b"\x80\x02cos\nsystem\n(S'true'\ntR.", "os.system"),  # protocol 0
        (b"\x80\x04\x8c\x02os\x94\x8c\x06system\x94\x93\x8c\x04true\x85R.", "os.system"),  # from the stack
        (b"\x80\x04\x8c\x02os\x94\x8c\x06system\x94h\x00h\x01\x93\x8c\x04true\x85R.", "os.system"),  # from the memo
        (b"\x80\x04\x8c\x02os\x8c\x06system20\x93\x8c\x04true\x85R.", "os.system"),  # doubled and dropped
        (b"(S'true'\nios\nsystem\n.", "os.system"),  # INST
        (b"(cos\nsystem\nS'true'\no.", "os.system"),  # OBJ
        (b"\x80\x04\x82\x05)R.", "by a number"),  # the registry of extensions
        (b"\x80\x04Nccollections\nOrderedDict\n\x93.", "hides it"),  # a name that is no text
    ],
)
def test_names_are_found_however_they_are_written(tmp_path: Path, opcodes: bytes, part: str) -> None:
    path = tmp_path / "w.pkl"
    path.write_bytes(opcodes)
    found = contents(path)
    assert found.tier == "code" and any(part in danger for danger in found.dangers), found.dangers


@pytest.mark.parametrize(
    "data", [b"\x80\x02cos\n", b"\x80\x04\x8d" + struct.pack("<Q", 2**62), b"\x80\x04\x8e" + b"\xff" * 8, b"plain text"]
)
def test_a_damaged_pickle_is_refused(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "w.pkl"
    path.write_bytes(data)
    assert "pickle is damaged" in refused(path)


# archives ----------------------------------------------------------------------------------------------------------
def archive(path: Path, members: dict[str, bytes], packed: bool = False) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED) as made:
        for name, data in members.items():
            made.writestr(name, data)
    return path


@pytest.mark.slow
def test_a_zip_bomb_is_refused(tmp_path: Path) -> None:
    path = archive(tmp_path / "w.pt", {"w/data.pkl": bytes(300 * 2**20)}, packed=True)
    assert path.stat().st_size < 2**20 and "a zip bomb" in refused(path)


def test_members_that_overlap_are_refused(tmp_path: Path) -> None:
    path = archive(tmp_path / "w.pt", {"w/data.pkl": b"N.", **{f"w/data/{k}": bytes(2000) for k in range(3)}})
    data = bytearray(path.read_bytes())
    for at in [k for k in range(len(data)) if data[k : k + 4] == b"PK\1\2"]:
        data[at + 20 : at + 28] = struct.pack("<II", 6000, 6000)  # each member now reaches over the next
    path.write_bytes(data)
    assert "overlap" in refused(path)


@pytest.mark.parametrize("name", ["w/../../evil.pkl", "/etc/evil.pkl", "w\\..\\..\\evil"])
def test_a_name_that_leads_out_is_refused(tmp_path: Path, name: str) -> None:
    assert "leads out" in refused(archive(tmp_path / "w.pt", {"w/data.pkl": b"N.", name: b"N."}))


def test_two_members_of_one_name_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "w.pt"
    with zipfile.ZipFile(path, "w") as made:
        made.writestr("w/data.pkl", b"N.")
        with pytest.warns(UserWarning, match="Duplicate"):
            made.writestr("w/data.pkl", b"cos\nsystem\n(S'true'\ntR.")
    assert "have one name" in refused(path)


@pytest.mark.parametrize("kept", [0.3, 0.9, 0.99])
def test_a_checkpoint_that_is_cut_off_is_refused(tmp_path: Path, kept: float) -> None:
    path = tmp_path / "w.pt"
    torch.save({"w": torch.zeros(200)}, path)
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * kept)])
    assert "damaged or cut off" in refused(path)


def test_any_other_archive_is_refused(tmp_path: Path) -> None:
    assert "no known kind" in refused(archive(tmp_path / "w.pt", {"a.txt": b"hello"}))


def test_torchscript_is_code(tmp_path: Path) -> None:
    path = tmp_path / "net.pt"
    torch.jit.trace(nn.Linear(2, 3), torch.zeros(1, 2)).save(path)
    found = contents(path)
    assert (found.kind, found.tier) == ("TorchScript", "code") and "executes" in found.dangers[0]


def test_an_exported_program_is_code(tmp_path: Path) -> None:
    path = tmp_path / "net.pt2"
    torch.export.save(torch.export.export(nn.Linear(2, 3), (torch.zeros(1, 2),)), path)
    found = contents(path)
    assert found.kind.startswith("exported program") and found.tier == "code" and "executes" in found.dangers[0]


# ONNX --------------------------------------------------------------------------------------------------------------
def varint(value: int) -> bytes:
    out = b""
    while value > 127:
        out, value = out + bytes([value & 127 | 128]), value >> 7
    return out + bytes([value])


def message(*fields: tuple[int, int | str | bytes]) -> bytes:
    out = b""
    for number, value in fields:
        if isinstance(value, int):
            out += varint(number << 3) + varint(value)
        else:
            data = value.encode() if isinstance(value, str) else value
            out += varint(number << 3 | 2) + varint(len(data)) + data
    return out


def value_info(name: str, *sizes: int | str) -> bytes:
    dims = [(1, message((1, n) if isinstance(n, int) else (2, n))) for n in sizes]
    return message((1, name), (2, message((1, message((1, 1), (2, message(*dims)))))))


def model(*more: tuple[int, int | str | bytes], weight: bytes = b"") -> bytes:
    weight = weight or message((1, 2), (1, 3), (2, 1), (8, "w"), (9, bytes(24)))
    nodes = [(1, message((1, "x"), (1, "w"), (2, "y"), (4, "MatMul"))), (1, message((1, "y"), (2, "z"), (4, "Relu")))]
    inputs = [(11, value_info("x", "batch", 2)), (11, value_info("w", 2, 3)), (12, value_info("z", "batch", 3))]
    graph = message(*nodes, (5, weight), *inputs)
    return message((1, 8), (2, "pytorch"), (7, graph), (8, message((2, 17))), *more)


def test_an_onnx_graph_is_listed(tmp_path: Path) -> None:
    path = tmp_path / "net.onnx"
    path.write_bytes(model())
    found = contents(path)
    assert (found.kind, found.tier) == ("ONNX graph", "inspect")
    assert [(t.name, t.shape, t.dtype) for t in found.tensors] == [("w", (2, 3), "float32")]
    facts = dict(found.facts)
    assert facts["operators"] == "2: 1 MatMul, 1 Relu" and facts["inputs"] == "x float32 batchx2"
    assert facts["outputs"] == "z float32 batchx3" and facts["operator sets"] == "ai.onnx 17"
    lines = ["    1  MatMul  x batchx2, w 2x3 → y", "    2  Relu    y → z batchx3"]
    assert list(found.listing) == lines and found.listed == "Nodes", "its nodes were counted and not shown"
    assert "torch.export.save" in found.instead and found.instead in told(found)


def test_an_onnx_graph_is_told_to_be_no_weights(tmp_path: Path) -> None:
    path = tmp_path / "net.onnx"
    path.write_bytes(model())
    with pytest.raises(ModelError, match="it is a file of the kind ONNX graph"):
        read_weights(path)


def test_an_onnx_file_that_asks_for_another_file_is_told(tmp_path: Path) -> None:
    place = message((1, "location"), (2, "../../../../etc/passwd"))
    path = tmp_path / "net.onnx"
    path.write_bytes(model(weight=message((1, 6), (2, 1), (8, "w"), (13, place), (14, 1))))
    assert "/etc/passwd" in contents(path).dangers[0]


@pytest.mark.parametrize(
    "data", [model()[:-40], b"\xff" * 40, b"hello, world, this is no graph", message((1, 8)), b"\x3a\xff\xff\xff\x7f"]
)
def test_what_is_no_onnx_is_refused(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "net.onnx"
    path.write_bytes(data)
    assert "cannot be read" in refused(path)


# Python ------------------------------------------------------------------------------------------------------------
NET = """
import os
import subprocess
import torch
from torch import nn

from helpers import width

INPUT_SHAPE = (1, None, None)
open(MARK, "w")  # would be executed


class Block(nn.Module):
    def __init__(self, channels, *, kernel, bias=True):
        super().__init__()


class Net(nn.Module):
    def __init__(self, depth=3):
        super().__init__()
        self.block = Block(depth, kernel=3)


class Small(Net):
    pass


class Setting:
    pass


def build() -> nn.Module:
    return Net()


def loss(x, y):
    return (x - y) ** 2


made = Net(4).eval()
_hidden = Net()
"""


def test_a_python_file_is_read_and_not_run(tmp_path: Path, mark: Path) -> None:
    path = tmp_path / "net.py"
    path.write_text(NET.replace("MARK", repr(str(mark))))
    (tmp_path / "helpers.py").write_text("import constants\nwidth = 3\n")
    (tmp_path / "constants.py").write_text("")
    found = contents(path)
    assert (found.kind, found.tier) == ("Python file", "code") and found.text.startswith("\nimport os")
    by_name = {c.name: c for c in found.callables}
    assert set(by_name) == {"Block", "Net", "Small", "build", "loss", "made"}
    assert by_name["Block"].needs == ("channels", "kernel") and not by_name["Block"].usable
    assert by_name["Net"].usable and by_name["Net"].line == 18 and by_name["Small"].usable
    assert by_name["build"].likely and not by_name["loss"].likely and by_name["made"].kind == "network"
    assert found.callables[0].likely and found.callables[0].usable
    assert found.callables[-1].name == "loss" and ("INPUT_SHAPE", "(1, None, None)") in found.facts
    assert any("starts other programs" in danger and "line 3" in danger for danger in found.dangers)
    assert [Path(file).name for file, _ in found.code] == ["net.py", "helpers.py", "constants.py"]
    assert found.code[0][1] == found.sha256


def test_what_a_file_says_is_no_network_to_choose(tmp_path: Path) -> None:
    path = tmp_path / "net.py"
    text = (
        "def EXAMPLES():\n    return x, y\n\ndef LOSS(answer, y):\n    return answer\n\ndef make():\n    return Net()\n"
    )
    path.write_text(text)
    assert [c.name for c in contents(path).callables] == ["make"]


@pytest.mark.parametrize(
    ("text", "part"),
    [("def f(:\n    pass\n", "line 1"), ("x = (\n", "line 1"), ("x = " + "(" * 5000 + ")" * 5000, "")],
)
def test_a_python_file_with_an_error_says_the_line(tmp_path: Path, text: str, part: str) -> None:
    path = tmp_path / "net.py"
    path.write_text(text)
    found = contents(path)
    assert found.error.startswith("net.py") and part in found.error and not found.callables


@pytest.mark.parametrize("data", [b"\xff\xfe\xff", b"x = 1\0", b"# coding: nothing\n", b"#" * (5 * 2**20)])
def test_what_is_no_text_is_refused(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "net.py"
    path.write_bytes(data)
    refused(path)


# files and folders -------------------------------------------------------------------------------------------------
def test_a_folder_of_hugging_faces_layout(tmp_path: Path) -> None:
    folder = tmp_path / "tiny"
    folder.mkdir()
    assert "without config.json" in refused(folder)
    (folder / "config.json").write_text(json.dumps({"model_type": "bert", "architectures": ["BertModel"]}))
    assert contents(folder).tier == "inspect"
    save_file({"w": torch.zeros(2)}, folder / "model.safetensors")
    config = {"model_type": "bert", "auto_map": {"AutoModel": "modelling.Evil"}}
    (folder / "config.json").write_text(json.dumps(config))
    found = contents(folder)
    assert (found.kind, found.tier) == ("Hugging Face folder", "weights") and dict(found.facts)["model type"] == "bert"
    assert [t.name for t in found.tensors] == ["w"] and "not executed" in found.dangers[0]
    (folder / "config.json").write_text("[" * 100_000)
    assert "no JSON object" in refused(folder)


def test_links_are_told_and_followed_no_further_than_to_files(tmp_path: Path) -> None:
    real = tmp_path / "real.safetensors"
    save_file({"w": torch.zeros(2)}, real)
    link = tmp_path / "link.safetensors"
    link.symlink_to(real)
    assert dict(contents(link).facts)["link to"] == str(real)
    lost, circle, device = (tmp_path / name for name in ("lost.pt", "circle.pt", "device.pt"))
    lost.symlink_to(tmp_path / "nowhere.pt")
    circle.symlink_to(circle)
    device.symlink_to("/dev/zero")
    assert "which is not there" in refused(lost)
    refused(circle)
    assert "a device" in refused(device)
    os.mkfifo(tmp_path / "pipe.pt")
    assert "a pipe" in refused(tmp_path / "pipe.pt")
    assert "not there" in refused(tmp_path / "never.pt")


def test_a_file_of_no_known_kind_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("hello, this is nothing of the kind")
    assert "of a known kind" in refused(path)


def test_names_in_a_file_do_not_reach_the_terminal_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "w.safetensors"
    save_file({"\x1b[2Jw": torch.zeros(2)}, path)
    text = told(contents(path))
    assert "\x1b" not in text and "w" in text


def test_the_list_of_what_torch_allows_is_torchs_own(tmp_path: Path) -> None:
    """Read with weights_only what is called weights; whatever is refused here is refused there."""
    for held in ({"w": torch.zeros(2)}, [torch.Size([2])], {"d": torch.float16}, io.BytesIO(), nn.ReLU()):
        path = tmp_path / "w.pt"
        torch.save(held, path)
        try:
            torch.load(path, weights_only=True)
            readable = True
        except pickle.UnpicklingError:
            readable = False
        assert (contents(path).tier == "weights") is readable, held


def test_a_file_of_many_gigabytes_gives_way(tmp_path: Path) -> None:
    path = tmp_path / "large.safetensors"
    path.touch()
    os.truncate(path, 2**40)
    shares = list[float]()

    def tired(text: str, share: float) -> None:
        shares.append(share)
        if len(shares) == 3:
            raise Cancelled

    with listening(tired), pytest.raises(Cancelled):
        digest_of(path)
    assert shares == sorted(shares) and 0 < shares[0] < 0.001
