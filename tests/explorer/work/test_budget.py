"""Caches stay within their bytes, whoever keeps them."""

from __future__ import annotations

from dataclasses import dataclass
from threading import Thread

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from explorer.declare.types.fields import FieldType
from explorer.equivariance.measure import mask
from explorer.spaces.grid.elements.affine import Affine
from explorer.spaces.grid.fields import Grid
from explorer.work.budget import Budget, Shared, Table, budgeted, held_bytes, results

KILO = 1024


def array(kilobytes: int) -> NDArray[np.uint8]:
    return np.zeros(kilobytes * KILO, np.uint8)


@dataclass(slots=True)
class Holder:
    one: object
    two: object = None


def test_bytes_of_what_is_held_count_once() -> None:
    values = torch.zeros(1000)
    rows = array(4)
    assert held_bytes([values, values[3:], {"a": (values,)}]) == 4000
    assert held_bytes([rows, rows[::2], Holder(rows, [rows])]) == 4 * KILO
    assert held_bytes([Holder(Holder(values))]) == 4000
    assert held_bytes([torch.eye(100).to_sparse()]) == 2 * 100 * 8 + 100 * 4
    assert held_bytes([torch.empty(10**9, device="meta"), None, 3, int]) == 0


def test_a_class_says_what_it_holds_beside_arrays() -> None:
    class Solver:
        def __init__(self) -> None:
            self.rows = array(1)

        @property
        def foreign_bytes(self) -> int:
            return 5 * KILO

    class Answers:  # to every name, and is not asked
        def __getattr__(self, name: str) -> int:
            return 10**9

    assert held_bytes([Holder(Solver(), Answers())]) == 6 * KILO


def test_the_oldest_results_make_room() -> None:
    budget = Budget(100 * KILO)
    made: list[int] = []

    def ask(k: int, size: int = 30) -> object:
        return budget.get(k, lambda: (made.append(k), array(size)))

    for k in (1, 2, 3):
        ask(k)
    ask(1)
    ask(4)
    assert made == [1, 2, 3, 4] and budget.nbytes <= 100 * KILO
    ask(1)
    ask(2)
    assert made == [1, 2, 3, 4, 2], "the one that was used longest ago had gone, and it alone"
    ask(5, 200)
    ask(5, 200)
    assert made[-2:] == [5, 5] and len(budget) == 3, "what is too large is not kept, and drives nothing out"


def test_many_small_results_are_bounded_too() -> None:
    budget = Budget(100 * KILO)
    for k in range(10_000):
        budget.get(k, lambda: None)
    assert len(budget) <= 200


def test_a_function_keeps_what_it_returned() -> None:
    calls: list[tuple[int, int]] = []

    @budgeted
    def added(one: int, two: int = 0) -> list[int]:
        calls.append((one, two))
        return [one + two]

    assert added(1, two=2) is added(1, two=2) and added(1) == [1]
    assert calls == [(1, 2), (1, 0)]
    assert results.nbytes <= results.most


def test_tables_share_their_bytes_and_keep_what_is_in_use() -> None:
    shared = Shared(100 * KILO)
    one: Table[str, NDArray[np.uint8]] = Table(shared, 9)
    two: Table[str, NDArray[np.uint8]] = Table(shared, 9)
    for k in range(3):
        one[f"a{k}"] = array(40)
        two[f"b{k}"] = array(40)
    assert list(one) == ["a1", "a2"] and list(two) == ["b1", "b2"], "the oldest of both went"
    assert one.used("a0") is None and one.used("a1") is not None
    two["large"] = array(500)
    assert "large" in two, "what is in use stays whatever it takes"
    assert list(one) == ["a2", "a1"] and list(two) == ["b2", "large"]
    two["small"] = array(1)
    assert list(two) == ["small"] and list(one) == ["a1"], "what is older than one that is too much goes with it"
    assert shared.nbytes <= shared.most


def test_a_table_has_so_many_entries() -> None:
    table: Table[int, NDArray[np.uint8]] = Table(Shared(100 * KILO), 3)
    for k in range(5):
        table.store(k, array(1))
    assert list(table) == [2, 3, 4]
    for k in range(5, 10):
        table.store(k, array(1), in_use=5)
    assert list(table) == [5, 6, 7, 8, 9]
    assert table.take(lambda key: key % 2 == 0).keys() == {6, 8} and list(table) == [5, 7, 9]
    table.clear()
    assert not table


def test_what_grows_while_it_is_used_is_counted_anew() -> None:
    shared = Shared(100 * KILO)
    table: Table[str, list[object]] = Table(shared, 9)
    table["grows"] = []
    table["other"] = []
    kept = table.used("grows")
    assert kept is not None
    kept.append(array(200))
    table["third"] = []
    assert list(table) == ["third"]


@pytest.mark.parametrize("kind", [ValueError, SystemExit, GeneratorExit, BaseException])
def test_what_does_not_say_its_size_stands_in_no_others_way(kind: type[BaseException]) -> None:
    def size(value: object) -> int:
        if value == "bad":
            raise kind
        return 1

    table = Table[str, str](Shared(10), 4, size)
    for name in ("bad", "fine", "other"):
        table.store(name, name)
    assert set(table) == {"fine", "other"}


def test_a_table_that_is_gone_counts_no_more() -> None:
    shared = Shared(100 * KILO)
    table: Table[int, NDArray[np.uint8]] = Table(shared, 9)
    table[1], table[2] = array(50), array(50)
    assert shared.nbytes == 50 * KILO
    del table
    assert shared.nbytes == 0


def test_engines_on_several_threads_share_one_budget() -> None:
    shared, errors = Shared(20 * KILO), list[BaseException]()

    def work(name: int) -> None:
        table: Table[object, NDArray[np.uint8]] = Table(shared, 4)
        try:
            for k in range(500):
                if table.used((name, k % 7)) is None:
                    table.store((name, k % 7), array(3))
                table.take(lambda key: key == (name, 3))
        except BaseException as error:
            errors.append(error)

    threads = [Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors and shared.nbytes <= shared.most


def test_a_drag_keeps_no_more_masks_than_the_budget_has_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results, "most", 1000 * KILO)
    values = torch.zeros(1, 1, 64, 64)
    for k in range(100):
        mask(Affine(shift=(0.01 * k, 0.5), boundary="zero"), values, FieldType(Grid()), 1.0)
    assert 500 * KILO < results.nbytes <= results.most


def test_a_parameter_without_a_shape_counts_nothing() -> None:
    assert held_bytes([torch.nn.LazyLinear(3)]) < KILO
