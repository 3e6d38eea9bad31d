"""Layers: convolution, pooling, resampling, attention, recurrence."""
import torch

from . import Call, samples
from .make import FLOATS, HALVES, INF, LAYOUTS, NAN

EVERY = [*LAYOUTS, "channels_last"]


def packet(make):
    return make.operator.split("::")[1]


def near(dtype):
    return {"tolerance": {torch.float16: 4e-3, torch.bfloat16: 3e-2, torch.float32: 1e-5}.get(dtype, 1e-11)}


def layout(make):
    return make.random.choice(EVERY)


# Input's sizes, weight's sizes, stride, padding, dilation, groups: for a plain convolution.
CONVOLUTIONS = {
    1: [((2, 2, 5), (3, 2, 3), 1, 0, 1, 1), ((1, 2, 6), (2, 2, 2), 2, 1, 1, 1), ((2, 4, 5), (4, 1, 3), 1, 1, 1, 4),
        ((1, 2, 7), (2, 2, 3), 1, 2, 2, 1), ((2, 5), (3, 2, 2), 1, 0, 1, 1), ((1, 4, 5), (2, 2, 1), 1, 0, 1, 2),
        ((0, 2, 5), (3, 2, 3), 1, 0, 1, 1)],
    2: [((1, 2, 4, 4), (3, 2, 3, 3), 1, 1, 1, 1), ((2, 1, 5, 4), (2, 1, 2, 3), 2, 0, 1, 1),
        ((1, 4, 3, 3), (4, 1, 3, 3), 1, 1, 1, 4), ((1, 2, 5, 5), (2, 2, 2, 2), 1, 0, 2, 1),
        ((1, 4, 3, 3), (4, 2, 1, 1), 1, 0, 1, 2), ((2, 2, 2, 3), (3, 2, 1, 1), 1, 0, 1, 1),
        ((1, 2, 4, 5), (2, 2, 3, 2), (2, 1), (1, 0), (1, 2), 1), ((2, 4, 4), (3, 2, 2, 2), 1, 0, 1, 1)],
    3: [((1, 2, 3, 3, 3), (2, 2, 2, 2, 2), 1, 0, 1, 1), ((1, 1, 3, 4, 3), (2, 1, 2, 3, 1), 2, 1, 1, 1),
        ((1, 2, 2, 3, 3), (2, 1, 1, 2, 2), 1, 0, 1, 2)],
}


def each(value, dims):
    return [value] * dims if isinstance(value, int) else list(value)


@samples("aten::conv1d", "aten::conv2d", "aten::conv3d", "aten::conv2d.padding")
def plain_convolution(make):
    dims = int(packet(make)[4])
    for dtype in [*FLOATS, torch.complex64]:
        for _ in range(4 if dims == 3 else 2):
            for sizes, weight, stride, padding, dilation, groups in CONVOLUTIONS[dims]:
                if len(sizes) == dims + 1:
                    if "padding" in packet(make):
                        continue
                    # Without a batch.
                    sizes = (weight[1] * groups, *sizes[1:])
                bias = make.tensor((weight[0],), dtype) if make.random.random() < 0.6 else None
                tensor = make.tensor(sizes, dtype, layout(make))
                kernel = make.tensor(weight, dtype, layout(make))
                if "padding" in packet(make):
                    mode = make.random.choice(["valid", "same"])
                    stride = 1 if mode == "same" else stride
                    padding = mode
                else:
                    padding = each(padding, dims)
                yield Call(tensor, kernel, bias, each(stride, dims), padding, each(dilation, dims), groups, **near(dtype))
    sizes, weight, *_ = CONVOLUTIONS[dims][0]
    yield Call(make.tensor(sizes), make.tensor((weight[0], weight[1] + 1, *weight[2:])), error=True)
    yield Call(make.tensor(sizes), make.tensor(weight), make.tensor((weight[0] + 1,)), error=True)
    yield Call(make.tensor(sizes), make.tensor((*weight[:2], *[9] * dims)), error=True)
    yield Call(make.tensor(sizes), make.tensor(weight, torch.float64), error=True)


