"""Numbers of tokens, which networks of language begin with: made from a text by the model folder's own tokenizer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.data.unplaced import given_or_first
from explorer.declare.samples import Sample, Signal
from explorer.network.opening.packages import extra
from explorer.spaces.sequence.fields import STEP
from explorer.spaces.sequence.network.form import SequenceInput, is_beside, is_extent

Ids = NDArray[np.int64]


def fit_ids(sample: Sample, wanted: SequenceInput) -> Sample:
    """Return the sample with x as numbers of tokens, (steps, 1), and each token's text as the name of its step.

    Raises:
        ValueError: there is neither a text nor whole numbers, or no token; in one sentence.
    """
    notes: list[str] = []
    if wanted.tokenizer and sample.names:
        text = ("" if all(len(name) == 1 for name in sample.names) else " ").join(sample.names)
        ids, names = tokens_of(wanted.tokenizer, text)
        notes.append(f"{len(ids)} tokens of {Path(wanted.tokenizer).name}'s own tokenizer")
    else:
        ids, names = _numbers(sample, wanted.channels or 1, notes), sample.names
    if wanted.channels is not None and len(ids) and ids.max() >= wanted.channels:
        raise ValueError(f"{sample.name!r} has the token {ids.max()}, and this network knows {wanted.channels}")
    if not len(ids):
        raise ValueError(f"{sample.name!r} has no tokens, and this network needs at least one")
    if wanted.most is not None and len(ids) > wanted.most:
        notes.append(f"the first {wanted.most} of {len(ids)} tokens: this network takes no more")
        ids, names = ids[: wanted.most], names[: wanted.most]
    values = ids.astype(np.float32)[:, None]  # whole numbers up to 2^24
    signals = {next(iter(sample.signals)): Signal(values, STEP)}
    for k, (name, form) in enumerate(wanted.names):
        if is_beside(form):
            signals[name], more = given_or_first(name, form, sample.signals.get(name), "text", k)
            notes += more
        elif is_extent(form):
            notes.append(f"{name} says that all tokens count")
    return replace(
        sample, signals=MappingProxyType(signals), names=tuple(names), channels=(), notes=sample.notes + tuple(notes)
    )  # fmt: skip


def _numbers(sample: Sample, known: int, notes: list[str]) -> Ids:
    """Return numbers of tokens where no tokenizer tells them: whole numbers, or the places of symbols."""
    x = np.asarray(sample.x.values)
    if x.shape[1] == 1 and bool((x == np.round(x)).all()) and bool((x >= 0).all()):
        return np.asarray(x[:, 0], np.int64)
    if x.shape[1] > 1 and bool(((x == 0) | (x == 1)).all()) and bool((x.sum(1) == 1).all()):
        ids = np.asarray(x.argmax(1), np.int64)
        notes.append("symbols by their number, as there is no tokenizer")
        return ids % known
    raise ValueError(f"{sample.name!r} holds no text and no whole numbers, and this network takes numbers of tokens")


def tokens_of(folder: str, text: str) -> tuple[Ids, tuple[str, ...]]:
    """Return the numbers of a text's tokens, and their texts.

    Raises:
        ValueError: the folder's tokenizer cannot be read; in one sentence.
    """
    tokenizer = _tokenizer(folder)
    try:
        numbers: Sequence[int] = tokenizer(text)["input_ids"]
        pieces = tokenizer.convert_ids_to_tokens(numbers)
    except Exception as error:
        reason = " ".join(str(error).split())[:120]
        raise ValueError(f"the tokenizer of {folder} fails on this text ({reason})") from error
    return np.asarray(numbers, np.int64), tuple(str(piece).replace("Ġ", " ").replace("▁", " ") for piece in pieces)


@lru_cache(maxsize=4)
def _tokenizer(folder: str) -> Any:
    transformers = extra("transformers", folder)
    single = Path(folder) / "tokenizer.json"
    try:
        if single.is_file() and not (Path(folder) / "tokenizer_config.json").is_file():
            return transformers.PreTrainedTokenizerFast(tokenizer_file=str(single))
        return transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    except Exception as error:
        reason = " ".join(str(error).split())[:120]
        raise ValueError(f"the tokenizer of {folder} cannot be read ({reason})") from error
