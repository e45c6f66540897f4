"""Read the names of models: "d4-cnn", "net.py:Net(3, width=4)", "net.pt2", a folder, "timm:NAME", each with weights.

What a network of one's own takes may stand in brackets, and "@weights.safetensors" behind any of them:
"net.py:Net[graph channels=3]@weights.safetensors".
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

PARTLY = "partly:"  # "d4-cnn@partly:my.safetensors": what fits of them
WEIGHTS_MARK = "@"  # "d4-cnn@my.safetensors": that card with the parameters of that file
LIVE = "training.safetensors"  # the file of a network that is learning
LONGEST = 10_000  # characters of a name: a path and arguments; the patterns take the square of them
BESIDE = ".equiscope.json"  # ending of the file beside a network's own that remembers what it takes
# files that are executed where they are opened as a model
PYTHON = ".py"
PROGRAMS = (".pt2", ".pt", ".pth", ".pkl", ".pickle", ".ts", ".torchscript")
# a folder's name may hold an @ as well, and arguments may hold anything
_CALLED = r"(?::[^@:/\\()\[]*(?:\((?P<arguments>.*)\))?)?"
_ENDINGS = "|".join(re.escape(ending) for ending in PROGRAMS)
_SAID = r"(?:\[[^@/\\\[\]]*\])?"  # of what it takes
_REST = r"(?:@(?P<weights>.+))?"
_THERE = (
    r"@(?P<weights>(?:partly:)?(?:[/\\~]|\.{1,2}[/\\]|[A-Za-z]:[/\\]).+)"  # a path of its own behind that of a folder
)
_NAMES = tuple(
    re.compile(rf"(?P<base>{base}){rest}", re.DOTALL)
    for base, rest in (
        (rf".+\.py{_CALLED}{_SAID}", _REST),
        (r"[^@]*[/\\].*?", _THERE),
        (rf"[^@]*[/\\].*?(?:{_ENDINGS}){_SAID}", _REST),
        (rf"[a-z0-9]+:[^@/\\()]*\((?P<arguments>.*)\){_SAID}", _REST),
        (r"[^@/\\]+", _REST),
    )
)
_PYTHON = re.compile(rf"(?P<path>.+\.py){_CALLED}", re.DOTALL)
_PACKAGED = re.compile(r"(?P<package>[a-z][a-z0-9_]+):[^/\\].*", re.DOTALL)
_INPUT = re.compile(rf"(?P<bare>.+\.py:.+|.+(?:{_ENDINGS})|[a-z0-9]+:.+)\[(?P<input>[^@/\\\[\]]*)\]", re.DOTALL)


def split_name(name: str) -> tuple[str, str]:
    """Return (model, weights file or "") of a model's name: "d4-cnn@my.safetensors" or "net.py:Net@my.safetensors"."""
    found = _read(name)
    return (found["base"], (found["weights"] or "").removeprefix(PARTLY)) if found else (name, "")


def _base(name: str) -> str:
    """Return a name without its weights."""
    found = _read(name)
    return found["base"] if found else name


def _read(name: str, patterns: Iterable[re.Pattern[str]] = _NAMES) -> re.Match[str] | None:
    """Return how a name is written; None of what is too long to be one."""
    return next((found for p in patterns if (found := p.fullmatch(name))), None) if len(name) <= LONGEST else None


def several(text: str) -> tuple[str, ...]:
    """Return the names in a text that parts them by commas; those in brackets, of arguments, part none."""
    names, depth, quote, begun = [], 0, "", 0
    for k, sign in enumerate(text):
        if quote:
            quote = "" if sign == quote else quote
        elif depth > 0 and sign in "'\"":  # elsewhere it is an apostrophe
            quote = sign
        elif sign in "([{":
            depth += 1
        elif sign in ")]}":
            depth -= 1
        elif sign == "," and depth == 0:
            names.append(text[begun:k])
            begun = k + 1
    whole = depth == 0 and not quote  # a folder may be called "a (b"
    return tuple(filter(None, [*names, text[begun:]] if whole else text.split(",")))


def split_input(name: str) -> tuple[str, str]:
    """Return (name without brackets, what stands in them or "")."""
    base = _base(name)
    found = _read(base, [_INPUT])
    return (found["bare"] + name[len(base) :], found["input"]) if found else (name, "")


def with_input(name: str, text: str) -> str:
    """Return the name of the same network with another input, or with none where the text is empty."""
    bare = split_input(name)[0]
    base = _base(bare)
    return f"{base}[{text}]{bare[len(base) :]}" if text else bare


def with_weights(name: str, weights: str, partly: bool = False) -> str:
    """Return the name of the same network with the weights of a file in place of its own."""
    return f"{_base(name)}{WEIGHTS_MARK}{PARTLY if partly else ''}{weights}"


