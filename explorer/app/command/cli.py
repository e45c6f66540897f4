"""The command line: a contract that scripts rely on. Exit codes: 0 fine, 1 a law is broken, 2 bad input, 3 untested."""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from explorer.app.command import train_verb, trusting
from explorer.app.command.doors import BadInput, Doors, require_folder, tell_two_meanings
from explorer.app.command.listing import listed
from explorer.app.command.parsing import parser
from explorer.app.remote.tampering import measured_by_us
from explorer.declare.elements import parse_chain, transforms
from explorer.declare.registry import known_names
from explorer.declare.states.interventions import parse_interventions
from explorer.declare.states.model_name import code_of, several, with_input
from explorer.declare.states.saliency import parse_saliency
from explorer.declare.telling.asking import parse_declared
from explorer.declare.types.field_text import parse_field
from explorer.state.flags import FLAGS
from explorer.state.runs import models_of, run_text
from explorer.state.state import State, orbit_for
from explorer.work.compiler import leave_no_folder
from explorer.work.files.places import ROOT, at_home
from explorer.work.files.replacing import filled
from explorer.work.processes.asked_to_end import code_of_end, orderly
from explorer.work.processes.no_room import told

if TYPE_CHECKING:
    from explorer.app.answering.engine import LocalEngine
    from explorer.app.command.doors import WindowEngine
    from explorer.declare.params import Param

UNTESTED = 3  # exit code of `check`: no verdict
VERBS = ("list", "inspect", "run", "check", "train", "export", "gallery", "bench")


def main(argv: Sequence[str], doors: Doors) -> int:
    """Run the command line; bad input is one clear line on stderr and exit code 2."""
    leave_no_folder()
    try:
        with orderly():
            return _told_in_a_line(argv, doors)
    except KeyboardInterrupt as why:
        if not hasattr(sys.stderr, "noise"):  # in a process beside another one, that one says what became of it
            print("equiscope: stopped", file=sys.stderr)
        return code_of_end(why)


def _told_in_a_line(argv: Sequence[str], doors: Doors) -> int:
    model = ""
    try:
        try:
            args = parser().parse_args(argv)
        except SystemExit as end:  # --help
            return int(end.code or 0)
        require_folder()
        _declare_input(args)
        _expect(getattr(args, "data", ""), doors.alone if args.verb is None else None)
        model = getattr(args, "model", "")
        if _elsewhere(args, doors):
            from explorer.app.remote.commands.command import delegated

            return delegated(argv, doors.program, model, args.timeout, doors.began)
        tell_two_meanings((model, getattr(args, "compare", "")), doors)
        match args.verb:
            case None:
                return _window(args, doors)
            case "list":
                return listed(args, doors)
            case "inspect":
                return _inspect(args)
            case "run":
                return _run(args, doors)
            case "check":
                return _check(args, doors)
            case "train":
                return train_verb.run(args, doors)
            case "export":
                return _export(args)
            case "gallery":
                with filled(_folder(args.out), alone=True) as folder:
                    made = doors.gallery(engine_starter(args, doors), folder, args.what)
                print(*made, sep="\n")
                return 0
            case _:
                with _made_on(args.device):
                    return _bench(args, doors)
    except KeyboardInterrupt:
        raise
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except BaseException as error:  # the code of a person's network may raise anything
        print(f"equiscope: {told(partial(_told, error, model))}", file=sys.stderr)
        if os.environ.get("EQUISCOPE_TRACEBACK"):
            traceback.print_exception(error)
        return 2


def _expect(data: str, first: Callable[[], object] | None) -> None:
    """Have the process that reads files started while torch is imported, where the data are a file; `first` first."""
    from explorer.data.finding import base_of

    if data and os.path.isfile(os.path.expanduser(base_of(data))):
        from explorer.data.opening import expect_file

        if first is not None:
            first()
        expect_file()


def _elsewhere(args: argparse.Namespace, doors: Doors) -> bool:
    """Return whether a command gets a process of its own: one that runs a person's code, or may take only so long."""
    if args.verb not in ("run", "check") or not doors.program:
        return False
    if args.timeout is not None and not 0 < args.timeout < math.inf:
        raise BadInput("--timeout must be a positive number of seconds")
    from explorer.app.remote.settings import apart

    return apart() and (args.timeout is not None or (args.trust and code_of(args.model) is not None))


