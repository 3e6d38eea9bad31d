"""Operators that make tensors of sizes and numbers alone, and fills."""
import torch

from . import Call, samples
from .make import ALL, INF, INTS, LAYOUTS, NAN

SIZES = [[], [3], [2, 3], [0], [2, 0, 3], [1, 2, 1]]
STRIDED = {"layout": torch.strided, "device": torch.device("cpu"), "pin_memory": False}


def fills(dtype):
    """Numbers that a dtype can hold, of several kinds."""
    if dtype is torch.bool:
        return [True, 0, 2.5]
    if not dtype.is_floating_point and not dtype.is_complex:
        return [True, 7, 3.75] if dtype is torch.uint8 else [False, -7, 3.75]
    return [True, 7, -2.5, INF, NAN, -0.0]


@samples("aten::empty.memory_format", "aten::zeros", "aten::ones")
def sized(make):
    geometry = "empty" in make.operator
    for dtype in [None, *ALL]:
        for sizes in make.random.sample(SIZES, 4):
            yield Call(sizes, dtype=dtype, geometry=geometry)
    for sizes in SIZES:
        yield Call(sizes, geometry=geometry)
        yield Call(sizes, **STRIDED, geometry=geometry)
    if geometry:
        for form in (torch.contiguous_format, torch.channels_last):
            yield Call([2, 3, 4, 5], memory_format=form, geometry=True)
        yield Call([2, 3], memory_format=torch.channels_last, error=True)
    yield Call([-1], error=True)


@samples("aten::full")
def full(make):
    for dtype in ALL:
        for fill in fills(dtype):
            yield Call(make.random.choice(SIZES), fill, dtype=dtype)
    for fill in (True, 3, 2.5, complex(1, 2)):
        yield Call([2], fill)
        yield Call([2, 2], fill, **STRIDED)
    yield Call([-1], 0, error=True)


@samples("aten::full_like", "aten::empty_like", "aten::zeros_like", "aten::ones_like", "aten::new_ones",
         "aten::new_zeros", "aten::new_full", "aten::new_empty")
def like(make):
    packet = make.operator.split("::")[1]
    geometry = "empty" in packet

    def call(base, **kwargs):
        args = [base]
        if packet.startswith("new"):
            args.append([2, 3])
        if "full" in packet:
            args.append(make.random.choice(fills(kwargs.get("dtype") or base.dtype)))
        return Call(*args, geometry=geometry, **kwargs)

    for dtype in ALL:
        yield call(make.tensor((2, 2), dtype))
        yield call(make.tensor((2, 2), torch.float32), dtype=dtype)
    for layout in LAYOUTS:
        yield call(make.tensor((2, 3, 2), layout=layout))
        yield call(make.tensor((2, 3, 2), layout=layout), dtype=torch.int64)
    for base in (make.tensor(()), make.tensor((0, 2)), make.tensor((1, 3, 1), layout="permuted")):
        yield call(base)
        yield call(base, **STRIDED)
    for form in (torch.contiguous_format, torch.channels_last, torch.preserve_format):
        if not packet.startswith("new"):
            yield call(make.tensor((2, 3, 2, 2)), memory_format=form)
            yield call(make.tensor((2, 3, 2, 2), layout="channels_last"), memory_format=form)
            yield call(make.tensor((2, 1, 2, 2), layout="permuted"), memory_format=form)


@samples("aten::empty_strided", "aten::empty_permuted")
def empty_strided(make):
    for dtype in [None, *ALL]:
        for sizes, second in [([2, 3], [1, 0]), ([2, 3, 4], [2, 0, 1]), ([], []), ([0, 2], [0, 1])]:
            if "strided" in make.operator:
                second = [value * 2 + 1 for value in second]
            yield Call(sizes, second, dtype=dtype, geometry=True)
    yield Call([2, 3], [1], error=True)
    yield Call([2, 3], [1, -1], error=True) if "strided" in make.operator else Call([2, 3], [1, 1], error=True)


@samples("aten::arange", "aten::arange.start", "aten::arange.start_step")
def arange(make):
    packet = make.operator.split("::")[1]
    spans = [(0, 5, 1), (1, 6, 2), (5, 0, -1), (2, 2, 1), (-3, 3, 4), (0.0, 1.0, 0.25), (0, 2.5, 1), (1.5, -1.0, -0.5),
             (0, 7, 3), (0.1, 1.0, 0.3), (10, 3, -3)]
    for dtype in [None, torch.float32, torch.float64, torch.float16, torch.bfloat16, *INTS]:
        for span in spans:
            if dtype in (torch.uint8,) and min(span) < 0:
                continue
            if packet == "arange":
                args = (abs(span[1]),)
            elif packet == "arange.start":
                args = (min(span[:2]), max(span[:2]))
            else:
                args = span
            yield Call(*args, dtype=dtype)
    yield Call(*{"arange": (-1,), "arange.start": (3, 1), "arange.start_step": (0, 3, -1)}[packet], error=True)
    yield Call(*{"arange": (NAN,), "arange.start": (0, INF), "arange.start_step": (0, 3, 0)}[packet], error=True)


@samples("aten::linspace")
def linspace(make):
    for dtype in [None, torch.float32, torch.float64, torch.float16, torch.int64, torch.int32]:
        for span in [(0, 1, 5), (-1.5, 2.5, 4), (3, 3, 2), (0, 1, 1), (0, 1, 0), (10, -10, 7)]:
            yield Call(*span, dtype=dtype)
    yield Call(0, 1, -1, error=True)


@samples("aten::eye", "aten::eye.m")
def eye(make):
    for dtype in [None, *ALL]:
        yield Call(3, dtype=dtype) if make.operator == "aten::eye" else Call(2, 3, dtype=dtype)
    yield Call(0) if make.operator == "aten::eye" else Call(3, 0)
    yield Call(-1, error=True) if make.operator == "aten::eye" else Call(-1, 2, error=True)


@samples("aten::scalar_tensor")
def scalar_tensor(make):
    for dtype in ALL:
        for fill in fills(dtype):
            yield Call(fill, dtype=dtype)
    for fill in (True, 3, 2.5):
        yield Call(fill)
        yield Call(fill, **STRIDED)


@samples("aten::fill.Scalar", "aten::fill_.Scalar", "aten::fill.Tensor", "aten::fill_.Tensor")
def fill(make):
    def value(number):
        return torch.tensor(number) if make.operator.endswith("Tensor") else number

    for dtype in ALL:
        for number in fills(dtype):
            yield Call(make.tensor((2, 2), dtype, make.random.choice(LAYOUTS[:4])), value(number))
    for layout in LAYOUTS:
        if not (make.is_inplace and layout == "expanded"):
            yield Call(make.tensor((2, 3, 2), layout=layout), value(1.5))
    yield Call(make.tensor(()), value(4))
    yield Call(make.tensor((0, 3)), value(4))
    if make.operator.endswith("Tensor"):
        yield Call(make.tensor((2, 2)), make.tensor((2,)), error=True)


@samples("aten::zero", "aten::zero_")
def zero(make):
    for dtype in ALL:
        yield Call(make.tensor((2, 2), dtype, make.random.choice(LAYOUTS[:4])))
    for base in make.layouts((2, 3, 2)):
        yield Call(base)
    yield Call(make.tensor(()))
    yield Call(make.tensor((0, 3)))
