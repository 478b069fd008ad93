"""LLVM text of the elementary operations, over double or a vector of doubles.

Only ``contract`` is allowed of the fast-math family: the others would break the range reduction of sin and
cos. Sine and cosine are inlined polynomials because a library call per lane costs more than the kernel.
"""

from __future__ import annotations

import math
import struct

from dynid.compile.program import BINARY

_HALF_PI_HIGH = float.fromhex("0x1.921fb54400000p+0")
_HALF_PI_MIDDLE = float.fromhex("0x1.0b4611a600000p-34")
_HALF_PI_LOW = float.fromhex("0x1.3198a2e037073p-69")
"""π/2 in three parts; k × the first two is exact for |k| < 2²⁰."""
ANGLE_LIMIT = 1.0e6
"""Beyond this many radians the kernels answer NaN rather than an inexact sine."""

_SIMPLE = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}
_INTRINSIC = {
    "abs": "fabs", "min": "minnum", "max": "maxnum", "sqrt": "sqrt", "exp": "exp", "log": "log", "pow": "pow",
    "floor": "floor", "ceil": "ceil",
}  # fmt: skip
_COMPARE = {"lt": "olt", "le": "ole", "eq": "oeq", "ne": "une"}
_LIBRARY = ("tanh", "atan", "tan")


def literal(value: float) -> str:
    """A double in LLVM's hexadecimal spelling."""
    return f"0x{struct.unpack('>Q', struct.pack('>d', value))[0]:016X}"


