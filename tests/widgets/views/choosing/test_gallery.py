"""The Gallery of models: clicks ask for it, the search finds it, the marks follow the state."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import QEvent, QRectF, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QImage, QPainter
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

import main
from explorer.declare.card import ModelInfo
from explorer.state.catalogue import Catalogue, SampleInfo
from explorer.state.state import State
from tests.widgets.parts.driving.view_driving import click, gather, objects, odd_frames, opened
from tests.widgets.parts.driving.windows import activate
from tests.widgets.parts.frames.sample_catalogue import make_catalogue, make_info
from tests.widgets.parts.frames.sample_frames import make_frame
from widgets.base.settings import open_settings
from widgets.base.text.groups import written
from widgets.base.text.kinds_of_data import FAMILIES
from widgets.views.choosing.cards import COUNT, IMAGE, INFO
from widgets.views.choosing.filters import Favourites
from widgets.views.choosing.gallery import GalleryView
from widgets.views.choosing.model_card import MOST_LINES, fitted, paint_lines
from widgets.views.choosing.own_networks import own_models
from widgets.views.choosing.pictures import FOLDER, SIZE, THEMES, thumbnail

ODD = odd_frames()


@pytest.fixture
def view(qtbot):
    view = opened(qtbot, GalleryView(), 250, 500)
    view.show_catalogue(make_catalogue(7))
    view.set_state(State(sample="digit-3"))
    return view


def item(cards, name):
    rows = (cards.item(i) for i in range(cards.count()))
    return next(i for i in rows if i.data(INFO) is not None and i.data(INFO).name == name)


def press(cards, name):
    at = cards.visualItemRect(item(cards, name)).center()
    click(cards.viewport(), at.x() - 40, at.y())


def left(cards):
    return [cards.item(i).text() for i in range(cards.count()) if not cards.item(i).isHidden()]


def test_a_loading_state_comes_first(qtbot):
    view = opened(qtbot, GalleryView(), 250, 400)
    assert view.loading.isVisible() and "torch" in view.loading.text
    view.show_catalogue(make_catalogue())
    assert not view.loading.isVisible() and view.models.isVisible()


def test_models_stand_by_domain_and_row(view):
    names = [getattr(view.models.item(i).data(INFO), "name", "") for i in range(view.models.count())]
    assert names == ["", "model-2", "plain-cnn", "model-4", "model-6", "d4-cnn", "", "model-3", "model-5"]
    assert view.models.item(0).text() == "Images"


def test_a_click_asks_for_the_model(view):
    wishes = gather(view)
    press(view.models, "plain-cnn")
    assert [w.changes for w in wishes] == [{"model": "plain-cnn", "params": (), "layer": ""}]
    heading = view.models.visualItemRect(view.models.item(0)).center()
    click(view.models.viewport(), heading.x(), heading.y())
    assert len(wishes) == 1


def test_the_compare_button_asks_for_the_second_model_and_ends_it(view):
    wishes = gather(view)
    place = view.models.compare_rect(view.models.visualItemRect(item(view.models, "plain-cnn"))).center()
    click(view.models.viewport(), place.x(), place.y())
    assert [w.changes for w in wishes] == [{"compare": "plain-cnn"}]
    view.set_state(State(compare="plain-cnn"))
    click(view.models.viewport(), place.x(), place.y())
    assert wishes[-1].changes == {"compare": ""}


def test_on_graphs_a_third_model_joins_and_each_leaves_alone(view):
    wishes = gather(view)
    view.set_state(State(model="model-3", compare="a-file.py:Net"))
    place = view.models.compare_rect(view.models.visualItemRect(item(view.models, "model-5"))).center()
    click(view.models.viewport(), place.x(), place.y())
    assert wishes[-1].changes == {"compare": "a-file.py:Net,model-5"}
    view.set_state(State(model="model-3", compare="a-file.py:Net,model-5"))
    click(view.models.viewport(), place.x(), place.y())
    assert wishes[-1].changes == {"compare": "a-file.py:Net"}


def test_the_model_shown_has_no_compare_button(view):
    wishes = gather(view)
    place = view.models.compare_rect(view.models.visualItemRect(item(view.models, "d4-cnn"))).center()
    click(view.models.viewport(), place.x(), place.y())
    assert [list(w.changes) for w in wishes] == [["model", "params", "layer"]]


def test_choosing_the_second_model_ends_the_comparison(view):
    view.set_state(State(compare="plain-cnn"))
    wishes = gather(view)
    press(view.models, "plain-cnn")
    assert wishes[-1].changes == {"model": "plain-cnn", "params": (), "layer": "", "compare": ""}


def test_the_menu_compares(view):
    wishes = gather(view)
    menu = view.menu_for(item(view.models, "plain-cnn"))
    show, compare, star = menu.actions()  # nothing is compared, so nothing is there to be stopped
    assert "favourite" in star.text()
    compare.trigger()
    show.trigger()
    assert [w.changes.get("compare", w.changes.get("model")) for w in wishes] == ["plain-cnn", "plain-cnn"]
    assert view.menu_for(view.models.item(0)) is None
    menu.deleteLater()


def test_return_asks_for_the_model_too(view):
    wishes = gather(view)
    view.models.setCurrentItem(item(view.models, "model-4"))
    assert not wishes  # walking through the list asks for nothing
    QTest.keyClick(view.models, Qt.Key.Key_Return)
    assert wishes[-1].changes["model"] == "model-4"


def test_a_click_asks_for_the_sample(view):
    view.tabs.setCurrentIndex(1)
    wishes = gather(view)
    at = view.data.visualItemRect(item(view.data, "digit-1")).center()
    click(view.data.viewport(), at.x(), at.y())
    assert [w.changes for w in wishes] == [{"sample": "digit-1"}]


def test_thumbnails_are_the_pixels_of_the_samples(view):
    sample = make_catalogue().samples[2]
    image = item(view.data, "digit-2").data(IMAGE)
    colour = image.pixelColor(3, 7)
    assert (colour.red(), colour.green(), colour.blue()) == tuple(sample.thumbnail[7, 3])
    assert item(view.data, "digit-4").data(IMAGE).isNull()


@pytest.mark.parametrize(
    ("words", "models", "data"),
    [("plain", 1, 0), ("PLAIN cnn", 1, 0), ("g7", 1, 0), ("d4", 1, 0), ("handwritten 3", 0, 1), ("graph", 2, 0),
     ("zebra", 0, 0), ("  ", 7, 5)],
)  # fmt: skip
def test_the_search_filters_both(view, words, models, data):
    view.search.setText(words)
    assert len([t for t in left(view.models) if t not in ("Graphs", "Images")]) == models
    assert len([t for t in left(view.data) if t != "Images"]) == data
    assert view.nothing.isVisible() == (models == 0)
    if words == "handwritten 3":
        assert "among the data" in view.nothing.text()
    if words == "graph":
        assert left(view.models)[0] == "Graphs"  # a heading with nothing under it is gone
    view.search.clear()
    assert len(left(view.models)) == 9 and view.models.isVisible()


def test_the_marks_follow_the_state_without_an_answer(view):
    wishes = gather(view)
    view.set_state(make_frame(compare=True).state)
    assert (view.models.current, view.models.second, view.data.current) == ("d4-cnn", "plain-cnn", "digit-3")
    view.set_frame(make_frame())
    assert view.models.second == "plain-cnn"  # a frame that comes late says nothing about the choice
    view.set_state(State(model="plain-cnn", sample=""))
    assert (view.models.current, view.data.current) == ("plain-cnn", "digit-3")  # the model's own sample
    assert not wishes


def test_a_network_with_other_weights_is_marked_as_its_card_is(view):
    name, other = (view.models.info(item(view.models, m.name)).name for m in make_catalogue(7).models[:2])
    view.set_state(State(name, sample="digit-3"))
    domain = view.data.domain
    assert view.models.current == name and domain
    view.set_state(State(f"{other}@/tmp/training.safetensors", sample="digit-3"))
    assert view.models.current == other
    view.set_state(State(f"{name}@/tmp/training.safetensors", sample="digit-3"))
    assert view.models.current == name and view.data.domain == domain


def test_alone_it_follows_frames(qtbot):
    view = opened(qtbot, GalleryView(), 250, 400)
    view.set_frame(make_frame(compare=True))
    view.show_catalogue(make_catalogue())
    assert (view.models.current, view.models.second) == ("d4-cnn", "plain-cnn")


def test_an_empty_catalogue_is_said(view):
    view.show_catalogue(Catalogue((), (), (), (), ()))
    assert view.nothing.isVisible()
    view.grab()


def test_long_and_odd_cards_are_drawn(view):
    groups = tuple(f"C{k}" for k in range(2, 40))
    odd = [make_info("a" * 90, title="T" * 300, groups=groups, rows=tuple(f"G{k}" for k in range(60))),
           make_info("b", title="", groups=(), rows=(), domain="knot", summary="<b>&"), make_info("c")]  # fmt: skip
    view.show_catalogue(Catalogue(tuple(odd), make_catalogue().samples, (), (), ()))
    for width in (120, 250, 700):
        view.resize(width, 300)
        for tab in (0, 1):
            view.tabs.setCurrentIndex(tab)
            view.grab()


@pytest.mark.parametrize("name", ODD)
def test_odd_frames_are_drawn(view, name):
    view.set_frame(ODD[name])
    view.grab()
    view.numbers(), view.caption(), view.figure_size()


def test_nothing_is_made_anew_on_a_frame(view):
    before = objects(view)
    for i in range(50):
        view.set_frame(make_frame(compare=bool(i % 2)))
        view.grab()
    assert objects(view) == before


def mixed(count=30):
    """Return a catalogue of images, graphs and sets, not in the order of the headings."""
    domains = ["set", "grid", "graph"] * count
    samples = [SampleInfo(f"s{k}", f"sample {k}", domain) for k, domain in enumerate(domains)]
    models = [make_info(f"m-{domain}", domain=domain) for domain in ("graph", "grid", "set")]
    return Catalogue(tuple(models), tuple(samples), (), (), ())


def tone(view, name):
    """Return the largest difference from the ground among the pixels of a sample's tile."""
    view.data.viewport().setAttribute(Qt.WidgetAttribute.WA_UnderMouse, False)
    rect = view.data.visualItemRect(item(view.data, name))
    picture = view.data.viewport().grab(rect).toImage()
    ground = picture.pixelColor(0, 0).lightness()
    points = [(i, j) for i in range(picture.width()) for j in range(picture.height())]
    return max(abs(picture.pixelColor(i, j).lightness() - ground) for i, j in points)


