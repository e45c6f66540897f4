"""Read the words of the command line."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from typing import Any, NoReturn

from explorer.app.command import train_verb
from explorer.app.command.doors import BadInput
from explorer.app.command.listing import KINDS
from explorer.declare.registry import did_you_mean
from explorer.state.flags import FLAGS
from explorer.work.files.places import at_home


def _with_whole_input(words: Sequence[str]) -> list[str]:
    """Join what follows --input, so that `--input grid shape=3x32x32` needs no quotation marks."""
    found: list[str] = []
    of_input = False
    for word in words:
        of_input = of_input and re.fullmatch(r"[A-Za-z_]\w*=.*", word) is not None
        if of_input:
            found[-1] += f" {word}"
        else:
            found.append(word)
            of_input = found[-2:-1] == ["--input"] or word.startswith("--input=")
    return found


class _Place(argparse.Action):
    """Takes the number of a place, by whichever of its names."""

    def __call__(self, parser: Any, found: argparse.Namespace, number: Any, option: str | None = None) -> None:
        if getattr(found, self.dest, None) not in (None, number):
            told = "number the one place that is shown, a node of a graph or a step of a sequence: leave one out"
            raise BadInput(f"{option} {number} beside {found.node}: --node and --step {told}")
        setattr(found, self.dest, number)


NAMED = "a card's name, file.py:callable, net.pt2, a folder, timm:NAME"


class _Parser(argparse.ArgumentParser):
    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Refuse an unknown option by its name: argparse would take the word behind it for a verb."""
        known = self._option_strings()
        for word in args or ():
            option = word.partition("=")[0]
            if word.startswith("--") and option != "--" and not any(name.startswith(option) for name in known):
                raise BadInput(f"there is no option {option}{did_you_mean(option, known)}")
        return super().parse_known_args(None if args is None else _with_whole_input(args), namespace)

    def _option_strings(self) -> set[str]:
        found = set(self._option_string_actions)
        for action in self._actions:
            if isinstance(action, argparse._SubParsersAction):
                found = found.union(*(inner._option_strings() for inner in action.choices.values()))
        return found

    def error(self, message: str) -> NoReturn:
        found = re.fullmatch(r"argument (\S+): invalid choice: '(.*)' \(choose from (.*)\)", message, re.DOTALL)
        if found is None and message.startswith("the following arguments are required"):
            names = message.partition(": ")[2].split(", ")
            required = (a for a in self._actions if a.required)
            asked = [a for a in required if {str(a.metavar or a.dest), *a.option_strings} & set(names)]
            words = (", ".join(a.choices) if a.choices else a.help for a in asked)
            told = " and ".join(name + (f" ({text})" if text else "") for name, text in zip(names, words))
            raise BadInput(f"{self.prog.rpartition(' ')[2]!r} needs {told}")
        if found is None:
            raise BadInput(message)
        if found[1] == "verb" and at_home(found[2]).exists():
            option = {".json": "--session"}.get(at_home(found[2]).suffix.lower(), "--model")
            # the path once: a long one would leave no room for what to do
            raise BadInput(f"{found[2]} is a file or folder and no command: write {option} before it, or --data")
        known = [name.strip(" '") for name in found[3].split(",")]
        raise BadInput(f"{found[1]}: there is no {found[2]!r}, only {', '.join(known)}{did_you_mean(found[2], known)}")


