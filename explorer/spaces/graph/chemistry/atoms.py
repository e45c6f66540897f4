"""Chemical elements: which feature column stands for one, and how long its bonds are."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

COLUMNS = ("H", "C", "N", "O", "F", "S", "Cl/Br", "other")
BONDS = ("single", "double", "triple", "aromatic")  # the columns of edge_attr of a molecule
_OTHER = COLUMNS.index("other")
_COLUMN = {"H": 0, "D": 0, "T": 0, "C": 1, "N": 2, "O": 3, "F": 4, "S": 5, "Cl": 6, "Br": 6}

# Covalent radii in ångström, by atomic number from 1: Cordero et al., "Covalent radii revisited", Dalton Trans. 2008,
# table 2; C sp3; Mn, Fe, Co low spin.
_RADII = """
H .31 He .28 Li 1.28 Be .96 B .84 C .76 N .71 O .66 F .57 Ne .58 Na 1.66 Mg 1.41 Al 1.21 Si 1.11 P 1.07 S 1.05 Cl 1.02
Ar 1.06 K 2.03 Ca 1.76 Sc 1.70 Ti 1.60 V 1.53 Cr 1.39 Mn 1.39 Fe 1.32 Co 1.26 Ni 1.24 Cu 1.32 Zn 1.22 Ga 1.22 Ge 1.20
As 1.19 Se 1.20 Br 1.20 Kr 1.16 Rb 2.20 Sr 1.95 Y 1.90 Zr 1.75 Nb 1.64 Mo 1.54 Tc 1.47 Ru 1.46 Rh 1.42 Pd 1.39 Ag 1.45
Cd 1.44 In 1.42 Sn 1.39 Sb 1.39 Te 1.38 I 1.39 Xe 1.40 Cs 2.44 Ba 2.15 La 2.07 Ce 2.04 Pr 2.03 Nd 2.01 Pm 1.99 Sm 1.98
Eu 1.98 Gd 1.96 Tb 1.94 Dy 1.92 Ho 1.92 Er 1.89 Tm 1.90 Yb 1.87 Lu 1.87 Hf 1.75 Ta 1.70 W 1.62 Re 1.51 Os 1.44 Ir 1.41
Pt 1.36 Au 1.36 Hg 1.32 Tl 1.45 Pb 1.46 Bi 1.48 Po 1.40 At 1.50 Rn 1.50 Fr 2.60 Ra 2.21 Ac 2.15 Th 2.06 Pa 2.00 U 1.96
Np 1.90 Pu 1.87 Am 1.80 Cm 1.69
""".split()
RADIUS = dict(zip(_RADII[::2], map(float, _RADII[1::2]), strict=True))
SYMBOLS = tuple(RADIUS)
_NAMED = re.compile(r"([A-Z][a-z]?)[0-9']*([⁰¹²³⁴⁵⁶⁷⁸⁹]*[⁺⁻])?(?: [0-9]+)?")
_HIGH = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_LOW = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")


def element_of(name: str) -> str:
    """Return the element that an atom's name begins with ("Cl3" and "Cl3⁻" are Cl, "C1 4" is C), "" when it is none."""
    match = _NAMED.fullmatch(name)
    return match[1] if match and (match[1] in RADIUS or match[1] in "DT") else ""


def charge_sign(charge: int) -> str:
    """Return a formal charge as chemists write it behind the symbol: ⁺, ²⁻; "" for none."""
    size = str(abs(charge)).translate(_HIGH) if abs(charge) > 1 else ""
    return f"{size}{'⁺' if charge > 0 else '⁻'}" if charge else ""


def sign_of(name: str) -> str:
    """Return the formal charge in an atom's name as it is written there, "" where it has none."""
    match = _NAMED.fullmatch(name)
    return (match[2] or "") if match else ""


def charge_of(name: str) -> int:
    """Return the formal charge in an atom's name: N1⁺ has 1, O2²⁻ has -2."""
    sign = sign_of(name)
    size = int(sign[:-1].translate(_LOW) or 1) if sign else 0
    return -size if sign.endswith("⁻") else size


def numbered(symbols: Sequence[str], charges: Sequence[int] = ()) -> tuple[str, ...]:
    """Name atoms by their element, a running number within it and their formal charge: C1, C2, O1⁻."""
    seen: dict[str, int] = {}
    names = []
    for k, symbol in enumerate(symbols):
        seen[symbol] = seen.get(symbol, 0) + 1
        names.append(f"{symbol}{seen[symbol]}{charge_sign(charges[k]) if k < len(charges) else ''}")
    return tuple(names)


def one_hot(symbols: Sequence[str]) -> NDArray[np.float32]:
    """Return (atoms, 8) float32: a one in the column of H, C, N, O, F, S, Cl or Br, all others."""
    x = np.zeros((len(symbols), len(COLUMNS)), np.float32)
    x[np.arange(len(symbols)), [_COLUMN.get(symbol, _OTHER) for symbol in symbols]] = 1.0
    return x