def split_call(base: str) -> tuple[str, str, str | None]:
    """Return (file, name, arguments) of "net.py:Net(3)"; arguments are None without brackets, the name "" without one.

    Of what is no Python file, all is the file.
    """
    base = split_input(base)[0]
    found = _read(base, [_PYTHON])
    if found is None:
        return base, "", None
    return found["path"], base[len(found["path"]) + 1 :].partition("(")[0], found["arguments"]


def code_of(name: str) -> Path | None:
    """Return the file that is executed to make a model of this name, as it stands there; None of all others."""
    path = split_call(split_name(name)[0])[0]
    return Path(path) if path.lower().endswith((PYTHON, *PROGRAMS)) else None


def beside(code: Path) -> Path:
    """Return the file beside a network's own that may remember what it takes."""
    return code.with_name(code.stem + BESIDE)


def files_of(name: str) -> tuple[str, ...]:
    """Return the files that a model's name mentions, and what is remembered beside its own."""
    base, weights = split_name(name)
    path = split_call(base)[0]
    named = path.lower().endswith((PYTHON, *PROGRAMS)) or "/" in path
    told = str(beside(Path(path))) if path.endswith(PYTHON) else ""
    return tuple(file for file in (path if named else "", told, weights) if file)


def with_whole_paths(name: str) -> str:
    """Return what means the same model from any folder: files and folders that are there are named from the root."""
    base, weights = split_name(name)
    path = split_call(base)[0]
    if path in files_of(name) and (there := _from_root(path)):
        name = there + name[len(path) :]
    if weights and (there := _from_root(weights)):
        name = name.removesuffix(weights) + there
    return name


def _from_root(path: str) -> str:
    """Return the whole path of what is there, "" of all else."""
    whole = os.path.abspath(os.path.expanduser(path))
    return whole if os.path.exists(whole) else ""


def package_of(name: str) -> str:
    """Return the package that makes a network by name, "timm" of "timm:resnet18"; "" where a file or a card does."""
    base = split_name(name)[0]
    return found["package"] if code_of(name) is None and (found := _PACKAGED.fullmatch(base)) else ""


def in_training(name: str) -> bool:
    """Say whether this is a network as it is in the middle of its training: its file is often another one."""
    return Path(split_name(name)[1]).name == LIVE


def named_as_shown(name: str) -> str:
    """Return a model's name in short: "Net in net.py", or the name of its file or folder."""
    base, weights = split_name(name)
    path, chosen, _ = split_call(base)
    short = re.split(r"[/\\]", path.rstrip("/\\"))[-1]
    alone = [short] if short != path or not weights else []  # weights of a card are known by their own name
    told = f"{chosen} in {short}" if chosen else ", ".join(filter(None, [*alone, _weights(name)]))
    return " ".join(told.split())  # a file may be called so that it takes several lines


def told_apart(names: Iterable[str], title: Callable[[str], str] = named_as_shown) -> dict[str, str]:
    """Return short titles of names; to those that are alike is added by what they differ.

    That are the last folders of their files, then their weights, their arguments and what they are said to take.
    """
    short = {name: title(name) for name in names}
    told = {name: f"{short[name]}{_folders(name, short)}" for name in short}
    for differing in (_weights, _folders_of_weights, _arguments, lambda name: split_input(name)[1]):
        alike = Counter(told.values())
        values = {text: {differing(n) for n in told if told[n] == text} for text, many in alike.items() if many > 1}
        for name, text in list(told.items()):
            if len(values.get(text, ())) > 1 and (value := differing(name)):
                told[name] = f"{text}, {value}"
    return told


def _folders(name: str, titles: dict[str, str]) -> str:
    """Return, in brackets, the last folders by which a name differs from those of the same title."""
    folders = {n: Path(os.path.dirname(split_call(split_name(n)[0])[0])).parts for n in titles}
    own = folders[name]
    alike = [folders[n] for n in titles if titles[n] == titles[name] and folders[n] != own]
    apart = (k for k in range(1, len(own) + 1) if all(own[-k:] != other[-k:] for other in alike))
    return f" ({'/'.join(own[-k:])})" if alike and (k := next(apart, 0)) else ""


def _weights(name: str) -> str:
    return re.split(r"[/\\]", split_name(name)[1])[-1]


def _folders_of_weights(name: str) -> str:
    return os.path.dirname(split_name(name)[1])


def _arguments(name: str) -> str:
    given = split_call(split_name(name)[0])[2]
    return f"with {given}" if given else ""


def file_stem(name: str) -> str:
    """Return what a file about a model may be called, "net-Net" of "a/net.py:Net(3)[graph]"; a card's name as it is."""
    path, chosen, _ = split_call(split_name(name)[0])
    short = re.split(r"[/\\]", path.rstrip("/\\"))[-1]
    whole = "-".join(filter(None, (short.removesuffix(PYTHON), chosen)))
    return re.sub(r"[^\w.-]+", "-", whole).strip("-.") or "network"
