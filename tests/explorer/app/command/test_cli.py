"""The command line: what scripts rely on, and one clear line for everything that is wrong."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor, nn

import main
from explorer.data.finding import find_sample
from explorer.declare.elements import Step
from explorer.network.opening.refusals import Untrusted
from explorer.state.session import save_session
from explorer.state.state import State
from tests.explorer.parts.command_line import HEAD, refused
from tests.explorer.parts.small_cards import CARDS

ROOT = Path(__file__).resolve().parents[4]
CHECK_KEYS = ("model", "group", "verdict", "guilty", "layers", "seed", "dtype", "versions")
LAYER_KEYS = ("name", "field", "local", "cumulative", "floor", "chance", "verdict")


# list ---------------------------------------------------------------------------------------------------------
def test_models_are_listed_by_the_schema(run: Any) -> None:
    rows = run("list", "models", "--json").json
    assert [r["name"] for r in rows] == list(CARDS)
    for row in rows:
        assert list(row) == ["name", "title", "domain", "groups", "rows", "reference"]
        assert row["domain"] == "grid" and row["rows"] == ["X1"] and isinstance(row["groups"], list)


@pytest.mark.parametrize("what", ["data", "transforms", "views", "readers", "groups"])
def test_everything_is_listed_with_names_and_titles(run: Any, what: str) -> None:
    said = run("list", what, "--json")
    assert said.code == 0 and said.err == ""
    assert said.json and all(r["name"] and r["title"] for r in said.json)
    plain = run("list", what)
    assert plain.code == 0 and all(r["name"] in plain.out for r in said.json)


def test_a_file_in_the_place_of_a_command_is_told_as_that(run: Any, tmp_path: Path) -> None:
    """It said that there is no such file, of one that is there."""
    path = tmp_path / "net.py"
    path.write_text("")
    said = run(path)
    assert said.code == 2 and said.err.count("\n") == 1 and said.out == ""
    assert f"{path} is a file or folder and no command: write --model before it, or --data" in said.err
    (session := tmp_path / "s.json").write_text("{}")
    assert "write --session before it" in run(session).err


# check --------------------------------------------------------------------------------------------------------
def test_a_law_that_holds_is_0_and_one_that_is_broken_is_1(run: Any) -> None:
    fine, faulty = run("check", "fine", "--json"), run("check", "faulty", "--json")
    assert (fine.code, fine.json["verdict"], fine.json["guilty"]) == (0, "holds", [])
    assert (faulty.code, faulty.json["verdict"], faulty.json["guilty"]) == (1, "broken", ["2"])
    assert fine.err == faulty.err == ""


def test_the_report_has_the_keys_of_the_contract(run: Any) -> None:
    report = run("check", "fine", "--json", "--seed", 3).json
    assert set(CHECK_KEYS) <= set(report)
    names = [name for name, _ in CARDS["fine"].build().named_modules() if name]
    assert [row["name"] for row in report["layers"]] == names  # in the order of execution
    for row in report["layers"]:
        assert set(LAYER_KEYS) <= set(row) and row["verdict"] in ("holds", "broken", "no law")
    assert report["seed"] == 3 and report["dtype"] == "float64"
    assert report["versions"]["torch"] == torch.__version__


def test_all_claims_are_checked_and_the_broken_one_is_shown(run: Any) -> None:
    fine = run("check", "fine", "--json").json
    assert [r["group"] for r in fine["reports"]] == ["D4", "C4"]
    text = run("check", "fine").out
    assert "under D4" in text and "under C4" in text and "verdict: holds" in text
    one = run("check", "faulty", "--json", "--group", "C4").json
    assert one["group"] == "C4" and "reports" not in one


def test_without_claims_the_point_group_is_tried(run: Any) -> None:
    assert run("check", "modest", "--json").json["group"] == "D4"


def test_no_law_is_no_fault_but_it_is_said(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "net.py"
    path.write_text("from torch import nn\nnet = nn.Sequential(nn.Conv2d(1, 2, 3), nn.Flatten(2))\n")
    said = run("check", f"{path}:net", "--trust", "--json")
    assert said.code == 3 and said.json["verdict"] == "no law"
    assert said.err.count("\n") == 1 and "no law of D4" in said.err


def test_what_was_never_tested_may_be_allowed(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "net.py"
    path.write_text("from torch import nn\nnet = nn.Sequential(nn.Conv2d(1, 2, 3), nn.Flatten(2))\n")
    said = run("check", f"{path}:net", "--trust", "--allow-untested")
    assert said.code == 0 and "no law of D4" in said.err and "verdict: no law" in said.out
    assert run("check", "faulty", "--allow-untested").code == 1
    assert run("check", "fine", "--group", "SO2").code == 3  # a curve is no verdict
    assert "--allow-untested" in run("check", "--help").out


def test_a_tolerance_decides(run: Any) -> None:
    assert run("check", "faulty", "--tol", "100").code == 0
    assert run("check", "fine", "--tol", "1e-30").code == 1


def test_a_field_can_be_corrected(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "net.py"
    path.write_text(
        HEAD + "class Lift(nn.Module):\n    weight = torch.arange(9.0).view(1, 1, 3, 3)\n\n    def forward(self, x):\n"
        "        turned = [torch.rot90(self.weight, k, (-2, -1)) for k in range(4)]\n"
        "        return nn.functional.conv2d(x, torch.cat(turned).to(x), padding=1)\n\nnet = nn.Sequential(Lift())\n"
    )
    words = ("check", f"{path}:net", "--trust", "--group", "C4", "--json")
    assert run(*words).json["verdict"] == "broken"  # taken for four scalars
    assert run(*words, "--field", "0=grid regular(C4)").json["verdict"] == "holds"
    refused(run(*words, "--field", "0=grid regular(C3)"), "regular(C3)", "(1, 4, 29, 29)")


def test_the_table_is_saved_too(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "table.npz"
    assert run("check", "faulty", "--table", path, "--group", "D4").code == 1
    with np.load(path) as table:
        assert table["D4/cumulative"].shape == (len(table["D4/layers"]), len(table["D4/elements"])) == (6, 7)
        assert table["D4/exact"].all() and np.isfinite(table["D4/local"]).any()
        worst = float(np.nanmax(table["D4/local"]))
    path = tmp_path / "table.csv"
    assert run("check", "faulty", "--table", path, "--group", "D4").code == 1
    rows = [line.split(",") for line in path.read_text().splitlines()]
    assert rows[0][-2:] == ["cumulative", "local"] and len(rows) == 1 + 6 * 7
    assert max(float(row[-1]) for row in rows[1:] if row[-1]) == pytest.approx(worst)
    refused(run("check", "faulty", "--table", tmp_path / "table.txt"), ".npz or .csv")


# run ----------------------------------------------------------------------------------------------------------
def by_plain_hooks(model: nn.Module, x: Tensor) -> dict[str, Tensor]:
    """Return what every module answers, by torch's own means alone."""
    found: dict[str, Tensor] = {}
    for name, module in model.named_modules():
        if name:

            def note(m: nn.Module, args: Any, out: Tensor, name: str = name) -> None:
                found[name] = out.clone()

            module.register_forward_hook(note)
    with torch.no_grad():
        model.eval()(x)
    return found


