"""From LLVM text to callable machine code, with the objects kept on disk."""

from __future__ import annotations

import ctypes
import threading
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from dynid.compile import store

_LOCK = threading.Lock()
OPTIMISATION = 1
"""Code-generator level: the text is already straight-line, so higher levels only compile longer."""


class CompileError(Exception):
    """LLVM is missing or refuses the program; the caller falls back to CasADi's evaluator."""


@dataclass(frozen=True)
class Module:
    """Loaded machine code.

    Args:
        engine: LLVM's execution engine; the code lives as long as it does.
        from_disk: whether the object was found in the cache.
    """

    engine: Any = field(repr=False)
    from_disk: bool

    def function(self, name: str, *arguments: Any) -> Any:
        """A void function as a callable; calls release the interpreter lock."""
        address = self.engine.get_function_address(name)
        if not address:
            raise CompileError(f"the module has no function {name!r}")
        call: Any = ctypes.CFUNCTYPE(None, *arguments)(address)
        call.module = self  # keeps the code alive as long as the callable
        return call


@cache
def _binding() -> Any:
    try:
        import llvmlite.binding as llvm
    except ImportError as error:
        raise CompileError(f"llvmlite cannot be imported ({error})") from None
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm


@cache
def host() -> str:
    """What the machine code depends on: LLVM's version, processor and its features."""
    llvm = _binding()
    features = llvm.get_host_cpu_features().flatten()
    version = ".".join(map(str, llvm.llvm_version_info))
    return f"{version} {llvm.get_process_triple()} {llvm.get_host_cpu_name()} {features}"


def _machine(level: int) -> Any:
    """A target machine; every engine owns one, so none is shared."""
    llvm = _binding()
    target = llvm.Target.from_triple(llvm.get_process_triple())
    return target.create_target_machine(
        cpu=llvm.get_host_cpu_name(),
        features=llvm.get_host_cpu_features().flatten(),
        opt=level,
        codemodel="jitdefault",
        jit=True,
    )


def build(text: str, level: int = OPTIMISATION) -> bytes:
    """Compile LLVM text to an object file for this machine."""
    llvm = _binding()
    with _LOCK:
        try:
            module = llvm.parse_assembly(text)
            module.verify()
            return bytes(_machine(level).emit_object(module))
        except RuntimeError as error:
            raise CompileError(str(error)) from None


def load(object_code: bytes, *, from_disk: bool) -> Module:
    """Make an object file callable."""
    llvm = _binding()
    with _LOCK:
        try:
            engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _machine(OPTIMISATION))
            engine.add_object_file(llvm.ObjectFileRef.from_data(object_code))
            engine.finalize_object()
        except RuntimeError as error:
            raise CompileError(str(error)) from None
    return Module(engine, from_disk)


def load_cached(key: str) -> tuple[Module, dict[str, Any]] | None:
    """The module and facts stored under a key, or None when there are none or they are unusable."""
    entry = store.read(store.full_key(key, host()))
    if entry is None:
        return None
    facts, object_code = entry
    try:
        return load(object_code, from_disk=True), facts
    except CompileError:
        return None


def compile_cached(key: str, text: str, facts: dict[str, Any], level: int = OPTIMISATION) -> Module:
    """Compile, remember under a key with some facts, and load."""
    object_code = build(text, level)
    store.write(store.full_key(key, host()), facts, object_code)
    return load(object_code, from_disk=False)
