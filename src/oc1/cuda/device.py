"""A GPU: what it does with examples that are in its memory, by CuPy and the functions of ``kernels.cu``.

A `Device` is all that `oc1.cuda.engine` knows of CUDA. The tests put one in its place that does the same with numpy.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..data.search_space import SearchSpace
from ..growing.calls import Histograms
from ..growing.linear_tests import LinearTest
from ..kernels.histograms import Lines
from ..tree.linear import Tree

#: Threads of a block; blocks that a multiprocessor gets, and examples that a block gets at least.
N_THREADS, BLOCKS_PER_PROCESSOR, MIN_CHUNK = 512, 4, 8192
#: Functions of ``kernels.cu`` that are compiled, by type.
FUNCTIONS = (
    *(f"{name}<{count}>" for name in ("count_lines", "count_sides") for count in ("unsigned int", "uint64")),
    *(f"{name}<{kind}>" for name in ("gather_columns", "project_rows", "find_leaves") for kind in ("float", "double")),
    "find_near",
)
#: Shared memory that a block gets without asking, in bytes.
USUAL_SHARED_BYTES = 48 * 2**10


class NoGPU(RuntimeError):
    """There is no GPU that can be used; the message says why."""


class DeviceSlice(NamedTuple):
    """Examples of one node on a GPU, grouped by class, somewhere in arrays that hold others, too."""

    columns: Any  # float32 (d, n): in search space
    bounds: np.ndarray  # int64 (k + 1): where the examples of each class that is present begin and end
    weights: Any  # int64 (n): in units of `unit`; None if all count alike
    unit: float
    missing_mask: Any  # uint8 (d, n): which values are missing and get a learned direction; None if none do


@cache
def open_device() -> Device:
    """Return the GPU; raise `NoGPU` if there is none."""
    try:
        import cupy
    except ImportError as error:
        raise NoGPU(f"CuPy is not installed ({error}): pip install 'oc1[cuda]'") from error
    try:
        n_devices = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        text = str(error)
        if "InsufficientDriver" in text:
            raise NoGPU("the NVIDIA driver is older than CuPy's version of CUDA needs: update one of them") from error
        raise NoGPU(f"CUDA finds no GPU ({text})") from error
    if n_devices == 0:
        raise NoGPU("CUDA finds no GPU")
    return Device(cupy)


class Device:
    """A GPU.

    Parameters
    ----------
    xp : module
        CuPy.
    """

    def __init__(self, xp: Any):
        self.xp = xp
        self.n_processors: int = xp.cuda.Device().attributes["MultiProcessorCount"]

    @property
    def name(self) -> str:
        """What the GPU is called."""
        return str(self.xp.cuda.runtime.getDeviceProperties(self.xp.cuda.Device().id)["name"].decode())

    @property
    def free_bytes(self) -> int:
        """Memory that can be had."""
        free, _ = self.xp.cuda.Device().mem_info
        return int(free + self.xp.get_default_memory_pool().free_bytes())

    @cached_property
    def _functions(self) -> dict[str, Any]:
        source = (Path(__file__).parent / "kernels.cu").read_text(encoding="utf-8")
        # Products are rounded before they are added, as the processor does.
        module = self.xp.RawModule(code=source, options=("-std=c++17", "--fmad=false"), name_expressions=FUNCTIONS)
        return {name: module.get_function(name) for name in FUNCTIONS}

    def send(self, *arrays: np.ndarray) -> list[Any]:
        """Copy small arrays to the GPU, all at once."""
        whole = [np.ascontiguousarray(own).reshape(-1) for own in arrays]
        sizes = [-(-own.nbytes // 8) * 8 for own in whole]
        places = np.cumsum([0, *sizes]).tolist()
        buffer = np.zeros(max(places[-1], 8), dtype=np.uint8)
        for own, place in zip(whole, places, strict=False):
            buffer[place : place + own.nbytes] = own.view(np.uint8)
        sent = self.xp.asarray(buffer)
        return [sent[p : p + own.nbytes].view(own.dtype) for own, p in zip(whole, places, strict=False)]

    # ------------------------------------------------------------------------------------------------ counting

    def count_lines(self, part: DeviceSlice, lines: Lines, half: int) -> Histograms:
        """Count the classes by bucket along some lines: as `oc1.growing.calls.count_lines`."""
        n_lines, n_classes = len(lines.which), len(part.bounds) - 1
        chunks = make_chunks(part.bounds, n_lines, BLOCKS_PER_PROCESSOR * self.n_processors)
        if not len(chunks):
            counts = np.zeros((n_lines, n_classes, 4 * half + 2), dtype=np.int64)
            return Histograms(counts, np.zeros(counts.shape if part.weights is not None else (0, 0, 0)))
        flat = self.send(chunks, *terms_of(lines.planes), *terms_of(lines.directions), *_numbers_of(lines))
        counts = self._counted("unsigned int", flat, part, len(chunks), n_lines, half, None)
        if part.weights is None:
            return Histograms(counts.astype(np.int64), np.zeros((0, 0, 0)))
        sums = self._counted("uint64", flat, part, len(chunks), n_lines, half, part.weights)
        return Histograms(counts.astype(np.int64), sums.astype(np.float64) * part.unit)

    def _counted(
        self, kind: str, flat: list[Any], part: DeviceSlice, n_chunks: int, n_lines: int, half: int, weights: Any
    ) -> np.ndarray:
        """Count examples, or what their weights add up to, in whole numbers of some kind."""
        dtype = np.uint32 if kind == "unsigned int" else np.uint64
        d, n_classes = part.columns.shape[0], len(part.bounds) - 1
        counts = self.xp.zeros((n_lines, n_classes, 4 * half + 2), dtype=dtype)
        chunks, planes, directions = flat[0], flat[1:5], flat[5:9]
        plane_of, which, sides, centres, scales = flat[9:]
        columns = part.columns, np.int64(part.columns.strides[0] // 4)
        mask = np.intp(0) if part.missing_mask is None else part.missing_mask
        last = mask, np.intp(0) if weights is None else weights, counts
        if half == 0:  # planes that stand still: line q has plane q
            function = self._functions[f"count_sides<{kind}>"]
            arguments = (*columns, chunks, *planes, sides, np.int32(n_classes), *last)
            function((n_chunks, n_lines), (N_THREADS,), arguments)
        else:
            function, n_bytes = self._functions[f"count_lines<{kind}>"], (4 * half + 2) * counts.itemsize
            if n_bytes > USUAL_SHARED_BYTES:
                function.max_dynamic_shared_size_bytes = n_bytes
            sizes = np.int32(d), np.int32(half), np.int32(n_classes)
            lines = plane_of, which, sides, centres, scales
            arguments = (*columns, chunks, *planes, *directions, *lines, *sizes, *last)
            function((n_chunks, n_lines), (N_THREADS,), arguments, shared_mem=n_bytes)
        return np.asarray(counts.get())

    def find_near(self, columns: Any, start: int, stop: int, plane: np.ndarray, width: float) -> Any:
        """Return the places of the examples of a range whose margins have at most this size."""
        near = self.xp.empty(stop - start, dtype=bool)
        place = np.int64(columns.strides[0] // 4), np.int64(start), np.int64(stop - start)
        planes = self.send(*terms_of(plane[None]))
        self._launch("find_near", near.size, (columns, *place, *planes, np.float32(width), near))
        return self.xp.flatnonzero(near) + start

    # ------------------------------------------------------------------------------------------------ the user's array

    def gather_columns(self, X: Any, rows: Any, fill: np.ndarray, space: SearchSpace) -> Any:
        """Return some rows in search space, a row for each attribute."""
        d = X.shape[1]
        with np.errstate(divide="ignore"):
            factors = np.where(space.scale > 0.0, 2.0 / space.scale, 0.0)
        own_fill, halves, factors = self.send(fill.astype(np.float64), 0.5 * space.shift, factors)
        columns = self.xp.empty((d, len(rows)), dtype=np.float32)
        table = self._table(X, own_fill)
        arguments = (*table, rows, np.int64(len(rows)), np.int32(d), halves, factors, columns)
        self._launch(f"gather_columns<{_kind_of(X)}>", len(rows), arguments)
        return columns

    def project(self, X: Any, rows: Any, fill: np.ndarray, test: LinearTest) -> Any:
        """Return the linear combination of a test for some rows."""
        features, coefficients = test.features.astype(np.int32), test.coefficients.astype(np.float64)
        own_fill, features, coefficients = self.send(fill.astype(np.float64), features, coefficients)
        values = self.xp.empty(len(rows))
        terms = features, coefficients, np.int32(len(test.features)), np.int32(test.missing)
        arguments = (*self._table(X, own_fill), rows, np.int64(len(rows)), *terms, values)
        self._launch(f"project_rows<{_kind_of(X)}>", len(rows), arguments)
        return values

    def find_leaves(self, X: Any, tree: Tree) -> Any:
        """Return the leaf in which each row of a table ends."""
        missing = tree.missing if len(tree.missing) else np.zeros(tree.n_nodes, dtype=np.int8)
        tests = tree.terms, tree.features, tree.coefficients, tree.thresholds, missing.astype(np.int8)
        fill, right, *sent = self.send(tree.fill, tree.children[:, 1].astype(np.int32), *tests)
        leaves = self.xp.empty(len(X), dtype=np.int64)
        arguments = (*self._table(X, fill), np.int64(len(X)), right, *sent, leaves)
        self._launch(f"find_leaves<{_kind_of(X)}>", len(X), arguments)
        return leaves

    def _table(self, X: Any, fill: Any) -> tuple[Any, ...]:
        return X, *(np.int64(step // X.itemsize) for step in X.strides), fill

    def _launch(self, name: str, size: int, arguments: Sequence[Any]) -> None:
        """Call a function whose threads take one example after the other."""
        n_blocks = min(-(-size // 256), 32 * self.n_processors)
        if n_blocks:
            self._functions[name]((n_blocks,), (256,), tuple(arguments))


def _kind_of(X: Any) -> str:
    return "float" if X.dtype == np.float32 else "double"


def make_chunks(bounds: np.ndarray, n_lines: int, n_blocks: int) -> np.ndarray:
    """Return what blocks count, (class, begin, end) each: enough of them, along all lines, to keep a GPU busy."""
    size = max(MIN_CHUNK, -(-int(bounds[-1] - bounds[0]) * n_lines // n_blocks))
    chunks = [
        (label, begin, min(begin + size, stop))
        for label, (first, stop) in enumerate(pairwise(bounds.tolist()))
        for begin in range(first, stop, size)
    ]
    return np.array(chunks, dtype=np.int64).reshape(-1, 3)


def terms_of(planes: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return planes (q, d + 1) as lists of terms: where those of each begin, attributes, coefficients; constants."""
    which, attributes = np.nonzero(planes[:, :-1])
    starts = np.searchsorted(which, np.arange(len(planes) + 1)).astype(np.int64)
    return starts, attributes.astype(np.int32), planes[which, attributes].astype(np.float32), planes[:, -1].copy()


def _numbers_of(lines: Lines) -> tuple[np.ndarray, ...]:
    whole = (own.astype(np.int32) for own in (lines.plane_of, lines.which, lines.sides))
    return *whole, lines.centres.astype(np.float32), lines.scales.astype(np.float32)
