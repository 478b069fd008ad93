"""LLVM text of one step of a recursion: a few new rows folded into a triangular factor, and its solution.

A factor is a table A of (pivots + rows) lines in C order, each padded to whole vectors: above the triangular
R with what belongs to it, below the new rows. Lengths are known to the compiler, so the rows of a chunk of
columns stay in registers through a whole reflection.
"""

from __future__ import annotations

from dynid.compile.ir_scalar import literal

CHUNK = 4
"""Doubles of a vector: one AVX register, as in ``ir_batch``."""
_NOTHING = 1e-280
"""Sum of squares that counts as zero: smaller ones have lost their digits, and their inverse overflows."""
_KIND = f"<{CHUNK} x double>"
_DECLARATIONS = f"""declare double @llvm.sqrt.f64(double)
declare double @llvm.fabs.f64(double)
declare double @llvm.fmuladd.f64(double, double, double)
declare {_KIND} @llvm.fmuladd.v{CHUNK}f64({_KIND}, {_KIND}, {_KIND})
declare double @llvm.vector.reduce.fadd.v{CHUNK}f64(double, {_KIND})
"""


def line_length(width: int) -> int:
    """Doubles from one line of a table to the next: whole vectors."""
    return -(-width // CHUNK) * CHUNK


def fold_ir(pivots: int, width: int, rows: int) -> str:
    """LLVM module with ``fold``, ``solve`` and ``update``.

    ``void fold(ptr A, ptr out)`` reflects the new rows away, column by column (Householder 1958):
    H = I − 2 v vᵀ/vᵀv on lines (i, new rows) for i = 0 … pivots − 1. ``out[0]`` is the sum of squares that is
    left of the new rows in column ``pivots``, the first that is no pivot.

    ``void solve(ptr A, ptr lengths, ptr x, ptr out)`` gives R x = z with z column ``pivots`` of A. ``out[0]``
    is the least R_ii² over the squared length of its column: zero where a direction is not seen.

    ``void update(ptr W, ptr y, ptr weights, ptr A, ptr lengths, ptr x, ptr out)`` is a whole step of
    recursive least squares: rows W (rows, pivots) and y (rows,) are weighted and folded, x solved anew.
    ``out`` holds W x with the x before, y − W x, the sum of squares that the rows add, and the ratio of
    ``solve``.

    Args:
        pivots: columns that are eliminated, p.
        width: columns in all.
        rows: new rows at a time.
    """
    stride = line_length(width)
    return "\n".join(
        [
            _DECLARATIONS,
            _fold(pivots, stride, rows),
            _solve(pivots, stride),
            _update(pivots, stride, rows),
        ]
    )


def _splat(name: str, scalar: str) -> list[str]:
    return [
        f"  %{name}.one = insertelement {_KIND} poison, double {scalar}, i32 0",
        f"  %{name} = shufflevector {_KIND} %{name}.one, {_KIND} poison, <{CHUNK} x i32> zeroinitializer",
    ]


def _fma(kind: str, suffix: str, a: str, b: str, c: str) -> str:
    return f"call {kind} @llvm.fmuladd.{suffix}({kind} {a}, {kind} {b}, {kind} {c})"


def _vector_fma(a: str, b: str, c: str) -> str:
    return _fma(_KIND, f"v{CHUNK}f64", a, b, c)


def _fold(pivots: int, stride: int, rows: int) -> str:
    return f"""
define void @fold(ptr noalias %A, ptr noalias %out) noinline {{
entry:
  br label %column
column:
  %i = phi i64 [ 0, %entry ], [ %i.next, %column.end ]
  %line = mul i64 %i, {stride}
  %top = getelementptr double, ptr %A, i64 %line
  %pivot = getelementptr double, ptr %top, i64 %i
  %alpha = load double, ptr %pivot, align 8
  %below = getelementptr double, ptr %A, i64 {pivots * stride}
{_column_entries(stride, rows)}
  %nothing = fcmp olt double %s{rows}, {literal(_NOTHING)}
  br i1 %nothing, label %column.end, label %reflect
reflect:
  %square = {_fma("double", "f64", "%alpha", "%alpha", f"%s{rows}")}
  %norm = call double @llvm.sqrt.f64(double %square)
  %minus = fneg double %norm
  %positive = fcmp ogt double %alpha, 0.0
  %beta = select i1 %positive, double %minus, double %norm
  %v0 = fsub double %alpha, %beta
  %length = {_fma("double", "f64", "%v0", "%v0", f"%s{rows}")}
  %tau = fdiv double 2.0, %length
{_splats(rows)}
  %first = and i64 %i, -{CHUNK}
  br label %chunk
chunk:
  %c = phi i64 [ %first, %reflect ], [ %c.next, %chunk ]
{_reflected_chunk(stride, rows)}
  %c.next = add i64 %c, {CHUNK}
  %c.more = icmp slt i64 %c.next, {stride}
  br i1 %c.more, label %chunk, label %exact
exact:
  store double %beta, ptr %pivot, align 8
{_zeros(rows)}
  br label %column.end
column.end:
  %i.next = add i64 %i, 1
  %more = icmp slt i64 %i.next, {pivots}
  br i1 %more, label %column, label %rest
rest:
{_rest(pivots, stride, rows)}
  ret void
}}"""


def _column_entries(stride: int, rows: int) -> str:
    """Entries of the column in the new rows, and their sum of squares ``%s{rows}``."""
    lines = ["  %s0 = fadd double 0.0, 0.0"]
    for k in range(rows):
        lines += [
            f"  %row{k} = getelementptr double, ptr %below, i64 {k * stride}",
            f"  %place{k} = getelementptr double, ptr %row{k}, i64 %i",
            f"  %e{k} = load double, ptr %place{k}, align 8",
            f"  %s{k + 1} = {_fma('double', 'f64', f'%e{k}', f'%e{k}', f'%s{k}')}",
        ]
    return "\n".join(lines)


def _splats(rows: int) -> str:
    lines = [*_splat("w", "%v0"), *_splat("t", "%tau")]
    for k in range(rows):
        lines += _splat(f"v{k + 1}", f"%e{k}")
    return "\n".join(lines)


def _reflected_chunk(stride: int, rows: int) -> str:
    """One chunk of columns: the inner product with v, then v times it taken off."""
    lines = [
        "  %r.place = getelementptr double, ptr %top, i64 %c",
        f"  %r = load {_KIND}, ptr %r.place, align 8",
        f"  %d0 = fmul contract {_KIND} %w, %r",
    ]
    for k in range(rows):
        lines += [
            f"  %a.place{k} = getelementptr double, ptr %row{k}, i64 %c",
            f"  %a{k} = load {_KIND}, ptr %a.place{k}, align 8",
            f"  %d{k + 1} = {_vector_fma(f'%v{k + 1}', f'%a{k}', f'%d{k}')}",
        ]
    lines += [
        f"  %scaled = fmul contract {_KIND} %t, %d{rows}",
        f"  %share = fneg {_KIND} %scaled",
        f"  %r.new = {_vector_fma('%share', '%w', '%r')}",
        f"  store {_KIND} %r.new, ptr %r.place, align 8",
    ]
    for k in range(rows):
        lines += [
            f"  %a.new{k} = {_vector_fma('%share', f'%v{k + 1}', f'%a{k}')}",
            f"  store {_KIND} %a.new{k}, ptr %a.place{k}, align 8",
        ]
    return "\n".join(lines)


def _zeros(rows: int) -> str:
    return "\n".join(f"  store double 0.0, ptr %place{k}, align 8" for k in range(rows))


def _rest(pivots: int, stride: int, rows: int) -> str:
    lines = ["  %q0 = fadd double 0.0, 0.0"]
    for k in range(rows):
        lines += [
            f"  %z.place{k} = getelementptr double, ptr %A, i64 {(pivots + k) * stride + pivots}",
            f"  %z{k} = load double, ptr %z.place{k}, align 8",
            f"  %q{k + 1} = {_fma('double', 'f64', f'%z{k}', f'%z{k}', f'%q{k}')}",
        ]
    return "\n".join([*lines, f"  store double %q{rows}, ptr %out, align 8"])


def _solve(pivots: int, stride: int) -> str:
    return f"""
define void @solve(ptr noalias %A, ptr noalias %lengths, ptr noalias %x, ptr noalias %out) noinline {{
entry:
  br label %clear
clear:
  %k = phi i64 [ 0, %entry ], [ %k.next, %clear ]
  %k.place = getelementptr double, ptr %x, i64 %k
  store {_KIND} zeroinitializer, ptr %k.place, align 8
  %k.next = add i64 %k, {CHUNK}
  %k.more = icmp slt i64 %k.next, {stride}
  br i1 %k.more, label %clear, label %unknown
unknown:
  %i = phi i64 [ {pivots - 1}, %clear ], [ %i.next, %known ]
  %least = phi double [ 1.0, %clear ], [ %least.next, %known ]
  %line = mul i64 %i, {stride}
  %top = getelementptr double, ptr %A, i64 %line
  %first = and i64 %i, -{CHUNK}
  br label %chunk
chunk:
  %c = phi i64 [ %first, %unknown ], [ %c.next, %chunk ]
  %sum = phi {_KIND} [ zeroinitializer, %unknown ], [ %sum.next, %chunk ]
  %r.place = getelementptr double, ptr %top, i64 %c
  %x.place = getelementptr double, ptr %x, i64 %c
  %r = load {_KIND}, ptr %r.place, align 8
  %xs = load {_KIND}, ptr %x.place, align 8
  %sum.next = {_vector_fma("%r", "%xs", "%sum")}
  %c.next = add i64 %c, {CHUNK}
  %c.more = icmp slt i64 %c.next, {stride}
  br i1 %c.more, label %chunk, label %known
known:
  %total = call reassoc double @llvm.vector.reduce.fadd.v{CHUNK}f64(double 0.0, {_KIND} %sum.next)
  %z.place = getelementptr double, ptr %top, i64 {pivots}
  %z = load double, ptr %z.place, align 8
  %pivot = getelementptr double, ptr %top, i64 %i
  %diagonal = load double, ptr %pivot, align 8
  %left = fsub double %z, %total
  %value = fdiv double %left, %diagonal
  %zero = fcmp oeq double %diagonal, 0.0
  %chosen = select i1 %zero, double 0.0, double %value
  %own = getelementptr double, ptr %x, i64 %i
  store double %chosen, ptr %own, align 8
  %l.place = getelementptr double, ptr %lengths, i64 %i
  %l = load double, ptr %l.place, align 8
  %d.square = fmul double %diagonal, %diagonal
  %quotient = fdiv double %d.square, %l
  %ratio = select i1 %zero, double 0.0, double %quotient
  %smaller = fcmp olt double %ratio, %least
  %least.next = select i1 %smaller, double %ratio, double %least
  %i.next = sub i64 %i, 1
  %more = icmp sge i64 %i.next, 0
  br i1 %more, label %unknown, label %done
done:
  store double %least.next, ptr %out, align 8
  ret void
}}"""


def _update(pivots: int, stride: int, rows: int) -> str:
    return f"""
define void @update(ptr noalias %W, ptr noalias %y, ptr noalias %weights, ptr noalias %A,
                    ptr noalias %lengths, ptr noalias %x, ptr noalias %out) {{
entry:
  br label %row
row:
  %k = phi i64 [ 0, %entry ], [ %k.next, %row.end ]
  %w.place = getelementptr double, ptr %weights, i64 %k
  %w = load double, ptr %w.place, align 8
  %from = mul i64 %k, {pivots}
  %source = getelementptr double, ptr %W, i64 %from
  %number = add i64 %k, {pivots}
  %to = mul i64 %number, {stride}
  %target = getelementptr double, ptr %A, i64 %to
  br label %column
column:
  %j = phi i64 [ 0, %row ], [ %j.next, %column ]
  %sum = phi double [ 0.0, %row ], [ %sum.next, %column ]
  %s.place = getelementptr double, ptr %source, i64 %j
  %entry.value = load double, ptr %s.place, align 8
  %x.place = getelementptr double, ptr %x, i64 %j
  %x.value = load double, ptr %x.place, align 8
  %sum.next = {_fma("double", "f64", "%entry.value", "%x.value", "%sum")}
  %weighted = fmul double %w, %entry.value
  %t.place = getelementptr double, ptr %target, i64 %j
  store double %weighted, ptr %t.place, align 8
  %l.place = getelementptr double, ptr %lengths, i64 %j
  %l = load double, ptr %l.place, align 8
  %l.new = {_fma("double", "f64", "%weighted", "%weighted", "%l")}
  store double %l.new, ptr %l.place, align 8
  %j.next = add i64 %j, 1
  %j.more = icmp slt i64 %j.next, {pivots}
  br i1 %j.more, label %column, label %row.end
row.end:
  %y.place = getelementptr double, ptr %y, i64 %k
  %y.value = load double, ptr %y.place, align 8
  %e = fsub double %y.value, %sum.next
  %p.place = getelementptr double, ptr %out, i64 %k
  store double %sum.next, ptr %p.place, align 8
  %e.number = add i64 %k, {rows}
  %e.place = getelementptr double, ptr %out, i64 %e.number
  store double %e, ptr %e.place, align 8
  %y.weighted = fmul double %w, %y.value
  %z.place = getelementptr double, ptr %target, i64 {pivots}
  store double %y.weighted, ptr %z.place, align 8
  %k.next = add i64 %k, 1
  %k.more = icmp slt i64 %k.next, {rows}
  br i1 %k.more, label %row, label %done
done:
  %squares = getelementptr double, ptr %out, i64 {2 * rows}
  %ratio = getelementptr double, ptr %out, i64 {2 * rows + 1}
  call void @fold(ptr %A, ptr %squares)
  call void @solve(ptr %A, ptr %lengths, ptr %x, ptr %ratio)
  ret void
}}"""
