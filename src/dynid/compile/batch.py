"""Batch kernels: a program run over all samples of a log, by machine code or by CasADi's evaluator."""

from __future__ import annotations

import ctypes
import itertools
import os
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dynid.compile import jit
from dynid.compile.arrays import FloatArray, address, allocate, as_port_array, is_aligned, padded
from dynid.compile.ir_batch import LANES, TILE, batch_ir
from dynid.compile.trace import Kernel
from dynid.errors import ShapeError, unknown_name

BACKENDS = ("auto", "llvm", "casadi")
_STREAM_BYTES = 8_000_000
"""Results larger than this are written past the caches."""
_POINTER, _COUNT = ctypes.c_void_p, ctypes.c_int64


class _Functions(NamedTuple):
    """Entry points of the machine code; see ``batch_ir``."""

    tile: Any
    fill: Any
    run: Any
    stream: Any


@dataclass(frozen=True)
class BatchKernel:
    """A compiled kernel over samples.

    Args:
        kernel: what it computes.
        backend: "llvm" (machine code) or "casadi" (the fallback, same results).
        rows: numbers of the outputs that are not zero by structure.
        reason: why the fallback is in use, empty otherwise.
    """

    kernel: Kernel
    backend: str
    rows: tuple[int, ...]
    reason: str = ""
    _module: jit.Module | None = field(default=None, repr=False)

    @property
    def from_disk(self) -> bool:
        """Whether the machine code came from the cache."""
        return self._module is not None and self._module.from_disk

    @property
    def n_outputs(self) -> int:
        """Output scalars per sample."""
        return sum(port.width for port in self.kernel.outputs)

    def __call__(self, *inputs: ArrayLike, out: FloatArray | None = None, threads: int = 1) -> FloatArray:
        """Run over all samples.

        Args:
            inputs: one array per input port: (samples, width), (width,) when uniform, or (width, samples) for
                ports that hold columns.
            out: where to write, (outputs, samples) with contiguous rows; rows of structural zeros are left
                alone. A zeroed array is made when None.
            threads: how many share the samples.

        Returns:
            (outputs, samples): every output scalar is one contiguous row.
        """
        arrays, samples = self._checked(inputs)
        result = allocate(self.n_outputs, samples) if out is None else self._checked_out(out, samples)
        if self._module is None:
            self._evaluate(arrays, result)
            return result
        threads = max(1, min(int(threads), samples // TILE, os.cpu_count() or 1))
        edges = [TILE * (samples // TILE * t // threads) for t in range(threads)] + [samples]
        spans = list(itertools.pairwise(edges))
        if threads == 1:
            self._span(arrays, result, *spans[0])
        else:
            with ThreadPoolExecutor(threads) as pool:
                list(pool.map(lambda span: self._span(arrays, result, *span), spans))
        return result

    def tiles(self, *inputs: ArrayLike, buffer: FloatArray) -> int:
        """Compute into tiles that stay in cache, without structural zeros and without any copy.

        Args:
            inputs: as for a call; at most as many samples as the buffer holds.
            buffer: (tiles, nonzero outputs, TILE) from ``tile_buffer``; output ``rows[s]`` of sample i is
                ``buffer[i // TILE, s, i % TILE]``, and what lies behind the last sample is rubbish.

        Returns:
            The number of samples.
        """
        arrays, samples = self._checked(inputs)
        good = buffer.ndim == 3 and buffer.shape[1:] == (len(self.rows), TILE) and buffer.flags.c_contiguous
        if not good or samples > buffer.shape[0] * TILE or not is_aligned(buffer, 32):
            raise ShapeError(
                f"The buffer has shape {buffer.shape}; {samples} samples need one from tile_buffer, of shape "
                f"({-(-samples // TILE)}, {len(self.rows)}, {TILE}) or more tiles.",
                name="buffer",
                value=buffer.shape,
            )
        whole = samples // TILE
        if self._module is None:
            self._evaluate_tiles(arrays, buffer, samples)
            return samples
        if whole:
            ports, strides = self._ports(arrays, 0)
            self._functions.fill(whole, ports, strides, address(buffer))
        if samples % TILE:
            self._tail(arrays, buffer[whole], whole * TILE, samples)
        return samples

    def tile_buffer(self, tiles: int) -> FloatArray:
        """A buffer for ``tiles``."""
        return allocate(tiles * len(self.rows), TILE).reshape(tiles, len(self.rows), TILE)

    @cached_property
    def _functions(self) -> _Functions:
        assert self._module is not None
        run = (_COUNT, _POINTER, _POINTER, _POINTER, _POINTER, _POINTER, _COUNT)
        return _Functions(
            self._module.function("tile", _COUNT, _POINTER, _POINTER, _POINTER),
            self._module.function("fill", _COUNT, _POINTER, _POINTER, _POINTER),
            self._module.function("run", *run),
            self._module.function("stream", *run),
        )

    @cached_property
    def _local(self) -> threading.local:
        return threading.local()

    def _tile_of_thread(self) -> FloatArray:
        """The thread's own tile; a fresh one for every call would cost its page faults again."""
        if not hasattr(self._local, "tile"):
            self._local.tile = self.tile_buffer(1)[0]
        tile: FloatArray = self._local.tile
        return tile

    @cached_property
    def _row_numbers(self) -> NDArray[np.int64]:
        return np.array(self.rows, dtype=np.int64)

    def _span(self, arrays: list[FloatArray], result: FloatArray, first: int, last: int) -> None:
        """Whole tiles by one call, the rest through zero-padded copies."""
        if not self.rows:
            return
        tile = self._tile_of_thread()
        tiles = (last - first) // TILE
        stride = result.strides[0] // 8
        if tiles:
            ports, strides = self._ports(arrays, first)
            target = result[:, first:]
            past = result.nbytes > _STREAM_BYTES and is_aligned(target, 32) and stride % 4 == 0
            run = self._functions.stream if past else self._functions.run
            rows = address(self._row_numbers)
            run(tiles, ports, strides, address(tile), rows, address(target), stride)
        start = first + tiles * TILE
        if start < last:
            self._tail(arrays, tile, start, last)
            result[self._row_numbers, start:last] = tile[:, : last - start]

    def _tail(self, arrays: list[FloatArray], tile: FloatArray, start: int, last: int) -> None:
        """The samples behind the last whole tile."""
        whole = [padded(a, p, start, last) for a, p in zip(arrays, self.kernel.inputs, strict=True)]
        ports, strides = self._ports(whole, 0)
        self._functions.tile(-(-(last - start) // LANES), ports, strides, address(tile))

    def _ports(self, arrays: list[FloatArray], first: int) -> tuple[Any, Any]:
        """Addresses and strides of the ports from a sample on; the arrays must outlive their use."""
        ports = (_POINTER * len(arrays))()
        strides = (_COUNT * len(arrays))()
        for i, (array, port) in enumerate(zip(arrays, self.kernel.inputs, strict=True)):
            shift = 0 if port.uniform else first if port.columns else first * port.width
            ports[i] = address(array) + 8 * shift
            strides[i] = array.strides[0] // 8
        return ports, strides

    @cached_property
    def _evaluator(self) -> Any:
        return self.kernel.function()

    def _evaluate(self, arrays: list[FloatArray], result: FloatArray) -> None:
        """CasADi's own evaluator, in chunks."""
        samples = result.shape[1]
        for start in range(0, samples, 4096):
            stop = min(start + 4096, samples)
            given = [
                np.repeat(a[:, None], stop - start, axis=1)
                if p.uniform
                else a[:, start:stop]
                if p.columns
                else a[start:stop].T
                for a, p in zip(arrays, self.kernel.inputs, strict=True)
            ]
            values = self._evaluator.call(given)
            stacked = np.vstack([np.asarray(v.full()) for v in values])
            result[self._row_numbers, start:stop] = stacked[self._row_numbers]

    def _evaluate_tiles(self, arrays: list[FloatArray], buffer: FloatArray, samples: int) -> None:
        full = np.zeros((self.n_outputs, samples))
        self._evaluate(arrays, full)
        for t in range(-(-samples // TILE)):
            part = full[self._row_numbers, t * TILE : (t + 1) * TILE]
            buffer[t, :, : part.shape[1]] = part

    def _checked(self, inputs: Sequence[ArrayLike]) -> tuple[list[FloatArray], int]:
        ports = self.kernel.inputs
        if len(inputs) != len(ports):
            names = ", ".join(p.name for p in ports)
            raise ShapeError(
                f"The kernel {self.kernel.name!r} takes {len(ports)} arrays ({names}); "
                f"{len(inputs)} were given.",
                name="inputs",
                value=len(inputs),
            )
        arrays, counts = [], {}
        for value, port in zip(inputs, ports, strict=True):
            array = as_port_array(value, port)
            arrays.append(array)
            if not port.uniform:
                counts[port.name] = array.shape[1 if port.columns else 0]
        if len(set(counts.values())) > 1:
            listing = ", ".join(f"{name}: {count}" for name, count in counts.items())
            raise ShapeError(
                f"The arrays do not have the same number of samples ({listing}).", name="samples"
            )
        return arrays, next(iter(counts.values()), 1)

    def _checked_out(self, out: FloatArray, samples: int) -> FloatArray:
        good = out.shape == (self.n_outputs, samples) and out.dtype == np.float64 and out.strides[1] == 8
        if not good:
            raise ShapeError(
                f"out has shape {out.shape} and type {out.dtype}; expected ({self.n_outputs}, {samples}) "
                "of float64 with contiguous rows.",
                name="out",
                value=out.shape,
            )
        return out


def compile_batch(kernel: Kernel, backend: str = "auto") -> BatchKernel:
    """Make a kernel callable, from the cache when it was compiled before.

    Args:
        kernel: what to compile, from ``describe``.
        backend: "auto" (machine code, else CasADi's evaluator), "llvm" or "casadi". The environment
            variable DYNID_BACKEND overrides "auto".
    """
    if backend == "auto":
        backend = os.environ.get("DYNID_BACKEND", "auto")
    if backend not in BACKENDS:
        raise unknown_name("backend", backend, BACKENDS)
    reason = "asked for"
    if backend != "casadi":
        try:
            return _compiled(kernel)
        except jit.CompileError as error:
            if backend == "llvm":
                raise
            reason = str(error)
    return BatchKernel(kernel, "casadi", kernel.program().nonzero, reason)


def _compiled(kernel: Kernel) -> BatchKernel:
    key = f"batch {kernel.key}"
    found = jit.load_cached(key)
    if found is not None:
        module, facts = found
        return BatchKernel(kernel, "llvm", tuple(facts["rows"]), "", module)
    program = kernel.program()
    module = jit.compile_cached(key, batch_ir(program), {"rows": program.nonzero})
    return BatchKernel(kernel, "llvm", program.nonzero, "", module)