@contextmanager
def _aside() -> Iterator[None]:
    """Keep what a network prints out of the answer, and what libraries warn of, where nobody has asked for that."""
    aside = getattr(sys.stderr, "noise", sys.stderr)
    with redirect_stdout(aside), redirect_stderr(aside), warnings.catch_warnings():
        if not sys.warnoptions:
            warnings.simplefilter("ignore")
        yield


def _declare_input(args: argparse.Namespace) -> None:
    """Put what is said of a model's input into its name, which is where everything looks for it."""
    if not (text := getattr(args, "input", "")):
        return
    if code_of(args.model) is None:
        raise BadInput(f"--input is said of a network of your own, FILE.py:NAME; {args.model or 'no model'} is none")
    args.model = with_input(args.model, parse_declared(text).text())


def _told(error: BaseException, model: str) -> str:
    """Return one line that says what is wrong and where: the layer, and the line of a person's own file."""
    from explorer.app.thread.failures import located, path_in_sentence, sentence

    text = sentence(error).rstrip(".")
    where = str(getattr(error, "where", "") or "")
    if where and where not in text:
        text += f" [{path_in_sentence(where)}]"
    return located(text, error, (model,))


def engine_starter(args: argparse.Namespace, doors: Doors) -> Callable[[], LocalEngine]:
    """Return what makes the engine of a command; torch is imported by then and not before."""

    def start() -> LocalEngine:
        from explorer.work.memory import uncollected

        with uncollected():
            from explorer.app.answering.engine import LocalEngine
            from explorer.work.threads import tune

            tune()
            return LocalEngine(doors.cards(), trust=getattr(args, "trust", False))

    return start


def _window_engine(args: argparse.Namespace, doors: Doors, shown: State) -> Callable[[], WindowEngine]:
    """Return what makes the engine of the window, which runs a person's own networks in a process of their own.

    What is `shown` at first is what --trust is said of, and not what is opened later.
    """
    local = engine_starter(args, doors)

    def start() -> WindowEngine:
        from explorer.app.remote.engine import DividedEngine
        from explorer.app.remote.settings import apart

        made = local()
        if args.trust:
            made.trust = trusting.named(shown)
        return DividedEngine(made, doors.program) if doors.program and apart() else made

    return start


def _folder(text: str) -> Path:
    path = at_home(text)
    if not text.strip():
        raise BadInput("--out must name a folder")
    if path.exists() and not path.is_dir():
        raise BadInput(f"--out {text} is a file; give a folder")
    above = next(parent for parent in (path.absolute(), *path.absolute().parents) if parent.exists())
    if not above.is_dir():
        raise BadInput(f"--out {text}: {above} is a file, not a folder")
    if not os.access(above, os.W_OK | os.X_OK):
        raise BadInput(f"--out {text}: {above} cannot be written to")
    return path


def _state(args: argparse.Namespace, doors: Doors, orbit: str = "", **more: Any) -> State:
    if args.seed < 0:
        raise BadInput("--seed must not be negative")
    dtype = args.dtype or "float32"
    if dtype not in ("float32", "float64"):
        raise BadInput(f"unknown --dtype {dtype!r}; write float32 or float64")
    params = []
    known: dict[str, Param] = {}
    if args.set:
        from explorer.network.opening.loading import find_card

        known = {p.name: p for p in find_card(args.model or State().model, doors.cards(), args.trust).params}
    for text in args.set:
        name, _, value = text.partition("=")
        if name not in known:
            names = ", ".join(known) or "none"
            raise BadInput(f"--set {text!r}: {args.model} has no parameter {name!r}; it has: {names}")
        try:
            params.append((name, known[name].parse(value)))
        except ValueError as error:
            # a choice may also be given as its index, which is how sessions and `command` write it
            if not value.isdigit() or int(value) >= max(1, len(known[name].choices)):
                raise BadInput(f"--set {text!r}: {error}") from None
            params.append((name, float(value)))
    steps, edits = parse_chain(args.transform), parse_interventions(args.intervene)
    more |= {"sample": args.data, "device": args.device, "dtype": dtype, "seed": args.seed, "interventions": edits}
    more["orbit"] = orbit or orbit_for(State(), steps)
    return State(args.model or State().model, tuple(params), steps=steps, **more)


