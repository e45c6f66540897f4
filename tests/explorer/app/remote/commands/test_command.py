"""Commands on networks that misbehave: each ends in one sentence and exit code 2."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

import pytest

from explorer.work.processes.starting import PROCESS
from tests.explorer.parts.command_line import Said, refused
from tests.explorer.parts.misbehaving import ENDINGS, FINE, LINE, network, ramp
from tests.explorer.parts.process_program import PROGRAM, main

LONGEST = 60.0  # seconds; only ever reached by a test that fails
AT = f"in layer trap (net.py, line {LINE})"


def said(capsys: pytest.CaptureFixture[str], *words: object) -> Said:
    capsys.readouterr()
    code = main([str(word) for word in words])
    return Said(code, *capsys.readouterr())


def check(capsys: pytest.CaptureFixture[str], folder: Path, how: str, *words: object) -> Said:
    name = network(folder, ENDINGS.get(how, how))
    return said(capsys, "check", name, "--trust", "--group", "C4", "--data", ramp(folder), "--device", "cpu", *words)


@pytest.mark.slow
def test_an_answer_is_that_of_this_process(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = check(capsys, tmp_path, "print('hello'); os.write(1, b'raw'); return x", "--json")
    assert "hello" in there.err and "raw" in there.err and there.code == 0
    monkeypatch.setenv(PROCESS, "0")
    here = check(capsys, tmp_path, FINE, "--json")
    assert here.code == 0
    for report in (here.json, there.json):
        report.pop("seconds", None)
    assert json.dumps(here.json) == json.dumps(there.json)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system does not fork")
@pytest.mark.parametrize("how", ["os.fork(); return x", "if os.fork() == 0: sys.exit(3)\n        return x"])
def test_a_network_that_forks_is_answered_once(capsys: pytest.CaptureFixture[str], tmp_path: Path, how: str) -> None:
    told = check(capsys, tmp_path, how)
    assert (
        told.code == 0
        and told.err == ""
        and told.out.count("holds") == check(capsys, tmp_path, FINE).out.count("holds")
    )


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system does not fork")
def test_workers_of_a_pool_end_without_a_traceback(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    how = "import multiprocessing as m; p = m.get_context('fork').Pool(2); p.map(abs, [1]); p.terminate(); return x"
    told = check(capsys, tmp_path, how)
    assert (told.code, told.err) == (0, "")


@pytest.mark.slow
def test_a_shape_that_changes_with_the_data_is_told(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    told = check(capsys, tmp_path, "return x[..., :20]")
    assert told.code == 3
    assert "(1, 2, 29, 20) on the moved data (r180), where the law asks for (1, 2, 29, 29)" in told.out


@pytest.mark.slow
def test_a_question_of_the_network_is_a_line_of_its_own(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    told = check(capsys, tmp_path, "input('How many? ')")
    assert told.err.startswith("How many? \nequiscope: layer trap raised EOFError")


@pytest.mark.slow
def test_what_python_ignores_is_a_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    fails = "lambda: 1 / 0"
    how = f"import atexit; atexit.register({fails}); threading.Thread(target={fails}, daemon=True).start(); return x"
    told = check(capsys, tmp_path, how)
    assert told.code == 0 and "Traceback" not in told.err
    assert told.err.count("ZeroDivisionError: division by zero (ignored, in a thread)") == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("how", "told"),
    [
        ("exit", f"Net in net.py ended its own process with exit code 7 {AT}"),
        ("os._exit(0)", f"Net in net.py ended its own process with exit code 0 {AT}"),
        ("abort", f"Net in net.py was aborted by a library that it uses {AT}"),
        ("segfault", f"Net in net.py crashed (segmentation fault) {AT}"),
        ("kill", "was killed by its own code or by another program (SIGKILL) in layer trap"),
        ("parent", "Net in net.py was ended: its parent process was killed in layer trap"),
        ("group", "Net in net.py was ended: its parent process was killed in layer trap"),
        ("base", f"layer trap raised BaseException: no more (net.py, line {LINE})"),
        ("generator", f"layer trap raised GeneratorExit (net.py, line {LINE})"),
        ("leave", f"layer trap raised SystemExit: 3 (net.py, line {LINE})"),
        (
            "return torch.quantize_per_tensor(x.float(), 0.1, 0, torch.qint8)",
            "layer trap gives a quantised tensor: return it with .dequantize()",
        ),
        ("return torch.nested.nested_tensor([x[0]])", "layer trap gives a nested tensor: pad it with torch.nested."),
        ("os.kill(os.getpid(), signal.SIGTERM); time.sleep(60)", "Net in net.py was ended by SIGTERM"),
        ("os.closerange(0, 64); time.sleep(60)", "closed what it was asked through, and was ended in layer trap"),
        (
            "os.execv('/bin/sleep', ['sleep', '60'])",
            "closed what it was asked through, and was ended in layer trap",
        ),
        ("ctypes.CDLL(None).syscall(60, 0)", "ended the main thread of its own process, and was ended in layer trap"),
        ("os.kill(os.getpid(), signal.SIGSTOP)", "stopped its own process by a signal, and was ended in layer trap"),
        (
            "import explorer.equivariance.measure as m; m.tolerance = max; return x",
            "Net in net.py has replaced explorer",
        ),
        ("torch.linalg.vector_norm = lambda *a, **k: x[0, 0, 0, 0]; return x", "has replaced torch.linalg.vector_norm"),
        ("import builtins; builtins.len = lambda *_: 0; return x", "Net in net.py has replaced builtins.len"),
        ("sys.modules.clear(); return x", "Net in net.py has replaced the module "),
        ("import re; vars(re).clear(); return x", "Net in net.py has emptied the module re, without which nothing"),
        ("import json; y = x + 0; vars(sys).clear(); return y", "Net in net.py has emptied the module sys, without"),
        (
            "[vars(m).clear() for n, m in list(sys.modules.items()) if n.partition('.')[0] == 'explorer']; return x",
            "Net in net.py has emptied the module explorer, without which nothing",
        ),
        ("vars(self).clear(); return x", "Net in net.py: layer trap has lost its _modules, which torch keeps in each"),
        ("self._modules['a'] = 3; return x", "layer trap has among its layers, as a, what is no layer (of class int)"),
        (
            "import builtins; builtins.getattr = lambda *_: None; return x",
            "Net in net.py has replaced builtins.getattr",
        ),
        ("self._modules['me'] = self; return x", "the network contains itself, as trap.me: a network is a tree of"),
        ("import numpy; numpy.asarray = lambda *a: 0.0; return x", "Net in net.py has replaced numpy.asarray"),
        ("torch.Tensor.__sub__ = lambda a, b: torch.zeros_like(a); return x", "has replaced Tensor.__sub__"),
        ("import json; json.dumps = lambda *a, **k: '?'; return x", "Net in net.py has replaced json.dumps"),
        ("import math; math.sqrt = lambda *_: 0.0; return x", "Net in net.py has replaced math.sqrt"),
        (
            "import torch.library as l; TURNED.append(l.Library('aten', 'IMPL'))\n"
            "        TURNED[0].impl('sub.Tensor', lambda a, b, alpha=1: a, 'CPU'); return x",
            "Net in net.py has replaced torch.ops.sub.Tensor",
        ),
        ("torch._C._functorch._vmap_increment_nesting(1, 'error'); return x", "has entered a mode of torch and not"),
        ("sys.path[:] = []; sys.meta_path.clear(); return x", "Net in net.py has replaced sys."),
        (
            "for fd in range(3, 64):\n            try: os.set_blocking(fd, False); os.write(fd, b'\\0\\0\\0\\5junk!')\n"
            "            except OSError: pass\n        return x",
            "Net in net.py gave no answer that can be read (it wrote into its line, or replaced",
        ),
        ("raise ValueError('y' * 10 ** 8)", "layer trap raised ValueError: yyy"),
        ("raise ValueError('a\\0b')", f"layer trap raised ValueError: a?b (net.py, line {LINE})"),
        ("os.close(2); raise ValueError('closed')", f"layer trap raised ValueError: closed (net.py, line {LINE})"),
        (
            "import builtins; builtins.ValueError = builtins.Exception = builtins.OSError = int; return x",
            "TypeError: catching classes that do not inherit from BaseException is not allowed",
        ),
        (
            "ctypes.CDLL(None).ptrace(0, 0, 0, 0); os.kill(os.getpid(), signal.SIGTRAP); time.sleep(60)",
            "Net in net.py was ended by SIGTRAP in layer trap",
        ),
        ("thread", "Net in net.py did not end: it left a thread running (Thread-"),
    ],
)
def test_it_ends_in_one_sentence(capsys: pytest.CaptureFixture[str], tmp_path: Path, how: str, told: str) -> None:
    refused(check(capsys, tmp_path, how, "--json"), told)


def sleeping() -> list[int]:
    """Return the processes that a network has started and that are there still."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            if Path("/proc", name, "cmdline").read_bytes() == SLEEP:
                found.append(int(name))
    return found


