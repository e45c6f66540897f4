"""Choose a model that takes the data, or data that a model takes, where a person has chosen the other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from explorer.data.finding import base_of, split_part
from explorer.data.opening import domain_of
from explorer.declare.space import same_space
from explorer.declare.telling.choices import AS, split_asked
from explorer.state.catalogue import Catalogue
from explorer.state.state import State
from explorer.work.files.places import at_home
from widgets.base.text.kinds_of_data import one_of


def sample_for(model: str, state: State, catalogue: Catalogue | None) -> str:
    """Keep the sample of a state when a model can eat it; "" lets the model choose."""
    if catalogue is None:
        return state.sample
    known, before = catalogue.by_name.get(model), catalogue.by_name.get(state.model)
    same = known is not None and same_space(known.domain, before.domain if before is not None else "")
    return state.sample if same else ""


def models_for(sample: str, model: str, catalogue: Catalogue | None) -> list[str]:
    """Return the model and then those of the kind of the sample, trained ones first; it alone where that is not known.

    What a sample is does not say whether a network takes it: a panorama is a picture that is a function on the sphere
    as well, and a network on DNA takes no series. Only reading it tells.
    """
    info = catalogue.by_name.get(model) if catalogue is not None else None
    if catalogue is None or info is None:
        return [model]
    known = {s.name: s.domain for s in catalogue.samples}
    base, asked = base_of(sample), split_asked(split_part(sample)[0])[1]
    by_name = dict(catalogue.domains).get(Path(base).suffix.lower(), "")
    # the content says more than the name: a crystal and a molecule are .xyz both
    domain = known.get(base) or domain_of(at_home(base), asked.get(AS, "")) or by_name
    fit = [m for m in catalogue.models if domain and same_space(m.domain, domain) and m.name != model]
    first = State().model  # what the program itself begins with, where that is of the kind
    fit.sort(key=lambda m: (m.domain != domain, m.name != first, not m.trained, not m.groups))
    return [model, *(m.name for m in fit)]


def model_for(sample: str, model: str, catalogue: Catalogue | None) -> str:
    """Keep the model where the sample is of its kind; else take the first of that kind. Nothing is read whole."""
    fit = models_for(sample, model, catalogue)[:2]
    known = {m.name: m.domain for m in catalogue.models} if catalogue is not None else {}
    return model if same_space(known.get(model, ""), known.get(fit[-1], "")) else fit[-1]


def other_part(sample: str, by: int, count: int) -> str:
    """Return the sample that comes `by` after one of several in the same data, round and round."""
    base, part = split_part(sample)
    number, colon, rest = part.partition(":")
    here = int(number) if number.isdigit() else 1
    return f"{base}#{(here - 1 + by) % count + 1}{colon}{rest}"


class Opening(Protocol):
    """The part of the controller that opening data needs."""

    catalogue: Catalogue | None

    @property
    def state(self) -> State: ...

    def change(self, changes: Mapping[str, Any]) -> None: ...

    def do(self, work: Callable[[Any], object], text: str, then: Callable[[Any], None]) -> object: ...


def open_sample(controller: Opening, path: str) -> None:
    """Show data of a file in the shown model if it takes them, whatever their kind; else in the first model that does.

    The worker reads the file and tries; nothing changes before it has answered.
    """
    state = replace(controller.state, sample=path)
    catalogue = controller.catalogue
    if catalogue is None or state.model not in catalogue.by_name:  # what takes it is not known
        controller.change({"sample": path})
        return

    def work(engine: Any) -> str:
        models = models_for(path, state.model, catalogue)
        if len(models) > 1 and hasattr(engine, "first_taking"):
            return str(engine.first_taking(models, state))
        return model_for(path, state.model, catalogue)

    def done(model: str) -> None:
        if controller.state.model != state.model:  # chosen meanwhile: it may take them, which was not tried
            open_sample(controller, path)
        else:
            controller.change({"sample": path, "model": model})

    controller.do(work, f"Opening {Path(base_of(path)).name}…", done)


def open_otherwise(controller: Opening, path: str) -> None:
    """Have the engine open a file whose name does not say what it is: weights, or data."""
    name, state = Path(path).name, controller.state
    known = ", ".join(sorted({*(controller.catalogue.extensions if controller.catalogue else ()), ".json"}))  # sessions

    def work(engine: Any) -> Mapping[str, Any]:
        if hasattr(engine, "open"):
            found: Mapping[str, Any] = engine.open(path, state)
            return found
        raise ValueError(f"{name} is of no kind that Equiscope opens: {known}.")

    def opened(changes: Mapping[str, Any]) -> None:
        if sample := changes.get("sample"):  # data, by its content
            open_sample(controller, sample)
        else:
            controller.change(changes)

    controller.do(work, f"Opening {name}…", opened)


def switched(sample: str, before: str, model: str, catalogue: Catalogue | None) -> str:
    """Return a sentence that says that the chosen data brought another model with them, "" where they did not."""
    known = catalogue.by_name if catalogue is not None else {}
    if model == before or model not in known or before not in known:
        return ""
    samples = {s.name: s for s in catalogue.samples} if catalogue is not None else {}
    what = one_of(samples[sample].domain if sample in samples else known[model].domain)
    title = samples[sample].title if sample in samples else Path(base_of(sample)).name
    # in one line of a window of 1280 pixels: what has more hangs over the tabs below it
    return f"{title}: now “{known[model].title}”, as the network before cannot take {what}."
