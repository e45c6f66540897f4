"""The worker's half of the program: keeps what is loaded, answers states, computes orbits. No Qt, no window."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from explorer.app.answering.chosen import Chosen
from explorer.app.answering.devices import placed
from explorer.app.answering.experiments import proposals
from explorer.app.answering.own_inputs import InputAsked, asked, tried
from explorer.app.answering.reading import Readings
from explorer.app.answering.versions import Version, Versions
from explorer.app.command.comparing import Comparing
from explorer.app.command.report import capture_report, export_captures
from explorer.data.choosing import first_taking, taken_along
from explorer.data.finding import samples
from explorer.data.opening import reader_of
from explorer.declare.card import Card, ModelInfo
from explorer.declare.elements import Step, chain_element
from explorer.declare.inputs import Inputs
from explorer.declare.samples import Sample
from explorer.declare.space import kinds
from explorer.declare.states.model_name import in_training, split_name, with_weights
from explorer.declare.telling.asking import Declared
from explorer.network.changing.precision import copied
from explorer.network.input.inputs import inputs_from
from explorer.network.opening.files.contents import FileError
from explorer.network.opening.files.looking import ENDINGS, contents
from explorer.network.opening.files.trust import Trust
from explorer.network.opening.loading import card_source, find_card, load_model, model_info
from explorer.network.opening.refusals import ModelError
from explorer.network.tracing.walking import named_tensors
from explorer.square.analyses.figures import outline, refine_figures
from explorer.square.analyses.idle import beside
from explorer.square.analyses.laws import refine_laws
from explorer.square.analyses.nearest import nearest_exact
from explorer.square.analyses.orbits import orbit
from explorer.square.analyses.outcome import Outcome
from explorer.square.evaluate import moved_picture, refine, shown_as, square
from explorer.square.frame import Frame, Moved, OrbitCurve, Outline, Square
from explorer.square.judging import judged
from explorer.square.preparing.intervening import Interventions, changes, intervene
from explorer.square.preparing.prepare import DTYPES, Prepared, prepare
from explorer.square.preparing.shown_first import shown_first
from explorer.square.space import space_of_kind
from explorer.state.catalogue import Busy, Catalogue, SampleInfo
from explorer.state.state import State
from explorer.work.budget import Shared, Table, forget_all, held_bytes
from explorer.work.memory import uncollected
from explorer.work.progress import Cancelled

THUMBNAIL = 48  # pixels along a side
_KEEP = 4  # epochs kept prepared: two models, before and after the last change
shared = Shared(256 * 2**20)  # bytes of what all engines of the process keep beside what is in use


class LocalEngine:
    """Runs networks in this process. Every method is called on the worker thread only.

    Args:
        cards: the built-in models by name.
        trust: whether Python files named as models may be executed, or which of them.
    """

    def __init__(self, cards: Mapping[str, Card], trust: bool | Trust = False) -> None:
        self.cards = dict(cards)
        self.trust = trust if isinstance(trust, Trust) else Trust(everything=trust)
        self._models: Table[object, tuple[nn.Module, tuple[str, ...]]] = Table(
            shared, _KEEP, lambda made: held_bytes(t for _, t in named_tensors(made[0]))
        )
        self.read = Readings(shared)
        self._prepared: Table[object, Prepared] = Table(shared, _KEEP, lambda p: p.nbytes)
        self.versions, self.chosen = Versions(), Chosen()
        self.comparing = Comparing(self.prepared)
        self._answers: tuple[State, list[tuple[Prepared, dict[str, Tensor]]]] | None = None
        self._serial = 0
        self._shown: tuple[object, Prepared] | None = None  # epoch of the newest request, and its first network

    # what there is --------------------------------------------------------------------------------------------
    def catalogue(self) -> Catalogue:
        from explorer.data.readers import readers
        from explorer.data.writers import writable
        from explorer.equivariance.verdict.outcome import versions

        mps = ("mps",) * torch.backends.mps.is_available()
        devices = ("cpu", *(f"cuda:{k}" for k in range(torch.cuda.device_count())), *mps)
        extensions = sorted({e for reader in readers().values() for e in reader.extensions})
        infos = tuple(SampleInfo(s.name, s.title, s.domain, s.summary) for s in samples().values())
        models = sorted((model_info(c) for c in self.cards.values()), key=lambda m: (m.domain, m.rows, m.name))
        held = {e: {r.domain for r in readers().values() if e in r.extensions} for e in extensions}
        endings = tuple((e, d) for d in kinds() for e in writable(d))
        domains = tuple((e, next(iter(found))) for e, found in held.items() if len(found) == 1)
        return Catalogue(tuple(models), infos, devices, tuple(versions().items()), tuple(extensions), domains, endings)

    def illustrate(self, catalogue: Catalogue) -> Iterator[Catalogue | None]:
        """Yield the catalogue again with thumbnails and sources, which take seconds; None between two of them."""
        made: list[SampleInfo] = []
        for info in catalogue.samples:
            sample = samples()[info.name].make()
            picture = space_of_kind(info.domain).thumbnail(sample, THUMBNAIL)
            made.append(replace(info, thumbnail=picture, notes=sample.notes))
            yield None
        yield replace(catalogue, samples=tuple(made))
        models: list[ModelInfo] = []
        for model in catalogue.models:
            models.append(replace(model, source=card_source(self.cards[model.name])))
            yield None
        yield replace(catalogue, samples=tuple(made), models=tuple(models))

    @property
    def kept(self) -> dict[str, int]:
        """Return how many epochs, models and samples are kept for the next request."""
        return {"epochs": len(self._prepared), "models": len(self._models), "samples": len(self.read)}

    # one state ------------------------------------------------------------------------------------------------
    def card(self, name: str) -> Card:
        """Return the card of that name; one made from a file is made again when the file has changed."""
        if name in self.cards and not self.versions.changed(name, self.trust):
            return self.cards[name]
        self.versions.begin(name)
        known = name in self.cards
        if known:
            self.versions.put_aside(name, self._taken_out(name))
        try:
            # of a file with weights beside it the code is read anew too, but not with every step of a training
            built_in = {known: card for known, card in self.cards.items() if not card.own}
            built_in |= {base: self.card(base) for base in split_name(name)[:1] if in_training(name)}
            self.cards[name] = find_card(name, built_in, self.trust, self.versions.took(name))
        except (Exception, SystemExit) as error:
            if not self._go_back(name, error, State(model=name)):
                raise
        return self.cards[name]

    def _taken_out(self, name: str) -> Version:
        """Take everything out that was made of a network."""
        self.chosen.forget(name)
        models = self._models.take(lambda key: _about(key, name))
        prepared = self._prepared.take(lambda key: _about(key, name))
        return Version(self.cards.pop(name), models, prepared, {}, self.versions.measured.get(name))

    def _go_back(self, name: str, error: BaseException, state: State) -> bool:
        """Go back to the version of a network that ran last; return whether there is one."""
        former = self.versions.go_back(name, error, state)
        if former is None:
            return False
        if name in self.cards:
            self._taken_out(name)
        self.cards[name] = former.card
        self._models.update(former.models)
        self._prepared.update(former.prepared)
        return True

    def sample(self, state: State, card: Card) -> Sample:
        """Return the state's sample, fitted to what the card eats."""
        return self.read.fitted(state, card)

    def prepared(self, state: State, name: str, cancelled: Callable[[], bool] | None = None) -> Prepared:
        """Return what the epoch of (`state`, model `name`) needs, computed at most once."""
        return self.chosen.found(name, lambda: self._prepared_of(state, name, cancelled))

    def _prepared_of(self, state: State, name: str, cancelled: Callable[[], bool] | None) -> Prepared:
        card, mine = self.card(name), (state.params, state.overrides, state.interventions)
        params, overrides, some = mine if name == state.model else ((), (), ())
        shown, without = self.read.key(state, card), self.chosen.of(name)
        key = (name, params, shown, state.device, state.dtype, state.seed, overrides, some, without)
        if (kept := self._prepared.used(key)) is not None:
            return kept
        base = self.prepared(replace(state, interventions=()), name, cancelled) if some else None
        with uncollected():
            model, told = self._network(name, params)
            # a prepared epoch owns its copy: the same network may be wanted in two precisions at once
            made, where = placed(lambda device: prepare(
                card, copied(model), self.sample(state, card), device=device,
                dtype=DTYPES[state.dtype], overrides=dict(overrides), declared=not card.own,
                seed=state.seed, cancelled=cancelled, base=base, like=self.versions.traced(name, key),
                intervened=None if base is None else partial(self._intervened, base, state), without=without,
            ), state.device if base is None else str(base.x.device))  # fmt: skip
        made.notes, made.weights_notes, made.interventions = (*told, *where, *made.notes), told, some
        self._prepared.store(key, made, 1 + len(state.compared) + bool(state.interventions) + bool(state.against))
        return made

    def proposals(self, state: State, layer: str) -> Iterator[Busy | tuple[Outcome, ...]]:
        """Yield what is being done, and at last what each symmetric version of a layer would do."""
        return proposals(self, state, layer)

    def intervened(self, state: State, base: Prepared) -> nn.Module:
        """Return a copy of the network of `state` with its interventions, in its own precision.

        Raises:
            ValueError: one of them holds the values of a single run, and such a network is run on several.
        """
        for one in state.interventions:
            if one.kind == "freeze":
                raise ValueError(f"{str(one)!r} holds what one input gives: run it, a check is made on several inputs")
        made = copied(self.network(state, state.model)).to(base.x.device)
        self._intervened(base, state, made)
        return made

    def _intervened(self, base: Prepared, state: State, model: nn.Module) -> Interventions:
        """Put the interventions of `state` on a copy of the network of `base`."""

        def named(text: str) -> Inputs:
            sample = self.sample(replace(state, sample=text), base.card)
            return inputs_from(sample, base.card.input, base.x.device, base.dtype)

        return intervene(base, model, state.interventions, named)

    def network(self, state: State, name: str) -> nn.Module:
        """Return a network of `state` as it was made, in its own precision; it is not to be changed."""
        self.card(name)
        return self._network(name, state.params if name == state.model else ())[0]

    def _network(self, name: str, params: tuple[tuple[str, float], ...]) -> tuple[nn.Module, tuple[str, ...]]:
        """Return a network and the notes of its making."""
        key = (name, params)
        if (kept := self._models.used(key)) is not None:
            return kept
        notes: list[str] = []
        # weights that fitted the file as it was stay in the layers that an edit has left as they are
        strict = name not in self.versions.again
        made = load_model(self.cards[name], dict(params), tell=notes.append, strict=strict), tuple(notes)
        self._models.store(key, made)
        return made

    def answer(self, state: State, cancelled: Callable[[], bool]) -> Frame:
        """Return the frame of `state`; a file that no longer runs leaves its network as it was."""
        try:
            with uncollected():
                return self._answered(state, cancelled)
        except Cancelled:
            raise
        except (Exception, SystemExit) as error:
            if not sum(self._go_back(name, error, state) for name in (state.model, *state.compared)):  # each of them
                raise
        return self._answered(state, cancelled)

    def moved(self, state: State) -> Moved | None:
        """Return rho(g) x of the epoch that is being answered; None of another one. Any thread may call this."""
        shown = self._shown
        if shown is None or shown[0] != state.epoch:
            return None
        return Moved(state, moved_picture(shown[1].inputs, shown_as(shown[1]), state))

    def outline(self, state: State, _: Callable[[], bool]) -> Outline | None:
        return uncollected()(outline)(self.card, self.network, state)

    def nearest_exact(self, state: State) -> tuple[Step, ...] | None:
        """Return the steps nearest to those of a state that permute places; None where there are none."""
        return nearest_exact(self.prepared(state, state.model), state.steps)

    def first_steps(self, state: State) -> tuple[Step, ...]:
        """Return steps that show something of the data of a state: its own, where they do."""
        card = self.card(state.model)
        return shown_first(card, lambda: self.sample(state, card), state.steps)

    def _answered(self, state: State, cancelled: Callable[[], bool]) -> Frame:
        self._answers = None  # before more is held: of a large network that is most of the memory there is
        start = time.perf_counter()
        names = [state.model, *state.compared]
        squares: list[Square] = []
        answers: list[tuple[Prepared, dict[str, Tensor]]] = []
        forward = 0.0
        fraction: float | None = None
        for name in names:
            p, (here, values) = self.chosen.found(name, partial(self._square, state, name, fraction, cancelled))
            if fraction is None:
                watched = [w.name for w in p.watched]
                fraction = watched.index(here.layer.name) / max(1, len(watched) - 1)
            squares.append(here)
            answers.append((p, values))
            forward += p.forward_seconds
        self._answers = (state, answers)
        self._serial += 1
        sample = self.sample(state, self.card(state.model))
        reloaded = tuple(filter(None, (self.versions.ran(n, partial(self.network, state, n)) for n in names)))
        return Frame(
            state, tuple(self._with_before(state, s) for s in squares), (time.perf_counter() - start) * 1e3,
            forward * 1e3, str(answers[0][0].x.device), sample.title, sample.notes, self._serial, sample.parts,
            tuple(n for p, _ in answers for n in p.notes), tuple(n for p, _ in answers for n in p.weights_notes),
            self.versions.files(names), reloaded,
            next((self.versions.stale[n] for n in names if n in self.versions.stale), None), self.trust.asks(names),
        )  # fmt: skip

    def _square(
        self, state: State, name: str, fraction: float | None, cancelled: Callable[[], bool]
    ) -> tuple[Prepared, tuple[Square, dict[str, Tensor]]]:
        p = self.prepared(state, name, cancelled)
        if name == state.model:
            self._shown = (state.epoch, p)
        return p, square(p, state, fraction=fraction, cancelled=cancelled)

    def _with_before(self, state: State, here: Square) -> Square:
        """Return the square with what was measured the same way before its file was edited."""
        key = replace(state, model="", compare="", layer="", channel=None, pixel=None, node=None, other=None, orbit="")
        return self.versions.with_before(key, here)

    def refine(self, frame: Frame) -> Iterator[Frame]:
        """Yield the same frame with ever more layers measured, until all are; advanced in idle time."""
        if self._answers is None or self._answers[0] != frame.state:
            return
        squares = list(frame.squares)
        for k, (p, values) in enumerate(self._answers[1]):
            here, element = squares[k], chain_element(frame.state.steps).on(p.inputs)
            for measures in refine(p, frame.state, values, here.measures):
                squares[k] = self._with_before(frame.state, judged(p, here, measures, element))
                yield replace(frame, squares=tuple(squares))
            if p.base is not None:
                squares[k] = replace(squares[k], changes=changes(p, p.inputs.moved(element), values))
                yield replace(frame, squares=tuple(squares))
            told = replace(frame, squares=tuple(squares))
            for more in beside(p, frame.state, squares[k]):
                if more is not squares[k]:
                    squares[k], told = more, replace(frame, squares=(*squares[:k], more, *squares[k + 1 :]))
                yield told
        for k, (p, values) in enumerate(self._answers[1]):
            for more in refine_figures(p, frame.state, squares[k], values):
                squares[k] = more
                yield replace(frame, squares=tuple(squares))
        for more in self.comparing.refine(frame.state, self._answers[1][0][0], squares[0]):
            squares[0] = more
            yield replace(frame, squares=tuple(squares))
        for k, (p, _) in enumerate(self._answers[1] if frame.state.laws else []):
            for more in refine_laws(p, frame.state, squares[k]):
                squares[k] = more
                yield replace(frame, squares=tuple(squares))

    def orbit(self, state: State) -> Iterator[OrbitCurve | None]:
        """Yield ever more complete curves, of one model each; None where something newer came in between."""
        for name in [state.model, *state.compared]:
            yield from orbit(self.prepared(state, name), state)

    def open(self, path: str, state: State, into: str = "", partly: bool = False) -> dict[str, object]:
        """Return the changes of State that opening a file means: weights are put into the model in use.

        A file that is no weights by its content is data, whatever its name.

        Args:
            into: the model that they are put into, instead of the one in use.
            partly: put in what fits, and leave the rest fresh.

        Raises:
            ModelError: the file does not fit, or is code, which is not executed unasked.
            ReadError: it is neither weights nor data.
        """
        file = Path(path)
        if file.suffix == ".py":
            raise ModelError(path, f"{file.name} is Python code: start with --model {path}:CALLABLE --trust to run it")
        if file.suffix.lower() not in ENDINGS and file.is_file() and not into:
            try:
                contents(file)
            except FileError:
                reader_of(file)
                return {"sample": path}
        base, name = split_name(into or state.model)[0], with_weights(into or state.model, str(file), partly)
        same = base == split_name(state.model)[0]
        load_model(self.card(name), dict(state.params) if same else {})  # says now what does not fit
        return {"model": name, "params": state.params, "layer": state.layer} if same else self.open_model(name, state)

    def open_model(self, name: str, state: State | None = None) -> dict[str, object]:
        """Return the changes of State that show a model of that name, made once to see that it can be.

        Data of a file stay. In place of no element, or one of other data, comes one that shows something of these.

        Raises:
            ModelError: it cannot be made, or is code that is not trusted.
        """
        with uncollected():
            card = self.card(name)
            self._network(name, ())  # kept: the answer that follows needs it
        if state is None:
            return {"model": name}
        read, before = partial(self.read.sample, seed=state.seed), self.cards.get(state.model)
        found = {"model": name, **taken_along(state.steps, state.sample, read, card, before)}
        return {**found, "steps": self.first_steps(replace(state, params=(), **{"sample": "", **found}))}

    def first_taking(self, names: Sequence[str], state: State) -> str:
        """Return the first model that takes a state's sample; raise ValueError where none does."""
        sample = self.read.sample(state.sample, state.seed)
        name, fit = first_taking(state.sample, sample, {n: self.card(n) for n in names}, self.cards)
        self.read.keep(state, self.card(name), fit)
        return name

    def info(self, name: str) -> ModelInfo:
        """Return what is said of a model; one of a file is executed."""
        return model_info(self.card(name))

    def asked(self, name: str) -> InputAsked:
        """Return what to ask about the input of a model of a file, which is executed."""
        return asked(name, self.trust)

    def tried(self, name: str, said: Declared) -> str:
        """Run a model of a file once on an input of that kind; return what went in and what came out."""
        return tried(name, said, self.trust)

    def export_data(self, state: State, path: str) -> tuple[str, ...]:
        """Write the sample as it was read, in the format of the path's ending; return notes of what was left out.

        Raises:
            ValueError: the format cannot hold it, in one sentence.
        """
        from explorer.data.writers import write_file

        text = state.sample or self.card(state.model).sample
        return write_file(self.read.sample(text, state.seed, quietly=True), path)

    def fillings(self, state: State) -> tuple[str, ...]:
        """Return texts of numbers in the shape of the present data: noise, a ramp, ones."""
        sample = self.sample(state, self.card(state.model))
        return space_of_kind(sample.domain).fillings(sample)

    def hold(self, state: State) -> str:
        """Keep the present run for comparison; return the text that names it."""
        return self.comparing.hold(state)

    def report(self, state: State, layers: str = "all") -> tuple[dict[str, Any], dict[str, Tensor]]:
        """Return the report of `state` and the captured tensors of the wanted layers."""

        def once() -> tuple[dict[str, Any], dict[str, Tensor]]:
            p = self.prepared(state, state.model).whole()
            report, tensors = capture_report(p, self.sample(state, p.card), state, layers)
            return report, tensors | self.comparing.reported(state, p, report)

        return self.chosen.found(state.model, once)

    def export_captures(self, state: State, path: str) -> None:
        """Write every layer of F(x) and F(rho(g) x), or a layer in a format of the space, as its ending says."""
        export_captures(self, state, path)

    def close(self) -> None:
        self._prepared.clear()
        self._models.clear()
        self.read.clear()
        self._answers = self._shown = None
        forget_all()
        if torch.cuda.is_available():
            torch.cuda.empty_cache()


def _about(key: object, name: str) -> bool:
    """Say whether what is kept under a key was made of that network."""
    return isinstance(key, tuple) and bool(key) and key[0] == name