SECONDS = 40_000 + os.getpid() % 10_000  # of a sleep that nobody else sleeps
SLEEP = f"sleep\0{SECONDS}\0".encode()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nobody inherits what has lost its parent")
@pytest.mark.parametrize("then", ["return x", "os._exit(7)"])
def test_a_daemon_of_a_network_ends_with_it(capsys: pytest.CaptureFixture[str], tmp_path: Path, then: str) -> None:
    words = f"['sleep', '{SECONDS}']"
    session = f"import subprocess; subprocess.Popen({words}, start_new_session=True)"
    daemon = f"if os.fork() == 0: os.setsid(); os.fork() and os._exit(0); os.execvp('sleep', {words})"
    told = check(capsys, tmp_path, f"{session}\n        {daemon}\n        time.sleep(0.2); {then}")
    assert told.code == (0 if then == "return x" else 2), told.err
    assert sleeping() == []


@pytest.mark.slow
def test_what_it_prints_does_nothing_to_the_terminal(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    told = check(capsys, tmp_path, r"print('\x1b]0;title\x07\x1b[31mred\x1b[2J\x9b2J\u202e\u2066'); return x")
    assert told.code == 0 and set(told.err.split()) == {"red"}


@pytest.mark.slow
def test_a_fatal_error_of_python_is_a_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    told = check(capsys, tmp_path, "ctypes.pythonapi.Py_FatalError(b'no more')")
    assert told.code == 2
    assert [line[:30] for line in told.err.splitlines()] == [
        "Fatal Python error: no more",
        "equiscope: Net in net.py was a",
    ]


@pytest.mark.slow
def test_a_loop_ends_at_the_timeout(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    end = check(capsys, tmp_path, "hang", "--timeout", 20)
    told = "--timeout gives it longer, and smaller --data less to do"
    refused(end, f"Net in net.py had not ended after 20 s {AT}, and was stopped; {told}")


@pytest.mark.slow
def test_too_much_output_does_not_pass(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    end = check(capsys, tmp_path, "print")
    assert end.code == 2 and end.out == "" and len(end.err) < 10_000
    assert end.err.splitlines()[-1] == f"equiscope: Net in net.py printed more than 50 MB {AT}, and was stopped"


@pytest.mark.slow
def test_too_much_memory_is_told(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EQUISCOPE_MEMORY", "2")
    refused(check(capsys, tmp_path, "memory"), "memory", "trap")


@pytest.mark.slow
def test_what_is_wrong_at_the_import_is_told(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "net.py"
    for text, told in (("raise GeneratorExit", "GeneratorExit (line 1)"), ("import os; os._exit(7)", "exit code 7")):
        path.write_text(text)
        refused(said(capsys, "check", f"{path}:Net", "--trust"), told, "net.py")


@pytest.mark.slow
def test_idle_threads_of_a_pool_are_no_reason(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    pool = "from concurrent.futures import ThreadPoolExecutor as P; TURNED.append(P(1)); TURNED[-1].submit(len, x)"
    end = check(capsys, tmp_path, f"{pool}; return x")
    assert end.code == 0, end.err


def test_a_timeout_is_a_number_of_seconds(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    refused(check(capsys, tmp_path, FINE, "--timeout", -1), "--timeout must be a positive number of seconds")


SCRIPT = "import sys; from {program} import main; sys.exit(main())"


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="waits for the end of a process that is not its child")
def test_an_interrupt_ends_both(tmp_path: Path) -> None:
    action = "import pathlib; pathlib.Path(__file__).with_name('pid').write_text(str(os.getpid())); print('there'); "
    name = network(tmp_path, f"{action}\n        while True: pass")
    words = ["check", name, "--trust", "--group", "C4", "--data", ramp(tmp_path)]
    with subprocess.Popen(
        [sys.executable, "-c", SCRIPT.format(program=PROGRAM), *words],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        # a shell lets what runs in the background ignore the interrupt
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.default_int_handler),
    ) as parent:  # fmt: skip
        assert parent.stderr is not None
        assert parent.stderr.readline() == "there\n"
        child = os.pidfd_open(int((tmp_path / "pid").read_text()))
        parent.send_signal(signal.SIGINT)
        out, err = parent.communicate(timeout=LONGEST)
        assert (parent.returncode, out, err) == (130, "", "equiscope: stopped\n")
        assert select.select([child], [], [], LONGEST)[0], "it has outlived its parent"
        os.close(child)


def test_torch_is_not_imported_before_it_is_handed_on(tmp_path: Path) -> None:
    text = (
        "import sys, explorer.app.remote.commands.command as c; c.delegated = lambda *_: 5; "
        "from explorer.app.command import cli; from explorer.app.command.doors import Doors; "
        f"code = cli.main(['check', {network(tmp_path)!r}, '--trust'], Doors(*[None] * 6, 'some.program')); "
        "print(code, 'torch' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, timeout=LONGEST,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )  # fmt: skip
    assert done.stdout == "5 False\n", done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("how", ["return x", "hang", "exit", "segfault"])
def test_a_folder_that_was_being_filled_goes_with_its_process(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    (out := tmp_path / "out").mkdir()
    (out / "report.json").write_text("the old one")
    (temporary := tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    filling = f"[n for n in os.listdir({str(tmp_path)!r}) if n.startswith('.out-')]"
    name = network(tmp_path, f"if not {filling}: return x\n        {ENDINGS.get(how, how)}")
    told = said(
        capsys, "run", name, "--trust", "--data", ramp(tmp_path), "--transform", "rotate:180", "--device", "cpu",
        "--out", out, "--timeout", 20,
    )  # fmt: skip
    whole = how == "return x"
    assert told.code == (0 if whole else 2), told.err
    assert (out / "stage.png").exists() is whole and (out / "captures.safetensors").exists() is whole
    assert ((out / "report.json").read_text() == "the old one") is not whole
    assert not list(temporary.iterdir()) and not list(tmp_path.glob(".*"))


@pytest.mark.slow
def test_what_says_nothing_is_not_written(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """The sentence said that nothing can be said of what was measured, and beside it lay a report of that."""
    name = network(tmp_path, "import builtins; builtins.open = lambda *_, **__: 1 / 0; return x")
    words = ["run", name, "--trust", "--data", ramp(tmp_path), "--transform", "rotate:180", "--device", "cpu"]
    refused(
        said(capsys, *words, "--no-pictures", "--out", tmp_path / "out"), "Net in net.py has replaced builtins.open"
    )
    assert not (tmp_path / "out").exists() and not list(tmp_path.glob(".*"))


@pytest.mark.slow
def test_a_report_says_that_answers_vary_from_call_to_call(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """`run` wrote "broken" of such a network and no more, which `check` says of it."""
    name = network(tmp_path)
    path = Path(name.partition(":Net")[0])
    path.write_text(
        path.read_text().replace("self.conv(self.trap(x))", "self.conv(x) + len(TURNED + [TURNED.append(1)])")
    )
    words = ["run", name, "--trust", "--data", ramp(tmp_path), "--transform", "rotate:180", "--device", "cpu", "--json"]
    told = said(capsys, *words, "--no-pictures", "--out", tmp_path / "out")
    assert told.code == 0, told.err
    assert any("call to call" in note for note in told.json["model_notes"]), told.json["model_notes"]
