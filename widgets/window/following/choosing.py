"""Choose a model that takes the data, or data that a model takes, where a person has chosen the other."""

from __future__ import annotations

from pathlib import Path

from explorer.data.finding import split_part
from explorer.data.opening import domain_of
from explorer.declare.space import same_space
from explorer.state.catalogue import Catalogue
from explorer.state.state import State
from widgets.base.text.kinds_of_data import one_of


def sample_for(model: str, state: State, catalogue: Catalogue | None) -> str:
    """Keep the sample of a state when a model can eat it; "" lets the model choose."""
    if catalogue is None:
        return state.sample
    domains = {m.name: m.domain for m in catalogue.models}
    same = model in domains and same_space(domains[model], domains.get(state.model, ""))
    return state.sample if same else ""


def model_for(sample: str, model: str, catalogue: Catalogue | None) -> str:
    """Keep the model when it can eat a sample; else the first trained one of that domain."""
    info = next((m for m in catalogue.models if m.name == model), None) if catalogue is not None else None
    if catalogue is None or info is None:
        return model
    known = {s.name: s.domain for s in catalogue.samples}
    base, _ = split_part(sample)
    by_name = dict(catalogue.domains).get(Path(base).suffix.lower(), "")
    domain = known.get(base) or by_name or domain_of(Path(base).expanduser())
    if not domain or same_space(domain, info.domain):
        return model
    fit = [m for m in catalogue.models if same_space(m.domain, domain)]
    fit.sort(key=lambda m: (m.domain != domain, not m.trained, not m.groups))
    return fit[0].name if fit else model


def switched(sample: str, before: str, model: str, catalogue: Catalogue | None) -> str:
    """Return a sentence that says that the chosen data brought another model with them, "" where they did not."""
    known = {m.name: m for m in catalogue.models} if catalogue is not None else {}
    if model == before or model not in known or before not in known:
        return ""
    samples = {s.name: s for s in catalogue.samples} if catalogue is not None else {}
    title = samples[sample].title if sample in samples else Path(sample).name
    what = one_of(samples[sample].domain if sample in samples else known[model].domain)
    return f"{title} is {what}, which “{known[before].title}” cannot take: now “{known[model].title}” is shown."