@pytest.mark.parametrize(
    ("transform", "moved"),
    [
        ("rotate:90", lambda x: torch.rot90(x, 1, (-2, -1))),
        ("rotate:-90", lambda x: torch.rot90(x, -1, (-2, -1))),
        ("reflect", lambda x: x.flip(-1)),
        ("translate:3,-2", lambda x: x.roll((-2, 3), (-2, -1))),
        ("", lambda x: x),
    ],
)
def test_captures_are_what_the_network_computes(run: Any, tmp_path: Path, transform: str, moved: Any) -> None:
    said = run("run", "faulty", "--data", "digit-6", "--transform", transform, "--out", tmp_path / "o", "--no-pictures")
    assert said.code == 0, said.err
    captures = load_file(tmp_path / "o" / "captures.safetensors")
    model = CARDS["faulty"].build()
    x = torch.from_numpy(np.array(find_sample("digit-6").x.values))[None]
    for suffix, given in (("", moved(x)), ("@base", x)):
        expected = by_plain_hooks(model, given)
        for name, value in expected.items():
            torch.testing.assert_close(captures[name + suffix], value, rtol=0, atol=1e-6)
    assert torch.equal(captures["input"], moved(x)) and torch.equal(captures["input@base"], x)
    assert set(captures) == {n + s for n in [*expected, "input"] for s in ("", "@base")}


