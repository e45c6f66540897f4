"""The one place where pyqtgraph is set up for the whole program; every chart takes `pg` from here."""

from __future__ import annotations

import pyqtgraph as pg

pg.setConfigOptions(
    antialias=True,
    imageAxisOrder="row-major",  # pictures are (row, column), as everywhere else in the program
    mouseRateLimit=-1,  # moves are never dropped: the last one of a drag is the one that counts
    exitCleanup=False,  # its hook walks through every object of the interpreter when the program ends
    crashWarning=False,
)

__all__ = ["pg"]
