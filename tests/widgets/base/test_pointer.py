"""Pointers of one window move together; those of another window, or at another kind of place, stay."""

from __future__ import annotations

from widgets.base.pointer import Pointer, Pointers


def test_what_one_points_at_is_told_to_its_kind_in_its_window_once() -> None:
    here, elsewhere = Pointers(), Pointers()
    heard: list[tuple[str, object]] = []
    made = {name: Pointer() for name in ("timeline", "steps", "surface", "other window")}
    for name, pointer in made.items():
        pointer.moved.connect(lambda place, name=name: heard.append((name, place)))
    here.link("step", made["timeline"], made["steps"])
    here.link("vertex", made["surface"])
    elsewhere.link("step", made["other window"])
    made["timeline"].moved.emit(3)
    assert sorted(heard) == [("steps", 3), ("timeline", 3)]
    made["steps"].chosen.emit("a feature")  # nobody listens to it here
    assert len(heard) == 2


def test_a_pointer_that_is_gone_is_told_nothing() -> None:
    pointers, one, heard = Pointers(), Pointer(), []
    one.moved.connect(heard.append)
    other = Pointer(one)
    pointers.link("step", other, one)
    del other
    one.children()[0].deleteLater()
    from PySide6.QtCore import QCoreApplication, QEvent

    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    one.moved.emit(1)
    assert heard == [1]