class Emitter:
    """Writes instructions of a program as LLVM text over one value type.

    Args:
        lanes: samples per value; 1 gives plain doubles.
        prefix: first letters of the value names, for texts that share a function.
    """

    def __init__(self, lanes: int, prefix: str = "t") -> None:
        """Start without any line."""
        self.prefix = prefix
        self.lanes = lanes
        self.type = "double" if lanes == 1 else f"<{lanes} x double>"
        self.suffix = "f64" if lanes == 1 else f"v{lanes}f64"
        self.bool = "i1" if lanes == 1 else f"<{lanes} x i1>"
        self.lines: list[str] = []
        self.intrinsics: set[str] = set()
        self._fresh = 0
        self._trig: dict[str, tuple[str, str]] = {}

    def name(self) -> str:
        """A new value name."""
        self._fresh += 1
        return f"%{self.prefix}{self._fresh}"

    def put(self, text: str) -> str:
        """Write one instruction and return the name of its value."""
        name = self.name()
        self.lines.append(f"  {name} = {text}")
        return name

    def constant(self, value: float) -> str:
        """A constant operand."""
        if self.lanes == 1:
            return literal(value)
        return "<" + ", ".join([f"double {literal(value)}"] * self.lanes) + ">"

    def splat(self, scalar: str) -> str:
        """A scalar double in all lanes."""
        if self.lanes == 1:
            return scalar
        one = self.put(f"insertelement {self.type} poison, double {scalar}, i32 0")
        return self.put(
            f"shufflevector {self.type} {one}, {self.type} poison, <{self.lanes} x i32> zeroinitializer"
        )

    def binary(self, op: str, a: str, b: str) -> str:
        """a op b for + − × /."""
        return self.put(f"{_SIMPLE[op]} contract {self.type} {a}, {b}")

    def fma(self, a: str, b: str, c: str) -> str:
        """a b + c, fused where the machine can."""
        return self.call("fmuladd", a, b, c)

    def call(self, intrinsic: str, *operands: str) -> str:
        """An LLVM intrinsic."""
        full = f"llvm.{intrinsic}.{self.suffix}"
        types = ", ".join([self.type] * len(operands))
        self.intrinsics.add(f"declare {self.type} @{full}({types})")
        return self.put(f"call {self.type} @{full}({', '.join(f'{self.type} {o}' for o in operands)})")

    def compare(self, predicate: str, a: str, b: str) -> str:
        """A truth value per lane."""
        return self.put(f"fcmp {predicate} {self.type} {a}, {b}")

    def select(self, condition: str, a: str, b: str) -> str:
        """A where the condition holds, else b."""
        return self.put(f"select {self.bool} {condition}, {self.type} {a}, {self.type} {b}")

    def apply(self, op: str, a: str, b: str) -> str:
        """One operation of a program."""
        if op in _SIMPLE:
            return self.binary(op, a, b)
        if op in ("sin", "cos"):
            return self.sin_cos(a)[op == "cos"]
        if op == "neg":
            return self.put(f"fneg {self.type} {a}")
        if op in _COMPARE:
            return self.select(self.compare(_COMPARE[op], a, b), self.constant(1.0), self.constant(0.0))
        if op in _INTRINSIC:
            return self.call(_INTRINSIC[op], a, *([b] if op in BINARY else []))
        if op in _LIBRARY:
            return self._library(op, a)
        return self._logic(op, a, b)

    def _logic(self, op: str, a: str, b: str) -> str:
        zero, one = self.constant(0.0), self.constant(1.0)
        truth = self.compare("une", a, zero)
        if op == "sign":
            negative = self.select(self.compare("olt", a, zero), self.constant(-1.0), a)
            return self.select(self.compare("ogt", a, zero), one, negative)
        if op == "not":
            return self.select(truth, zero, one)
        if op == "if":
            return self.select(truth, b, zero)
        other = self.compare("une", b, zero)
        both = self.put(f"{op} {self.bool} {truth}, {other}")
        return self.select(both, one, zero)

    def _library(self, op: str, a: str) -> str:
        """A libm function, lane by lane: rare in robot models."""
        self.intrinsics.add(f"declare double @{op}(double)")
        if self.lanes == 1:
            return self.put(f"call double @{op}(double {a})")
        result = "poison"
        for lane in range(self.lanes):
            x = self.put(f"extractelement {self.type} {a}, i32 {lane}")
            y = self.put(f"call double @{op}(double {x})")
            result = self.put(f"insertelement {self.type} {result}, double {y}, i32 {lane}")
        return result

    def sin_cos(self, x: str) -> tuple[str, str]:
        """sin x and cos x by reduction to [−π/4, π/4] and Taylor polynomials (error < 1 ulp of 1)."""
        if x not in self._trig:
            self._trig[x] = self._sin_cos(x)
        return self._trig[x]

    def _sin_cos(self, x: str) -> tuple[str, str]:
        const, half = self.constant, self.constant(0.5)
        inside = self.compare("ole", self.call("fabs", x), const(ANGLE_LIMIT))
        k = self.call("rint", self.binary("mul", x, const(2 / math.pi)))
        r = x
        for part in (_HALF_PI_HIGH, _HALF_PI_MIDDLE, _HALF_PI_LOW):
            r = self.fma(k, const(-part), r)
        z = self.binary("mul", r, r)
        sine = self.fma(self.binary("mul", r, z), self._taylor(z, 3, 15), r)
        cosine = self.fma(z, self._taylor(z, 2, 16), const(1.0))
        halves = self.binary("mul", k, half)
        odd = self.compare("une", self.call("floor", halves), halves)
        m = self.binary(
            "sub", k, self.binary("mul", const(4.0), self.call("floor", self.binary("mul", k, const(0.25))))
        )
        s, c = self.select(odd, cosine, sine), self.select(odd, sine, cosine)
        minus_s = self.put(f"fneg {self.type} {s}")
        minus_c = self.put(f"fneg {self.type} {c}")
        s = self.select(self.compare("oge", m, const(2.0)), minus_s, s)
        middle = self.call("fabs", self.binary("sub", m, const(1.5)))
        c = self.select(self.compare("olt", middle, const(1.0)), minus_c, c)
        nan = const(math.nan)
        return self.select(inside, s, nan), self.select(inside, c, nan)

    def _taylor(self, z: str, first: int, last: int) -> str:
        """Σ ± z^((n−first)/2) / n! for n = first, first + 2, … last; n = 2, 3 are negative."""
        orders = range(first, last + 1, 2)
        terms = [(-1.0) ** (n // 2) / math.factorial(n) for n in orders]
        value = self.constant(terms[-1])
        for term in reversed(terms[:-1]):
            value = self.fma(value, z, self.constant(term))
        return value
