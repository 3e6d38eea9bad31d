"""Normalization, softmax, dropout without chance."""
import torch

from . import Call, samples
from .make import FLOATS, HALVES, INF, LAYOUTS, NAN


def packet(make):
    return make.operator.split("::")[1]


def near(dtype):
    return {"tolerance": {torch.float16: 4e-3, torch.bfloat16: 3e-2, torch.float32: 1e-5, torch.float64: 1e-11}[dtype]}


INPUTS = [(2, 3), (3, 2, 4), (2, 3, 2, 2), (2, 1, 3), (1, 2, 2, 1, 3)]
EVERY = [*LAYOUTS, "channels_last"]


def channels(make, count, dtype, given=None):
    """A vector of channels, or None."""
    if given is None:
        given = make.random.random() < 0.7
    return make.tensor((count,), dtype, "contiguous", 0.25, 3) if given else None


def mixed(make, dtype):
    """Parameters of a half input may be float32."""
    return torch.float32 if dtype in HALVES and make.random.random() < 0.3 else dtype


@samples("aten::_native_batch_norm_legit", "aten::_native_batch_norm_legit.no_stats",
         "aten::_native_batch_norm_legit_functional", "aten::_native_batch_norm_legit_no_training", "aten::batch_norm",
         "aten::native_batch_norm")
def batch_norm(make):
    name = packet(make)
    for dtype in FLOATS:
        for sizes in INPUTS:
            for training in (True, False):
                for _ in range(2 if dtype is torch.float32 else 1):
                    if training and sizes[0] == 1 and len(sizes) == 2:
                        continue
                    tensor = make.tensor(sizes, dtype, make.random.choice(EVERY))
                    other = mixed(make, dtype)
                    count = sizes[1]
                    affine = make.random.random() < 0.7
                    weight, bias = channels(make, count, other, affine), channels(make, count, other, affine)
                    stats = channels(make, count, other, True), channels(make, count, other, True)
                    momentum, eps = make.random.choice([0.1, 0.5]), make.random.choice([1e-5, 0.1])
                    if name.endswith("no_stats"):
                        arguments = (tensor, weight, bias, True, momentum, eps)
                    elif name.endswith("no_training"):
                        arguments = (tensor, weight, bias, *stats, momentum, eps)
                    elif name == "batch_norm":
                        stats = (None, None) if training and make.random.random() < 0.3 else stats
                        arguments = (tensor, weight, bias, *stats, training, momentum, eps, False)
                    else:
                        arguments = (tensor, weight, bias, *stats, training, momentum, eps)
                    yield Call(*arguments, **near(dtype))
    tensor, stats = make.tensor((2, 3)), (channels(make, 2, torch.float32, True), channels(make, 2, torch.float32, True))
    if name == "batch_norm":
        yield Call(tensor, None, None, *stats, False, 0.1, 1e-5, False, error=True)
        yield Call(tensor, None, None, None, None, False, 0.1, 1e-5, False, error=True)


@samples("aten::native_layer_norm", "aten::layer_norm", "aten::rms_norm")
def layer_norm(make):
    name = packet(make)
    for dtype in FLOATS:
        for sizes, shape in [((2, 3), [3]), ((2, 3, 4), [4]), ((2, 3, 4), [3, 4]), ((4,), [4]), ((2, 2, 2, 3), [2, 3]),
                             ((0, 3), [3]), ((2, 17), [17])]:
            for _ in range(3 if dtype is torch.float32 else 2):
                tensor = make.tensor(sizes, dtype, make.random.choice(EVERY))
                other = dtype if name == "rms_norm" else mixed(make, dtype)
                given = make.random.choice([(True, True), (True, False), (False, False)])
                weight = make.tensor(shape, other, "contiguous", 0.25, 3) if given[0] else None
                bias = make.tensor(shape, other) if given[1] else None
                eps = make.random.choice([1e-5, 0.1])
                if name == "native_layer_norm":
                    yield Call(tensor, shape, weight, bias, eps, **near(dtype))
                elif name == "layer_norm":
                    yield Call(tensor, shape, weight, bias, eps, False, **near(dtype))
                else:
                    yield Call(tensor, shape, weight, make.random.choice([None, eps]), **near(dtype))
    extra = {"native_layer_norm": (None, None, 1e-5)}.get(name, ())
    yield Call(make.tensor((2, 3)), [2], *extra, error=True)
    yield Call(make.tensor((2, 3)), [], *extra, error=True)
    if name != "rms_norm":
        yield Call(make.tensor((2, 3), torch.int64), [3], *extra, error=True)
        yield Call(make.tensor((2, 3)), [3], make.tensor((2,)), *extra[1:], error=True)


@samples("aten::native_layer_norm_backward")
def layer_norm_backward(make):
    for dtype in (torch.float32, torch.float64):
        for sizes, shape in [((2, 3), [3]), ((2, 3, 4), [4]), ((2, 3, 4), [3, 4]), ((5, 2), [2])]:
            for mask in [[True, True, True], [True, False, False], [False, True, True]]:
                for affine in (True, False):
                    tensor = make.tensor(sizes, dtype)
                    weight = make.tensor(shape, dtype) if affine else None
                    bias = make.tensor(shape, dtype) if affine else None
                    # torch cannot give what a parameter that is not there would get.
                    mask = mask if affine else [True, False, False]
                    _, mean, rstd = torch.ops.aten.native_layer_norm(tensor, shape, weight, bias, 1e-5)
                    grad = make.tensor(sizes, dtype, make.random.choice(LAYOUTS[:4]))
                    yield Call(grad, tensor, shape, mean, rstd, weight, bias, mask, tolerance=1e-4)


