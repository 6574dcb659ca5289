"""The primitives of `blocks`, as Numba's intrinsic functions.

Each becomes a few instructions of the machine at hand: LLVM splits a vector of 64 bytes as the
processor needs (AVX-512, AVX2, SSE2, NEON).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic

from jobsight.history.eventlog.blocks import WIDTH

__all__ = ["ad_ends", "copy_block", "digit_run", "equal", "first", "name_run", "plain_run"]

_BYTE, _INDEX = ir.IntType(8), ir.IntType(32)
_BLOCK = ir.VectorType(_BYTE, WIDTH)
_MASK = ir.IntType(WIDTH)
_NINE = 57


def _primitive(typing: Callable[..., Any]) -> Any:
    """Numba types its intrinsics as what never returns; here they are what they do."""
    return intrinsic(typing)


def _pointer(context: Any, builder: Any, kind: Any, array: Any, at: Any) -> Any:
    found = context.make_array(kind)(context, builder, array)
    if getattr(config, "BOUNDSCHECK", None):
        size = builder.extract_value(found.shape, 0)
        for index in (at, builder.add(at, ir.Constant(at.type, WIDTH - 1))):
            cgutils.do_boundscheck(context, builder, index, size)  # type: ignore[no-untyped-call]
    return builder.bitcast(builder.gep(found.data, [at]), _BLOCK.as_pointer())


def _load(context: Any, builder: Any, kind: Any, array: Any, at: Any) -> Any:
    return builder.load(_pointer(context, builder, kind, array, at), align=1)


def _all(byte: int) -> Any:
    return ir.Constant(_BLOCK, [byte] * WIDTH)


def _is(builder: Any, block: Any, byte: int) -> Any:
    return builder.icmp_unsigned("==", block, _all(byte))


def _within(builder: Any, block: Any, low: int, high: int) -> Any:
    return builder.icmp_unsigned("<=", builder.sub(block, _all(low)), _all(high - low))


def _is_special(builder: Any, block: Any) -> Any:
    """What a JSON string cannot hold as it is, and DEL."""
    result = builder.icmp_unsigned("<", block, _all(32))
    for byte in (34, 92, 127):
        result = builder.or_(result, _is(builder, block, byte))
    return result


def _not_in_name(builder: Any, block: Any) -> Any:
    letter = _within(builder, builder.or_(block, _all(32)), 97, 122)
    other = builder.or_(_is(builder, block, 95), _is(builder, block, 46))
    return builder.not_(builder.or_(builder.or_(letter, other), _within(builder, block, 48, _NINE)))


def _no_digit(builder: Any, block: Any) -> Any:
    return builder.not_(_within(builder, block, 48, _NINE))


def _count_below(builder: Any, mask: Any) -> Any:
    """How many bits lie below the lowest one that is set; 64 where none is."""
    return builder.cttz(mask, ir.Constant(ir.IntType(1), 0))


def _run_until(stops: Callable[[Any, Any], Any]) -> Any:
    """The primitive ``f(buffer, at)``: the run up to the first byte at which `stops`."""

    def run(typing_context: Any, buffer: Any, at: Any) -> Any:
        def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            block = _load(context, builder, signature.args[0], *args)
            return _count_below(builder, builder.bitcast(stops(builder, block), _MASK))

        return types.int64(buffer, types.int64), build

    return _primitive(run)


def _equal(typing_context: Any, buffer: Any, at: Any, byte: Any) -> Any:
    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        block = _load(context, builder, signature.args[0], args[0], args[1])
        nothing = ir.Constant(_BLOCK, ir.Undefined)
        single = builder.trunc(args[2], _BYTE)
        wanted = builder.insert_element(nothing, single, ir.Constant(_INDEX, 0))
        zeros = ir.Constant(ir.VectorType(_INDEX, WIDTH), [0] * WIDTH)
        wanted = builder.shuffle_vector(wanted, nothing, zeros)
        return builder.bitcast(builder.icmp_unsigned("==", block, wanted), _MASK)

    return types.int64(buffer, types.int64, types.int64), build


def _ad_ends(typing_context: Any, buffer: Any, at: Any) -> Any:
    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = signature.args[0]
        newline = _is(builder, _load(context, builder, kind, *args), 10)
        following = builder.add(args[1], ir.Constant(args[1].type, 1))
        after = _load(context, builder, kind, args[0], following)
        low = builder.icmp_unsigned("<=", after, _all(_NINE))
        return builder.bitcast(builder.and_(newline, low), _MASK)

    return types.int64(buffer, types.int64), build


def _first(typing_context: Any, mask: Any) -> Any:
    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _count_below(builder, args[0])

    return types.int64(types.int64), build


def _copy(typing_context: Any, buffer: Any, at: Any, out: Any, to: Any) -> Any:
    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        block = _load(context, builder, signature.args[0], args[0], args[1])
        target = _pointer(context, builder, signature.args[2], args[2], args[3])
        builder.store(block, target, align=1)
        return context.get_dummy_value()

    return types.void(buffer, types.int64, out, types.int64), build


plain_run = _run_until(_is_special)
name_run = _run_until(_not_in_name)
digit_run = _run_until(_no_digit)
equal = _primitive(_equal)
ad_ends = _primitive(_ad_ends)
first = _primitive(_first)
copy_block = _primitive(_copy)
