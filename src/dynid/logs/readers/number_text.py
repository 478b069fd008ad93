"""Plain numbers from text by machine code: what nearly all rows of nearly all CSV logs hold.

Only what is exact at once is read: up to 18 digits that make a whole number of at most 2⁵³, times or over a
power of ten of at most 10²², which rounds once and so correctly (Clinger 1990). Anything else is left to
slower readers.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynid.compile import jit

FloatArray = NDArray[np.float64]
_WORTHWHILE = 500_000
"""Characters below which loading machine code takes longer than it saves."""


def plain_numbers(lines: list[str], delimiter: str, width: int) -> FloatArray | None:
    """Numbers of lines that hold ``width`` each, (lines, width); None when any cell is not a plain number.

    Args:
        lines: none of them blank.
        delimiter: one character between cells, not a space; spaces around numbers are skipped.
        width: cells of a line.
    """
    text = ("\n".join(lines) + "\n").encode()
    parse = _parser() if len(text) >= _WORTHWHILE and delimiter != " " else None
    if parse is None or b"\0" in text:
        return None
    values = np.empty((text.count(b"\n"), width))  # the code writes at most so many
    done = ctypes.c_int64(0)
    parse(text, ord(delimiter), width, values.ctypes.data, ctypes.byref(done))
    return values if done.value == values.size and len(values) == len(lines) else None


@cache
def _parser() -> Any:
    """The compiled ``parse``, or None where there is no compiler."""
    key = f"numbers {_IR}"
    try:
        found = jit.load_cached(key)
        module = jit.compile_cached(key, _IR, {}) if found is None else found[0]
    except jit.CompileError:
        return None
    types = (ctypes.c_char_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)
    return module.function("parse", *types)


def _digits(name: str, before: str, start: str, value: str) -> str:
    """A loop over digits from ``start``: where it ends %p, the character there %c, and the number %m."""
    return f"""
{name}:
  %p.{name} = phi i64 [ {start}, %{before} ], [ %p1.{name}, %{name}.more ]
  %m.{name} = phi i64 [ {value}, %{before} ], [ %m1.{name}, %{name}.more ]
  %at.{name} = getelementptr i8, ptr %text, i64 %p.{name}
  %c.{name} = load i8, ptr %at.{name}
  %d.{name} = sub i8 %c.{name}, 48
  %is.{name} = icmp ult i8 %d.{name}, 10
  br i1 %is.{name}, label %{name}.more, label %{name}.end
{name}.more:
  %ten.{name} = mul i64 %m.{name}, 10
  %digit.{name} = zext i8 %d.{name} to i64
  %m1.{name} = add i64 %ten.{name}, %digit.{name}
  %p1.{name} = add i64 %p.{name}, 1
  br label %{name}
{name}.end:"""


def _sign(name: str, start: str) -> str:
    """An optional sign at ``start``: whether it is a minus %minus, and the place behind it %p."""
    return f"""
  %at.{name} = getelementptr i8, ptr %text, i64 {start}
  %c.{name} = load i8, ptr %at.{name}
  %minus.{name} = icmp eq i8 %c.{name}, 45
  %plus.{name} = icmp eq i8 %c.{name}, 43
  %signed.{name} = or i1 %minus.{name}, %plus.{name}
  %one.{name} = zext i1 %signed.{name} to i64
  %p.{name} = add i64 {start}, %one.{name}"""


_IR = f"""
@powers = private constant [23 x double] [{", ".join(f"double {10.0**k:.1e}" for k in range(23))}]

