"""A state as compiled functions see it: one pointer to where its arrays are.

A state is a NamedTuple of arrays, numbers, and such NamedTuples. Passed as it is, each of its sixty arrays is several
arguments of every function, which take long to compile and which every call has to unpack. `Packed` writes down once
where they are; in compiled functions it has the same fields.
"""

# mypy: disallow-untyped-calls=False, disallow-untyped-decorators=False
# Numba's interface for extensions has no types.

from __future__ import annotations

import ctypes
import hashlib
import sys
from typing import Any

import numba
import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import cgutils, config, types
from numba.core.typing.templates import AttributeTemplate
from numba.extending import (
    NativeValue,
    infer_getattr,
    lower_getattr_generic,
    models,
    register_model,
    typeof_impl,
    unbox,
)
from numba.np.numpy_support import as_dtype

from ..typing import Array

_WORD = 8


class Packed:
    """A state for compiled functions, which may write to its arrays; no array may be replaced by another."""

    __slots__ = ("address", "kind", "state", "words")

    def __init__(self, state: Any) -> None:
        self.state = state  # keeps the arrays alive
        form: list[Any] = []
        words: list[int] = []
        _describe(state, form, words)
        key = tuple(form)
        if key not in _kinds:
            _kinds[key] = PackedType(numba.typeof(state))
        self.kind = _kinds[key]
        self.words: Array = np.array(words, np.int64)
        self.address: int = _address(self.words)


_kinds: dict[tuple[Any, ...], PackedType] = {}
"""The types of states by what `_describe` says of their form: Numba takes a hundred times as long to find one."""

_LAYOUT = 0x503
"""The flags of an array that are part of its type: contiguous (C and Fortran), aligned, writeable."""


def packed(state: Any) -> Any:
    """A state for compiled functions: `Packed`, or the state itself where NUMBA_DISABLE_JIT leaves them in Python."""
    return state if config.DISABLE_JIT else Packed(state)  # type: ignore[attr-defined]


_DATA = object.__basicsize__
"""Where an array holds the address of its data: in NumPy's C interface right behind what every object of Python has."""


def _address_asked(array: Array) -> int:
    return int(array.ctypes.data)


def _address_read(array: Array) -> int:
    return ctypes.c_void_p.from_address(id(array) + _DATA).value or 0


def _can_read() -> bool:
    """Whether addresses are where they should be; if not, NumPy is asked for them, which takes five times as long."""
    probe: Array = np.zeros(1)
    return sys.implementation.name == "cpython" and _address_read(probe) == _address_asked(probe)


_address = _address_read if _can_read() else _address_asked


def _describe(state: Any, form: list[Any], words: list[int]) -> None:
    """Append the types of all values to ``form``, and to ``words`` where the arrays are, their sizes, shapes and
    strides, and the bits of the numbers, in order.
    """
    form.append(type(state))
    for value in state:
        if isinstance(value, np.ndarray):
            form += (value.dtype, value.ndim, value.flags.num & _LAYOUT)
            words += (_address(value), value.size, *value.shape, *value.strides)
        elif isinstance(value, tuple):
            _describe(value, form, words)
        elif value is None:
            form.append(None)
        else:
            form.append(type(value))
            words.append(int(np.float64(value).view(np.int64)) if isinstance(value, float) else int(value))


def _n_words(kind: Any) -> int:
    if isinstance(kind, types.BaseTuple):
        parts: Any = kind
        return sum(map(_n_words, parts))
    if isinstance(kind, types.Array):
        return 2 + 2 * kind.ndim
    return 0 if isinstance(kind, types.NoneType) else 1


class PackedType(types.Type):
    """The type of `Packed`, by the type of its state."""

    def __init__(self, of: Any) -> None:
        self.of = of
        # Names are parts of the names of compiled functions: a short one saves much text.
        super().__init__(name=f"Packed{of.instance_class.__name__}{hashlib.sha256(of.name.encode()).hexdigest()[:16]}")

    @property
    def key(self) -> Any:
        return self.of.name  # every call asks for its hash, and Python keeps that of a text


@typeof_impl.register(Packed)
def _typeof(value: Packed, context: Any) -> PackedType:
    return value.kind


@register_model(PackedType)
class _PackedModel(models.OpaqueModel):
    pass


@unbox(PackedType)
def _unbox(kind: PackedType, value: Any, c: Any) -> NativeValue:
    address = c.pyapi.object_getattr_string(value, "address")
    pointer = c.pyapi.long_as_voidptr(address)
    c.pyapi.decref(address)
    return NativeValue(pointer, is_error=cgutils.is_not_null(c.builder, c.pyapi.err_occurred()))


@infer_getattr
class _Fields(AttributeTemplate):
    key = PackedType

    def generic_resolve(self, kind: PackedType, name: str) -> Any:  # type: ignore[override]
        if name not in kind.of.fields:
            return None
        field = kind.of[kind.of.fields.index(name)]
        return PackedType(field) if isinstance(field, types.BaseNamedTuple) else field


@lower_getattr_generic(PackedType)
def _field(context: Any, builder: Any, kind: PackedType, pointer: Any, name: str) -> Any:
    place = kind.of.fields.index(name)
    field, word = kind.of[place], sum(_n_words(before) for before in tuple(kind.of)[:place])

    def load(n: int, of: Any) -> Any:
        there = cgutils.pointer_add(builder, pointer, _WORD * (word + n), of.as_pointer())
        loaded = builder.load(there)
        # Nobody writes to a packed state: whatever is written in between, the compiler need not look again.
        loaded.set_metadata("invariant.load", builder.module.add_metadata([]))
        return loaded

    if isinstance(field, types.BaseNamedTuple):
        return cgutils.pointer_add(builder, pointer, _WORD * word)
    integer = ir.IntType(64)
    if isinstance(field, types.Array):
        struct, n = context.get_value_type(field), field.ndim
        item_size = integer(as_dtype(field.dtype).itemsize)
        shape = [load(2 + axis, integer) for axis in range(n)]
        strides = [load(2 + n + axis, integer) for axis in range(n - 1)]
        strides.append(item_size if field.layout == "C" else load(1 + 2 * n, integer))
        parts = [  # in Numba's order; nothing is owned, as nothing is allocated
            cgutils.get_null_value(struct.elements[0]),
            cgutils.get_null_value(struct.elements[1]),
            shape[0] if n == 1 else load(1, integer),
            item_size,
            load(0, struct.elements[4]),
            cgutils.pack_array(builder, shape),
            cgutils.pack_array(builder, strides),
        ]
        array = ir.Constant(struct, ir.Undefined)
        for i, part in enumerate(parts):
            array = builder.insert_value(array, part, i)
        return array
    if isinstance(field, types.NoneType):
        return context.get_dummy_value()
    if isinstance(field, types.Boolean):
        return builder.trunc(load(0, integer), ir.IntType(1))
    return load(0, context.get_value_type(field))
