"""Calls as lines of JSON.

A line is an object:

    args, kwargs   the arguments; kwargs as pairs
    result         what is returned
    written        pairs of an input tensor's number and what it holds afterwards
    error, exact, geometry, seed, tolerance   as of `Call`

Values: null, true, 1, 1.5, "text", lists; {"float": "nan"}, {"complex": "1 -2"},
{"dtype": "float32"}, {"layout": ...}, {"device": ...}, {"memory_format": ...}.

Input tensors are numbered as they come. One is its whole storage, under the short name of its
dtype, and a geometry: {"f32": "1 2 3 4", "sizes": [2, 2], "strides": [1, 2], "offset": 0};
strides are left out when they are contiguous ones, offset when it is 0. One over the storage of
an earlier one has that one's number instead: {"f32": 0, ...}; the same tensor again is
{"input": NUMBER}. Bits are "conjugate": true, "negative": true.

Result tensors are {"input": NUMBER}, a view of an input as above, or fresh, with their elements
in order: {"f32": "1 2 3 4", "sizes": [2, 2]}, strides as above.
"""
import json
import math

import numpy
import torch

from . import Call
from .make import Make

SHORT = {
    torch.bool: "b8", torch.uint8: "u8", torch.int8: "i8", torch.int16: "i16", torch.int32: "i32", torch.int64: "i64",
    torch.float16: "f16", torch.bfloat16: "bf16", torch.float32: "f32", torch.float64: "f64", torch.complex64: "c64",
    torch.complex128: "c128",
}

# How many samples are kept of core operators, and of others.
MOST_CORE, MOST = 56, 24

REFUSED_DTYPE = (
    "not implemented for",
    "not supported",
    "unsupported",
    "does not support",
    "only support",
    "not currently supported",
    "expected scalar type",
)


def shortest(value, dtype):
    """The shortest text that reads back as the value."""
    if math.isnan(value):
        return "nan"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    if value == int(value) and abs(value) < 1e6:
        return "-0" if value == 0 and math.copysign(1, value) < 0 else str(int(value))
    if dtype in (torch.float64, torch.complex128):
        return repr(value)
    if dtype in (torch.float32, torch.complex64):
        return str(numpy.float32(value))
    for digits in range(1, 10):
        text = f"{value:.{digits}g}"
        if torch.tensor(numpy.float32(text)).to(dtype).item() == value:
            return text
    raise AssertionError(f"{value} cannot be written")


def numbers(elements):
    """The elements of a tensor of one dimension."""
    dtype = elements.dtype
    if dtype.is_complex:
        elements = torch.view_as_real(elements.resolve_conj().resolve_neg()).flatten()
    elements = elements.resolve_neg()
    if dtype.is_floating_point or dtype.is_complex:
        return " ".join(shortest(value, dtype) for value in elements.tolist())
    return " ".join(str(int(value)) for value in elements.tolist())


def contiguous_strides(sizes):
    strides, stride = [], 1
    for size in reversed(sizes):
        strides.insert(0, stride)
        stride *= max(size, 1)
    return strides


def geometry(tensor):
    result = {"sizes": list(tensor.shape)}
    if list(tensor.stride()) != contiguous_strides(tensor.shape):
        result["strides"] = list(tensor.stride())
    return result


def name(value):
    return str(value).removeprefix("torch.")


def bits(tensor):
    result = {}
    if tensor.is_conj():
        result["conjugate"] = True
    if tensor.is_neg():
        result["negative"] = True
    return result


def place(tensor):
    result = geometry(tensor)
    if tensor.storage_offset():
        result["offset"] = tensor.storage_offset()
    return result | bits(tensor)


def whole_storage(tensor):
    return torch.empty(0, dtype=tensor.dtype).set_(tensor.untyped_storage())


def pointer(tensor):
    return tensor.untyped_storage()._cdata


class Inputs:
    """The tensors of a call, numbered."""

    def __init__(self):
        self.tensors = []

    def number(self, same):
        return next((number for number, tensor in enumerate(self.tensors) if same(tensor)), None)

    def tensor(self, tensor):
        number = self.number(lambda other: other is tensor)
        if number is not None:
            return {"input": number}
        base = self.number(lambda other: pointer(other) == pointer(tensor))
        self.tensors.append(tensor)
        if base is not None:
            return {SHORT[tensor.dtype]: base} | place(tensor)
        return {SHORT[tensor.dtype]: numbers(whole_storage(tensor))} | place(tensor)

    def result(self, tensor):
        number = self.number(lambda other: other is tensor)
        if number is not None:
            return {"input": number}
        base = self.number(lambda other: pointer(other) == pointer(tensor))
        if base is not None and tensor.untyped_storage().nbytes():
            return {SHORT[tensor.dtype]: base} | place(tensor)
        return elements(tensor)