TRANSPOSED = {
    1: [((2, 2, 4), (2, 3, 3), 1, 0, 0, 1, 1), ((1, 2, 4), (2, 2, 3), 2, 1, 1, 1, 1), ((1, 4, 3), (4, 1, 2), 2, 0, 0, 2, 1),
        ((1, 2, 3), (2, 2, 2), 1, 0, 0, 1, 2)],
    2: [((1, 2, 3, 3), (2, 2, 2, 2), 1, 0, 0, 1, 1), ((1, 2, 3, 2), (2, 1, 3, 3), 2, 1, 1, 1, 1),
        ((1, 4, 2, 2), (4, 1, 2, 2), 2, 0, 0, 2, 1), ((2, 1, 2, 3), (1, 2, 2, 1), (2, 1), (0, 0), (1, 0), 1, (1, 1)),
        ((1, 2, 3, 3), (2, 2, 2, 2), 1, 1, 0, 1, 2)],
}


@samples("aten::conv_transpose1d", "aten::conv_transpose2d.input")
def transposed_convolution(make):
    dims = int(packet(make)[14])
    for dtype in FLOATS:
        for _ in range(2):
            for sizes, weight, stride, padding, output_padding, groups, dilation in TRANSPOSED[dims]:
                bias = make.tensor((weight[1] * groups,), dtype) if make.random.random() < 0.6 else None
                yield Call(make.tensor(sizes, dtype, layout(make)), make.tensor(weight, dtype), bias, each(stride, dims),
                           each(padding, dims), each(output_padding, dims), groups, each(dilation, dims), **near(dtype))
    sizes, weight, *_ = TRANSPOSED[dims][0]
    yield Call(make.tensor(sizes), make.tensor((weight[0] + 1, *weight[1:])), error=True)


@samples("aten::convolution", "aten::convolution_backward")
def convolution(make):
    backward = "backward" in make.operator
    for dims in (1, 2, 3):
        for dtype in FLOATS[:2] if backward else FLOATS:
            for sizes, weight, stride, padding, dilation, groups in CONVOLUTIONS[dims]:
                if len(sizes) == dims + 1 or (backward and 0 in sizes):
                    continue
                bias = make.tensor((weight[0],), dtype) if make.random.random() < 0.6 else None
                tensor, kernel = make.tensor(sizes, dtype, layout(make)), make.tensor(weight, dtype)
                given = each(stride, dims), each(padding, dims), each(dilation, dims), False, [0] * dims, groups
                if not backward:
                    yield Call(tensor, kernel, bias, *given, **near(dtype))
                    continue
                tensor = tensor.contiguous()
                result = torch.ops.aten.convolution(tensor, kernel, bias, *given)
                mask = make.random.choice([[True, True, True], [True, False, True], [False, True, False]])
                yield Call(make.tensor(result.shape, dtype), tensor, kernel, [weight[0]], *given, mask, tolerance=1e-4)
            if dims < 3:
                for sizes, weight, stride, padding, output_padding, groups, dilation in TRANSPOSED[dims]:
                    tensor, kernel = make.tensor(sizes, dtype), make.tensor(weight, dtype)
                    given = (each(stride, dims), each(padding, dims), each(dilation, dims), True,
                             each(output_padding, dims), groups)
                    if not backward:
                        yield Call(tensor, kernel, None, *given, **near(dtype))
                        continue
                    result = torch.ops.aten.convolution(tensor, kernel, None, *given)
                    yield Call(make.tensor(result.shape, dtype), tensor, kernel, [weight[1] * groups], *given,
                               [True, True, True], tolerance=1e-4)
    if not backward:
        yield Call(make.tensor((1, 2, 4)), make.tensor((2, 3, 2)), None, [1], [0], [1], False, [0], 1, error=True)
        yield Call(make.tensor((1, 2, 4)), make.tensor((2, 2, 2)), None, [0], [0], [1], False, [0], 1, error=True)
        yield Call(make.tensor((1, 2, 4)), make.tensor((2, 2, 2)), None, [1], [-1], [1], False, [0], 1, error=True)


# Sizes, kernel, stride, padding.
POOLED = {
    1: [((2, 2, 6), 2, [], 0), ((1, 2, 7), 3, 2, 1), ((2, 5), 2, 1, 0), ((1, 1, 5), 5, 1, 0)],
    2: [((1, 2, 4, 4), 2, [], 0), ((2, 1, 5, 4), (3, 2), (2, 1), (1, 0)), ((2, 4, 4), 2, 1, 1), ((1, 1, 5, 5), 3, 2, 1),
        ((2, 2, 3, 3), 3, 1, 1)],
    3: [((1, 1, 3, 4, 3), 2, [], 0), ((1, 2, 3, 3, 3), (1, 2, 2), 1, 0), ((1, 4, 3, 3), 3, 2, 1)],
}