def test_the_report_of_a_run(run: Any, tmp_path: Path) -> None:
    said = run(
        "run", "faulty", "--transform", "rotate:90", "--out", tmp_path / "deep" / "o", "--no-pictures", "--json",
        "--layers", "2,5", "--dtype", "float64", "--seed", 4,
    )  # fmt: skip
    report = said.json
    assert report == json.loads((tmp_path / "deep" / "o" / "report.json").read_text(encoding="utf-8"))
    assert [row["name"] for row in report["layers"]] == ["2", "5"]
    conv, head = report["layers"]
    assert conv["verdict"] == "broken" and conv["exact"] and conv["local"] > 0.01
    assert head["verdict"] == "holds" and head["cumulative"] > 1e-4  # it hands on what was broken before it
    assert report["dtype"] == "float64" and report["seed"] == 4 and report["transform"] == "rotate:90"
    assert sum(report["output"]) == pytest.approx(1) and len(report["labels"]) == 10
    captures = load_file(tmp_path / "deep" / "o" / "captures.safetensors")
    assert set(captures) == {"2", "2@base", "5", "5@base", "input", "input@base"}
    assert captures["2"].dtype == torch.float64


def test_pictures_are_drawn_into_the_same_folder(run: Any, tmp_path: Path) -> None:
    asked: list[State] = []

    def pictures(start: Any, state: State, folder: Path) -> list[Path]:
        asked.append(state)
        (folder / "stage.png").write_bytes(b"png")
        return [folder / "stage.png"]

    said = run("run", "fine", "--transform", "rotate:90", "--out", tmp_path / "o", pictures=pictures)
    assert said.code == 0 and asked[0].steps == (Step("rotate", (90.0,)),)
    assert sorted(p.name for p in (tmp_path / "o").iterdir()) == ["captures.safetensors", "report.json", "stage.png"]


def test_nothing_is_half_written(run: Any, tmp_path: Path) -> None:
    def pictures(start: Any, state: State, folder: Path) -> list[Path]:
        (folder / "stage.png").write_bytes(b"half of it")
        raise RuntimeError("the display went away")

    out = tmp_path / "new" / "o"
    refused(run("run", "fine", "--out", out, pictures=pictures), "the display went away")
    assert list(tmp_path.iterdir()) == []
    out.mkdir(parents=True)
    (out / "report.json").write_text("the old one")
    (out / "mine.txt").write_text("not touched")
    refused(run("run", "fine", "--out", out, pictures=pictures))
    assert {p.name: p.read_text() for p in out.iterdir()} == {"report.json": "the old one", "mine.txt": "not touched"}
    assert run("run", "fine", "--out", out, "--no-pictures").code == 0
    assert sorted(p.name for p in out.iterdir()) == ["captures.safetensors", "mine.txt", "report.json"]
    assert [p.name for p in out.parent.iterdir()] == ["o"]


def test_without_qt_there_are_no_pictures_and_that_is_said(run: Any, tmp_path: Path) -> None:
    def pictures(*_: Any) -> Any:
        raise ImportError("libEGL.so.1: cannot open shared object file")

    refused(run("run", "fine", "--out", tmp_path / "o", pictures=pictures), "Qt", "--no-pictures")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("words", [("check", "talkative", "--json"), ("run", "talkative", "--json", "--no-pictures")])