def _window(args: argparse.Namespace, doors: Doors) -> int:
    if args.orbit and (args.orbit not in transforms() or transforms()[args.orbit].orbit is None):
        known = known_names(args.orbit, (n for n, t in transforms().items() if t.orbit is not None), "list transforms")
        raise BadInput(f"unknown --orbit {args.orbit!r}; {known}")
    if args.node is not None and args.node < 0:
        raise BadInput("--node must not be negative")
    if args.truncate is not None and args.truncate < 1:
        raise BadInput("--truncate must be at least one step")
    if args.session:
        from explorer.state.session import load_session

        args.opened = load_session(Path(args.session))
        state = args.opened.state
        if not args.trust and any(code_of(name) for name in models_of(state)):
            if args.screenshot:
                trusting.refuse_code(state)  # nobody is there to be asked
            state = State()  # the window opens, and asks
    else:
        given = {flag.field: value for flag in FLAGS if (value := flag.value(args)) is not None}
        if args.saliency:
            parse_saliency(args.saliency)
        plain = {name: getattr(args, name) for name in ("compare", "layer", "node", "truncate", "saliency")}
        state = _state(args, doors, args.orbit, **given, **plain)
    sides = args.size.split("x") if args.size else ()
    if args.size and not (len(sides) == 2 and all(side.isdigit() and 200 <= int(side) <= 8192 for side in sides)):
        raise BadInput(f"--size {args.size!r} is not WIDTHxHEIGHT in pixels")
    for name in filter(None, (args.model, *several(args.compare))):
        _believable(name, args, doors)
    if args.data:
        from explorer.data.finding import find_sample, samples

        if args.data not in samples() and not Path(args.data).is_file():  # a file is read once, by the window
            find_sample(args.data, args.seed)
    return doors.window(_window_engine(args, doors, state), state, args)


def _believable(name: str, args: argparse.Namespace, doors: Doors) -> None:
    """Raise when there is no such model: on the terminal, and not in a window that has just opened.

    Asking the registry costs the import of torch, so that only a name that no file of models/ has in quotes is looked
    up there; and a person's own file is executed once, by the window.
    """
    if args.trust and (path := code_of(name)) is not None and at_home(path).is_file():
        return
    files = (ROOT / "models").rglob("*.py")
    if any(f'"{name}"' in file.read_text(encoding="utf-8") for file in files):
        return
    from explorer.network.opening.loading import find_card

    find_card(name, doors.cards(), args.trust)


def _run(args: argparse.Namespace, doors: Doors) -> int:
    from explorer.app.command.writing import write_report

    folder = _folder(args.out)
    against = run_text(args.compare, args.compare_data) if args.compare_data else ""
    if args.node is not None and args.node < 0:
        raise BadInput("--node and --step must not be negative")
    state = _state(args, doors, compare=args.compare, against=against, layer=args.layer, node=args.node)

    def draw(out: Path) -> list[Path]:
        try:
            with measured_by_us(state.model):
                return doors.pictures(engine_starter(args, doors), state, out)
        except ImportError as error:
            raise BadInput(f"the pictures need Qt, which cannot be loaded ({error}); try --no-pictures") from error

    with _aside():
        with measured_by_us(state.model):  # what says nothing is not written
            report, tensors = engine_starter(args, doors)().report(state, args.layers)
        write_report(folder, report, tensors, None if args.no_pictures else draw)
    if args.json:
        print(json.dumps(report, ensure_ascii=False))
    else:
        print(f"{folder}: report.json, captures.safetensors" + ("" if args.no_pictures else ", pictures"))
    return 0


def _inspect(args: argparse.Namespace) -> int:
    from explorer.network.opening.files.contents import told
    from explorer.network.opening.files.looking import contents

    found = contents(args.file)
    print(json.dumps(found.to_json()) if args.json else told(found))
    return 0


def _export(args: argparse.Namespace) -> int:
    from explorer.data.finding import find_sample
    from explorer.data.writers import write_file

    path = at_home(args.out)
    if not path.absolute().parent.is_dir():
        raise BadInput(f"--out {args.out}: there is no folder {path.absolute().parent}")
    for note in write_file(find_sample(args.data, args.seed), path):
        print(f"equiscope: {note}", file=sys.stderr)
    print(path)
    return 0


