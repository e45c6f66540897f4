"""Propose what to write for an argument that takes an object of settings, by the text of a file alone.

Networks are often made from one object, `GPT(config)`, whose class stands in the same file. Which class that is, is
said by the annotation of the argument, or by the attributes that are read off it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping

from explorer.network.opening.files.contents import BLANK

NAMESPACE = "Namespace"  # an object with just the attributes that are given
MOST = 12  # attributes that are proposed


def proposals(tree: ast.Module, name: str, needs: Iterable[str], modules: Iterable[str]) -> dict[str, str]:
    """Return {argument: text} of those arguments of a callable that take an object of settings.

    Args:
        modules: the classes of the file that are networks, which are seldom settings.
    """
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    maker = next((n for n in tree.body if isinstance(n, ast.ClassDef | ast.FunctionDef) and n.name == name), None)
    called = _init(maker) if isinstance(maker, ast.ClassDef) else maker
    if called is None:
        return {}
    parts = {n: classes[n] for n in modules if n != name}  # an encoder and a decoder are handed over as well
    settings = {n: node for n, node in classes.items() if n != name and n not in parts} | parts
    found = {}
    for argument in needs:
        if text := _proposal(called, argument, settings, classes.values()):
            found[argument] = text
    return found


def _proposal(
    called: ast.FunctionDef, argument: str, settings: Mapping[str, ast.ClassDef], classes: Iterable[ast.ClassDef]
) -> str:
    places = (*called.args.posonlyargs, *called.args.args, *called.args.kwonlyargs)
    hint = next((a.annotation for a in places if a.arg == argument), None)
    said = ast.unparse(hint).strip("'\"").rpartition(".")[2] if hint is not None else ""
    if said in settings:
        return _made(settings[said])
    read = _read(called, argument)
    if not read:
        return ""
    if fits := [node for node in settings.values() if read <= _attributes(node)]:
        return _made(next((node for node in fits if node.name.lower() == argument.lower()), fits[0]))
    # what the network hands on to its parts is read there
    parts = (init for node in classes if (init := _init(node)) is not None)
    every = dict.fromkeys((*sorted(read), *sorted({one for init in parts for one in _read(init, argument)})))
    return f"{NAMESPACE}({', '.join(f'{one}={BLANK}' for one in list(every)[:MOST])})"


def _init(node: ast.ClassDef) -> ast.FunctionDef | None:
    return next((n for n in node.body if isinstance(n, ast.FunctionDef) and n.name == "__init__"), None)


def _read(called: ast.FunctionDef, argument: str) -> set[str]:
    """Return the attributes that are read off an argument; () where it is used as a number or a list is."""
    return {
        n.attr
        for n in ast.walk(called)
        if isinstance(n, ast.Attribute)
        and isinstance(n.value, ast.Name)
        and n.value.id == argument
        and not any(hasattr(kind, n.attr) for kind in (str, list, dict, int))
    }


def _fields(node: ast.ClassDef) -> dict[str, bool]:
    """Return {what is given to a class: whether it must be}."""
    if (init := _init(node)) is not None:
        plain = [a.arg for a in (*init.args.posonlyargs, *init.args.args)][1:]
        given = len(plain) - len(init.args.defaults)
        named = {a.arg: d is None for a, d in zip(init.args.kwonlyargs, init.args.kw_defaults)}
        return {n: k < given for k, n in enumerate(plain)} | named
    said = [n for n in node.body if isinstance(n, ast.AnnAssign) and isinstance(n.target, ast.Name)]
    return {n.target.id: n.value is None for n in said if isinstance(n.target, ast.Name)}


def _attributes(node: ast.ClassDef) -> set[str]:
    """Return the attributes that objects of a class have, as far as its text tells."""
    found = set(_fields(node))
    for n in ast.walk(node):
        match n:
            case ast.Attribute(value=ast.Name(id="self"), attr=name, ctx=ast.Store()):
                found.add(name)
            case ast.FunctionDef(name=name) | ast.Assign(targets=[ast.Name(id=name)]):
                found.add(name)
    return found


def _made(node: ast.ClassDef) -> str:
    return f"{node.name}({', '.join(f'{name}={BLANK}' for name, must in _fields(node).items() if must)})"