def pool_cases(make, dims):
    for dtype in FLOATS:
        for _ in range(4 if dims != 2 else 3):
            for sizes, kernel, stride, padding in POOLED[dims]:
                stride = [] if stride == [] else each(stride, dims)
                tensor = make.tensor(sizes, dtype, layout(make))
                yield dtype, tensor, each(kernel, dims), stride, each(padding, dims), make.random.random() < 0.4


@samples("aten::avg_pool1d", "aten::avg_pool2d", "aten::avg_pool3d")
def avg_pool(make):
    dims = int(packet(make)[8])
    for dtype, tensor, kernel, stride, padding, ceil in pool_cases(make, dims):
        divisor = () if dims == 1 else (make.random.choice([None, None, 3]),)
        yield Call(tensor, kernel, stride, padding, ceil, make.random.random() < 0.6, *divisor, **near(dtype))
    sizes = POOLED[dims][0][0]
    yield Call(make.tensor(sizes), [9] * dims, error=True)
    yield Call(make.tensor(sizes), [2] * dims, [1] * dims, [2] * dims, error=True)
    yield Call(make.tensor((3,) * (dims + 3)), [2] * dims, error=True)


@samples("aten::max_pool1d", "aten::max_pool2d", "aten::max_pool2d_with_indices", "aten::max_pool3d_with_indices")
def max_pool(make):
    dims = int(packet(make)[8])
    for dtype, tensor, kernel, stride, padding, ceil in pool_cases(make, dims):
        dilation = make.random.choice([1, 1, 2])
        if all((size - 1) * dilation + 1 <= extent for size, extent in zip(kernel, tensor.shape[-dims:])):
            yield Call(tensor, kernel, stride, padding, [dilation] * dims, ceil, exact=True)
        else:
            yield Call(tensor, kernel, stride, padding, [1] * dims, ceil, exact=True)
    sizes = POOLED[dims][0][0]
    tensor = make.tensor(sizes)
    tensor[..., 0] = NAN
    tensor[..., 1] = -INF
    yield Call(tensor, [2] * dims)
    yield Call(torch.zeros(sizes), [2] * dims)
    yield Call(make.tensor(sizes), [9] * dims, error=True)
    yield Call(make.tensor(sizes), [2] * dims, [1] * dims, [2] * dims, error=True)


@samples("aten::avg_pool2d_backward", "aten::max_pool2d_with_indices_backward")
def pool_backward(make):
    average = "avg" in make.operator
    for dtype, tensor, kernel, stride, padding, ceil in pool_cases(make, 2):
        if dtype in HALVES:
            continue
        if average:
            given = kernel, stride, padding, ceil, make.random.random() < 0.6, make.random.choice([None, 3])
            grad = make.tensor(torch.ops.aten.avg_pool2d(tensor, *given).shape, dtype)
            yield Call(grad, tensor, *given, **near(dtype))
        else:
            result, indices = torch.ops.aten.max_pool2d_with_indices(tensor, kernel, stride, padding, [1, 1], ceil)
            grad = make.tensor(result.shape, dtype)
            yield Call(grad, tensor, kernel, stride, padding, [1, 1], ceil, indices, **near(dtype))


@samples("aten::adaptive_avg_pool1d", "aten::adaptive_avg_pool2d", "aten::_adaptive_avg_pool2d",
         "aten::_adaptive_avg_pool3d", "aten::adaptive_max_pool2d", "aten::_adaptive_avg_pool2d_backward")
def adaptive(make):
    name = packet(make)
    dims = next(int(letter) for letter in name if letter.isdigit())
    sizes = {1: [(2, 2, 5), (3, 4)], 2: [(1, 2, 4, 5), (2, 3, 3), (2, 2, 2, 4)], 3: [(1, 2, 3, 2, 3), (2, 2, 3, 3)]}[dims]
    for dtype in FLOATS:
        if "backward" in name and dtype in HALVES:
            continue
        for size in sizes:
            for output in (1, 2, 3, 5) if dims < 3 else (1, 2, 3):
                tensor = make.tensor(size, dtype, layout(make))
                outputs = [output] * dims
                if dims > 1 and make.random.random() < 0.4:
                    outputs[0] = 1
                if "backward" in name:
                    for _ in range(2):
                        yield Call(make.tensor((*size[:-dims], *outputs), dtype), make.tensor(size, dtype), **near(dtype))
                else:
                    yield Call(tensor, outputs, **near(dtype))
    if "backward" not in name:
        yield Call(make.tensor((2,)), [1] * dims, error=True)
        yield Call(make.tensor(sizes[0]), [-1] * dims, error=True)