def test_samples_stand_in_rows_under_the_heading_of_their_domain(view):
    view.show_catalogue(mixed())
    view.tabs.setCurrentIndex(1)
    view.resize(250, 3000)
    view.grab()
    rows = [view.data.item(i) for i in range(view.data.count())]
    headings = [i for i in rows if i.data(INFO) is None]
    assert [h.text() for h in headings] == ["Images", "Graphs", "Sets"]
    assert [h.data(COUNT) for h in headings] == [30, 30, 30]
    port = view.data.viewport().rect()
    places = [view.data.visualItemRect(h) for h in headings]
    assert all(place.width() > 0.9 * port.width() for place in places), "a row of its own"
    for k, domain in enumerate(("grid", "graph", "set")):
        mine = [view.data.visualItemRect(i) for i in rows if i.data(INFO) is not None and i.data(INFO).domain == domain]
        assert all(m.top() >= places[k].bottom() for m in mine)
        assert k == 2 or all(m.bottom() <= places[k + 1].top() for m in mine)
        assert len({m.left() for m in mine}) == 3, "three tiles share the width"
        assert all(port.left() <= m.left() and m.right() <= port.right() for m in mine)


def test_samples_that_the_model_cannot_take_step_back(view):
    view.show_catalogue(mixed())
    view.tabs.setCurrentIndex(1)
    view.resize(250, 3000)
    view.set_state(State(model="m-graph", sample="s2"))
    assert tone(view, "s1") < 0.7 * tone(view, "s5")  # an image; a graph
    assert abs(tone(view, "s0") - tone(view, "s5")) < 5, "a set is a graph without edges"
    view.set_state(State(model="m-grid", sample="s1"))
    assert tone(view, "s5") < 0.7 * tone(view, "s4")
    wishes = gather(view)
    at = view.data.visualItemRect(item(view.data, "s5")).center()
    click(view.data.viewport(), at.x(), at.y())
    assert wishes[-1].changes == {"sample": "s5"}, "it can be chosen all the same"
    heading = view.data.visualItemRect(view.data.item(0)).center()
    click(view.data.viewport(), heading.x(), heading.y())
    assert len(wishes) == 1