def parser() -> argparse.ArgumentParser:
    """Return the parser of all verbs."""
    state = _Parser(add_help=False)
    state.add_argument("--transform", metavar="T", default="", help="rotate:30+translate:4,0 (the first acts first)")
    state.add_argument("--device", default="auto", help="auto, cpu or cuda:0")
    state.add_argument("--dtype", default=None, help="float32 or float64")
    state.add_argument("--seed", type=int, default=0)
    state.add_argument("--trust", action="store_true", help="execute the file that the model names")
    state.add_argument(
        "--input", metavar="KIND NAME=VALUE ...", default="",
        help="what the network of your own file takes, as in 'graph channels=3' or 'grid shape=3x32x32'",
    )  # fmt: skip
    state.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a parameter of the model")
    state.add_argument(
        "--intervene", action="append", default=[], metavar="WHAT",
        help="change a layer: conv2:zero, conv2[3]:scale=0.5, layer2:freeze, fc:replace=SAMPLE, conv1:symmetrise",
    )  # fmt: skip

    top = _Parser(prog="equiscope", description="See and measure what a network does to a symmetry.", parents=[state])
    top.add_argument("--model", metavar="M", default="", help=NAMED)
    top.add_argument(
        "--compare", metavar="M", default="", help="a second model beside the first; on graphs also a third, M,M"
    )
    top.add_argument("--data", metavar="D", default="", help="a sample's name, a file, random:1x3x33x33 or text:...")
    top.add_argument("--layer", metavar="L", default="")
    top.add_argument("--orbit", metavar="T", default="")
    _add_place(top, "select a node of a graph, an atom or a vertex", "select a step of a sequence")
    top.add_argument(
        "--truncate", type=int, default=None, metavar="K", help="cut the gradient through time every K steps"
    )
    top.add_argument(
        "--saliency", metavar="HOW", default="", help="gradient, x-gradient, smooth, occlusion; gradient:3"
    )
    for flag in FLAGS:
        flag.add_to(top)
    top.add_argument("--session", metavar="FILE", default="")
    top.add_argument("--view", metavar="V", default="", help="the panel in front: stage, errors, latent (list views)")
    top.add_argument("--screenshot", metavar="PNG", default="", help="save a picture of the window and quit")
    top.add_argument("--size", metavar="WxH", default="", help="of the window in pixels (default: 1280x800)")
    top.add_argument("--theme", choices=("system", "light", "dark"), default=None)
    verbs = top.add_subparsers(dest="verb", parser_class=_Parser)

    listing = verbs.add_parser("list", help="what there is")
    listing.add_argument("what", choices=KINDS)
    listing.add_argument("--json", action="store_true")

    inspect = verbs.add_parser("inspect", help="what a model file holds; nothing of it is executed")
    inspect.add_argument("file", metavar="FILE", help=".py, .safetensors, .pt, .pth, .pt2, .onnx, or a model's folder")
    inspect.add_argument("--json", action="store_true")

    apart = _Parser(add_help=False)
    told = "end it after so many seconds, with code 2; without, a network that loops runs until you stop it"
    apart.add_argument("--timeout", type=float, default=None, metavar="SECONDS", help=told)

    run = verbs.add_parser("run", help="captures, report and pictures of one square", parents=[state, apart])
    run.add_argument("model", metavar="M", help=NAMED)
    run.add_argument("--data", metavar="D", default="")
    run.add_argument("--compare", metavar="M", default="", help="another network or other weights: M@FILE.safetensors")
    run.add_argument("--compare-data", metavar="D", default="", help="the same network on other data")
    run.add_argument("--layers", metavar="L,..|all", default="all", help="whose values are saved")
    run.add_argument("--layer", metavar="L", default="", help="the layer that the pictures show")
    _add_place(run, "the node that the pictures show", "the step of a sequence that they show")
    run.add_argument("--out", metavar="DIR", required=True)
    run.add_argument("--json", action="store_true", help="also print the report")
    run.add_argument("--no-pictures", action="store_true", help="no PNG of the views (needs no Qt)")

    codes = "exit codes: 0 the law holds, 1 it is broken, 2 bad input, 3 no law could be tested (--allow-untested: 0)"
    check = verbs.add_parser("check", help="per-layer error table", parents=[state, apart], epilog=codes)
    check.add_argument("model", metavar="M", help=NAMED)
    check.add_argument("--group", metavar="G", default="")
    check.add_argument("--laws", action="store_true", help="which groups of its space it keeps, and how far")
    check.add_argument("--data", metavar="D", default="")
    check.add_argument("--tol", type=float, default=None, help="relative tolerance on exact elements")
    check.add_argument("--field", action="append", default=[], metavar="LAYER=FIELD", help="correct a guessed field")
    check.add_argument("--try", dest="tried", action="store_true", help="also try symmetric versions of guilty layers")
    check.add_argument("--table", metavar="FILE", default="", help="also save layer x element, as .npz or .csv")
    check.add_argument("--json", action="store_true")
    check.add_argument("--allow-untested", action="store_true", help="exit with 0 where no law could be tested")

    train = verbs.add_parser("train", help="train a model again, or one of your own")
    train_verb.add_arguments(train)

    export = verbs.add_parser("export", help="write data in another format")
    export.add_argument("data", metavar="D", help="a sample's name, a file, or graph:100x300")
    export.add_argument("--out", metavar="FILE", required=True, help="its ending says the format")
    export.add_argument("--seed", type=int, default=0)

    gallery = verbs.add_parser("gallery", help="every card x view as a picture")
    gallery.add_argument("--out", metavar="DIR", required=True)
    gallery.set_defaults(what="all")
    less = gallery.add_mutually_exclusive_group()
    less.add_argument(
        "--page", dest="what", action="store_const", const="page", help="whole windows, and one picture of each model"
    )
    less.add_argument(
        "--thumbnails", dest="what", action="store_const", const="thumbnails", help="the small pictures of the Gallery"
    )

    bench = verbs.add_parser("bench", help="benchmarks, as ratios measured in one run")
    bench.add_argument("names", nargs="*")
    bench.add_argument("--device", default="cpu", help="where networks and peers run: cpu or cuda:0")
    bench.add_argument("--json", action="store_true")
    return top


def _add_place(parser: argparse.ArgumentParser, node: str, step: str) -> None:
    """Add the two names of the number of a place, so that `--step` reads well of sequences."""
    for name, told in (("--node", node), ("--step", step)):
        parser.add_argument(name, type=int, dest="node", action=_Place, default=None, metavar="N", help=told)
