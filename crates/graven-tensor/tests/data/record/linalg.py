"""Products of matrices and vectors, distances, Fourier transforms."""
import torch

from . import Call, samples
from .make import COMPLEX, FLOATS, HALVES, INF, INTS, LAYOUTS

NUMBERS = [*FLOATS, *COMPLEX, torch.int64, torch.int32, torch.uint8]


def packet(make):
    return make.operator.split("::")[1]


def near(dtype):
    """Sums of products may differ by their order."""
    return {"tolerance": {torch.float16: 4e-3, torch.bfloat16: 3e-2}.get(dtype)}


def layouts(make, count):
    return [make.random.choice(LAYOUTS) for _ in range(count)]


@samples("aten::mm", "aten::bmm", "aten::mv", "aten::dot", "aten::vdot", "aten::outer")
def products(make):
    name = packet(make)
    shapes = {
        "mm": [((2, 3), (3, 4)), ((1, 3), (3, 1)), ((2, 0), (0, 3)), ((0, 2), (2, 3)), ((5, 2), (2, 5)), ((3, 3), (3, 3))],
        "bmm": [((2, 2, 3), (2, 3, 2)), ((1, 3, 2), (1, 2, 4)), ((0, 2, 3), (0, 3, 2)), ((2, 2, 0), (2, 0, 2)),
                ((3, 1, 2), (3, 2, 2))],
        "mv": [((2, 3), (3,)), ((2, 0), (0,)), ((0, 3), (3,)), ((4, 1), (1,)), ((1, 4), (4,))],
        "dot": [((3,), (3,)), ((0,), (0,)), ((17,), (17,)), ((1,), (1,))],
        "vdot": [((3,), (3,)), ((0,), (0,)), ((17,), (17,)), ((1,), (1,))],
        "outer": [((3,), (2,)), ((0,), (2,)), ((1,), (4,)), ((5,), (3,))],
    }[name]
    for dtype in NUMBERS:
        for left, right in shapes:
            first, second = layouts(make, 2)
            yield Call(make.tensor(left, dtype, first), make.tensor(right, dtype, second), **near(dtype))
    for first in LAYOUTS:
        for second in LAYOUTS[:5]:
            left, right = shapes[0]
            yield Call(make.tensor(left, layout=first), make.tensor(right, layout=second))
    left, right = shapes[0]
    if name != "outer":
        yield Call(make.tensor(left), make.tensor((*right[:-1], right[-1] + 1) if len(right) == 1 else
                                                  (*right[:-2], right[-2] + 1, right[-1])), error=True)
        yield Call(make.tensor(left), make.tensor(right, torch.float64), error=True)
    else:
        yield Call(make.tensor((2,)), make.tensor((2,), torch.int64))
    yield Call(make.tensor((2, 2, 2, 2)), make.tensor(right), error=True)


@samples("aten::mm.out")
def mm_out(make):
    for dtype in FLOATS:
        for layout in LAYOUTS[:4]:
            yield Call(make.tensor((2, 3), dtype), make.tensor((3, 2), dtype, layout),
                       out=make.tensor((2, 2), dtype, layout), **near(dtype))
        yield Call(make.tensor((2, 3), dtype), make.tensor((3, 2), dtype), out=torch.empty(0, dtype=dtype),
                   **near(dtype))
    yield Call(make.tensor((2, 3)), make.tensor((3, 2)), out=make.tensor((2, 2), torch.float64), error=True)


@samples("aten::addmm", "aten::addmm_", "aten::addmv", "aten::addmv_", "aten::baddbmm", "aten::baddbmm_",
         "aten::addbmm", "aten::addbmm_", "aten::addr", "aten::addr_")
def adding(make):
    name = packet(make).rstrip("_")
    left, right, result = {
        "addmm": ((2, 3), (3, 4), (2, 4)), "addmv": ((2, 3), (3,), (2,)), "baddbmm": ((2, 2, 3), (2, 3, 2), (2, 2, 2)),
        "addbmm": ((2, 2, 3), (2, 3, 4), (2, 4)), "addr": ((2,), (3,), (2, 3)),
    }[name]
    bases = [result] if make.is_inplace else [result, result[1:], (1,) * len(result), ()]
    for dtype in [*FLOATS, *COMPLEX, torch.int64, torch.int32]:
        is_integer = dtype in INTS
        for beta, alpha in [(1, 1), (0, 2), (2, 1), (1, 0), (3, 2)] if is_integer else [(1, 1), (0, 2), (0.5, 1.5)]:
            for base in bases[:2]:
                first, second = layouts(make, 2)
                yield Call(make.tensor(base, dtype, make.random.choice(LAYOUTS[:4])), make.tensor(left, dtype, first),
                           make.tensor(right, dtype, second), beta=beta, alpha=alpha, **near(dtype))
    for base in bases:
        yield Call(make.tensor(base), make.tensor(left), make.tensor(right))
    for first in LAYOUTS:
        for second in LAYOUTS[:4]:
            yield Call(make.tensor(result, layout=make.random.choice(LAYOUTS[:4])), make.tensor(left, layout=first),
                       make.tensor(right, layout=second), beta=0.5)
    # What beta 0 drops may be NaN.
    yield Call(torch.full(result, float("nan")), make.tensor(left), make.tensor(right), beta=0)
    yield Call(make.tensor(result), make.tensor(left), make.tensor((*right[:-1], 7) if name != "addmv" else (7,)),
               error=True)
    yield Call(make.tensor((9, 9, 9)), make.tensor(left), make.tensor(right), error=True)