def test_the_sample_in_use_is_in_sight_when_its_list_is_shown(qtbot):
    view = opened(qtbot, GalleryView(), 250, 300)
    view.show_catalogue(mixed())
    view.set_state(State(model="m-set", sample="s87"))
    view.tabs.setCurrentIndex(1)
    port = view.data.viewport().rect()
    assert port.contains(view.data.visualItemRect(item(view.data, "s87")))


def test_the_search_knows_domains_and_families(view):
    view.show_catalogue(Catalogue((make_info("gcn", domain="graph", rows=("N1",)), make_info("x")), (), (), (), ()))
    for words in ("graphs", "n1", "messages attention"):
        view.search.setText(words)
        assert left(view.models) == ["Graphs", "Gcn"], words
    assert view.models.item(2).data(COUNT) == 1 and view.models.item(0).isHidden()


def test_every_family_of_models_has_a_name_in_the_menus():
    rows = {row for card in main.cards().values() for row in card.rows}
    assert rows and rows <= {row for row, name in FAMILIES.items() if name}


def test_the_model_in_use_is_brought_into_sight(qtbot):
    view = opened(qtbot, GalleryView(), 250, 200)
    view.set_state(State(model="model-38", sample="digit-3"))
    view.show_catalogue(make_catalogue(40))
    port = view.models.viewport().rect()
    assert port.contains(view.models.visualItemRect(item(view.models, "model-38")).center())
    view.set_state(State(model="model-2", sample="digit-3"))
    assert port.contains(view.models.visualItemRect(item(view.models, "model-2")).center())


