"""`with_texts`: a struct like another whose amounts stay text, so that Arrow reads a whole column of them at once."""

from __future__ import annotations

import types
from decimal import Decimal
from functools import reduce
from operator import or_
from typing import Any, Final, Union, get_args, get_origin

import msgspec
from msgspec.structs import FieldInfo, fields

_UNIONS: Final = (Union, types.UnionType)


def with_texts(shape: Any) -> Any:
    """The same struct with text wherever it has a `Decimal`, in its inner structs too.

    It is decoded in half the time. A value that is a number and not text does not fit it, and has to be read by the
    struct itself; so does what Arrow does not take for a decimal, such as `1_0`.
    """
    named = [(one.name, _kind(one.type), _default(one)) for one in fields(shape)]
    config = shape.__struct_config__
    return msgspec.defstruct(shape.__name__, named, gc=False, forbid_unknown_fields=config.forbid_unknown_fields)


def _kind(kind: Any) -> Any:
    if kind is Decimal:
        return str
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return with_texts(kind)
    inner = get_args(kind)
    if get_origin(kind) in _UNIONS:
        return reduce(or_, (_kind(one) for one in inner))
    if get_origin(kind) is list:
        return types.GenericAlias(list, (_kind(inner[0]),))
    return kind


def _default(one: FieldInfo) -> Any:
    given: dict[str, Any] = {} if one.encode_name == one.name else {"name": one.encode_name}
    if one.default is not msgspec.NODEFAULT:
        given["default"] = one.default
    if one.default_factory is not msgspec.NODEFAULT:
        given["default_factory"] = one.default_factory
    return msgspec.field(**given)