@samples("aten::max_unpool2d")
def max_unpool2d(make):
    for dtype in (torch.float32, torch.float64):
        for sizes in [(1, 2, 4, 4), (2, 4, 4), (2, 1, 6, 4)]:
            for _ in range(3):
                values, indices = torch.ops.aten.max_pool2d_with_indices(make.tensor(sizes, dtype), [2, 2])
                yield Call(values, indices, list(sizes[-2:]))
    yield Call(make.tensor((1, 1, 1, 1)), torch.full((1, 1, 1, 1), 99), [2, 2], error=True)


@samples("aten::col2im", "aten::im2col")
def columns(make):
    for dtype in FLOATS:
        for output, kernel, dilation, padding, stride in [((4, 4), (2, 2), (1, 1), (0, 0), (1, 1)),
                                                          ((4, 5), (2, 3), (1, 1), (1, 0), (2, 1)),
                                                          ((5, 4), (2, 2), (2, 1), (0, 0), (1, 2)),
                                                          ((3, 3), (3, 3), (1, 1), (1, 1), (1, 1)),
                                                          ((4, 4), (2, 2), (1, 1), (0, 0), (2, 2))]:
            for batch in ((), (2,)):
                image = make.tensor((*(batch or (1,)), 1, *output), dtype, make.random.choice(LAYOUTS))
                if "im2col" in make.operator:
                    yield Call(image if batch else image[0], kernel, dilation, padding, stride)
                    continue
                blocks = torch.ops.aten.im2col(image, kernel, dilation, padding, stride)
                column = make.tensor(blocks.shape, dtype, make.random.choice(LAYOUTS[:4]))
                yield Call(column if batch else column[0], list(output), kernel, dilation, padding, stride, **near(dtype))
    if "col2im" in make.operator:
        yield Call(make.tensor((1, 4, 5)), [4, 4], [2, 2], [1, 1], [0, 0], [1, 1], error=True)
        yield Call(make.tensor((1, 5, 9)), [4, 4], [2, 2], [1, 1], [0, 0], [1, 1], error=True)


@samples("aten::upsample_nearest2d.vec", "aten::upsample_bilinear2d.vec", "aten::upsample_bicubic2d.vec",
         "aten::upsample_nearest2d", "aten::upsample_bilinear2d")
def upsample(make):
    name = packet(make)
    nearest = "nearest" in name
    for dtype in FLOATS:
        for sizes in [(1, 2, 2, 3), (2, 1, 3, 2), (1, 1, 4, 4)]:
            for output, scales in [([4, 6], None), (None, [2.0, 2.0]), (None, [1.5, 0.5]), ([1, 5], None), ([3, 3], None)]:
                for corners in ([None] if nearest else [True, False]):
                    tensor = make.tensor(sizes, dtype, make.random.choice(["contiguous", "channels_last", "permuted"]))
                    middle = () if nearest else (corners,)
                    if name.endswith(".vec"):
                        yield Call(tensor, output, *middle, scales, **near(dtype))
                    elif output is not None:
                        yield Call(tensor, output, *middle, **near(dtype))
    middle = () if nearest else (False,)
    if name.endswith(".vec"):
        yield Call(make.tensor((1, 1, 2, 2)), None, *middle, None, error=True)
        yield Call(make.tensor((1, 2, 2)), [4, 4], *middle, None, error=True)
    else:
        yield Call(make.tensor((1, 2, 2)), [4, 4], *middle, error=True)


@samples("aten::grid_sampler", "aten::grid_sampler_2d", "aten::grid_sampler_3d")
def grid_sampler(make):
    three = packet(make).endswith("3d")
    for dtype in (torch.float32, torch.float64):
        for interpolation in (0, 1) if three else (0, 1, 2):
            for padding in (0, 1, 2):
                for corners in (True, False):
                    sizes, grid = ((1, 1, 2, 3, 2), (1, 2, 2, 1, 3)) if three else ((1, 2, 3, 4), (1, 2, 3, 2))
                    yield Call(make.tensor(sizes, dtype, layout(make)), make.tensor(grid, dtype, "contiguous", -1.5, 1.5),
                               interpolation, padding, corners, tolerance=1e-5)
    if not three:
        yield Call(make.tensor((1, 1, 2, 2)), make.tensor((2, 2, 2, 2)), 0, 0, False, error=True)
        yield Call(make.tensor((1, 1, 2, 2)), make.tensor((1, 2, 2, 3)), 0, 0, False, error=True)