# pictures, filters, favourites, networks of one's own --------------------------------------------------------


def shown(view):
    cards = view.models
    return [cards.info(cards.item(r)).name for r in range(cards.count())
            if cards.info(cards.item(r)) is not None and not cards.item(r).isHidden()]  # fmt: skip


def test_every_model_has_a_picture_or_its_card_has_words():
    have = {name: {p.stem for p in (FOLDER / name).glob("*.webp")} for name in THEMES}
    assert have["light"] == have["dark"] and len(have["light"]) > 80
    assert sum(p.stat().st_size for p in FOLDER.rglob("*.webp")) < 1_500_000
    for name in have["light"]:
        for theme_name in THEMES:
            image = thumbnail(name, theme_name)
            assert image is not None and (image.width(), image.height()) == (2 * SIZE[0], 2 * SIZE[1])
    assert thumbnail("no-such-model", "light") is None and thumbnail("/a/net.py:Net", "light") is None


def test_titles_take_two_lines(qtbot):
    image = QImage(300, 100, QImage.Format.Format_RGB32)
    painter = QPainter(image)
    box, font = QRectF(0, 0, 120, 60), QFont()
    assert paint_lines(painter, "Short", box, font) == 1
    assert (
        paint_lines(painter, "A title that is too long for one line of a card and for two lines of it", box, font) == 2
    )
    painter.end()


@pytest.mark.parametrize("width", [230, 380])
def test_no_title_of_a_model_is_cut(qtbot, width):
    view = opened(qtbot, GalleryView(), width, 500)
    infos = tuple(make_info(card.name, title=card.title) for card in main.cards().values())
    view.show_catalogue(replace(make_catalogue(1), models=infos))
    cards = view.models
    delegate, metrics = cards.itemDelegate(), QFontMetricsF(cards.font())
    for row in range(cards.count()):
        if (info := cards.info(cards.item(row))) is None:
            continue
        rect = cards.visualItemRect(cards.item(row))
        box = delegate.title_box(rect)
        image = QImage(400, 100, QImage.Format.Format_RGB32)
        painter = QPainter(image)
        lines = paint_lines(painter, info.title, box, cards.font(), most=99)
        painter.end()
        bottom = box.top() + lines * metrics.height()
        assert bottom <= rect.bottom() - metrics.height(), f"{info.title!r} takes {lines} lines"
        assert lines <= MOST_LINES