def _check(args: argparse.Namespace, doors: Doors) -> int:
    from explorer.app.answering.experiments import as_json, told, tried
    from explorer.app.command.audit import audit

    overrides = {}
    for text in args.field:
        layer, equals, field_text = text.partition("=")
        if not equals:
            raise BadInput(f"--field {text!r} is not LAYER=FIELD, such as conv1='grid regular(C4)'")
        try:
            overrides[layer] = str(parse_field(field_text))
        except ValueError as error:
            raise BadInput(f"--field {text!r}: {error}") from None
    if args.tol is not None and not 0 < args.tol < math.inf:
        raise BadInput("--tol must be a positive number")
    if args.table and not Path(args.table).absolute().parent.is_dir():
        raise BadInput(f"--table {args.table}: there is no folder {Path(args.table).parent}")
    if args.table and Path(args.table).is_dir():
        raise BadInput(f"--table {args.table} is a folder; give a file")
    if args.table and Path(args.table).suffix.lower() not in (".npz", ".csv"):
        raise BadInput(f"--table {args.table} must end in .npz or .csv")
    if args.transform:
        raise BadInput("check takes --group, not --transform: it goes through the group's elements itself")
    state = _state(args, doors)
    if args.laws or args.group == "all":
        from explorer.app.command.law_table import told_laws

        return told_laws(engine_starter(args, doors), state, overrides, args)
    with _aside(), measured_by_us(state.model):
        engine = engine_starter(args, doors)()
        reports = audit(engine, state, args.group, args.dtype or "float64", args.tol, overrides)
        found = tried(engine, state, reports, args.dtype or "float64", overrides) if args.tried else []
    worst = next((r for r in reports if r.verdict == "broken"), None)
    shown = worst or next((r for r in reports if r.verdict == "no law"), reports[0])
    if args.table:
        from explorer.app.command.writing import save_table

        save_table(Path(args.table), reports)
    for r in reports:
        if r.verdict == "no law":
            print(f"equiscope: no law of {r.group} can be tested on {r.model}: there is no verdict", file=sys.stderr)
    if args.json:
        result = shown.to_json()
        if len(reports) > 1:
            result["reports"] = [r.to_json() for r in reports]
        if args.tried:
            result["experiments"] = as_json(found)
        print(json.dumps(result, ensure_ascii=False))
    else:
        print("\n\n".join([*(r.text() for r in reports), *([told(found)] if found else [])]))
    if worst is not None:
        return 1
    # under several groups one that holds is a test, and the line above names those that are none
    untested = all(r.verdict == "no law" for r in reports)
    return UNTESTED if untested and not args.allow_untested else 0


@contextmanager
def _made_on(name: str) -> Iterator[None]:
    """Make networks and tensors on a device; for the processor torch need not be imported."""
    if name == "cpu":
        yield
        return
    import torch

    from explorer.app.answering.devices import device_of

    tf32 = torch.backends.cudnn.allow_tf32
    try:
        torch.set_default_device(device_of(name))
        torch.backends.cudnn.allow_tf32 = False  # as the program measures
    except ValueError as error:
        raise BadInput(str(error)) from None
    try:
        yield
    finally:
        torch.set_default_device(None)
        torch.backends.cudnn.allow_tf32 = tf32


def _bench(args: argparse.Namespace, doors: Doors) -> int:
    known = doors.bench()
    for name in args.names:
        if name not in known:
            raise BadInput(f"unknown benchmark {name!r}; known are {', '.join(sorted(known))}")
    rows: list[dict[str, Any]] = []
    failed = False
    for name in args.names or sorted(known):
        try:
            found = known[name]()
        except Exception as error:  # one that fails does not take the figures of the others along
            print(f"equiscope: benchmark {name}: {_told(error, '')}", file=sys.stderr, flush=True)
            failed = True
            continue
        for row in found:
            # what has no target says so as JSON can
            rows.append({"benchmark": name} | {k: None if v != v else v for k, v in row.items()})
            if not args.json:
                texts = (f"{k}={v:.4g}" if isinstance(v, float) else f"{k}={v}" for k, v in rows[-1].items())
                print("  ".join(texts), flush=True)
    if args.json:
        print(json.dumps(rows, ensure_ascii=False))
    return 2 if failed else 0