@samples("aten::matmul")
def matmul(make):
    shapes = [((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((2, 3), (3, 2)), ((2, 2, 3), (3, 2)), ((2, 2, 3), (3,)),
              ((3,), (2, 3, 2)), ((2, 3), (2, 3, 2)), ((2, 2, 3), (2, 3, 2)), ((2, 1, 2, 3), (2, 3, 1)),
              ((0, 3), (3, 2)), ((2, 0), (0, 2)), ((2, 2, 0), (0, 2)), ((1, 2, 3), (4, 3, 2)), ((2, 1, 3), (1, 3, 2))]
    for left, right in shapes:
        for first in ("contiguous", "transposed", "permuted", "expanded"):
            yield Call(make.tensor(left, layout=first), make.tensor(right, layout=make.random.choice(LAYOUTS)))
    for dtype in NUMBERS:
        for left, right in make.random.sample(shapes, 3):
            yield Call(make.tensor(left, dtype), make.tensor(right, dtype), **near(dtype))
    yield Call(make.tensor((2, 3)), make.tensor((2, 3)), error=True)
    yield Call(make.tensor(()), make.tensor((2,)), error=True)
    yield Call(make.tensor((2, 2, 3)), make.tensor((3, 3, 2)), error=True)


@samples("aten::linear", "aten::bilinear")
def linear(make):
    if "bilinear" in make.operator:
        for dtype in FLOATS:
            for sizes in [(2,), (2, 2), ()]:
                bias = make.tensor((2,), dtype) if make.random.random() < 0.6 else None
                yield Call(make.tensor((*sizes, 3), dtype), make.tensor((*sizes, 4), dtype),
                           make.tensor((2, 3, 4), dtype), bias, tolerance=0.05 if dtype in HALVES else 1e-5)
        yield Call(make.tensor((2, 3)), make.tensor((3, 4)), make.tensor((2, 3, 4)), error=True)
        return
    for dtype in [*FLOATS, *COMPLEX]:
        for sizes in [(2, 3), (3,), (2, 2, 3), (0, 3)]:
            for bias in (True, False):
                layout = make.random.choice(LAYOUTS)
                yield Call(make.tensor(sizes, dtype, layout), make.tensor((4, 3), dtype, make.random.choice(LAYOUTS)),
                           make.tensor((4,), dtype) if bias else None, **near(dtype))
    for layout in LAYOUTS:
        yield Call(make.tensor((2, 2, 3), layout=layout), make.tensor((4, 3)), make.tensor((4,)))
    yield Call(make.tensor((2, 3)), make.tensor((3,)))
    yield Call(make.tensor((2, 3)), make.tensor((4, 2)), error=True)
    yield Call(make.tensor((2, 3)), make.tensor((4, 3)), make.tensor((3,)), error=True)


@samples("aten::einsum", "aten::tensordot", "aten::kron")
def contractions(make):
    name = packet(make)
    cases = {
        "einsum": [("ij,jk->ik", (2, 3), (3, 2)), ("ij->ji", (2, 3)), ("ii->i", (3, 3)), ("ii", (3, 3)),
                   ("ij->", (2, 3)), ("bij,bjk->bik", (2, 2, 3), (2, 3, 2)), ("i,j->ij", (2,), (3,)),
                   ("...ij,...jk->...ik", (2, 2, 3), (2, 3, 2)), ("ij,ij->i", (2, 3), (2, 3)), ("ij,jk", (2, 3), (3, 2)),
                   ("i,i->", (3,), (3,)), ("bn,anm,bm->ba", (2, 2), (3, 2, 2), (2, 2)), ("bqhd,bkhd->bhqk", (1, 2, 2, 3), (1, 3, 2, 3))],
        "tensordot": [((2, 3), (3, 4), [1], [0]), ((2, 3, 4), (4, 3, 2), [1, 2], [1, 0]), ((2, 3), (2, 3), [0, 1], [0, 1]),
                      ((2,), (3,), [], []), ((2, 3), (4, 3), [-1], [-1])],
        "kron": [((2, 2), (2, 3)), ((2,), (3,)), ((2, 2), (3,)), ((), (2,)), ((2, 1, 2), (2, 2)), ((0, 2), (2, 2))],
    }[name]
    for dtype in [torch.float32, torch.float64, torch.complex64, torch.bfloat16, torch.int64]:
        for case in cases:
            if name == "einsum":
                equation, *sizes = case
                tensors = [make.tensor(size, dtype, make.random.choice(LAYOUTS)) for size in sizes]
                yield Call(equation, tensors, **near(dtype))
            else:
                left, right, *dims = case
                layout = make.random.choice(LAYOUTS[:1] if name == "kron" else LAYOUTS)
                yield Call(make.tensor(left, dtype, layout), make.tensor(right, dtype), *dims, **near(dtype))
    if name == "einsum":
        yield Call("ij,jk->il", [make.tensor((2, 3)), make.tensor((3, 2))], error=True)
        yield Call("ij", [make.tensor((2,))], error=True)
        yield Call("ij,jk->ik", [make.tensor((2, 3)), make.tensor((2, 2))], error=True)
    elif name == "tensordot":
        yield Call(make.tensor((2, 3)), make.tensor((2, 3)), [1], [0], error=True)


@samples("aten::_cdist_forward", "aten::cdist", "aten::_pdist_forward")
def distances(make):
    name = packet(make)
    for dtype in (torch.float32, torch.float64):
        for p in (2.0, 1.0, 0.0, 3.0, INF, 0.5):
            for sizes, other in [((3, 2), (2, 2)), ((2, 3, 2), (2, 2, 2)), ((1, 2), (4, 2)), ((0, 2), (2, 2)),
                                 ((3, 0), (2, 0)), ((2, 3, 2), (1, 2, 2))]:
                layout = make.random.choice(LAYOUTS[:5])
                tensor = make.tensor(sizes, dtype, layout)
                if name == "_pdist_forward":
                    if len(sizes) == 2:
                        yield Call(tensor.contiguous(), p, tolerance=1e-5)
                        yield Call(make.tensor((5, 3), dtype), p, tolerance=1e-5)
                elif name == "cdist":
                    yield Call(tensor, make.tensor(other, dtype), p, tolerance=1e-5)
                elif len(sizes) == 2 or sizes[0] == other[0]:
                    yield Call(tensor.contiguous(), make.tensor(other, dtype), p,
                               make.random.choice([None, 1, 2]) if p == 2.0 else None, tolerance=1e-5)
    if name == "cdist":
        yield Call(make.tensor((3, 2)), make.tensor((3, 3)), error=True)
        yield Call(make.tensor((3, 2)), make.tensor((3, 2)), -1.0, error=True)
        yield Call(make.tensor((3,)), make.tensor((3, 2)), error=True)


@samples("aten::linalg_cross")
def cross(make):
    for dtype in [*FLOATS, *COMPLEX, torch.int64]:
        for layout in LAYOUTS:
            yield Call(make.tensor((2, 3), dtype, layout), make.tensor((2, 3), dtype), **near(dtype))
    yield Call(make.tensor((3, 2)), make.tensor((3, 2)), dim=0)
    yield Call(make.tensor((1, 3)), make.tensor((4, 3)))
    yield Call(make.tensor((2, 2)), make.tensor((2, 2)), error=True)


@samples("aten::_fft_r2c", "aten::_fft_c2r", "aten::_fft_c2c")
def fft(make):
    name = packet(make)
    real = {torch.complex64: torch.float32, torch.complex128: torch.float64}
    for dtype in COMPLEX:
        for sizes, dims in [((6,), [0]), ((2, 5), [1]), ((4, 3), [0]), ((2, 3, 4), [1, 2]), ((3, 4), [0, 1]), ((1,), [0]),
                            ((2, 8), [1]), ((7,), [0])]:
            for normalization in (0, 1, 2):
                layout = make.random.choice(LAYOUTS[:4])
                near = {"tolerance": 1e-5 if dtype is torch.complex64 else 1e-12}
                if name == "_fft_r2c":
                    for onesided in (True, False):
                        yield Call(make.tensor(sizes, real[dtype], layout), dims, normalization, onesided, **near)
                elif name == "_fft_c2r":
                    last = sizes[dims[-1]]
                    for size in (2 * (last - 1), 2 * last - 1):
                        if size > 0:
                            # Only the half of a real signal's transform is defined.
                            whole = (*sizes[:dims[-1]], size, *sizes[dims[-1]:][1:])
                            half = torch.fft.rfft(make.tensor(whole, real[dtype]), dim=dims[-1])
                            if len(dims) == 1:
                                yield Call(half, dims, normalization, size, **near)
                else:
                    yield Call(make.tensor(sizes, dtype, layout), dims, normalization, True, **near)
                    yield Call(make.tensor(sizes, dtype, layout), dims, normalization, False, **near)