def elements(tensor):
    values = numbers(tensor.resolve_conj().resolve_neg().contiguous().flatten())
    return {SHORT[tensor.dtype]: values} | geometry(tensor)


def is_defined(tensor):
    """Whether it is a tensor at all: what a backward was not asked for is not."""
    try:
        return tensor.device is not None
    except RuntimeError:
        return False


def value(item, tensor):
    """Any value; `tensor` encodes those that are tensors."""
    if isinstance(item, torch.Tensor):
        return tensor(item) if is_defined(item) else None
    if isinstance(item, (list, tuple)):
        return [value(part, tensor) for part in item]
    if item is None or isinstance(item, (bool, int, str)):
        return item
    if isinstance(item, float):
        return item if math.isfinite(item) else {"float": shortest(item, torch.float64)}
    if isinstance(item, complex):
        return {"complex": f"{item.real!r} {item.imag!r}"}
    kinds = {
        torch.dtype: "dtype",
        torch.layout: "layout",
        torch.device: "device",
        torch.memory_format: "memory_format",
    }
    return {kinds[type(item)]: name(item)}


def overload(operator):
    namespace, rest = operator.split("::")
    packet, _, overload = rest.partition(".")
    return getattr(getattr(getattr(torch.ops, namespace), packet), overload or "default")


def written(function, call, inputs):
    """What the tensors that the schema says are written hold now."""
    result = []
    for position, argument in enumerate(function._schema.arguments):
        if argument.alias_info is None or not argument.alias_info.is_write:
            continue
        given = call.args[position] if position < len(call.args) else call.kwargs.get(argument.name)
        for tensor in given if isinstance(given, (list, tuple)) else [given]:
            if isinstance(tensor, torch.Tensor):
                number = inputs.number(lambda other: other is tensor)
                result.append([number, elements(tensor)])
    return result


def line(function, call):
    """A call as a line; None when torch does not have it for its dtypes."""
    inputs = Inputs()
    encoded = {"args": value(call.args, inputs.tensor)}
    if call.kwargs:
        encoded["kwargs"] = [[key, value(item, inputs.tensor)] for key, item in call.kwargs.items()]
    if call.seed is not None:
        torch.manual_seed(call.seed)
        encoded["seed"] = call.seed
    for key in ["exact", "geometry", "tolerance", "error"]:
        if getattr(call, key):
            encoded[key] = getattr(call, key)
    try:
        result = function(*call.args, **call.kwargs)
    except (RuntimeError, IndexError, ValueError, TypeError, NotImplementedError) as error:
        if call.error:
            return json.dumps(encoded, separators=(",", ":"))
        if any(text in str(error).lower() for text in REFUSED_DTYPE):
            return None
        raise
    if call.error:
        raise AssertionError("no error")
    encoded["result"] = value(result, inputs.result)
    after = written(function, call, inputs)
    if after:
        encoded["written"] = after
    return json.dumps(encoded, separators=(",", ":"))


def thinned(lines, most):
    """At most so many lines: all errors, and others evenly."""
    errors = [line for line in lines if line.endswith(',"error":true}')]
    most = max(most - len(errors), most // 2)
    others = [line for line in lines if line not in set(errors)]
    step = max(len(others) / most, 1)
    return [others[int(place * step)] for place in range(min(most, len(others)))] + errors


def lines(operator, generator, failures, all_of_them):
    """The lines of an operator's samples. Calls that went wrong are added to `failures`."""
    function = overload(operator)
    result, seen = [], set()
    for number, call in enumerate(generator(Make(operator))):
        assert isinstance(call, Call)
        try:
            encoded = line(function, call)
        except Exception as error:
            text = str(error).splitlines() or [type(error).__name__]
            given = " ".join(f"{call.args} {call.kwargs}".split())
            failures.append(f"{operator}, sample {number}: {text[0][:160]}: {given[:160]}")
            continue
        if encoded is not None and encoded not in seen:
            seen.add(encoded)
            result.append(encoded)
    if all_of_them:
        return result
    return thinned(result, MOST_CORE if torch.Tag.core in function.tags else MOST)
