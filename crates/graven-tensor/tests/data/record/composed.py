"""Operators that are computed by calling others, and those that are others by another name."""
import torch

from . import Call, samples
from .make import LAYOUTS


def near():
    return {"tolerance": 1e-5}


@samples("aten::arctan2", "aten::divide.Tensor", "aten::greater.Tensor", "aten::subtract.Tensor", "aten::dist",
         "aten::equal", "aten::linalg_vecdot", "aten::pairwise_distance")
def pairs(make):
    for sizes in [(4,), (2, 3), (3, 1, 4), (2, 2, 3)]:
        for layout in LAYOUTS[:2]:
            left, right = make.tensor(sizes, torch.float32, layout), make.tensor(sizes, torch.float32, layout)
            yield Call(left, right, **near())
    same = make.tensor((2, 3), torch.float32)
    yield Call(same, same.clone(), **near())


@samples("aten::absolute", "aten::arcsin", "aten::special_erf", "aten::argwhere", "aten::isreal",
         "aten::is_floating_point", "aten::is_complex", "aten::nanmean", "aten::linalg_norm")
def single(make):
    for sizes in [(4,), (2, 3), (3, 1, 2)]:
        for layout in LAYOUTS[:2]:
            yield Call(make.tensor(sizes, torch.float32, layout), **near())


@samples("aten::hstack", "aten::vstack", "aten::dstack", "aten::column_stack", "aten::row_stack",
         "aten::atleast_1d.Sequence", "aten::atleast_2d.Sequence", "aten::atleast_3d.Sequence")
def lists(make):
    for sizes in [(), (3,), (2, 3), (2, 2, 3)]:
        yield Call([make.tensor(sizes, torch.float32) for _ in range(2)])
        yield Call([make.tensor(sizes, torch.int64) for _ in range(3)])


@samples("aten::tile")
def tile(make):
    for sizes, dims in [((3,), [2]), ((2, 3), [2]), ((2, 3), [2, 1, 2]), ((2,), [0]), ((), [3])]:
        yield Call(make.tensor(sizes, torch.float32), dims)


@samples("aten::diag", "aten::diagflat")
def diagonals(make):
    for sizes in [(3,), (2, 3)]:
        for offset in [0, 1, -2]:
            yield Call(make.tensor(sizes, torch.float32), offset)


@samples("aten::diag_embed")
def embedded(make):
    for sizes, *dims in [((3,), 0, 0, 1), ((2, 3), 1, -2, -1), ((2, 3), -1, 0, 2), ((2, 2, 2), 0, 3, 1)]:
        yield Call(make.tensor(sizes, torch.float32), *dims)


@samples("aten::tril_indices", "aten::triu_indices")
def triangles(make):
    for args in [(3, 3), (2, 4, 1), (4, 2, -1), (0, 3), (3, 3, 5)]:
        yield Call(*args)


@samples("aten::isin.Tensor_Tensor")
def isin(make):
    for inverts in [False, True]:
        elements = torch.tensor([[1, 2, 3], [4, 2, 9]])
        yield Call(elements, torch.tensor([2, 9]), invert=inverts)
        yield Call(elements.double(), torch.tensor([2, 9]), invert=inverts)


@samples("aten::sum_to_size")
def sum_to_size(make):
    for sizes, to in [((2, 3), [3]), ((2, 3), [1, 3]), ((4, 2, 3), [2, 1]), ((2, 3), [2, 3])]:
        yield Call(make.tensor(sizes, torch.float32), to, **near())


@samples("aten::repeat_interleave.self_Tensor")
def repeats(make):
    tensor = make.tensor((3, 2), torch.float32)
    yield Call(tensor, torch.tensor([1, 0, 2]), 0)
    yield Call(tensor, torch.tensor([2]), 1)
    yield Call(tensor, torch.tensor([1, 2, 0, 1, 1, 3]))


@samples("aten::lstm_cell", "aten::gru_cell")
def cells(make):
    gates = 4 if "lstm" in make.operator else 3
    for with_bias in [True, False]:
        state = make.tensor((2, 3), torch.float32)
        state = [state, make.tensor((2, 3), torch.float32)] if gates == 4 else state
        weights = [make.tensor((3 * gates, 4), torch.float32), make.tensor((3 * gates, 3), torch.float32)]
        biases = [make.tensor((3 * gates,), torch.float32) for _ in range(2)] if with_bias else []
        yield Call(make.tensor((2, 4), torch.float32), state, *weights, *biases, **near())


@samples("aten::margin_ranking_loss", "aten::triplet_margin_loss", "aten::hinge_embedding_loss",
         "aten::cosine_embedding_loss")
def losses(make):
    for reduction in range(3):
        tensors = [make.tensor((4, 3), torch.float32) for _ in range(3)]
        signs = torch.tensor([1.0, -1.0, 1.0, -1.0])
        packet = make.operator.split("::")[1]
        if packet == "triplet_margin_loss":
            yield Call(*tensors, 0.7, 2.0, 1e-6, reduction == 1, reduction, **near())
        elif packet == "hinge_embedding_loss":
            yield Call(tensors[0], signs[:, None].expand(4, 3), 0.8, reduction, **near())
        elif packet == "cosine_embedding_loss":
            yield Call(tensors[0], tensors[1], signs, 0.2, reduction, **near())
        else:
            yield Call(tensors[0], tensors[1], signs[:, None], 0.3, reduction, **near())
