"""A matrix of attention that is too large to be formed, as a tensor: every figure of it is reduced row by row.

A `Tiled` has the shape of the matrix and holds queries and keys. What the measurement does with a tensor is done in
blocks of rows: differences, magnitudes and roundings stay such tensors, norms and extremes are sums over blocks, and a
permutation of places acts on queries, keys and masks. Everything else is refused with a sentence.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count
from threading import Lock
from typing import Any

import torch
from torch import Tensor

from explorer.network.inner.factors import MOST_FORMED, Factors

BLOCK = 2**20  # entries of one head that are worked out at once
LOOKED_AT = 2**20  # entries of all heads together; of a larger matrix evenly spaced rows stand for all
RUN = 8  # neighbouring rows that are looked at together
KEPT = 2**23  # entries of blocks that are kept, of all matrices together: several figures are made of the same rows


_numbers = count()
_blocks: OrderedDict[tuple[int, int, int, int], Tensor] = OrderedDict()
_entries = 0  # of all these blocks
_lock = Lock()


def _kept(key: tuple[int, int, int, int], make: Callable[[], Tensor]) -> Tensor:
    """Return a block as it was made before, or make it; the oldest ones are forgotten."""
    global _entries
    with _lock:
        if key in _blocks:
            _blocks.move_to_end(key)
            return _blocks[key]
    made = make()
    with _lock:
        if key not in _blocks:  # else another thread was first
            _blocks[key] = made
            _entries += made.numel()  # a sum over all of them for each of thousands of rows takes seconds
        while _entries > KEPT:
            _, oldest = _blocks.popitem(last=False)
            _entries -= oldest.numel()
    return made


class Tiled(Tensor):
    """Blocks of rows of (heads, T, S), made on demand; `flat` where axes were merged to (1, everything)."""

    head_rows: Callable[[int, int, int], Tensor]  # (head, first row, last row but one) -> (rows, S)
    form: tuple[int, int, int]  # heads, T, S
    factors: Factors | None
    terms: tuple[str, tuple[Any, ...]] | None  # what it was made of, and how
    held: Tensor  # a tensor whose storage stands for its own

    @staticmethod
    def of(factors: Factors) -> Tiled:
        """Return the matrix of queries and keys."""
        number = next(_numbers)

        def rows(head: int, start: int, stop: int) -> Tensor:
            return _kept((number, head, start, stop), lambda: factors.head(head).rows(start, stop))

        shape = factors.shape
        form = (math.prod(shape[:-2]), shape[-2], shape[-1])
        return _made(shape, form, rows, factors.query, factors)

    @classmethod
    def __torch_function__(
        cls,
        func: Callable[..., Any],
        types: object,
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        kwargs = dict(kwargs or {})
        name = getattr(func, "__name__", "")
        if name == "__get__":
            name = getattr(func.__self__, "__name__", "")  # type: ignore[attr-defined]
            with torch._C.DisableTorchFunctionSubclass():
                return func(*args, **kwargs)
        if name in _TOLD:
            with torch._C.DisableTorchFunctionSubclass():
                return func(*args, **kwargs)
        if (how := _KNOWN.get(name)) is None:
            raise NotImplementedError(
                f"a matrix of attention of {' x '.join(map(str, tuple(_first(args).shape)))} entries is never formed, "
                f"and torch.{name} would form it"
            )
        return how(func, *args, **kwargs)

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: object, args: Any = (), kwargs: Any = None) -> Any:  # type: ignore[override]
        raise NotImplementedError(f"a matrix of attention that is never formed has no {func}")

    def blocks(self) -> Iterator[Tensor]:
        """Yield (rows, S) of every head, in order."""
        for head, start, stop in _spans(self.form):
            yield self.head_rows(head, start, stop)

    def parts(self, name: str) -> dict[str, Tensor]:
        """Return what it is made of by name, for a file: the matrix itself would be too large."""
        f = self.factors
        return {} if f is None else {f"{name}.query": f.query, f"{name}.key": f.key}

    def coarse(self, most: int) -> Tensor:
        """Return a picture of at most so many rows and columns: rows of it, with means of neighbouring columns."""
        heads, rows, columns = self.form
        how, args = self.terms or ("", ())
        if how == "sub" and all(isinstance(a, Tiled) for a in args):  # a mean of differences
            apart: Tensor = args[0].coarse(most) - args[1].coarse(most)
            return apart
        at = torch.linspace(0, rows - 1, min(most, rows), device=self.held.device).round().long()
        if self.factors is not None:
            some = self.factors.picked(-2, at)
            wide = [some.head(head).rows(0, len(at)) for head in range(heads)]
        else:
            wide = [torch.cat([self.head_rows(head, k, k + 1) for k in at.tolist()]) for head in range(heads)]
        return torch.nn.functional.adaptive_avg_pool1d(torch.stack(wide).float(), min(most, columns))

    def __repr__(self, *_: Any, **__: Any) -> str:  # type: ignore[override]
        return f"Tiled{tuple(self.shape)}"


def matrix(factors: Factors) -> Tensor:
    """Return the matrix: of up to MOST_FORMED entries whole, of more as a tensor that makes its rows on demand."""
    return Tiled.of(factors) if math.prod(factors.shape) > MOST_FORMED else factors.rows(0, factors.shape[-2])


def looked_at(value: Tensor) -> Tensor:
    """Return a tensor itself; of a matrix that is never formed the rows that figures are made of, (rows, S)."""
    return torch.cat(list(value.blocks())) if isinstance(value, Tiled) else value


def outer(to: Tensor, of: Tensor) -> Tensor:
    """Return to[i] of[j] as a matrix, which is formed where it is small."""
    if len(to) * len(of) <= MOST_FORMED:
        return to[:, None] * of
    return _made((len(to), len(of)), (1, len(to), len(of)), lambda _, start, stop: to[start:stop, None] * of, to)


def rows_looked_at(heads: int, rows: int, columns: int) -> int:
    """Return how many rows of each head stand for all of them."""
    return min(rows, max(RUN, LOOKED_AT // max(1, heads * columns)))


def _spans(form: tuple[int, int, int]) -> Iterator[tuple[int, int, int]]:
    """Yield (head, first row, last row but one) of what is looked at."""
    heads, rows, columns = form
    some = rows_looked_at(heads, rows, columns)
    many = max(1, BLOCK // max(1, columns)) if some == rows else RUN
    starts: Sequence[int] = range(0, rows, many)
    if some < rows:
        runs = max(2, some // RUN)
        starts = sorted({round(k * (rows - RUN) / (runs - 1)) for k in range(runs)})
    for head in range(heads):
        for start in starts:
            yield head, start, min(start + many, rows)


def _made(
    shape: Sequence[int], form: tuple[int, int, int], rows: Callable[[int, int, int], Tensor], held: Tensor,
    factors: Factors | None = None, dtype: torch.dtype | None = None,
) -> Tiled:  # fmt: skip
    made: Tiled = Tensor._make_wrapper_subclass(Tiled, tuple(shape), dtype=dtype or held.dtype, device=held.device)
    made.head_rows, made.form, made.factors, made.held = rows, form, factors, held
    made.terms = None
    return made


def _first(args: Sequence[Any]) -> Tiled:
    for arg in args:
        if isinstance(arg, Tiled):
            return arg
        if isinstance(arg, list | tuple) and (found := next((a for a in arg if isinstance(a, Tiled)), None)):
            return found
    raise TypeError("no such matrix")


def _each(func: Callable[..., Any], *args: Any, **kwargs: Any) -> Tiled:
    """Do the same with every entry, of matrices of one size; numbers, and factors of rows or columns, are spread."""
    one = max((a for a in args if isinstance(a, Tiled)), key=lambda a: a.form[0])
    for other in args:
        if isinstance(other, Tiled) and (other.form[1:] != one.form[1:] or other.form[0] not in (1, one.form[0])):
            raise ValueError("these matrices of attention differ in size")

    def part(arg: Any, head: int, start: int, stop: int) -> Any:
        if isinstance(arg, Tiled):
            return arg.head_rows(head if arg.form[0] > 1 else 0, start, stop)
        if not isinstance(arg, Tensor) or arg.numel() == 1:
            return arg
        flat = arg.reshape(arg.shape[-2:]) if arg.ndim > 1 else arg[None]  # it says the same of every head
        return flat[start:stop] if len(flat) > 1 else flat

    def rows(head: int, start: int, stop: int) -> Tensor:
        found: Tensor = func(*(part(a, head, start, stop) for a in args), **kwargs)
        return found

    probe = func(*(a.held.new_ones((), dtype=a.dtype) if isinstance(a, Tiled) else _like(a) for a in args), **kwargs)
    made = _made(one.shape, one.form, rows, one.held, dtype=probe.dtype)
    made.terms = (getattr(func, "__name__", "").strip("_"), args)
    return made


def _like(arg: Any) -> Any:
    return arg.flatten()[0] if isinstance(arg, Tensor) and arg.numel() else arg


def _itself(_: Callable[..., Any], one: Tiled, *__: Any, **___: Any) -> Tiled:
    return one


def _reshaped(_: Callable[..., Any], one: Tiled, *shape: Any, **__: Any) -> Tiled:
    """Return it as (1, everything), or as (1, heads, pairs)."""
    sizes = shape[0] if len(shape) == 1 and isinstance(shape[0], list | tuple) else shape
    return _in_form(one, (1, one.form[0], one.form[1] * one.form[2]) if len(sizes) == 3 else (1, one.numel()))


def _item(_: Callable[..., Any], one: Tiled, key: Any) -> Tiled:
    """Return it with one axis more or less in front: places as a field of pairs, and back."""
    if key is None:
        return _in_form(one, (1, *one.shape))
    if key == 0 and len(one) == 1 and one.ndim > 2:
        return _in_form(one, tuple(one.shape[1:]))
    raise NotImplementedError("a matrix of attention that is never formed is asked for rows by `head_rows`")


def _in_form(one: Tiled, shape: Sequence[int]) -> Tiled:
    return _made(shape, one.form, one.head_rows, one.held, one.factors, one.dtype)


def _answer(one: Tiled, value: Tensor, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Tensor:
    """Return a figure of everything: a number, or one for each sample where an axis was named."""
    told = kwargs.get("dim", next((a for a in args if isinstance(a, int) and not isinstance(a, bool)), None))
    return value if told is None or one.ndim < 2 else value.reshape(1)


def _totals(one: Tiled, figure: Callable[[Tensor], Tensor]) -> Tensor:
    """Return the sum of a figure over each head, scaled to all rows where some of them stand for all."""
    totals = torch.zeros(one.form[0], dtype=torch.float64, device=one.held.device)
    seen = 0
    for head, start, stop in _spans(one.form):
        totals[head] += figure(one.head_rows(head, start, stop).double()).sum()
        seen += stop - start
    whole = one.form[0] * one.form[1]
    return totals if seen == whole else totals * (whole / max(1, seen))


def _norm(_: Callable[..., Any], one: Tiled, *args: Any, **kwargs: Any) -> Tensor:
    return _answer(one, _totals(one, torch.square).sum().sqrt().to(one.dtype), args, kwargs)


def _sum(_: Callable[..., Any], one: Tiled, *args: Any, **kwargs: Any) -> Tensor:
    totals = _totals(one, lambda block: block).to(one.dtype)
    by_head = kwargs.get("dim") == (0, 2)  # of (1, heads, pairs)
    return totals if by_head else _answer(one, totals.sum(), args, kwargs)


def _mean(func: Callable[..., Any], one: Tiled, *args: Any, **kwargs: Any) -> Tensor:
    found: Tensor = _sum(func, one, *args, **kwargs) / one.numel()
    return found


def _extreme(pick: Callable[[Tensor], Tensor]) -> Callable[..., Tensor]:
    def found(_: Callable[..., Any], one: Tiled, *args: Any, **kwargs: Any) -> Tensor:
        return _answer(one, pick(torch.stack([pick(block) for block in one.blocks()])), args, kwargs)

    return found


def _index_select(func: Callable[..., Any], one: Tiled, dim: int, index: Tensor) -> Tiled:
    """Return the matrix with other rows or columns: those of its queries, or of its keys, and of its masks."""
    axis = dim % one.ndim - one.ndim
    if axis not in (-1, -2):
        raise NotImplementedError("a matrix of attention that is never formed is permuted by its places only")
    if one.factors is not None and axis == -2:
        return Tiled.of(one.factors.picked(axis, index))

    def columns(head: int, start: int, stop: int) -> Tensor:
        return one.head_rows(head, start, stop).index_select(-1, index)

    def rows(head: int, start: int, stop: int) -> Tensor:
        wanted = index[start:stop]
        low, high = int(wanted.min()), int(wanted.max()) + 1
        if high - low <= 2 * len(wanted):  # neighbours stay neighbours
            return one.head_rows(head, low, high)[wanted - low]
        return torch.cat([one.head_rows(head, k, k + 1) for k in wanted.tolist()])

    # fewer columns than keys would be another softmax; as many are the same one in another order
    if one.factors is not None and len(index) == one.form[2] and len(index.unique()) == len(index):
        return Tiled.of(one.factors.picked(axis, index))
    heads, high, wide = one.form
    form = (heads, len(index), wide) if axis == -2 else (heads, high, len(index))
    made = _made((*one.shape[:-2], *form[1:]), form, rows if axis == -2 else columns, one.held, None, one.dtype)
    made.terms = ("index_select", (one, axis, index))
    return made


def _storage(_: Callable[..., Any], one: Tiled) -> Any:
    return one.held.untyped_storage()


def _new(func: Callable[..., Any], one: Tiled, *args: Any, **kwargs: Any) -> Any:
    """Return a new tensor of the same kind, which is formed."""
    return func(one.held, *args, **({"dtype": one.dtype} | kwargs))


def _all(_: Callable[..., Any], one: Tiled, *args: Any, **kwargs: Any) -> Tensor:
    return torch.tensor(all(bool(block.all()) for block in one.blocks()), device=one.held.device)


_TOLD = {"dim", "size", "numel", "is_floating_point", "is_inference", "stride", "is_contiguous", "__len__",
         "ndimension", "element_size", "nelement", "is_complex", "get_device", "storage_offset"}  # fmt: skip
_KNOWN: dict[str, Callable[..., Any]] = {
    **dict.fromkeys(("sub", "__sub__", "__rsub__", "add", "__add__", "__radd__", "mul", "__mul__", "__rmul__", "div",
                     "__truediv__", "abs", "square", "double", "float", "half", "to", "isfinite", "neg", "__neg__",
                     "nan_to_num", "log10"), _each),
    "__getitem__": _item,
    **dict.fromkeys(("lt", "le", "gt", "ge", "__lt__", "__le__", "__gt__", "__ge__"), _each),
    **dict.fromkeys(("clone", "detach", "contiguous", "cpu", "requires_grad_"), _itself),
    **dict.fromkeys(("reshape", "flatten", "view"), _reshaped),
    **dict.fromkeys(("amax", "max"), _extreme(torch.amax)),
    **dict.fromkeys(("amin", "min"), _extreme(torch.amin)),
    **dict.fromkeys(("new_zeros", "new_ones", "new_tensor", "new_full", "new_empty"), _new),
    "norm": _norm, "sum": _sum, "mean": _mean, "index_select": _index_select, "untyped_storage": _storage, "all": _all,
}  # fmt: skip