def test_stdout_is_for_the_answer_alone(run: Any, tmp_path: Path, words: tuple[str, ...]) -> None:
    said = run(*words, *(["--out", tmp_path / "o"] if words[0] == "run" else []))
    assert said.json["model"] == "talkative" and "hello" in said.err


# train, bench, window -----------------------------------------------------------------------------------------
def test_training_writes_weights_that_can_be_used(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "w.safetensors"
    said = run("train", "fine", "--out", path, "--epochs", 3)
    assert said.code == 0 and "error 0.25" in said.out and "epoch 3/3" in said.err
    assert set(load_file(path)) == set(CARDS["fine"].build().state_dict())
    assert run("check", f"fine@{path}").code == 0
    assert run("check", f"faulty@{path}").code == 0  # the same network with those parameters
    refused(run("check", f"talkative@{path}"), "do not fit")


def test_benchmarks_are_rows(run: Any) -> None:
    assert run("bench", "--json").json == [{"benchmark": "quick", "what": "nothing", "ratio": 1.0}]
    aimless = {"aimless": lambda: [{"ratio": 2.0, "target": float("nan")}]}
    assert run("bench", "--json", bench=lambda: aimless).json[0]["target"] is None
    assert run("bench", "quick").out == "benchmark=quick  what=nothing  ratio=1\n"


def test_a_benchmark_that_fails_leaves_the_others(run: Any) -> None:
    def broken() -> list[dict[str, Any]]:
        raise RuntimeError("no such peer")

    said = run("bench", bench=lambda: {"a": broken, "b": lambda: [{"what": "nothing", "ratio": 1.0}]})
    assert said.code == 2 and said.out == "benchmark=b  what=nothing  ratio=1\n"
    assert said.err == "equiscope: benchmark a: RuntimeError: no such peer\n"


def test_the_window_gets_the_state(run: Any) -> None:
    got: list[State] = []

    def window(start: Any, state: State, args: Any) -> int:
        got.append(state)
        return 7

    words = "--model fine --compare modest --data digit-1 --transform reflect+rotate:30 --layer 2 --orbit dilate"
    assert run(*words.split(), "--dtype", "float64", "--seed", 5, window=window).code == 7
    steps = (Step("reflect", (0.0,)), Step("rotate", (30.0,)))
    assert got == [
        State("fine", (), "modest", "digit-1", steps, "2", orbit="dilate", device="auto", dtype="float64", seed=5)
    ]


def test_trust_in_the_file_of_a_command_is_none_in_what_its_window_opens_later(run: Any, tmp_path: Path) -> None:
    """Every file that was opened in such a window was run unasked."""
    for name in ("mine", "theirs"):
        (tmp_path / f"{name}.py").write_text(HEAD + f"def Net(): return nn.Conv2d(1, 1, 3)  # {name}\n")
    mine, theirs = tmp_path / "mine.py", tmp_path / "theirs.py"
    asked: list[bool] = []

    def window(start: Any, state: State, args: Any) -> int:
        engine = start()
        try:
            asked.extend((engine.trust.allows(mine), engine.trust.allows(theirs), engine.trust.asks([state.model])))
            mine.write_text(mine.read_text() + "\n")  # the person is writing it
            asked.append(engine.trust.allows(mine))
            with pytest.raises(Untrusted):
                engine.card(f"{theirs}:Net")
        finally:
            engine.close()
        return 0

    said = run("--model", f"{mine}:Net", "--trust", window=window)
    assert said.code == 0, said.err
    assert asked == [True, False, False, True]


@pytest.mark.parametrize(
    ("words", "orbit"),
    [
        ("--transform translate:5", "translate"),  # the curve is that of what moves
        ("--transform rotate:90+translate:5", "rotate"),
        ("--transform translate:5 --orbit rotate", "rotate"),
        ("", "rotate"),
    ],
)
def test_the_window_opens_on_the_orbit_of_what_moves(run: Any, words: str, orbit: str) -> None:
    got: list[State] = []

    def window(start: Any, state: State, args: Any) -> int:
        got.append(state)
        return 0

    for _ in range(2):  # as it was asked for, and from the command that such a window copies
        assert run(*words.split(), window=window).code == 0
        words = got[-1].command().partition("--model")[2].partition(" ")[2].partition(" ")[2]
    assert [state.orbit for state in got] == [orbit, orbit]


def test_a_parameter_is_set_by_name(run: Any) -> None:
    layers = run("check", "wide", "--set", "width=6", "--json").json["layers"]
    assert layers[0]["shape"][1] == 6


def test_help_is_no_mistake(run: Any) -> None:
    said = run("--help")
    assert said.code == 0 and "usage: equiscope" in said.out
    assert run("check", "--help").code == 0


# bad input ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("words", "parts"),
    [
        ("lst models", ["'lst'", "did you mean 'list'"]),
        ("list model", ["'model'", "did you mean 'models'"]),
        ("list", ["needs what (models, data"]),
        ("run fine", ["--out"]),
        ("check", ["needs M (a card's name"]),
        ("--bogus", ["--bogus"]),
        ("check fin", ["'fin'", "did you mean 'fine'"]),
        ("check zzzzz", ["'zzzzz'", "list models"]),
        ("check dine-in", ["'dine-in'", "list models"]),
        ("check fine --group D5x", ["'D5x'"]),
        ("check fine --group rotations", ["'rotations'", "known are"]),
        ("check fine --data digit3", ["'digit3'", "did you mean 'digit-3'"]),
        ("check fine --data ./nothere.png", ["nothere.png"]),
        ("check fine --data random:1x0x9x9", ["random:1x0x9x9"]),
        ("check fine --data random:2x1x9x9", ["batch of 2"]),
        ("check fine --data random:1x5x29x29", ["5 channels", "takes 1"]),
        ("check fine --data random:frog", ["'random:frog'"]),
        ("check fine --tol -1", ["--tol"]),
        ("check fine --tol nan", ["--tol"]),
        ("check fine --tol inf", ["--tol"]),
        ("check fine --tol small", ["--tol", "'small'"]),
        ("check fine --dtype float16", ["'float16'", "float32"]),
        ("check fine --device gpu", ["'gpu'", "cuda:0"]),
        ("check fine --device meta", ["'meta'"]),
        ("check fine --device cuda:77", ["'cuda:77'"]),
        ("check fine --seed -1", ["--seed"]),
        ("check fine --seed many", ["--seed", "'many'"]),
        ("check fine --set width=3", ["no parameter 'width'", "none"]),
        ("check wide --set width=99", ["width", "99"]),
        ("check wide --set width", ["width"]),
        ("check wide --set width=nan", ["width", "nan"]),
        ("check fine --transform rotate:90", ["--group"]),
        ("check fine --field 0", ["LAYER=FIELD"]),
        ("check fine --field 0=sphere", ["unknown field type 'sphere'"]),
        ("check fine --field zero=invariant", ["'zero'", "fine has: 0, 1, 2"]),
        ("check fine --field 5=grid_scalar", ["unknown field type"]),
        ("check fine --table /nowhere/at/all.npz", ["/nowhere/at"]),
        ("run fine --out o --transform turn:3", ["'turn'", "known are"]),
        ("run fine --out o --transform rotate:much", ["'much'"]),
        ("run fine --out o --transform rotate:1,2", ["1 value"]),
        ("run fine --out o --transform rotate:nan", ["nan"]),
        ("run fine --out o --transform dilate:0", ["between"]),
        ("run fine --out o --layers conv", ["no layer 'conv'"]),
        ("run fine --out o --layers 0,", ["no layer ''"]),
        ("run fixed-size --out o --data random:1x3x4x4x5", ["lies on a volume", "takes an image"]),
        ("train modest", ["no training"]),
        ("train fine --epochs 0", ["--epochs"]),
        ("train fine --seed -1", ["--seed"]),
        ("train fine --out weights.pt", [".safetensors"]),
        ("train fine --out /nowhere/w.safetensors", ["/nowhere"]),
        ("bench slow", ["'slow'", "quick"]),
        ("--size big", ["'big'"]),
        ("--theme pink", ["'pink'", "dark"]),
        ("--orbit reflect", ["'reflect'", "list transforms"]),
        ("--model zzzzz", ["'zzzzz'"]),
        ("--compare modst", ["did you mean 'modest'"]),
        ("--data nothing-such", ["'nothing-such'"]),
        ("--session /nowhere.json", ["/nowhere.json"]),
        ("check model.pt2", ["there is no file model.pt2"]),
        ("check weights.safetensors", ["d4-cnn@weights.safetensors"]),
        ("check fine@nothere.safetensors", ["nothere.safetensors"]),
        ("check net.py:Net", ["no file net.py"]),
    ],
)
def test_what_is_wrong_is_told_in_one_line(run: Any, words: str, parts: list[str], tmp_path: Path) -> None:
    before = os.getcwd()
    os.chdir(tmp_path)
    try:
        refused(run(*words.split()), *parts)
    finally:
        os.chdir(before)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_data_that_is_not_finite_is_refused(run: Any, tmp_path: Path, bad: float) -> None:
    values = np.zeros((29, 29), np.float32)
    values[3, 4] = bad
    np.save(tmp_path / "bad.npy", values)
    refused(run("check", "fine", "--data", tmp_path / "bad.npy"), "bad.npy", "row 3, column 4")