@pytest.mark.parametrize("name", ["trained", "fault"])
def test_switches_leave_some_out(view, name):
    every = shown(view)
    view.filters.switches[name].click()
    told = {m.name: m.trained if name == "trained" else m.name.startswith("fault-") for m in view.catalogue.models}
    assert shown(view) == [n for n in every if told[n]] != every
    view.filters.clear()
    assert shown(view) == every


def test_a_kind_of_data_and_a_group_are_chosen_together(view):
    kinds, groups = view.filters.kind, view.filters.group
    infos = {m.name: m for m in view.catalogue.models}
    claimed = next(m for m in infos.values() if m.groups)
    kinds.setCurrentIndex(kinds.findData(claimed.domain))
    assert claimed.name in shown(view) and {infos[n].domain for n in shown(view)} == {claimed.domain}
    groups.setCurrentIndex(groups.findData(claimed.groups[0]))
    left = shown(view)
    assert claimed.name in left and all(claimed.groups[0] in infos[n].groups for n in left)
    assert left == [m for m in left if infos[m].domain == claimed.domain]


def test_no_kind_of_data_is_offered_a_group_that_none_of_its_models_claims(view):
    kinds, groups = view.filters.kind, view.filters.group
    infos = {m.name: m for m in view.catalogue.models}
    every = groups.count()
    for k in range(1, kinds.count()):
        kinds.setCurrentIndex(k)
        assert groups.currentIndex() == 0  # what the kind before had is chosen no more
        offered = {groups.itemData(i) for i in range(1, groups.count())}
        assert offered == {g for n in shown(view) for g in infos[n].groups}
        groups.setCurrentIndex(groups.count() - 1)
        assert shown(view)
    view.filters.clear()
    assert groups.count() == every


def test_what_is_left_is_seen_from_its_beginning(view):
    view.models.scrollToBottom()
    view.filters.switches["trained"].click()
    assert view.models.verticalScrollBar().value() == 0


def test_a_star_is_kept(view, qtbot):
    name = shown(view)[1]
    star = view.models.itemDelegate().star_rect(view.models.visualItemRect(item(view.models, name)))
    wishes = gather(view)
    qtbot.mouseClick(view.models.viewport(), Qt.MouseButton.LeftButton, pos=star.center())
    assert not wishes and name in view.favourites and name in Favourites()
    view.filters.switches["favourites"].click()
    assert shown(view) == [name]
    view.favourites.toggle(name)
    assert name not in Favourites()


def test_networks_of_ones_own_are_listed_and_asked_about(view, tmp_path):
    file = tmp_path / "net.py"
    file.write_text("raise SystemExit('run by a list')")
    open_settings().setValue("recent_models", [f"{file}:Net", str(tmp_path / "gone.py"), "d4-cnn@x.safetensors"])
    try:
        view.show_catalogue(view.catalogue)
        view.filters.switches["own"].click()
        assert shown(view) == [f"{file}:Net"]
        asked, wishes = [], gather(view)
        view.open_asked.connect(asked.append)
        view.models.chosen.emit(f"{file}:Net")
        assert asked == [f"{file}:Net"] and not wishes, "the window asks before it runs"
    finally:
        open_settings().remove("recent_models")


def test_networks_of_ones_own_that_are_called_alike_are_told_apart(view, tmp_path):
    files = [tmp_path / folder / "net.py" for folder in ("one", "two")]
    for file in files:
        file.parent.mkdir()
        file.touch()
    settings = open_settings()
    settings.setValue("recent_models", [f"{file}:Net" for file in files])
    try:
        titles = [info.title for info in own_models(view.catalogue, settings)]
    finally:
        settings.remove("recent_models")
    assert titles == ["Net in net.py (one)", "Net in net.py (two)"]