@samples("aten::native_group_norm", "aten::group_norm")
def group_norm(make):
    native = "native" in make.operator
    for dtype in FLOATS:
        for sizes, groups in [((2, 4), 2), ((2, 4, 3), 2), ((1, 2, 2, 3), 1), ((2, 3, 2), 3), ((2, 4, 2, 2), 4)]:
            for _ in range(3):
                tensor = make.tensor(sizes, dtype, make.random.choice(EVERY))
                given = make.random.choice([True, False])
                other = mixed(make, dtype)
                weight, bias = channels(make, sizes[1], other, given), channels(make, sizes[1], other, given)
                if native:
                    area = tensor.numel() // (sizes[0] * sizes[1])
                    yield Call(tensor.contiguous(), weight, bias, sizes[0], sizes[1], area, groups, 1e-5, **near(dtype))
                else:
                    yield Call(tensor, groups, weight, bias, 1e-5, False, **near(dtype))
    if not native:
        yield Call(make.tensor((2, 3, 2)), 2, error=True)
        yield Call(make.tensor((3,)), 3, error=True)


@samples("aten::native_group_norm_backward")
def group_norm_backward(make):
    for dtype in (torch.float32, torch.float64):
        for sizes, groups in [((2, 4, 3), 2), ((1, 2, 2, 3), 1), ((2, 3, 2), 3), ((2, 4, 2, 2), 4)]:
            for mask in [[True, True, True], [True, False, False], [False, True, True]]:
                for affine in (True, False):
                    tensor = make.tensor(sizes, dtype)
                    weight = channels(make, sizes[1], dtype, affine)
                    area = tensor.numel() // (sizes[0] * sizes[1])
                    facts = sizes[0], sizes[1], area, groups
                    _, mean, rstd = torch.ops.aten.native_group_norm(tensor, weight, None, *facts, 1e-5)
                    yield Call(make.tensor(sizes, dtype), tensor, mean, rstd, weight, *facts, mask, tolerance=1e-4)


@samples("aten::instance_norm")
def instance_norm(make):
    for dtype in FLOATS:
        for sizes in [(2, 3, 2), (2, 3, 2, 2), (1, 2, 4)]:
            for training in (True, False):
                tensor = make.tensor(sizes, dtype, make.random.choice(EVERY))
                affine = make.random.random() < 0.7
                stats = (None, None)
                if not training or make.random.random() < 0.5:
                    stats = channels(make, sizes[1], dtype, True), channels(make, sizes[1], dtype, True)
                yield Call(tensor, channels(make, sizes[1], dtype, affine), channels(make, sizes[1], dtype, affine),
                           *stats, training, 0.1, 1e-5, False, **near(dtype))


@samples("aten::_softmax", "aten::_log_softmax", "aten::softmax.int", "aten::log_softmax.int")
def softmax(make):
    plain = make.operator.endswith(".int")
    for dtype in FLOATS:
        for dim in (0, 1, -1):
            for layout in LAYOUTS:
                tensor = make.tensor((2, 3, 4), dtype, layout)
                yield Call(tensor, dim, **near(dtype)) if plain else Call(tensor, dim, False, **near(dtype))
    last = () if plain else (False,)
    for sizes in [(), (1,), (0,), (0, 3), (3, 0), (2, 17)]:
        yield Call(make.tensor(sizes), -1, *last)
    # Rows of -inf alone, of inf, of NaN.
    rows = torch.tensor([[-INF, -INF, -INF], [INF, 1.0, 2.0], [NAN, 1.0, 2.0], [-INF, 0.0, 1.0], [1e4, 0.0, -1e4]])
    for dtype in (torch.float32, torch.float64):
        yield Call(rows.to(dtype), 1, *last)
        yield Call(rows.t().contiguous().to(dtype), 0, *last)
    if plain:
        yield Call(make.tensor((2, 3), torch.int64), 1, torch.float32)
        yield Call(make.tensor((2, 3), torch.float16), 1, torch.float32)
        yield Call(make.tensor((2, 3)), 0, torch.float64)
    yield Call(make.tensor((2, 3)), 2, *last, error=True)
    yield Call(make.tensor((2, 3), torch.int64), 1, *last, error=True)


@samples("aten::_weight_norm", "aten::cosine_similarity")
def others(make):
    for dtype in FLOATS:
        for _ in range(8):
            if "weight" in make.operator:
                for sizes, dim in [((3, 2), 0), ((2, 3, 2), 0), ((3, 2), 1), ((2, 3, 2), 2)]:
                    scale = [1] * len(sizes)
                    scale[dim] = sizes[dim]
                    yield Call(make.tensor(sizes, dtype), make.tensor(scale, dtype), dim, **near(dtype))
            else:
                layout = make.random.choice(LAYOUTS)
                yield Call(make.tensor((2, 3), dtype, layout), make.tensor((2, 3), dtype), make.random.choice([0, 1, -1]),
                           make.random.choice([1e-8, 0.5]), **near(dtype))
    if "cosine" in make.operator:
        yield Call(make.tensor((2, 3)), make.tensor((3,)), -1)
        yield Call(make.tensor((3,)), make.tensor((3,)), 0)
        yield Call(torch.zeros(2, 3), make.tensor((2, 3)))
        yield Call(make.tensor((2, 3), torch.int64), make.tensor((2, 3), torch.int64), error=True)
