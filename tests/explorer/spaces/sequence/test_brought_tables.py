"""Tables as people bring them: units, dates of several forms, Unix times, numbered lines, empty columns, JSON."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from explorer.data.in_process import choices, read_file, reader_of
from explorer.data.readers import ReadError
from explorer.data.writers import write_file
from explorer.declare.samples import Sample

DAY = 86_400.0


def read(tmp_path: Path, name: str, text: str, asked: dict[str, str] | None = None) -> Sample:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return read_file(path, asked=asked or {})


def test_a_line_of_units_goes_to_the_names_of_the_columns(tmp_path: Path) -> None:
    sample = read(tmp_path, "a.csv", "date,temp,hum\n,degC,%\n2024-01-01,5.5,60\n2024-01-02,6.5,61\n")
    assert sample.channels == ("temp (degC)", "hum (%)") and "line 2 holds units" in sample.notes
    assert sample.x.values.tolist() == [[5.5, 60], [6.5, 61]]


def test_a_name_with_a_gap_beside_it_is_no_line_of_units(tmp_path: Path) -> None:
    sample = read(tmp_path, "a.csv", "time,who,score\n0,Ann,\n1,Bob,3\n2,Cem,4\n")
    assert len(sample.x.values) == 3 and not any("units" in note for note in sample.notes)


@pytest.mark.parametrize(
    ("first", "second", "order"),
    [
        ("1/31/2024", "2/1/2024", "month/day"),  # there is no month 31
        ("31/1/2024", "1/2/2024", "day/month"),
        ("3/1/2024", "1/2/2024", "day/month"),  # only so do they ascend
        ("1/1/2024", "2/1/2024", "month/day"),  # both may be: said, and to be changed
    ],
)
def test_what_a_date_with_slashes_means(first: str, second: str, order: str, tmp_path: Path) -> None:
    text = f"day,amount\n{first},1.5\n{second},2.5\n"
    sample = read(tmp_path, "a.csv", text)
    assert f"dates read as {order}/year" in sample.notes
    (asked,) = (c for c in choices(tmp_path / "a.csv", "series", {}) if c.name == "dates")
    assert asked.value == ("mdy" if order == "month/day" else "dmy")


def test_a_person_may_say_which_is_the_month(tmp_path: Path) -> None:
    text = "day,amount\n1/1/2024,1.5\n2/1/2024,2.5\n"
    own = read(tmp_path, "a.csv", text, {"dates": "dmy"})
    assert own.signals["time"].values.tolist() == [0, 1] and own.calendar == (1_704_067_200.0, DAY)


@pytest.mark.parametrize("clock", ["1:30 PM", "13:30"])
def test_a_clock_behind_a_date(clock: str, tmp_path: Path) -> None:
    sample = read(tmp_path, "a.csv", f"day,amount\n1/31/2024 {clock},1.5\n2/1/2024 {clock},2.5\n")
    assert sample.calendar[0] % DAY == 13.5 * 3600


@pytest.mark.parametrize("unit", [1, 1000])
def test_times_since_1970_are_dates(unit: int, tmp_path: Path) -> None:
    text = "timestamp,load\n" + "".join(f"{(1_704_067_200 + 600 * k) * unit},{k % 7}\n" for k in range(20))
    sample = read(tmp_path, "a.csv", text)
    assert sample.calendar == (1_704_067_200.0, 1.0)
    assert np.array_equal(sample.signals["time"].values, 600.0 * np.arange(20))
    assert any("since 1970 read as dates" in note for note in sample.notes)


def test_years_are_no_seconds(tmp_path: Path) -> None:
    sample = read(tmp_path, "a.csv", "time,x\n2020,1\n2021,2\n2022,3\n")
    assert not sample.calendar and sample.signals["time"].values[0] == 2020


def test_a_heading_of_years_above_numbered_lines(tmp_path: Path) -> None:
    text = ",station,2020,2021,2022\n" + "".join(f"{k},S{k},{k + 0.5},,{k}\n" for k in range(6))
    sample = read(tmp_path, "a.csv", text)
    assert sample.channels == ("2020", "2022") and len(sample.x.values) == 6
    assert "without a number, left out: 2021" in sample.notes


@pytest.mark.parametrize(
    "text",
    ['[{"time": 0, "x": 1.5, "who": "a"}, {"time": 1, "x": 2.5, "who": "b"}]', '{"time": [0, 1], "x": [1.5, 2.5]}'],
)
def test_json_is_read_as_the_table_that_it_is(text: str, tmp_path: Path) -> None:
    sample = read(tmp_path, "a.json", text)
    assert sample.domain == "sequence" and sample.channels == ("x",)
    assert sample.x.values.tolist() == [[1.5], [2.5]] and sample.signals["time"].values.tolist() == [0, 1]


@pytest.mark.parametrize("text", ['{"nodes": [{"id": 0}], "links": []}', '{"links": [], "nodes": [{"id": 1}]}'])
def test_a_graph_in_json_is_no_table(text: str, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(text)
    assert reader_of(tmp_path / "a.json").name == "node-link"


def test_a_list_of_pairs_in_json_is_the_edges_of_a_graph(tmp_path: Path) -> None:
    sample = read(tmp_path, "a.json", '[["a", "b"], ["b", "c", 2.5], ["c", "a"]]')
    assert sample.domain == "graph" and sample.names == ("a", "b", "c")
    assert sorted(sample.signals["edge_weight"].values.ravel().tolist()) == [1, 1, 1, 1, 2.5, 2.5]


@pytest.mark.parametrize(
    ("days", "clocks"),
    [
        (("01.01.2024", "01.01.2024", "02.01.2024"), ("00:00", "01:00", "00:00")),
        (("2024-01-01", "2024-01-01", "2024-01-02"), ("12:00 AM", "1:00 AM", "12:00 AM")),
        (("2024-01-01", "2024-01-01", "2024-01-02"), ("0:00:00", "1:00:00", "0:00:00")),
    ],
)
def test_a_clock_beside_the_days_is_part_of_the_time(
    days: tuple[str, ...], clocks: tuple[str, ...], tmp_path: Path
) -> None:
    """Each hour became a series of its own: within one of them the days ascend."""
    rows = "".join(f"{day};{clock};{k},5\n" for k, (day, clock) in enumerate(zip(days, clocks, strict=True)))
    sample = read(tmp_path, "a.csv", f"Datum;Uhrzeit;Temperatur\n{rows}")
    assert sample.channels == ("Temperatur",) and "batch" not in sample.signals
    assert sample.signals["time"].values.ravel().tolist() == [0, 3600, 86400]
    assert sample.notes[0] == "Datum and Uhrzeit together are the time"


@pytest.mark.parametrize("text", ["date,temp,hum\n", "source,target\n", "time,x\n", "# made today\ndate,temp\n"])
def test_a_heading_alone_is_no_graph(text: str, tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="is a heading and no"):
        read(tmp_path, "a.csv", text)


def test_one_edge_is_still_a_graph(tmp_path: Path) -> None:
    assert len(read(tmp_path, "a.csv", "Ann,Bob\n").names) == 2


@pytest.mark.parametrize("text", ["2024-03-01", "2024-03-01 06:30"])
def test_dates_come_back_from_a_file(text: str, tmp_path: Path) -> None:
    later = text.replace("-01", "-03", 1) if len(text) == 10 else text.replace("06:30", "07:45")
    sample = read(tmp_path, "a.csv", f"date,x\n{text},1.5\n{later},2.5\n")
    write_file(sample, tmp_path / "b.csv")
    again = read_file(tmp_path / "b.csv")
    assert again.calendar == sample.calendar
    assert np.array_equal(again.signals["time"].values, sample.signals["time"].values)


@pytest.mark.parametrize(
    ("cells", "values", "note"),
    [
        (("1.234,50", "998,10", "12.000,00"), [1234.5, 998.1, 12000], "points of price part thousands"),
        (("1 234,50", "998,10", "12 000,00"), [1234.5, 998.1, 12000], "spaces or quotes of price part thousands"),
        (("1\u202f234,50", "-3,5", "2,25"), [1234.5, -3.5, 2.25], "spaces or quotes of price part thousands"),
        (("1'234.5", "998", "12'000"), [1234.5, 998, 12000], "spaces or quotes of price part thousands"),
        (("12 %", "7,5 %", "-3 %"), [12, 7.5, -3], "signs of money or per cent left out of price"),
        (("$5.50", "$1,200.00", "$0.25"), [5.5, 1200, 0.25], "signs of money or per cent left out of price"),
        (("1.234.567", "2.000.000", "1.500"), [1234567, 2000000, 1500], "points of price part thousands"),
    ],
)
def test_numbers_as_spreadsheets_of_many_countries_write_them(
    cells: tuple[str, ...], values: list[float], note: str, tmp_path: Path
) -> None:
    lines = "".join(f"0{k + 1}.02.2024;{cell}\n" for k, cell in enumerate(cells))
    sample = read(tmp_path, "a.csv", f"Datum;price\n{lines}")
    assert sample.x.values[:, 0].tolist() == pytest.approx(values) and note in sample.notes


def test_one_word_in_a_column_and_its_numbers_stay_words(tmp_path: Path) -> None:
    sample = read(tmp_path, "a.csv", "Datum;price;n\n01.02.2024;1.234,50;1\n02.02.2024;on request;2\n")
    assert sample.channels == ("n",) and "column price of words left out" in sample.notes


def test_months_are_a_time_axis(tmp_path: Path) -> None:
    sample = read(tmp_path, "a.csv", "Monat;n\n12.2023;1\n01.2024;2\n02.2024;4\n")
    assert sample.signals["time"].values.tolist() == [0, 31, 62] and "time: days since 2023-12-01" in sample.notes
    plain = read(tmp_path, "b.csv", "level;n\n12.2023;1\n11.2024;2\n10.2024;4\n")
    assert plain.channels == ("level", "n"), "numbers that could be months are numbers"


def test_a_log_of_json_lines_has_dates_words_and_objects(tmp_path: Path) -> None:
    rows = [
        '{"ts": "2024-01-01T00:00:00Z", "acc": {"x": 0.5, "y": 1}, "who": "Ann", "on": true}',
        '{"ts": "2024-01-01T00:00:02Z", "acc": {"x": 1.5, "y": null}, "who": "Bob", "on": false}',
        '{"ts": "2024-01-01T00:00:04Z", "acc": {"x": 2.5, "y": 3}, "who": "Ann", "on": true}',
    ]
    sample = read(tmp_path, "a.jsonl", "\n".join(rows) + "\n")
    assert sample.channels == ("acc.x", "acc.y", "on") and "column who of words left out" in sample.notes
    assert sample.x.values.tolist() == [[0.5, 1, 1], [1.5, 2, 0], [2.5, 3, 1]]
    assert sample.signals["time"].values.tolist() == [0, 2, 4]
    names = {choice.name for choice in choices(tmp_path / "a.jsonl", "jsonl", {})}
    assert {"columns", "time", "scale"} <= names and "header" not in names


def test_a_cell_in_quotes_may_have_line_breaks_and_commas_in_it(tmp_path: Path) -> None:
    """The table was refused: "line 2 has 3 columns in place of 4"."""
    text = 'date,units,note\n02/01/2024,"1,000","first line\nsecond, line"\n02/14/2024,"1,037","plain, text"\n'
    sample = read(tmp_path, "a.csv", text + '02/27/2024,"1,074","a\n\nb"\n')
    assert sample.x.values.ravel().tolist() == [1000, 1037, 1074]
    assert "column note of words left out" in sample.notes
    with pytest.raises(ReadError, match="line 5"):  # as an editor counts them
        read(tmp_path, "b.csv", text + "02/27/2024,x,y\n")


def test_a_quote_that_nothing_closes_is_a_letter(tmp_path: Path) -> None:
    sample = read(tmp_path, "a.csv", 't,size,what\n0,1.5,5" pipe\n1,2.5,"open\n2,3.5,end\n')
    assert sample.x.values.ravel().tolist() == [1.5, 2.5, 3.5]


@pytest.mark.parametrize(
    ("head", "channels", "told"),
    [
        (
            "time,accel,accel\n,x,y\ns,m/s2,m/s2\n",
            ("accel (x, m/s2)", "accel (y, m/s2)"),
            "lines 1 to 3 are the heading",
        ),
        (",north,north\n,rain,wind\ntime,,\n", ("north (rain)", "north (wind)"), "lines 1 to 3 are the heading"),
        ("Station 7,,\nmade,2024-05-01,\n,,\ntime,rain,wind\n", ("rain", "wind"), "3 lines above the table left out"),
        ("Station 7\n\ntime,rain,wind\ns,mm,m/s\n", ("rain (mm)", "wind (m/s)"), "1 line above the table left out"),
    ],
)
def test_a_heading_of_several_lines_names_the_columns(
    tmp_path: Path, head: str, channels: tuple[str, ...], told: str
) -> None:
    text = head + "".join(f"{k},{k * 1.5},{3 - k * 0.5}\n" for k in range(12))
    sample = read(tmp_path, "a.csv", text)
    assert sample.channels == channels and told in sample.notes
    assert sample.x.values.shape == (12, 2) and sample.x.values[:, 0].tolist() == [1.5 * k for k in range(12)]