; Reads until a NUL; %done becomes the count of numbers, or stays where a line is not as it should be.
define void @parse(ptr %text, i64 %delimiter, i64 %width, ptr %out, ptr %done) {{
entry:
  br label %line
line:
  %p.line = phi i64 [ 0, %entry ], [ %next, %last ]
  %n.line = phi i64 [ 0, %entry ], [ %n1, %last ]
  %at.line = getelementptr i8, ptr %text, i64 %p.line
  %c.line = load i8, ptr %at.line
  %over = icmp eq i8 %c.line, 0
  br i1 %over, label %finish, label %cell
cell:
  %p.cell = phi i64 [ %p.line, %line ], [ %next, %further ]
  %n = phi i64 [ %n.line, %line ], [ %n1, %further ]
  %column = phi i64 [ 0, %line ], [ %column1, %further ]
  br label %lead
lead:
  %p.lead = phi i64 [ %p.cell, %cell ], [ %p1.lead, %lead ]
  %at.lead = getelementptr i8, ptr %text, i64 %p.lead
  %c.lead = load i8, ptr %at.lead
  %p1.lead = add i64 %p.lead, 1
  %blank.lead = icmp eq i8 %c.lead, 32
  br i1 %blank.lead, label %lead, label %number
number:{_sign("number", "%p.lead")}
  br label %whole{_digits("whole", "number", "%p.number", "0")}
  %count.whole = sub i64 %p.whole, %p.number
  %p.point = add i64 %p.whole, 1
  %point = icmp eq i8 %c.whole, 46
  br i1 %point, label %part, label %digits{_digits("part", "whole.end", "%p.point", "%m.whole")}
  %count.part = sub i64 %p.part, %p.point
  br label %digits
digits:
  %p = phi i64 [ %p.whole, %whole.end ], [ %p.part, %part.end ]
  %m = phi i64 [ %m.whole, %whole.end ], [ %m.part, %part.end ]
  %c = phi i8 [ %c.whole, %whole.end ], [ %c.part, %part.end ]
  %behind = phi i64 [ 0, %whole.end ], [ %count.part, %part.end ]
  %count = add i64 %count.whole, %behind
  %count0 = sub i64 %count, 1
  %some = icmp ult i64 %count0, 18
  %lower = or i8 %c, 32
  %e = icmp eq i8 %lower, 101
  br i1 %some, label %exponent, label %finish
exponent:
  br i1 %e, label %power, label %value
power:
  %p.e = add i64 %p, 1{_sign("power", "%p.e")}
  br label %tens{_digits("tens", "power", "%p.power", "0")}
  %count.tens = sub i64 %p.tens, %p.power
  %count0.tens = sub i64 %count.tens, 1
  %some.tens = icmp ult i64 %count0.tens, 4
  %negative.tens = sub i64 0, %m.tens
  %x.tens = select i1 %minus.power, i64 %negative.tens, i64 %m.tens
  br i1 %some.tens, label %value, label %finish
value:
  %p.value = phi i64 [ %p, %exponent ], [ %p.tens, %tens.end ]
  %c.value = phi i8 [ %c, %exponent ], [ %c.tens, %tens.end ]
  %x = phi i64 [ 0, %exponent ], [ %x.tens, %tens.end ]
  %scale = sub i64 %x, %behind
  %scale22 = add i64 %scale, 22
  %near = icmp ule i64 %scale22, 44
  %short = icmp ule i64 %m, 9007199254740992
  %exact = and i1 %near, %short
  br i1 %exact, label %scaled, label %finish
scaled:
  %float = sitofp i64 %m to double
  %down = icmp slt i64 %scale, 0
  %minus.scale = sub i64 0, %scale
  %size = select i1 %down, i64 %minus.scale, i64 %scale
  %at.ten = getelementptr double, ptr @powers, i64 %size
  %power10 = load double, ptr %at.ten
  %times = fmul double %float, %power10
  %less10 = fdiv double %float, %power10
  %positive = select i1 %down, double %less10, double %times
  %negative = fneg double %positive
  %result = select i1 %minus.number, double %negative, double %positive
  %place = getelementptr double, ptr %out, i64 %n
  store double %result, ptr %place
  %n1 = add i64 %n, 1
  %column1 = add i64 %column, 1
  br label %trail
trail:
  %p.trail = phi i64 [ %p.value, %scaled ], [ %next, %trail.more ]
  %c.trail = phi i8 [ %c.value, %scaled ], [ %c.next, %trail.more ]
  %next = add i64 %p.trail, 1
  %blank.trail = icmp eq i8 %c.trail, 32
  br i1 %blank.trail, label %trail.more, label %ending
trail.more:
  %at.next = getelementptr i8, ptr %text, i64 %next
  %c.next = load i8, ptr %at.next
  br label %trail
ending:
  %code = zext i8 %c.trail to i64
  %delimited = icmp eq i64 %code, %delimiter
  br i1 %delimited, label %further, label %end
further:
  %room = icmp ult i64 %column1, %width
  br i1 %room, label %cell, label %finish
end:
  %newline = icmp eq i8 %c.trail, 10
  %full = icmp eq i64 %column1, %width
  %whole.line = and i1 %newline, %full
  br i1 %whole.line, label %last, label %finish
last:
  store i64 %n1, ptr %done
  br label %line
finish:
  ret void
}}
"""
