"""Operators on lists of tensors."""
import torch

from . import Call, samples
from .make import FLOATS, LAYOUTS


def lists(make, dtype, count=3):
    shapes = [(2, 3), (4,), (), (0, 2), (2, 2, 1)]
    return [make.tensor(shapes[place % len(shapes)], dtype, make.random.choice(LAYOUTS[:4]), 0, 4)
            for place in range(count)]


def like(make, tensors):
    return [make.tensor(tensor.shape, tensor.dtype, "contiguous", 1, 4) for tensor in tensors]


@samples("aten::_foreach_add.List", "aten::_foreach_add_.List", "aten::_foreach_addcdiv.Scalar",
         "aten::_foreach_addcdiv_.Scalar", "aten::_foreach_mul.Scalar", "aten::_foreach_mul_.Scalar",
         "aten::_foreach_sqrt")
def foreach(make):
    name = make.operator
    for dtype in [*FLOATS, torch.complex64]:
        for count in (1, 2, 4, 5):
            tensors = lists(make, dtype, count)
            if "addcdiv" in name:
                yield Call(tensors, like(make, tensors), like(make, tensors), 0.5 * count, tolerance=1e-2)
            elif "_add" in name:
                yield Call(tensors, like(make, tensors), alpha=count)
            elif "_mul" in name:
                yield Call(tensors, 1.5)
            else:
                yield Call(tensors)
    if "_add" in name and "addc" not in name:
        yield Call(lists(make, torch.float32, 2), lists(make, torch.float32, 1), error=True)
