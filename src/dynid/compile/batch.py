"""Batch kernels: a program run over all samples of a log, by machine code or by CasADi's evaluator."""

from __future__ import annotations

import ctypes
import itertools
import os
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dynid.compile import jit
from dynid.compile.arrays import address, allocate, as_port_array, is_aligned, padded_tile
from dynid.compile.ir_batch import LANES, TILE, batch_ir
from dynid.compile.program import Port
from dynid.compile.trace import Kernel
from dynid.core.arrays import FloatArray
from dynid.core.errors import ShapeError, unknown_name
from dynid.core.lazy import later

_pool = later("concurrent.futures", "ThreadPoolExecutor")
BACKENDS = ("auto", "llvm", "casadi")
_STREAM_BYTES = 8_000_000
"""Results larger than this are written past the caches."""
_BLOCK_BYTES = 240_000
"""Half of the second-level cache of a common core; larger blocks were measured a tenth slower."""
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
        arrays, samples = self._port_arrays(inputs)
        result = allocate(self.n_outputs, samples) if out is None else self._usable_out(out, samples)
        if self._module is None:
            self._evaluate(arrays, result)
            return result
        threads = max(1, min(int(threads), samples // TILE, os.cpu_count() or 1))
        edges = [TILE * (samples // TILE * t // threads) for t in range(threads)] + [samples]
        spans = list(itertools.pairwise(edges))
        if threads == 1:
            self._span(arrays, result, *spans[0])
        else:
            with _pool(threads) as pool:
                list(pool.map(lambda span: self._span(arrays, result, *span), spans))
        return result

    def blocks(self, *inputs: ArrayLike, tiles: int | None = None) -> Iterator[tuple[int, int, FloatArray]]:
        """Run over all samples block by block, each in the same buffer, which stays in cache.

        Nothing is copied and structural zeros are left out: output ``rows[s]`` of the block's sample i is
        ``buffer[i // TILE, s, i % TILE]``. What lies behind the block's last sample is rubbish.

        Args:
            inputs: as for a call.
            tiles: size of a block, in tiles of TILE samples; as many as a core's own cache holds when None.

        Yields:
            First sample of the block, number of samples, and the buffer (tiles, nonzero outputs, TILE),
            which the next block overwrites.
        """
        arrays, samples = self._port_arrays(inputs)
        if tiles is None:
            tiles = max(1, _BLOCK_BYTES // (8 * TILE * max(1, len(self.rows))))
        if tiles < 1:
            raise ShapeError(f"A block of {tiles} tiles holds nothing; give at least 1.")
        buffer, size = self.tile_buffer(tiles), tiles * TILE
        start = 0
        if self._module is not None:
            ports, strides = self._ports(arrays, 0)
            steps = [8 * size * self._samples_step(port) for port in self.kernel.inputs]
            fill, place = self._functions.fill, address(buffer)
            # Plain numbers are quicker to hand over than arrays, and a block lasts only microseconds.
            at_ports, at_strides = ctypes.addressof(ports), ctypes.addressof(strides)
            while start + size <= samples:
                fill(tiles, at_ports, at_strides, place)
                yield start, size, buffer
                start += size
                for i, step in enumerate(steps):
                    ports[i] += step
        for first in range(start, samples, size):
            count = min(size, samples - first)
            self._last_block(arrays, buffer, first, count)
            yield first, count, buffer

    def _last_block(self, arrays: list[FloatArray], buffer: FloatArray, first: int, count: int) -> None:
        """A block that may end anywhere."""
        if self._module is None:
            full = np.zeros((self.n_outputs, count))
            self._evaluate(
                [_samples_of(a, p, first, count) for a, p in zip(arrays, self.kernel.inputs, strict=True)],
                full,
            )
            for t in range(-(-count // TILE)):
                part = full[self._row_numbers, t * TILE : (t + 1) * TILE]
                buffer[t, :, : part.shape[1]] = part
            return
        whole = count // TILE
        ports, strides = self._ports(arrays, first)
        self._functions.fill(whole, ports, strides, address(buffer))
        if count % TILE:
            self._tail(arrays, buffer[whole], first + whole * TILE, first + count)

    @staticmethod
    def _samples_step(port: Port) -> int:
        """Scalars between two samples of a port."""
        return 0 if port.uniform else 1 if port.columns else port.width

    def tile_buffer(self, tiles: int) -> FloatArray:
        """An aligned buffer (tiles, nonzero outputs, TILE)."""
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
        whole = [padded_tile(a, p, start, last) for a, p in zip(arrays, self.kernel.inputs, strict=True)]
        ports, strides = self._ports(whole, 0)
        self._functions.tile(-(-(last - start) // LANES), ports, strides, address(tile))

    def _ports(self, arrays: list[FloatArray], first: int) -> tuple[Any, Any]:
        """Addresses and strides of the ports from a sample on; the arrays must outlive their use."""
        ports = (_POINTER * len(arrays))()
        strides = (_COUNT * len(arrays))()
        for i, (array, port) in enumerate(zip(arrays, self.kernel.inputs, strict=True)):
            ports[i] = address(array) + 8 * first * self._samples_step(port)
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

    def _port_arrays(self, inputs: Sequence[ArrayLike]) -> tuple[list[FloatArray], int]:
        ports = self.kernel.inputs
        if len(inputs) != len(ports):
            names = ", ".join(p.name for p in ports)
            raise ShapeError(
                f"The kernel {self.kernel.name!r} takes {len(ports)} arrays ({names}); "
                f"{len(inputs)} were given."
            )
        arrays, counts = [], {}
        for value, port in zip(inputs, ports, strict=True):
            array = as_port_array(value, port)
            arrays.append(array)
            if not port.uniform:
                counts[port.name] = array.shape[1 if port.columns else 0]
        if len(set(counts.values())) > 1:
            listing = ", ".join(f"{name}: {count}" for name, count in counts.items())
            raise ShapeError(f"The arrays do not have the same number of samples ({listing}).")
        return arrays, next(iter(counts.values()), 1)

    def _usable_out(self, out: FloatArray, samples: int) -> FloatArray:
        good = out.shape == (self.n_outputs, samples) and out.dtype == np.float64
        if not good or out.strides[1] != 8 or out.strides[0] < 8 * samples:
            raise ShapeError(
                f"out has shape {out.shape} and type {out.dtype}; expected ({self.n_outputs}, {samples}) "
                "of float64 with contiguous rows."
            )
        if not out.flags.writeable:
            raise ShapeError("out cannot be written; give an array of your own.")
        return out


def _samples_of(array: FloatArray, port: Port, first: int, count: int) -> FloatArray:
    if port.uniform:
        return array
    return array[:, first : first + count] if port.columns else array[first : first + count]


def chosen_backend(backend: str) -> str:
    """The backend asked for; the environment variable DYNID_BACKEND replaces "auto"."""
    chosen = os.environ.get("DYNID_BACKEND", "auto") if backend == "auto" else backend
    if chosen not in BACKENDS:
        raise unknown_name("backend", chosen, BACKENDS)
    return chosen


def compile_batch(kernel: Kernel, backend: str = "auto") -> BatchKernel:
    """Make a kernel callable, from the cache when it was compiled before.

    Args:
        kernel: what to compile, from ``describe``.
        backend: "auto" (machine code, else CasADi's evaluator), "llvm" or "casadi". The environment
            variable DYNID_BACKEND overrides "auto".
    """
    backend = chosen_backend(backend)
    reason = "asked for"
    if backend != "casadi":
        try:
            return _machine_code_kernel(kernel)
        except jit.CompileError as error:
            if backend == "llvm":
                raise
            reason = str(error)
    return BatchKernel(kernel, "casadi", kernel.program().nonzero, reason)


def _machine_code_kernel(kernel: Kernel) -> BatchKernel:
    key = f"batch {kernel.key}"
    found = jit.load_cached(key)
    if found is not None:
        module, facts = found
        return BatchKernel(kernel, "llvm", tuple(facts["rows"]), "", module)
    program = kernel.program()
    module = jit.compile_cached(key, batch_ir(program), {"rows": program.nonzero})
    return BatchKernel(kernel, "llvm", program.nonzero, "", module)