def test_a_long_name_of_a_kind_of_data_is_written_smaller_not_cut(qtbot):
    font = QFont()
    font.setPointSizeF(10)
    assert fitted(font, "Binary trees", 200) == font
    narrow = fitted(font, "Honeycombs of many cells", 40)
    assert narrow.pointSizeF() < 10 and QFontMetricsF(narrow).horizontalAdvance("Honeycombs") <= 42


def test_tab_goes_from_above_to_below(qtbot, view):
    activate(qtbot, view)
    at = view.tabs
    for wanted in (view.search, *view.filters.controls, view.models):
        at.setFocus()
        QTest.keyClick(at, Qt.Key.Key_Tab)
        assert wanted.hasFocus(), QApplication.focusWidget()
        at = wanted


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("SE3", "SE(3)"), ("E3", "E(3)"), ("sphere-SO3", "SO(3), sphere"), ("Z3", "Z³"), ("R3", "R³"), ("Oh", "Oₕ"),
        ("permutation", "Sₙ"), ("translation", "Z²"), ("gauge-C12", "C12, gauge"), ("D4", "D4"), ("shift", "shift"),
        ("reverse-complement", "reverse complement"),
    ],
)  # fmt: skip
def test_groups_are_written_as_in_textbooks(name, text):
    assert written(name) == text


def test_what_is_said_of_a_model_goes_with_the_mouse(view, qtbot):
    said = []
    view.hovered.connect(said.append)
    view.show()
    cards = view.models
    rows = map(cards.item, range(cards.count()))
    item = next(one for one in rows if isinstance(one.data(INFO), ModelInfo))
    cards.scrollToItem(item)
    qtbot.mouseMove(cards.viewport(), cards.visualItemRect(item).center())
    cards.itemEntered.emit(item)
    assert said[-1]
    QApplication.sendEvent(cards, QEvent(QEvent.Type.Leave))
    assert said[-1] == ""
    assert all(f"{one}: " in item.toolTip() for one in item.data(INFO).rows), "G6 alone says nothing"


def test_a_network_that_learns_is_looked_up_once_a_frame_and_not_once_a_card(view, monkeypatch):
    asked = []
    named = view.models.named
    monkeypatch.setattr(view.models, "named", lambda name: asked.append(name) or named(name))
    view.set_state(State(model="model-6@/some/where/live.safetensors"))
    assert len(asked) == 1
    assert view.models.current == "model-6"


def test_what_is_searched_for_is_shown_from_its_beginning(view):
    """The list stayed scrolled to where it was, below the first of what was found."""
    view.show_catalogue(make_catalogue(60))
    view.models.scrollToBottom()
    assert view.models.verticalScrollBar().value() > 0
    view.search.setFocus()
    QTest.keyClicks(view.search, "e")
    QApplication.processEvents()
    assert view.models.verticalScrollBar().value() == 0


def test_what_is_called_so_comes_before_what_is_only_told_of_it(view):
    """A search for "gates" began with models that mention gates somewhere in what is told of them."""
    told = [make_info("plain", rows=("N1",)), make_info("gcn", domain="graph", rows=("N1",))]
    called = [make_info("attention-net", domain="graph")]
    view.show_catalogue(Catalogue((*told, *called), (), (), (), ()))
    before = left(view.models)
    assert before[:2] == ["Images", "Plain"]
    view.search.setFocus()
    QTest.keyClicks(view.search, "attention")
    assert left(view.models) == ["Graphs", "Attention-Net", "Gcn", "Images", "Plain"]
    view.search.clear()
    assert left(view.models) == before


def test_data_that_are_called_so_come_before_those_of_which_it_is_only_told(view):
    data = [
        SampleInfo("digit-3", "Digit 3", "grid", "Written by hand, as round as a torus."),
        SampleInfo("body", "Body", "mesh", "It stands beside the torus."),
        SampleInfo("torus", "Torus", "mesh", "A ring."),
    ]
    view.show_catalogue(Catalogue((), tuple(data), (), (), ()))
    view.tabs.setCurrentIndex(1)
    before = left(view.data)
    view.search.setFocus()
    QTest.keyClicks(view.search, "torus")
    assert left(view.data) == ["Meshes", "Torus", "Body", "Images", "Digit 3"]
    view.search.clear()
    assert left(view.data) == before