def test_a_constant_image_shows_nothing(run: Any, tmp_path: Path) -> None:
    np.save(tmp_path / "flat.npy", np.ones((29, 29), np.float32))
    refused(run("check", "fine", "--data", tmp_path / "flat.npy"), "constant")


def test_out_must_be_a_folder_that_can_be_made(run: Any, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    refused(run("run", "fine", "--no-pictures", "--out", tmp_path / "file"), "is a file")
    refused(run("run", "fine", "--no-pictures", "--out", tmp_path / "file" / "below"), "is a file")
    refused(run("run", "fine", "--no-pictures", "--out", ""), "--out")
    refused(run("gallery", "--out", tmp_path / "file"), "is a file")
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


# somebody else's file -----------------------------------------------------------------------------------------
NET = (
    HEAD + "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    "        self.conv = nn.Conv2d(1, 4, 3)\n        self.last = nn.Conv2d(4, 2, 3)\n\n"
    "    def forward(self, x):\n        "
)


@pytest.mark.parametrize(
    ("source", "parts"),
    [
        ("raise KeyError('oh no')", ["KeyError", "oh no", "line 1"]),
        ("import sys\nsys.exit(0)", ["SystemExit", "line 2"]),
        ("def (", ["SyntaxError", "line 1"]),
        ("import not_installed", ["No module named 'not_installed'", "pip install not_installed", "line 1"]),
        ("Nett = 3", ["defines no 'Net'"]),
        ("Net = 3", ["int"]),
        ("def Net(): return 3", ["returned int"]),
        ("def Net(size): return 3", ["size"]),
        ("def Net(): raise ValueError('not today')", ["could not be built", "not today", "line 1"]),
        ("def Net():\n    raise SystemExit(0)", ["could not be built", "line 2"]),
        (NET + "raise KeyError('lost')", ["KeyError: 'lost'", "net.py, line 11"]),
        (NET + "import sys; sys.exit(0)", ["SystemExit", "line 11"]),
        (NET + "return self.last(self.conv(x)[:, :3])", ["layer last raised RuntimeError"]),
        (NET + "return self.last(self.conv(x) * float('nan'))", ["layer last", "NaN"]),
        (NET + "return None", ["nothing (None)", "no tensor"]),
        (NET + "return 'text'", ["str", "no tensor"]),
        (NET + "return x.numpy()", ["ndarray", "no tensor"]),
        (NET + "return self.conv(x)[0]", ["shape (4, 27, 27)", "batch"]),
        (NET + "return self.conv(x)[:, :0]", ["no values"]),
        (NET + "return self.conv(x).argmax(1)", ["int64"]),
        (NET + "return torch.fft.fft2(self.conv(x))", ["complex"]),
        (NET + "return self.forward(x)", ["RecursionError"]),
        (HEAD + "def Net(): return nn.Linear(784, 10)", ["784", "INPUT_SHAPE = (1, 28, 28)"]),
        (HEAD + "def Net(): return nn.Linear(10, 10)", ["10 numbers", "say by --input"]),
        (HEAD + "INPUT_SHAPE = 3\ndef Net(): return nn.Conv2d(1, 1, 3)", ["INPUT_SHAPE", "3"]),
        (HEAD + "INPUT_SHAPE = (1, 0, -4)\ndef Net(): return nn.Conv2d(1, 1, 3)", ["INPUT_SHAPE", "0"]),
        (HEAD + "LABELS = 4\ndef Net(): return nn.Conv2d(1, 1, 3)", ["LABELS"]),
        (HEAD + "def Net(): return nn.Conv2d(7, 1, 3, stride=2.5)", ["raised"]),
    ],
)
def test_foreign_code_may_do_anything(run: Any, tmp_path: Path, source: str, parts: list[str]) -> None:
    path = tmp_path / "net.py"
    path.write_text(source + "\n")
    for words in (("check",), ("run", "--no-pictures", "--out", tmp_path / "o")):
        refused(run(*words, f"{path}:Net", "--trust", "--json"), *parts)
    assert not (tmp_path / "o").exists()


@pytest.mark.parametrize(("ends", "code"), [("x.square().sum()", 0), ("self.conv(x).square().sum()", 1)])
def test_a_number_alone_is_judged_as_that_of_a_batch_of_one(run: Any, tmp_path: Path, ends: str, code: int) -> None:
    path = tmp_path / "net.py"
    path.write_text(f"{NET}return {ends}\n")
    assert run("check", f"{path}:Net", "--trust", "--group", "D4", "--json").code == code
    assert run("run", f"{path}:Net", "--trust", "--no-pictures", "--out", tmp_path / "o").code == 0


def test_foreign_code_is_not_run_unasked(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "net.py"
    path.write_text(f"open({str(tmp_path / 'trace')!r}, 'w').close()\n" + HEAD + "def Net(): return nn.Conv2d(1, 1, 3)")
    refused(run("check", f"{path}:Net"), "--trust")
    refused(run("--model", f"{path}:Net"), "--trust")
    refused(run("check", path), "net.py:NAME", "it defines Net")
    assert not (tmp_path / "trace").exists()


@pytest.mark.parametrize(
    "answer",
    ["return {'a': self.conv(x), 'b': 2}", "return self.conv(x), self.last(self.conv(x))", "return [[self.conv(x)]]"],
)
def test_tuples_lists_and_dicts_are_looked_into(run: Any, tmp_path: Path, answer: str) -> None:
    path = tmp_path / "net.py"
    path.write_text(NET + answer + "\n")
    report = run("check", f"{path}:Net", "--trust", "--json").json
    assert report["verdict"] == "broken" and "conv" in report["guilty"]


@pytest.mark.parametrize("channels", [1, 3, 7])
def test_the_input_follows_from_the_first_convolution(run: Any, tmp_path: Path, channels: int) -> None:
    path = tmp_path / "net.py"
    path.write_text(HEAD + f"net = nn.Sequential(nn.Conv2d({channels}, 4, 3))\n")
    said = run("run", f"{path}:net", "--trust", "--out", tmp_path / "o", "--no-pictures", "--json")
    assert load_file(tmp_path / "o" / "captures.safetensors")["input"].shape == (1, channels, 29, 29)
    assert said.json["layers"][0]["guessed"]


@pytest.mark.parametrize("words", [("grid", "shape=3x12x12"), ("grid shape=3x12x12",)])
def test_what_it_takes_is_said_with_or_without_quotation_marks(
    run: Any, tmp_path: Path, words: tuple[str, ...]
) -> None:
    path = tmp_path / "net.py"
    path.write_text(HEAD + "net = nn.Sequential(nn.Conv2d(3, 4, 3))\n")
    run("run", f"{path}:net", "--input", *words, "--trust", "--out", tmp_path / "o", "--no-pictures")
    assert load_file(tmp_path / "o" / "captures.safetensors")["input"].shape == (1, 3, 12, 12)


# the program itself -------------------------------------------------------------------------------------------
def test_a_defect_is_one_line_too(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> Any:
        raise ZeroDivisionError("division by zero")

    refused(run("check", "fine", cards=broken), "ZeroDivisionError: division by zero")
    monkeypatch.setenv("EQUISCOPE_TRACEBACK", "1")
    assert "Traceback" in run("check", "fine", cards=broken).err


def test_ctrl_c_is_no_failure(run: Any) -> None:
    def interrupted() -> Any:
        raise KeyboardInterrupt

    said = run("check", "fine", cards=interrupted)
    assert said.code == 130 and said.err == "equiscope: stopped\n"


def test_the_program_as_a_process() -> None:
    done = subprocess.run(
        [sys.executable, "main.py", "list", "transforms", "--json"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0 and done.stderr == ""
    assert {row["name"] for row in json.loads(done.stdout)} >= {"rotate", "translate", "reflect"}
    done = subprocess.run(
        [sys.executable, "main.py", "check", "no-such-model"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 2 and done.stdout == "" and done.stderr.count("\n") == 1


# what a model file holds, and sessions that would execute one -----------------------------------------------------
def test_a_file_is_inspected(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "net.py"
    path.write_text("raise SystemExit('executed')\n")
    said = run("inspect", path, "--json")
    assert said.code == 0 and said.json["tier"] == "code" and said.json["kind"] == "Python file"
    assert "code: opening it executes code" in run("inspect", path).out
    refused(run("inspect", tmp_path / "no.pt"), "no.pt", "not there")


def test_a_session_never_executes_a_file(run: Any, tmp_path: Path) -> None:
    path, session = tmp_path / "net.py", tmp_path / "s.json"
    path.write_text("raise SystemExit('executed')\n")
    save_session(session, State(f"{path}:net"))
    refused(run("--session", session, "--screenshot", tmp_path / "a.png"), "not trusted", "sha256", str(path))


def test_a_folder_that_is_called_as_a_network_is_told_apart(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    line = "equiscope: fine is the network of the program; what lies here is ./fine\n"
    assert line not in run("check", "fine", "--group", "C4").err  # there is none
    (tmp_path / "fine").mkdir()
    said = run("check", "fine", "--group", "C4")
    assert said.code == 0 and said.err.startswith(line)
    assert "./fine is no model" in run("check", "./fine").err
    assert "there is no file or folder ./missing" in run("check", "./missing").err


@pytest.mark.parametrize(
    ("verb", "told"),
    [
        ("list", "'list' needs what (models, data, transforms,"),
        ("inspect", "'inspect' needs FILE (.py, .safetensors,"),
        ("gallery", "'gallery' needs --out"),
        ("train", "'train' needs M (a card's name"),
    ],
)
def test_a_verb_alone_is_told_what_belongs_behind_it(capsys: pytest.CaptureFixture[str], verb: str, told: str) -> None:
    assert main.main([verb]) == 2
    assert told in capsys.readouterr().err
