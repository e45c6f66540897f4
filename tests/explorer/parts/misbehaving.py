"""Networks that end the process that they run in, or never end, on one element and not on others."""

from __future__ import annotations

from pathlib import Path

NETWORK = '''
import ctypes, os, signal, sys, threading, time
import torch
from torch import nn

INPUT_SHAPE = (1, 29, 29)
TURNED, NETS = [], []

class Trap(nn.Module):
    """Does one thing once the picture is turned upside down."""

    def forward(self, x):
        upside_down = x[0, 0, 0, 0].item() == 0 and x[0, 0, -1, 0].item() == 1
        return self.spring(x) if upside_down else x

    def spring(self, x):
        ACTION

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        NETS.append(self)
        self.trap = Trap()
        self.conv = nn.Conv2d(1, 2, 1)

    def forward(self, x):
        return self.conv(self.trap(x))
'''
LINE = 1 + NETWORK.split("ACTION")[0].count("\n")  # where the trap is
FINE = "return x"
ENDINGS = {
    "hang": "while True: pass",
    "wait": "threading.Event().wait()",
    "exit": "os._exit(7)",
    "abort": "os.abort()",
    "segfault": "ctypes.string_at(0)",
    "kill": "os.kill(os.getpid(), 9)",
    "parent": "os.kill(os.getppid(), 9); time.sleep(60)",
    "group": "os.killpg(os.getpgid(os.getppid()), 9); time.sleep(60)",
    "memory": "x = [bytearray(2 ** 24) for _ in range(10_000)]",
    "base": "raise BaseException('no more')",
    "generator": "raise GeneratorExit",
    "leave": "sys.exit(3)",
    "print": "[print('y' * 10 ** 6) for _ in range(100)]; return x",
    "thread": "threading.Thread(target=threading.Event().wait).start(); return x",
}


def network(folder: Path, action: str = FINE, name: str = "net.py") -> str:
    """Write a network that does that, and return its name."""
    path = folder / name
    path.write_text(NETWORK.replace("ACTION", action))
    return f"{path}:Net"


def ramp(folder: Path) -> str:
    """Write a picture that is white at its upper edge and black at the lower one."""
    import numpy as np

    path = folder / "ramp.npy"
    np.save(path, np.linspace(1, 0, 29, dtype=np.float32)[:, None].repeat(29, 1)[None])
    return str(path)
