"""Networks that misbehave, by what they do when a picture is turned upside down, when they are imported or made."""
# ruff: noqa: E501  (what a network does is read as it is written)

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tests.explorer.parts.misbehaving import NETWORK
from tests.hostile.further import FURTHER, FURTHER_LOOPS
from tests.hostile.stranger import METHODS, SHAPES, SOURCES, STRANGE_LOOPS, STRANGER

LOOPS = {  # that only a timeout or a person ends
    "loop": "while True: pass",
    "wait": "threading.Event().wait()",
    "deaf loop": "while True:\n            try:\n                while True: pass\n            except BaseException: pass",
    "loop in C": "list(zip(*[iter(int, 1)] * 1)) and max(iter(lambda: 0, 1))",
    "loop in torch": "y = torch.rand(1500, 1500)\n        while True: y = y @ y / 1e3",
    "regular expression": "import re; re.match('(a+)+$', 'a' * 64 + 'b')",
    "power": "10 ** 10 ** 10",
    "lock of itself": "lock = threading.Lock(); lock.acquire(); lock.acquire()",
    "join of itself": "t = threading.Thread(target=lambda: time.sleep(1e6), daemon=True); t.start(); t.join()",
    "sleep": "time.sleep(1e6)",
    "sleep without signals": "signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65)); time.sleep(1e6)",
    "ignored signals": "[signal.signal(s, signal.SIG_IGN) for s in (2, 10, 15)]\n        while True: pass",
    "read of nothing": "r, w = os.pipe(); os.read(r, 1)",
    "child that waits": "import subprocess; subprocess.run(['sleep', '1000'])",
    "interpreter held": "ctypes.PyDLL(None).sleep(1000)",
    "generator without end": "sum(1 for _ in iter(int, 1))",
    "string without end": "class S(str):\n            def __str__(self):\n                while True: pass\n        raise ValueError(S('x'))",
    "deadlock of two": "a, b = threading.Lock(), threading.Lock(); a.acquire(); t = threading.Thread(target=lambda: "
    "(b.acquire(), a.acquire()), daemon=True); t.start(); time.sleep(.2); b.acquire()",
    "sort without end": "class K:\n            def __lt__(self, o):\n                while True: pass\n        sorted([K(), K()])",
    "destructor that stays": "self.__dict__['kept'] = type('D', (), {'__del__': lambda s: time.sleep(1e6)})(); return x",
    "a list without end": "class L(list):\n            def __iter__(self):\n                while True: yield 1\n        return L([x])",
    "half a message": "[os.write(f, b'\\0\\0\\1\\0half') for f in range(3, 64) if os.path.exists(f'/proc/self/fd/{f}') and "
    "'socket' in os.readlink(f'/proc/self/fd/{f}')]; time.sleep(1e6)",
}
ENDS = {  # by themselves
    "exit": "os._exit(7)",
    "exit well": "os._exit(0)",
    "abort": "os.abort()",
    "segfault": "ctypes.string_at(0)",
    "bus error": "os.kill(os.getpid(), signal.SIGBUS)",
    "illegal instruction": "os.kill(os.getpid(), signal.SIGILL)",
    "alarm": "signal.setitimer(signal.ITIMER_REAL, 0.01); time.sleep(60)",
    "processor limit": "import resource; resource.setrlimit(resource.RLIMIT_CPU, (1, 1))\n        while True: pass",
    "kill": "os.kill(os.getpid(), 9)",
    "stop": "os.kill(os.getpid(), signal.SIGSTOP)",
    "stop of the terminal": "os.kill(os.getpid(), signal.SIGTSTP); time.sleep(30)",
    "stop in a thread": "threading.Timer(.1, os.kill, (os.getpid(), signal.SIGSTOP)).start(); time.sleep(30)",
    "parent": "os.kill(os.getppid(), 9); time.sleep(60)",
    "stopped parent": "os.kill(os.getppid(), signal.SIGSTOP); os._exit(3)",
    "group": "os.killpg(os.getpgid(os.getppid()), 9); time.sleep(60)",
    "terminate": "os.kill(os.getpid(), 15); time.sleep(60)",
    "hang up": "os.kill(os.getpid(), 1); time.sleep(60)",
    "exec": "os.execv('/bin/sleep', ['sleep', '60'])",
    "exec of a writer": "os.execv('/bin/sh', ['sh', '-c', 'yes'])",
    "closed descriptors": "os.closerange(0, 64); time.sleep(60)",
    "closed streams": "os.closerange(0, 3); return x",
    "fatal error": "ctypes.pythonapi.Py_FatalError(b'gone')",
    "recursion": "def deep(n): return deep(n + 1)\n        deep(0)",
    "recursion in C": "sys.setrecursionlimit(10 ** 9)\n        def deep(n): return deep(n + 1)\n        deep(0)",
    "nested list": "y = []\n        for _ in range(10 ** 6): y = [y]\n        repr(y)",
    "memory": "x = [bytearray(2 ** 24) for _ in range(10_000)]",
    "memory of torch": "torch.ones(2 ** 38)",
    "memory of nobody": "import mmap; y = [mmap.mmap(-1, 2 ** 28) for _ in range(200)]; [m.write(b'x' * 2 ** 28) for m in y]",
    "memory in a string": "'x' * 2 ** 40",
    "forks without end": "import resource; resource.setrlimit(resource.RLIMIT_NPROC, (400, 400))\n        for _ in range(60):\n"
    "            if os.fork() == 0: time.sleep(300)\n        time.sleep(1); os._exit(4)",
    "fork that answers": "os.fork(); return x",
    "daemon": "import subprocess; subprocess.Popen(['sleep', '86123'], start_new_session=True); return x",
    "double daemon": "if os.fork() == 0:\n            os.setsid()\n            if os.fork() == 0: os.execv('/bin/sleep', "
    "['sleep', '86123'])\n            os._exit(0)\n        return x",
    "thread that stays": "threading.Thread(target=threading.Event().wait).start(); return x",
    "timer that kills": "threading.Timer(.3, os._exit, (5,)).start(); return x",
    "exit at the end": "import atexit; atexit.register(os._exit, 9); return x",
    "loop at the end": "import atexit; atexit.register(lambda: time.sleep(1e6)); return x",
    "exception at the end": "import atexit; atexit.register(lambda: 1 / 0); return x",
    "destructor that exits": "class D:\n            def __del__(self): sys.exit(3)\n        D(); return x",
    "destructor that raises": "class D:\n            def __del__(self): raise MemoryError('\\x1b[2J')\n        D(); return x",
    "system exit": "sys.exit(3)",
    "system exit of a text": "raise SystemExit('a\\nb')",
    "base": "raise BaseException('no more')",
    "generator exit": "raise GeneratorExit",
    "keyboard interrupt": "raise KeyboardInterrupt",
    "stop iteration": "raise StopIteration(3)",
    "cancelled": "from explorer.work.progress import Cancelled; raise Cancelled",
    "our exception": "from explorer.app.remote.life.deaths import Died; raise Died('\\x1b[31mit died\\n\\n')",
    "group of exceptions": "raise BaseExceptionGroup('many', [ValueError(1), SystemExit(2)])",
    "chain of exceptions": "e = ValueError('a')\n        for k in range(3000):\n            f = ValueError(k); f.__cause__ = e; e = f\n"
    "        raise e",
    "circle of exceptions": "a, b = ValueError('a'), ValueError('b'); a.__cause__, b.__cause__ = b, a; raise a",
    "exception without text": "class E(Exception):\n            def __str__(self): raise RuntimeError\n        raise E",
    "exception of 100 MB": "raise ValueError('y' * 10 ** 8)",
    "exception of signs": "raise ValueError('\\x1b]0;title\\x07\\u202e\\x00\\r\\n\\t\\udc80')",
    "exception without a class name": "raise type('\\x1b[31m\\nE', (Exception,), {})('x')",
    "exception into the thread": "ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(threading.get_ident()), "
    "ctypes.py_object(SystemExit)); return x",
    "100 MB of output": "[print('y' * 10 ** 6) for _ in range(100)]; return x",
    "one line of 60 MB": "sys.stdout.write('z' * 6 * 10 ** 7); return x",
    "signs of a terminal": "print('\\x1b[2J\\x1b]0;owned\\x07\\x1b[31m\\x9b5n\\u202e'); return x",
    "bytes of no text": "os.write(1, bytes(range(256)) * 100); return x",
    "question": "input('How many? ')",
    "warnings as errors": "import warnings; warnings.simplefilter('error'); return x",
    "500 warnings": "import warnings\n        for k in range(500): warnings.warn(f'{k}\\x1b[31m')\n        return x",
    "junk in its line": "[(os.set_blocking(f, False), os.write(f, b'\\0\\0\\0\\5junk!')) for f in range(3, 64) if "
    "os.path.exists(f'/proc/self/fd/{f}') and 'socket' in os.readlink(f'/proc/self/fd/{f}')]; return x",
    "a claim of gigabytes in its line": "[os.write(f, b'\\x7f\\xff\\xff\\xff' + b'x' * 1000) for f in range(3, 64) if "
    "os.path.exists(f'/proc/self/fd/{f}') and 'socket' in os.readlink(f'/proc/self/fd/{f}')]; time.sleep(1e6)",
    "a pickle in its line": "import pickle; p = pickle.dumps(type('E', (), {'__reduce__': lambda s: (os.mkdir, "
    "('/tmp/equiscope-owned',))})()) if False else b'cposix\\nmkdir\\n(V/tmp/equiscope-owned\\ntR.'\n        import struct\n"
    "        [os.write(f, struct.pack('!i', len(p)) + p) for f in range(3, 64) if os.path.exists(f'/proc/self/fd/{f}') and "
    "'socket' in os.readlink(f'/proc/self/fd/{f}')]; time.sleep(30)",
    "memory cut off": "for f in range(3, 64):\n            try:\n                if 'memfd' in os.readlink(f'/proc/self/fd/{f}'): "
    "os.ftruncate(f, 0)\n            except OSError: pass\n        return x",
    "memory of a terabyte": "for f in range(3, 64):\n            try:\n                if 'memfd' in os.readlink(f'/proc/self/fd/{f}'): "
    "os.ftruncate(f, 2 ** 40)\n            except OSError: pass\n        return x",
    "another answer": "import explorer.app.remote.crossing as c; c.Sender.packed = lambda s, v, keep=False: "
    "b'[0,0,true]\\n[[\"os:system\"],[14,\"touch /tmp/equiscope-owned\"]]'; return x",
    "an answer of another kind": "import explorer.app.remote.crossing as c; was = c.Sender.packed; c.Sender.packed = "
    "lambda s, v, keep=False: was(s, ('done', {'squares': 1}) if v[0] == 'done' else v, keep); return x",
    "a frame without squares": "import explorer.app.remote.crossing as c, dataclasses; was = c.Sender.packed; c.Sender.packed = "
    "lambda s, v, keep=False: was(s, ('done', dataclasses.replace(v[1], squares=('x',))) if hasattr(v[1], 'squares') else v, keep)"
    "; return x",
    "an answer without end": "import explorer.app.remote.serving as s; s.Server._reply = lambda self, *r: "
    "[os.write(self._connection.fileno(), b'\\xff\\xff\\xff\\xff\\0\\0\\0\\0\\x0f\\xff\\xff\\xff' + b'x' * 65536) for _ in "
    "iter(int, 1)]; return x",
    "pickles that call": "class P:\n            def __reduce__(self): return (os._exit, (11,))\n        self.p = P(); return x",
    "default dtype": "torch.set_default_dtype(torch.float16); return x",
    "default device": "torch.set_default_device('meta'); return x",
    "threads of torch": "torch.set_num_threads(64); return x",
    "no gradients": "torch.set_grad_enabled(False); torch.inference_mode().__enter__(); return x",
    "deterministic": "torch.use_deterministic_algorithms(True); return x",
    "seeds": "torch.manual_seed(time.time_ns()); import random; random.seed(1); return x",
    "replaced conv": "torch.nn.functional.conv2d = None; return x",
    "replaced norm": "torch.linalg.vector_norm = lambda *a, **k: torch.zeros(()); return x",
    "replaced call": "nn.Module.__call__ = lambda self, *a: a[0]; return x",
    "replaced len": "import builtins; builtins.len = lambda *_: 0; return x",
    "replaced print": "import builtins; builtins.print = lambda *_, **__: os._exit(4); return x",
    "replaced import": "import builtins; builtins.__import__ = None; return x",
    "no JSON": "import json; json.dumps = lambda *a, **k: '?'; return x",
    "no JSON inside": "import json.encoder as e; e.c_make_encoder = None; e.JSONEncoder.iterencode = lambda *a, **k: ['?']; return x",
    "nothing written": "os.pwrite = lambda *a: 0; return x",
    "no numbers packed": "import struct; struct.pack = lambda *a: b''; return x",
    "a module in itself": "self._modules['me'] = self; return x",
    "no modules": "sys.modules.clear(); return x",
    "no garbage": "import gc; gc.disable(); gc.freeze(); gc.set_threshold(1); return x",
    "trace": "sys.settrace(lambda *a: 1 / 0); return x",
    "profile": "sys.setprofile(lambda *a: None); return x",
    "audit hook": "sys.addaudithook(lambda e, a: os._exit(6) if e == 'open' else None); return x",
    "excepthook": "sys.excepthook = lambda *_: os._exit(8); raise ValueError('x')",
    "no environment": "os.environ.clear(); return x",
    "another folder": "os.chdir('/'); return x",
    "a folder that is gone": "import tempfile; d = tempfile.mkdtemp(); os.chdir(d); os.rmdir(d); return x",
    "umask": "os.umask(0o777); return x",
    "root": "os.setuid(65534) if os.getuid() == 0 else None; return x",
    "nice": "os.nice(19); return x",
    "deleted file": "os.path.exists(__file__) and os.remove(__file__); return x",
    "rewritten file": "open(__file__, 'a').write('\\n# again'); return x",
    "its file as a folder": "os.path.isfile(__file__) and (os.remove(__file__), os.mkdir(__file__)); return x",
    "20,000 files": "TURNED.extend(os.open('/dev/null', 0) for _ in range(900)); return x",
    "limit of files": "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3)); return x",
    "limit of memory": "import resource; resource.setrlimit(resource.RLIMIT_AS, (2 ** 20, 2 ** 20)); return x",
    "limit of recursion": "sys.setrecursionlimit(60); return x",
    "input in place": "x.add_(1); return x",
    "input without size": "x.resize_(0); return x",
    "NaN": "return x * float('nan')",
    "NaN later": "TURNED.append(1); return x * (float('nan') if len(TURNED) > 2 else 1)",
    "state from call to call": "TURNED.append(1); return x * len(TURNED)",
    "leak": "TURNED.append(torch.ones(2 ** 21)); return x",
    "another shape": "TURNED.append(1); return x[..., : max(1, 29 - len(TURNED))]",
    "nothing": "return None",
    "itself": "return self",
    "empty": "return x[:0]",
    "meta": "return torch.empty(x.shape, device='meta')",
    "sparse": "return x.to_sparse()",
    "quantised": "return torch.quantize_per_tensor(x.float(), 0.1, 0, torch.qint8)",
    "nested tensor": "return torch.nested.nested_tensor([x[0]])",
    "half": "return x.half()",
    "float8": "return x.to(torch.float8_e5m2)",
    "complex": "return x + 1j",
    "strides of 0": "return x[:, :, :1, :1].expand(1, 1, 29, 29)",
    "terabytes that are not there": "return x[:, :, :1, :1].expand(1, 1, 2 ** 18, 2 ** 18)",
    "a subclass": "return torch.Tensor._make_subclass(type('T', (torch.Tensor,), {'shape': property(lambda s: (-1,))}), x)",
    "a subclass that calls": "return torch.Tensor._make_subclass(type('T', (torch.Tensor,), {'__torch_function__': "
    "classmethod(lambda *a, **k: os._exit(12))}), x)",
    "a container of itself": "y = [x]; y.append(y); return y",
    "a name of signs": "self.__class__.__name__ = '\\x1b[31mTrap\\n'; raise ValueError('x')",
}  # fmt: skip
AT_IMPORT = {
    "import: loop": "while True: pass",
    "import: exit": "os._exit(7)",
    "import: segfault": "ctypes.string_at(0)",
    "import: system exit": "sys.exit('no')",
    "import: memory": "KEPT = [bytearray(2 ** 24) for _ in range(10_000)]",
    "import: recursion": "exec('(' * 5000 + ')' * 5000)",
    "import: deep source": "eval('-' * 100_000 + '1')",
    "import: itself": "from net import Net as Other",
    "import: nothing there": "import no_such_module_\\x1b",
    "import: output": "print('y' * 10 ** 8)",
    "import: stopped": "os.kill(os.getpid(), signal.SIGSTOP)",
    "import: threads": "[threading.Thread(target=time.sleep, args=(1e6,)).start() for _ in range(50)]",
}
NAMES = {  # layers whose names lie
    "name: signs": "\\x1b[31mred\\x1b[0m",
    "name: title": "\\x1b]0;owned\\x07",
    "name: lines": "a\\nb\\r\\n\\tc",
    "name: nothing": " ",
    "name: long": "n" * 5000,
    "name: turned": "\\u202eevil\\u2066",
    "name: markup": "<b>bold</b><img src=x>&amp;",
    "name: marks": "e" + "\\u0301" * 500,
    "name: path": "../../etc/passwd",
    "name: NUL": "a\\0b",
    "name: surrogate": "\\udc80",
}
_NAMED = """
import torch
from torch import nn

INPUT_SHAPE = (1, 29, 29)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.add_module("NAME", nn.Conv2d(1, 2, 3, padding=1))
        self.conv = nn.Conv2d(2, 2, 1)

    def forward(self, x):
        return self.conv(next(self.children())(x))
"""
LOOPS |= FURTHER_LOOPS | STRANGE_LOOPS
ALL: Mapping[str, object] = {
    **LOOPS, **ENDS, **FURTHER, **STRANGER, **AT_IMPORT, **NAMES, **METHODS, **SHAPES, **SOURCES
}  # fmt: skip


def written(name: str, folder: Path) -> str:
    """Write the network that misbehaves so, and return its name."""
    path = folder / "net.py"
    if name in SOURCES:
        path.write_bytes(SOURCES[name])
        return f"{path}:Net"
    if name in NAMES:
        text = _NAMED.replace("NAME", NAMES[name])
    elif name in AT_IMPORT:
        text = NETWORK.replace("ACTION", "return x").replace("class Trap", f"{AT_IMPORT[name]}\n\nclass Trap")
    elif name in METHODS:
        text = NETWORK.replace("ACTION", "return x") + f"\n    {METHODS[name]}\n"
    elif name in SHAPES:
        text = NETWORK.replace("ACTION", "return x").replace("(1, 29, 29)", SHAPES[name])
    else:
        text = NETWORK.replace("ACTION", str(ALL[name]))
    path.write_text(text, encoding="utf-8")
    return f"{path}:Net"
