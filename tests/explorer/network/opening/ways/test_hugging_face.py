"""Folders of Hugging Face's layout: read through `transformers`, or a stand-in for it where that is not installed."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from explorer.app.answering.engine import LocalEngine
from explorer.app.command.audit import audit
from explorer.declare.elements import parse_chain
from explorer.network.opening.loading import find_card, load_model
from explorer.network.opening.refusals import ModelError
from explorer.state.state import State


class Said(dict[str, torch.Tensor]):
    """A result with tensors by name, as those of transformers are."""


class Language(nn.Module):
    """Looks tokens up; knows no places and mixes no tokens, unless the configuration says so."""

    main_input_name = "input_ids"

    def __init__(self, config: Any) -> None:
        super().__init__()
        self.config = config
        self.words = nn.Embedding(config.vocab_size, 6)
        self.position_embeddings = nn.Embedding(config.max_position_embeddings, 6)
        self.out = nn.Linear(6, 3)

    def forward(self, input_ids: Any = None, past: Any = None, attention_mask: Any = None) -> Said:
        assert past is None and attention_mask is not None and attention_mask.dtype == torch.int64
        x = self.words(input_ids)
        if self.config.absolute:
            x = x + self.position_embeddings(torch.arange(x.shape[1]))
        if getattr(self.config, "causal", False) and not bool(attention_mask.all()):
            # as GPT-2 of transformers makes its mask where something is left out, in torch's default precision
            least = torch.full((x.shape[1],) * 2, torch.finfo(x.dtype).min)
            assert bool(least.isfinite().all()) and least.dtype == x.dtype
        x = x * attention_mask[..., None]
        if getattr(self.config, "mixes", False):
            x = x + x.mean(1, keepdim=True)
        return Said(logits=self.out(x), hidden=x)


class Headed(nn.Module):
    """A language model that holds the network which makes the mask, as GPT-2 with a head does."""

    main_input_name = "input_ids"

    def __init__(self, config: Any) -> None:
        super().__init__()
        self.config, self.language, self.head = config, Language(config), nn.Linear(6, 2)

    def forward(self, input_ids: Any = None, attention_mask: Any = None) -> Said:
        return Said(logits=self.head(self.language(input_ids, attention_mask=attention_mask)["hidden"]))


class Vision(nn.Module):
    main_input_name = "pixel_values"

    def __init__(self, config: Any) -> None:
        super().__init__()
        self.config = config
        self.projection = nn.Conv2d(config.num_channels, 4, 4, stride=4)

    def forward(self, pixel_values: Any, interpolate: bool = False) -> Said:
        return Said(last_hidden_state=self.projection(pixel_values).flatten(2).transpose(1, 2))


class Both(Vision):
    def forward(self, input_ids: Any = None, pixel_values: Any = None) -> Said:  # type: ignore[override]
        return Said()


class Sound(nn.Module):
    """Cuts a wave into pieces and mixes what each holds; beside them the place counts where `absolute` is said."""

    main_input_name = "input_values"

    def __init__(self, config: Any) -> None:
        super().__init__()
        self.config = config
        self.pieces = nn.Conv1d(1, 5, 4, stride=4)
        self.mixed = nn.Linear(5, 3)

    def forward(self, input_values: Any) -> Said:
        assert input_values.ndim == 2 and input_values.shape[0] == 1
        h = self.mixed(self.pieces(input_values[:, None]).transpose(1, 2))
        return Said(last_hidden_state=h * torch.arange(h.shape[1])[:, None] if self.config.absolute else h.tanh())


class Spoken(Sound):
    def forward(self, input_values: Any, decoder_input_ids: Any = None) -> Said:  # type: ignore[override]
        return Said()


class Film(Vision):
    main_input_name = "pixel_values_videos"


TOKENIZER = {"the": 1, "cat": 2, "sat": 3}


class Tokenizer:
    def __init__(self, tokenizer_file: str = "") -> None:
        assert Path(tokenizer_file).is_file()

    def __call__(self, text: str) -> dict[str, list[int]]:
        return {"input_ids": [TOKENIZER.get(word, 0) for word in text.split()]}

    def convert_ids_to_tokens(self, numbers: list[int]) -> list[str]:
        return [{v: k for k, v in TOKENIZER.items()}.get(n, "?") for n in numbers]


def stand_in() -> Any:
    """Return a module that has of transformers what is asked of it."""
    made: Any = ModuleType("transformers")
    made.__version__ = "5.0"
    made.PreTrainedModel = nn.Module
    made.PreTrainedTokenizerFast = Tokenizer
    made.utils = SimpleNamespace(
        logging=SimpleNamespace(set_verbosity_error=lambda: None, disable_progress_bar=lambda: None)
    )

    def config(folder: Path, *, local_files_only: bool, trust_remote_code: bool) -> Any:
        assert local_files_only and not trust_remote_code
        told = json.loads((folder / "config.json").read_text())
        if "auto_map" in told:
            raise ValueError("needs remote code")
        return SimpleNamespace(**told)

    made.AutoConfig = SimpleNamespace(from_pretrained=config)

    def loaded(kind: Callable[[Any], nn.Module]) -> Any:
        def load(folder: Path, *, config: Any, use_safetensors: bool, output_loading_info: bool, **_: Any) -> Any:
            from safetensors.torch import load_file

            assert use_safetensors and output_loading_info
            network, held = kind(config), load_file(folder / "model.safetensors")
            own = network.state_dict()
            wrong = [(k, tuple(v.shape), tuple(own[k].shape)) for k, v in held.items() if own[k].shape != v.shape]
            network.load_state_dict({k: v for k, v in held.items() if own[k].shape == v.shape}, strict=False)
            return network, {"missing_keys": set(own) - set(held), "unexpected_keys": set(), "mismatched_keys": wrong}

        return load

    for kind in (Language, Headed, Vision, Both, Sound, Spoken, Film):
        kind.from_pretrained = staticmethod(loaded(kind))  # type: ignore[attr-defined]
        setattr(made, kind.__name__, kind)
    return made


@pytest.fixture
def transformers(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    made = stand_in()
    monkeypatch.setitem(sys.modules, "transformers", made)
    yield made


def folder(path: Path, kind: str, drop: str = "", **told: Any) -> Path:
    config = {"architectures": [kind], "vocab_size": 9, "max_position_embeddings": 12, "absolute": False}
    config |= {"num_channels": 2, "image_size": 16, **told}
    path.mkdir()
    (path / "config.json").write_text(json.dumps(config))
    torch.manual_seed(1)
    state = {"Language": Language, "Headed": Headed, "Sound": Sound, "Spoken": Sound}.get(kind, Vision)(
        SimpleNamespace(**config)
    ).state_dict()
    save_file({k: v for k, v in state.items() if k != drop}, path / "model.safetensors")
    return path


def test_tokens_are_given_by_name_with_their_mask(transformers: Any, tmp_path: Path) -> None:
    path = folder(tmp_path / "lm", "Language")
    (path / "tokenizer.json").write_text("{}")
    engine = LocalEngine({})  # nothing of it needs trust
    state = State(str(path), sample="text:the cat sat")
    p = engine.prepared(state, state.model)
    assert p.inputs.names == ("input_ids", "attention_mask") and p.x.tolist() == [[1, 2, 3]]
    sample = engine.sample(state, engine.card(state.model))
    assert sample.names == ("the", "cat", "sat") and "3 tokens of lm's own tokenizer" in sample.notes
    assert p.trace.outputs == ("out",)
    long = engine.sample(State(str(path), sample="text:" + "cat " * 20), engine.card(state.model))
    assert len(long.x.values) == 12 and "the first 12 of 20 tokens" in " ".join(long.notes)


def test_an_encoder_that_is_stored_with_the_settings_of_a_pair_takes_one_text(
    transformers: Any, tmp_path: Path
) -> None:
    path = folder(tmp_path / "encoder", "Language", is_encoder_decoder=True)
    engine = LocalEngine({})
    state = State(str(path), sample=engine.card(str(path)).sample)
    assert engine.prepared(state, state.model).inputs.names == ("input_ids", "attention_mask")


@pytest.mark.parametrize("absolute", [False, True])
def test_a_table_of_places_breaks_the_law_on_tokens(absolute: bool, transformers: Any, tmp_path: Path) -> None:
    path = folder(tmp_path / "lm", "Language", absolute=absolute)
    (report,) = audit(LocalEngine({}), State(str(path), sample="text:abcdefgh"), "shift", "float64", None, {})
    rows = {row.name: row for row in report.layers}
    assert report.dtype == "float64"
    seen = rows["out"].cumulative
    assert seen is not None and (seen > 0.1 if absolute else seen == 0.0)
    assert report.verdict == ("broken" if absolute else "holds")


@pytest.mark.parametrize(("kind", "last"), [("Language", "out"), ("Headed", "language.out")])
def test_masks_that_are_made_in_the_default_precision_fit_a_run_in_double(
    kind: str, last: str, transformers: Any, tmp_path: Path
) -> None:
    """The least double number overflows in single precision, and a folder of GPT-2 could not be checked at all.

    One that holds such a network could not either: it is run alone as well.
    """
    path = folder(tmp_path / "lm", kind, causal=True)
    (report,) = audit(LocalEngine({}), State(str(path), sample="text:abcdefgh"), "shift", "float64", None, {})
    assert report.dtype == "float64" and {row.name: row for row in report.layers}[last].cumulative == 0.0
    assert torch.get_default_dtype() == torch.float32


def test_what_tokens_that_leave_cost_is_told_in_the_window_too(transformers: Any, tmp_path: Path) -> None:
    """A shift by whole steps puts nothing between places, so it must not be said."""
    state = State(str(folder(tmp_path / "lm", "Language", mixes=True)), sample="text:abcdefgh", device="cpu")
    engine = LocalEngine({})
    shifted = engine.answer(replace(state, steps=parse_chain("shift:2")), lambda: False).squares[0]
    assert shifted.cut_off.startswith("a part of x that counts in the answer is cut off")
    still = engine.answer(replace(state, steps=parse_chain("shift:0.5")), lambda: False).squares[0]
    assert not still.cut_off


def test_an_image_model_is_tested_in_steps_of_its_patches(transformers: Any, tmp_path: Path) -> None:
    path = folder(tmp_path / "vision", "Vision")
    (report,) = audit(LocalEngine({}), State(str(path), sample="random:1x2x16x16"), "translation", "float64", None, {})
    assert report.verdict == "holds" and any("tested in steps of 4" in note for note in report.warnings)
    assert find_card(str(path), {}).input.shape == (2, 16, 16)  # type: ignore[attr-defined]


@pytest.mark.parametrize("absolute", [False, True])
def test_a_wave_is_tested_in_steps_of_its_pieces(absolute: bool, transformers: Any, tmp_path: Path) -> None:
    path = folder(tmp_path / "sound", "Sound", absolute=absolute, conv_stride=[2, 2])
    card = find_card(str(path), {})
    assert card.sample == "random:256x1"
    (report,) = audit(LocalEngine({}), State(str(path), sample=card.sample), "shift", "float64", None, {})
    assert report.verdict == ("broken" if absolute else "holds")
    fields = {row.name: row.field.rstrip("?") for row in report.layers}
    assert fields["pieces"] == "step scalar /4 on axis 2" and fields["mixed"] == "step scalar /4 on axis 1"


def test_a_spectrogram_has_as_many_bands_as_the_network_takes(transformers: Any, tmp_path: Path) -> None:
    card = find_card(str(folder(tmp_path / "sound", "Sound", num_mel_bins=16, max_length=48)), {})
    assert card.sample == "random:48x16" and card.input.layout == "NTC"  # type: ignore[attr-defined]
    assert (card.input.channels, card.input.most) == (16, 48)  # type: ignore[attr-defined]


def test_what_the_weights_lack_is_told(transformers: Any, tmp_path: Path) -> None:
    path = folder(tmp_path / "vision", "Vision", drop="projection.bias")
    notes: list[str] = []
    load_model(find_card(str(path), {}), tell=notes.append)
    assert notes == ["the weights of vision lack projection.bias, which are untrained here"]
    save_file({"projection.bias": torch.zeros(5)}, path / "model.safetensors")
    with pytest.raises(ModelError, match=r"'projection.bias' has the shape \(5,\), and in this network \(4,\)"):
        find_card(str(path), {})


def test_a_folder_without_weights_has_random_ones(transformers: Any, tmp_path: Path) -> None:
    path = folder(tmp_path / "vision", "Vision")
    (path / "model.safetensors").unlink()
    card = find_card(str(path), {})
    assert "those of this network are random" in card.notes[0]
    assert torch.equal(load_model(card).projection.weight, load_model(card).projection.weight)  # type: ignore[arg-type, union-attr]


@pytest.mark.parametrize(
    ("kind", "told", "said"),
    [
        ("Both", {}, "takes input_ids and pixel_values at once"),
        ("Spoken", {}, "takes input_values and decoder_input_ids at once, a sound and a text"),
        ("Film", {}, "takes pixel_values_videos, which is no image, no text and no sound"),
        ("Vision", {"auto_map": {"AutoModel": "evil.Net"}}, "names Python files of its own (auto_map), which are not"),
    ],
)
def test_what_cannot_be_taken_is_said(kind: str, told: Any, said: str, transformers: Any, tmp_path: Path) -> None:
    with pytest.raises(ModelError) as caught:
        find_card(str(folder(tmp_path / "model", kind, **told)), {}, trust=True)
    assert said in str(caught.value)


def test_pickled_weights_are_not_read(transformers: Any, tmp_path: Path) -> None:
    path = folder(tmp_path / "model", "Vision")
    (path / "model.safetensors").rename(path / "pytorch_model.bin")
    with pytest.raises(ModelError, match="holds its weights as a pickle, which is not read"):
        find_card(str(path), {}, trust=True)


@pytest.mark.parametrize(
    ("name", "package"), [("{folder}", "transformers"), ("timm:vit", "timm"), ("torchvision:vit", "torchvision")]
)
def test_a_missing_package_says_what_to_type(
    name: str, package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    path = folder(tmp_path / "model", "Vision")
    with pytest.raises(ModelError) as caught:
        find_card(name.format(folder=path), {})
    assert package in str(caught.value)


def test_networks_by_name_are_made_without_fetching(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked: list[Any] = []

    def create(name: str, pretrained: bool = True, **named: Any) -> nn.Module:
        asked.append((name, pretrained, named))
        return nn.Sequential(nn.Conv2d(3, named.get("width", 2), 3, padding=1, padding_mode="circular"))

    zoo: Any = ModuleType("timm")
    zoo.list_models, zoo.create_model = lambda: ["small_net", "large_net"], create
    monkeypatch.setitem(sys.modules, "timm", zoo)
    engine = LocalEngine({})
    (report,) = audit(engine, State("timm:small_net(width=5)"), "translation", "float64", None, {})
    assert report.verdict == "holds" and report.layers[0].shape[1] == 5
    assert ("small_net", False, {"width": 5}) in asked and not any(pretrained for _, pretrained, _ in asked)
    assert any("random weights" in note for note in report.warnings)
    save_file(create("", width=2).state_dict(), tmp_path / "w.safetensors")
    assert load_model(find_card(f"timm:small_net@{tmp_path / 'w.safetensors'}", {}))
    for name, said in (
        ("timm:smal_net", "did you mean small_net"),
        ("timm:hf-hub:a/b", "nothing is fetched"),
        ("timm:small_net(3)", "arguments by name"),
        ("timm:small_net(width=open)", "no literals"),
    ):
        with pytest.raises(ModelError, match=said):
            find_card(name, {})


def test_transformers_itself(tmp_path: Path) -> None:
    """Read a folder that transformers wrote: BERT knows places by a table, so that its curve under shifts says so."""
    real = pytest.importorskip("transformers")
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    real.BertModel(real.BertConfig(vocab_size=40, max_position_embeddings=32, **sizes)).save_pretrained(tmp_path / "b")
    (report,) = audit(LocalEngine({}), State(str(tmp_path / "b"), sample="text:abcdefgh"), "shift", "float64", None, {})
    rows = {row.name: row.resampled_cumulative for row in report.layers}
    assert rows["embeddings.word_embeddings"] == 0.0 and (rows["encoder"] or 0.0) > 0.1
    vit = real.ViTModel(real.ViTConfig(image_size=24, patch_size=8, **sizes))
    vit.save_pretrained(tmp_path / "v")
    (report,) = audit(LocalEngine({}), State(str(tmp_path / "v")), "translation", "float64", None, {})
    assert (report.verdict, report.guilty) == ("broken", ("embeddings",))