@samples("aten::affine_grid_generator")
def affine_grid(make):
    for dtype in (torch.float32, torch.float64):
        for corners in (True, False):
            for sizes in ([1, 1, 2, 3], [2, 1, 3, 1], [1, 2, 1, 1]):
                yield Call(make.tensor((sizes[0], 2, 3), dtype), sizes, corners)
            for sizes in ([1, 1, 2, 3, 2], [2, 1, 1, 2, 3]):
                yield Call(make.tensor((sizes[0], 3, 4), dtype), sizes, corners)


@samples("aten::scaled_dot_product_attention")
def attention(make):
    for dtype in FLOATS:
        for leading in ((1, 2), (2,), ()):
            for _ in range(4):
                rows, columns, width = make.random.choice([(2, 3, 4), (3, 3, 2), (1, 4, 2)])
                query, key = make.tensor((*leading, rows, width), dtype), make.tensor((*leading, columns, width), dtype)
                value = make.tensor((*leading, columns, make.random.choice([width, 3])), dtype)
                options = make.random.choice([{}, {"mask": True}, {"bias": True}, {"causal": True}, {"scale": 0.5}])
                mask = None
                if "mask" in options:
                    mask = make.tensor((rows, columns), torch.bool)
                    mask[:, 0] = True
                if "bias" in options:
                    mask = make.tensor((rows, columns), dtype)
                scale = {"scale": 0.5} if "scale" in options else {}
                yield Call(query, key, value, mask, 0.0, "causal" in options, **scale, **near(dtype))
    # A row without a key to look at.
    yield Call(make.tensor((1, 1, 2, 2)), make.tensor((1, 1, 2, 2)), make.tensor((1, 1, 2, 2)),
               torch.tensor([[False, False], [True, False]]))
    yield Call(make.tensor((1, 4, 2, 2)), make.tensor((1, 2, 3, 2)), make.tensor((1, 2, 3, 2)), enable_gqa=True)
    yield Call(make.tensor((2, 3)), make.tensor((2, 2)), make.tensor((2, 2)), error=True)


def cells(make, dtype, width, hidden, gates, layers, directions, biases):
    params = []
    for layer in range(layers):
        for _ in range(directions):
            inner = width if layer == 0 else hidden * directions
            params += [make.tensor((gates * hidden, inner), dtype, "contiguous", -1, 1),
                       make.tensor((gates * hidden, hidden), dtype, "contiguous", -1, 1)]
            if biases:
                params += [make.tensor((gates * hidden,), dtype), make.tensor((gates * hidden,), dtype)]
    return params


@samples("aten::lstm.input", "aten::gru.input", "aten::rnn_tanh.input", "aten::rnn_relu.input")
def recurrent(make):
    name = packet(make).split(".")[0]
    gates = {"lstm": 4, "gru": 3}.get(name, 1)
    for dtype in (torch.float32, torch.float64):
        for layers in (1, 2):
            for bidirectional in (False, True):
                for batch_first in (False, True):
                    for biases in (True, False):
                        directions = 2 if bidirectional else 1
                        sizes = (2, 3, 2) if batch_first else (3, 2, 2)
                        state = [make.tensor((layers * directions, 2, 2), dtype) for _ in range(2)]
                        hidden = state if name == "lstm" else state[0]
                        params = cells(make, dtype, 2, 2, gates, layers, directions, biases)
                        yield Call(make.tensor(sizes, dtype), hidden, params, biases, layers, 0.0, False, bidirectional,
                                   batch_first, tolerance=1e-5)


@samples("aten::_trilinear")
def trilinear(make):
    for dtype in FLOATS[:2]:
        for _ in range(8):
            yield Call(make.tensor((2, 3), dtype), make.tensor((4, 3, 2), dtype), make.tensor((2, 2), dtype), [1, 3], [0],
                       [1, 2], [2, 3], tolerance=1e-5)
            yield Call(make.tensor((2,), dtype), make.tensor((2,), dtype), make.tensor((2,), dtype), [], [], [], [],
                       0, tolerance=1e-5)
