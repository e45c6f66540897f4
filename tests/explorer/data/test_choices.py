"""Choices of how data are read and fitted: the text of it, the readings of a table, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from PIL import Image

import main
from explorer.app.answering.engine import LocalEngine
from explorer.app.answering.importing import decide, look
from explorer.data.finding import base_of, find_sample, fitted, split_part
from explorer.data.opening import ambiguous, readings
from explorer.data.readers import ReadError
from explorer.declare.card import Form
from explorer.declare.telling.choices import split_asked, with_asked
from explorer.state.state import State

STATIONS = ("Berlin", "Oslo", "Rome")


def place(folder: Path, name: str, content: str) -> Path:
    (folder / name).write_text(content)
    return folder / name


def weather(folder: Path, stations: tuple[str, ...] = STATIONS) -> Path:
    """Write ten days of whole degrees: dates, numbers and words, which were once taken for edges."""
    lines = [
        f"2021-01-{day:02},{10 * k + day},{50 + day},{station}"
        for day in range(1, 11)
        for k, station in enumerate(stations)
    ]
    return place(folder, "weather.csv", "\n".join(["date,temperature,humidity,station", *lines]) + "\n")


def weeks(folder: Path) -> Path:
    return place(folder, "weeks.csv", "week,sales\n" + "".join(f"{k},{k * k % 7 + 90}\n" for k in range(1, 20)))


# the text


@pytest.mark.parametrize(
    ("text", "base", "asked"),
    [
        ("a.csv?as=series&columns=2,3", "a.csv", {"as": "series", "columns": "2,3"}), ("a.csv", "a.csv", {}),
        ("a.csv?as=series#2", "a.csv#2", {"as": "series"}), ("why?.csv", "why?.csv", {}),
        ("why?.csv?as=text", "why?.csv", {"as": "text"}), ("?as=text", "?as=text", {}), ("a?", "a?", {}),
        ("a.csv?as", "a.csv?as", {}),
    ],
)  # fmt: skip
def test_what_is_asked_stands_behind_the_name(text: str, base: str, asked: dict[str, str]) -> None:
    assert split_asked(text) == (base, asked)
    file, _, part = base.partition("#")
    assert not asked or with_asked(file, asked, part) == text


def test_a_file_with_such_a_name_is_that_file(tmp_path: Path) -> None:
    path = place(tmp_path, "a.csv?as=series", "1\n2\n")
    assert split_asked(str(path)) == (str(path), {})


def test_the_part_of_a_file_keeps_what_is_asked(tmp_path: Path) -> None:
    path = weather(tmp_path)
    text = f"{path}?as=series#2"
    assert split_part(text) == (f"{path}?as=series", "2") and base_of(text) == str(path)
    assert find_sample(text).x.values[0, 0] == 11


# what a file can be


def test_a_table_of_dates_numbers_and_words_is_a_series_without_a_question(tmp_path: Path) -> None:
    found = readings(weather(tmp_path))
    assert found[0][0].name == "series" and not ambiguous(found)
    assert "edges" not in [reader.name for reader, _ in found]


def test_prose_is_text_without_a_question(tmp_path: Path) -> None:
    path = place(tmp_path, "fox.txt", "The quick brown fox jumps over the lazy dog.\nIt sleeps.\n")
    assert decide(str(path), "graph").text == str(path) and not decide(str(path), "graph").ask
    assert readings(path)[0][0].name == "text"


@pytest.mark.parametrize(
    ("text", "ask"),
    [
        ("week,sales\n1,90\n2,80\n3,85\n", True), ("name,city,age\nAnn,Oslo,30\nBob,Rome,31\n", True),
        ("0,1\n1,2\n2,0\n", False), ("source,target\n0,1\n1,2\n", False), ("a,b\nb,c\nc,a\n", False),
        ("t,a\n0,1\n1,2\n", False), ("0.5,1\n1,2\n", False), ("# series\nweek,sales\n1,90\n2,80\n", False),
        ("year,spots\n1700,5\n1701,11\n", False), ("species,length\nsetosa,1.5\nsetosa,1.25\n", False),
    ],
)  # fmt: skip
def test_only_a_table_that_could_be_several_things_asks(text: str, ask: bool, tmp_path: Path) -> None:
    path = place(tmp_path, "a.csv", text)
    assert ambiguous(readings(path)) is ask
    assert decide(str(path), "grid").ask is ask


def test_a_table_of_thousands_of_columns_is_a_series(tmp_path: Path) -> None:
    """A heading longer than what is usually looked at: edges were offered, from its first two columns."""
    heading, row = (",".join(f"sensor number {k}" if top else "0.5" for k in range(4000)) for top in (True, False))
    path = place(tmp_path, "wide.csv", "\n".join([heading, row, row, row]) + "\n")
    assert readings(path)[0][0].name == "series" and not ambiguous(readings(path))
    assert find_sample(str(path)).x.values.shape == (3, 4000)


def test_the_kind_of_the_shown_model_decides_what_is_open(tmp_path: Path) -> None:
    path = str(weeks(tmp_path))
    assert decide(path, "graph").text == path and not decide(path, "graph").ask
    assert decide(path, "sequence").text == f"{path}?as=series" and not decide(path, "sequence").ask
    clear = str(weather(tmp_path))
    assert decide(clear, "graph").text == clear, "a table of dates is no list of edges, whatever is shown"


def test_what_was_chosen_for_a_folder_is_taken_where_it_fits(tmp_path: Path) -> None:
    path = str(weeks(tmp_path))
    assert decide(path, "graph", "as=series&columns=2").text == f"{path}?as=series&columns=2"
    assert decide(path, "grid", "as=series&columns=9").ask, "a file of another layout asks anew"


# what is chosen is done


def test_words_tell_series_apart_where_their_times_would_not_ascend(tmp_path: Path) -> None:
    sample = find_sample(str(weather(tmp_path)))
    assert sample.channels == ("temperature", "humidity") and sample.parts == 3
    assert_array_equal(sample.signals["batch"].values, np.repeat([0, 1, 2], 10))
    assert_array_equal(sample.x.values[:10, 0], np.arange(1, 11))
    assert sample.notes[0] == "one series for each station"
    one = find_sample(str(weather(tmp_path, ("Bonn",))))
    assert one.parts == 1 and one.notes[0] == "column station of words left out"


def test_columns_time_heading_and_scale_are_as_they_are_chosen(tmp_path: Path) -> None:
    path = weather(tmp_path, ("Bonn",))
    humid = find_sample(f"{path}?as=series&columns=3&time=none&scale=unit")
    assert humid.channels == ("humidity",) and "time" not in humid.signals
    assert_allclose(humid.x.values[:, 0], np.linspace(0, 1, 10), atol=1e-6)
    assert "column humidity: 1 of 2" in humid.notes and "scaled to 0 to 1" in humid.notes
    timed = find_sample(f"{weeks(tmp_path)}?as=series&time=1&scale=standard")
    assert timed.channels == ("sales",) and timed.signals["time"].values[0] == 1
    assert timed.x.values.mean() == pytest.approx(0, abs=1e-6) and timed.x.values.std() == pytest.approx(1, rel=1e-5)
    plain = place(tmp_path, "plain.csv", "1,2\n3,4\n5,6\n")
    assert len(find_sample(f"{plain}?as=series&header=yes").x.values) == 2
    assert find_sample(f"{plain}?as=series&header=yes").channels == ("1", "2")


def test_edges_are_read_from_the_columns_that_are_chosen(tmp_path: Path) -> None:
    path = place(tmp_path, "a.csv", "n,a,b\n5,0,1\n6,1,2\n")
    graph = find_sample(f"{path}?as=edges&source=2&target=3&weight=1&directed=yes")
    assert graph.directed and graph.x.values.shape[0] == 3
    assert_array_equal(graph.signals["edge_index"].values, [[0, 1], [1, 2]])
    assert_array_equal(graph.signals["edge_weight"].values, [5, 6])


def test_a_table_is_text_where_that_is_chosen(tmp_path: Path) -> None:
    assert "".join(find_sample(f"{place(tmp_path, 'a.csv', '1,2')}?as=text").names) == "1,2"


def test_an_array_is_a_series_where_that_is_chosen(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.random.default_rng(0).standard_normal((200, 3)))
    assert find_sample(f"{tmp_path / 'a.npy'}").domain == "points"
    assert find_sample(f"{tmp_path / 'a.npy'}?as=series-array").domain == "sequence"


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ("as=nonsense", "cannot be read as 'nonsense'; write as=series, as=text"), ("foo=1", "'foo' cannot be chosen"),
        ("as=edges", "cannot be read as 'edges'"), ("columns=4", "columns=4 is none of"), ("time=soon", "time=soon is"),
        ("columns=2,2x", "columns=2x is none of"), ("header=perhaps", "header=perhaps is none of yes, no"),
    ],
)  # fmt: skip
def test_what_cannot_be_chosen_is_refused_in_a_sentence(asked: str, says: str, tmp_path: Path) -> None:
    with pytest.raises(ReadError) as caught:
        find_sample(f"{weather(tmp_path)}?{asked}")
    assert says in str(caught.value) and "the reader" not in str(caught.value) and "\n" not in str(caught.value)


# pictures


def wide(folder: Path) -> Path:
    pixels = np.zeros((40, 80, 3), np.uint8)
    pixels[:, :20, 0] = 255  # red at the left, which a crop loses
    Image.fromarray(pixels).save(folder / "wide.png")
    return folder / "wide.png"


def image_form() -> Form:
    return main.cards()["d4-cnn"].input


def test_a_picture_is_cropped_padded_or_stretched_and_each_is_told(tmp_path: Path) -> None:
    path, form = wide(tmp_path), image_form()
    cropped = fitted(find_sample(str(path)), form)
    assert cropped.notes == ("colour turned grey (Rec. 709)", "40x80 cropped to 40x40, resized to 29x29")
    assert cropped.x.values.max() < 0.05
    stretched = fitted(find_sample(f"{path}?fit=stretch&colour=red"), form)
    assert stretched.notes == ("red alone of three colours", "40x80 stretched to 29x29")
    assert stretched.x.values[0, :, :6].min() > 0.9
    padded = fitted(find_sample(f"{path}?fit=pad&colour=blue"), form)
    assert padded.notes[1] == "40x80 resized to 14x29, padded to 29x29" and padded.x.values.shape == (1, 29, 29)
    with pytest.raises(ValueError, match="fit=tile is none of crop, pad, stretch"):
        find_sample(f"{path}?fit=tile")


def test_samples_of_the_program_are_fitted_as_it_is_chosen() -> None:
    assert fitted(find_sample("digit-3?fit=pad"), image_form()).choice("fit", "") == "pad"
    with pytest.raises(ValueError, match="'colour' cannot be chosen"):
        find_sample("digit-3?colour=red")


def test_edges_that_a_network_takes_no_weights_of_are_told() -> None:
    told = fitted(find_sample("florentine-families"), main.cards()["gcn"].input).notes
    weighted = any("weights" in note for note in told)
    assert weighted is ("edge_weight" in find_sample("florentine-families").signals)


# the page


def test_a_look_has_what_the_page_shows(tmp_path: Path) -> None:
    engine, path = LocalEngine(main.cards()), weather(tmp_path)
    state = State("gcn", sample=f"{path}?as=series&columns=2", device="cpu")
    found = look(engine, state, ["gcn", "strand-cnn", "lstm"])
    assert found.model == "lstm", "a graph network takes no series, and one on DNA neither"
    assert found.head[0] == ("date", "temperature", "humidity", "station") and found.picture is not None
    values = {choice.name: choice.value for choice in found.choices}
    assert values == {
        "columns": "2", "time": "1", "label": "none", "series": "none", "header": "yes", "scale": "none",
    }  # fmt: skip
    assert {way.name for way in found.ways} == {"series", "text"} and found.way == "series"
    bad = look(engine, replace_sample(state, f"{path}?as=series&series=none"), ["lstm"])
    assert "sort the lines by time" in bad.problem and bad.head and not bad.model


def test_a_look_shows_a_cell_with_line_breaks_as_one(tmp_path: Path) -> None:
    path = place(tmp_path, "a.csv", 'date,note,price\n2024-01-01,"first\nsecond, line",1.5\n2024-01-02,"x, y",2.5\n')
    found = look(LocalEngine(main.cards()), State("lstm", sample=str(path), device="cpu"), ["lstm"])
    assert found.head[1:] == (("2024-01-01", "first second, line", "1.5"), ("2024-01-02", "x, y", "2.5"))


def test_a_look_takes_the_first_way_that_succeeds_where_nobody_has_chosen(tmp_path: Path) -> None:
    (tmp_path / "names.txt").write_text("one two three\nfour five\n")
    engine, state = LocalEngine(main.cards()), State("gcn", sample=str(tmp_path / "names.txt"), device="cpu")
    found = look(engine, state, ["gcn", "lstm"])
    assert found.way == "text" != found.ways[0].name and not found.problem and found.model == "lstm"
    assert "edge" in look(engine, replace_sample(state, f"{state.sample}?as=edges"), ["gcn"]).problem


def replace_sample(state: State, text: str) -> State:
    return State(state.model, sample=text, device=state.device)
