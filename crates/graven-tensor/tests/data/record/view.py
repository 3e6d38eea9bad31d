"""Views, and operators that give one where they can."""
import torch

from . import Call, samples
from .make import ALL, COMPLEX, FLOATS, INTS, LAYOUTS


def bases(make, rank=3, dtypes=(torch.float32, torch.int64, torch.bool, torch.complex64, torch.float16)):
    """Tensors of a rank in every layout, and some of each dtype."""
    sizes = (2, 3, 4, 2)[:rank]
    yield from make.layouts(sizes)
    for dtype in dtypes:
        yield make.tensor(sizes, dtype, make.random.choice(LAYOUTS[:4]))


def empties(make, rank=3):
    for dim in range(rank):
        yield make.tensor([0 if other == dim else 2 for other in range(rank)])


@samples("aten::detach_")
def detach_(make):
    for dtype in ALL:
        yield Call(make.tensor((2, 3), dtype))
        yield Call(make.tensor((), dtype))
    yield Call(make.tensor((0, 2)))


@samples("aten::alias", "aten::detach", "aten::lift_fresh_copy", "aten::real", "aten::imag",
         "aten::contiguous", "aten::clone", "aten::ravel", "aten::positive", "aten::squeeze", "aten::flatten.using_ints",
         "aten::mT", "aten::adjoint")
def whole(make):
    packet = make.operator.split("::")[1]
    dtypes = COMPLEX * 3 if packet == "imag" else ALL
    ranks = (2, 3, 4) if packet in ("mT", "adjoint") else (0, 1, 2, 3, 4)
    for rank in ranks:
        for dtype in dtypes:
            if packet == "positive" and dtype is torch.bool:
                continue
            layout = make.random.choice(LAYOUTS[:5])
            yield Call(make.tensor((2, 1, 3, 1)[:rank], dtype, layout))
    if packet in ("mT", "adjoint"):
        yield Call(make.tensor((3,)), error=True)
        return
    if packet != "imag":
        yield from (Call(base) for base in bases(make))
        yield from (Call(base) for base in empties(make))
    if packet == "imag":
        yield Call(make.tensor((2,)), error=True)
    if packet in ("real", "imag", "clone", "contiguous", "alias", "lift_fresh_copy"):
        yield Call(make.tensor((3,), torch.complex64).conj())
    if packet in ("clone", "contiguous"):
        for layout in ("contiguous", "channels_last", "permuted", "expanded"):
            base = make.tensor((2, 3, 2, 2), layout=layout)
            for form in (torch.contiguous_format, torch.channels_last):
                yield Call(base, memory_format=form)
            if packet == "clone":
                yield Call(base, memory_format=torch.preserve_format)
    if packet == "flatten.using_ints":
        for start, end in [(0, 1), (1, 2), (-2, -1), (0, 0), (1, 3)]:
            for layout in LAYOUTS[:5]:
                yield Call(make.tensor((2, 3, 2, 2), layout=layout), start, end)
        yield Call(make.tensor((2, 3)), 1, 0, error=True)


@samples("aten::squeeze.dim", "aten::unsqueeze", "aten::squeeze_.dim", "aten::unsqueeze_", "aten::unbind.int")
def one_dim(make):
    grows = "unsqueeze" in make.operator
    unbinds = "unbind" in make.operator
    for sizes in [(1, 3, 1), (2, 1, 3), (1, 1), (3,), (), (0, 1), (1, 0, 2)]:
        bound = len(sizes) + grows
        for dim in range(-max(bound, 1), max(bound, 1)):
            if unbinds and not sizes:
                continue
            layout = make.random.choice(LAYOUTS[:4])
            yield Call(make.tensor(sizes, layout=layout), dim)
        yield Call(make.tensor(sizes), max(bound, 1), error=True)
    for dtype in ALL:
        for layout in ("contiguous", "permuted", "strided"):
            yield Call(make.tensor((2, 1, 2), dtype, layout), 1)


@samples("aten::squeeze.dims")
def squeeze_dims(make):
    for dims in [[0], [1], [0, 2], [-1], [0, 1, 2], [], [-1, -3], [1, -1]]:
        for layout in LAYOUTS[:5]:
            yield Call(make.tensor((1, 3, 1), layout=layout), dims)
    for dtype in ALL:
        yield Call(make.tensor((1, 2, 1), dtype, "permuted"), [0, 2])
    yield Call(make.tensor(()), [0])
    yield Call(make.tensor((1, 3)), [0, 0], error=True)
    yield Call(make.tensor((1, 3)), [2], error=True)


@samples("aten::permute")
def permute(make):
    for order in [[0, 1, 2], [2, 1, 0], [1, 0, 2], [-1, 0, 1], [2, 0, 1], [-2, -1, -3]]:
        for base in bases(make, dtypes=()):
            yield Call(base, order)
    for dtype in ALL:
        yield Call(make.tensor((2, 3, 2), dtype, "strided"), [1, 2, 0])
    yield Call(make.tensor(()), [])
    yield Call(make.tensor((0, 3)), [1, 0])
    yield Call(make.tensor((3, 2)), [0, 0], error=True)
    yield Call(make.tensor((3, 2)), [0], error=True)
    yield Call(make.tensor((3, 2)), [0, 2], error=True)


@samples("aten::transpose.int", "aten::swapaxes", "aten::swapdims", "aten::swapdims_", "aten::transpose_",
         "aten::movedim.int")
def two_dims(make):
    for dims in [(0, 1), (1, 2), (-1, 0), (0, 0), (-1, -2), (2, -3)]:
        for base in bases(make, dtypes=()):
            yield Call(base, *dims)
    for dtype in ALL:
        yield Call(make.tensor((2, 3), dtype, "strided"), 0, -1)
    yield Call(make.tensor(()), 0, -1)
    yield Call(make.tensor((0, 3)), 1, 0)
    yield Call(make.tensor((3, 2)), 0, 2, error=True)
    yield Call(make.tensor((3, 2)), -3, 0, error=True)


@samples("aten::t", "aten::t_")
def t(make):
    for rank in (0, 1, 2):
        for base in bases(make, rank, ALL):
            yield Call(base)
    yield Call(make.tensor((0, 3)))
    yield Call(make.tensor((2, 2, 2)), error=True)


@samples("aten::expand", "aten::broadcast_to")
def expand(make):
    for sizes, target in [((1, 3), (2, 3)), ((3,), (2, 3)), ((), (2, 2)), ((2, 1), (4, 2, 3)), ((2, 3), (2, 3)),
                          ((1, 3), (-1, 3)), ((1, 3), (0, 3)), ((1,), (5,)), ((2, 3), (2, -1, -1))]:
        for layout in LAYOUTS[:5]:
            yield Call(make.tensor(sizes, layout=layout), list(target))
    for dtype in ALL:
        yield Call(make.tensor((2, 1), dtype, "offset"), [2, 2])
    yield Call(make.tensor((2, 3)), [3], error=True)
    yield Call(make.tensor((2, 3)), [3, 3], error=True)
    yield Call(make.tensor((2, 3)), [-1, 2, 3], error=True)


@samples("aten::expand_as", "aten::view_as")
def like_other(make):
    for sizes, target in [((1, 3), (2, 3)), ((3,), (2, 3)), ((), (2, 2)), ((2, 3), (2, 3)), ((1,), (0,))]:
        for dtype in (torch.float32, torch.int64):
            if "view" in make.operator:
                target = tuple(reversed(sizes))
            yield Call(make.tensor(sizes, dtype), make.tensor(target))
    if "view" in make.operator:
        yield Call(make.tensor((2, 6)), make.tensor((3, 4)))
        yield Call(make.tensor((2, 6), layout="offset"), make.tensor((3, 4)))
    yield Call(make.tensor((2, 3)), make.tensor((4,)), error=True)


@samples("aten::select.int")
def select(make):
    for dim, index in [(0, 0), (0, 1), (1, -1), (-1, 2), (-3, -2), (2, 0)]:
        for base in bases(make, dtypes=()):
            yield Call(base, dim, index)
    for dtype in ALL:
        yield Call(make.tensor((2, 3), dtype, "transposed"), 1, 1)
    yield Call(make.tensor((3, 0)), 0, 1)
    yield Call(make.tensor((3,)), 0, 3, error=True)
    yield Call(make.tensor((3,)), 0, -4, error=True)
    yield Call(make.tensor((3,)), 1, 0, error=True)
    yield Call(make.tensor(()), 0, 0, error=True)


SLICES = [(0, None, None, 1), (0, 1, 3, 1), (1, 0, 9, 2), (-1, -2, None, 1), (1, None, -1, 1), (0, 3, 1, 1),
          (1, -100, 100, 3), (-2, 5, 9, 1), (0, 0, 9223372036854775807, 2), (1, 2, 2, 1)]


@samples("aten::slice.Tensor")
def slice_(make):
    for arguments in SLICES:
        for layout in LAYOUTS[:5]:
            yield Call(make.tensor((4, 5), layout=layout), *arguments)
    for dtype in ALL:
        yield Call(make.tensor((3, 4), dtype), 1, 1, 4, 2)
    yield Call(make.tensor((3, 0)), 1, 0, 2)
    yield Call(make.tensor((3, 4)))
    yield Call(make.tensor((3, 4)), 2, 0, 1, error=True)
    yield Call(make.tensor((3, 4)), 0, 0, 1, 0, error=True)
    yield Call(make.tensor((3, 4)), 0, 0, 1, -1, error=True)
    yield Call(make.tensor(()), 0, 0, 1, error=True)


@samples("aten::narrow")
def narrow(make):
    for dim, start, length in [(0, 0, 2), (1, 1, 3), (-1, -2, 2), (0, 4, 0), (1, 0, 5), (-2, 1, 1)]:
        for layout in LAYOUTS[:4]:
            yield Call(make.tensor((4, 5), layout=layout), dim, start, length)
    yield Call(make.tensor((4,)), 0, 3, 2, error=True)
    yield Call(make.tensor((4,)), 0, 0, -1, error=True)
    yield Call(make.tensor(()), 0, 0, 1, error=True)


@samples("aten::split.Tensor")
def split(make):
    for size, dim in [(2, 0), (3, 1), (1, -1), (9, 0), (5, -2)]:
        for layout in LAYOUTS:
            yield Call(make.tensor((5, 3), layout=layout), size, dim)
    for dtype in ALL:
        yield Call(make.tensor((3, 2), dtype), 2)
    yield Call(make.tensor((0, 2)), 0)
    yield Call(make.tensor((0, 2)), 3)
    yield Call(make.tensor((4,)), 0, error=True)
    yield Call(make.tensor((4,)), -1, error=True)
    yield Call(make.tensor((4,)), 1, 1, error=True)
    yield Call(make.tensor(()), 1, error=True)


@samples("aten::split_with_sizes")
def split_with_sizes(make):
    for sizes, dim in [([2, 3], 0), ([5], 0), ([1, 0, 2], 1), ([0, 5, 0], -2), ([1, 1, 1], -1)]:
        for layout in LAYOUTS:
            yield Call(make.tensor((5, 3), layout=layout), sizes, dim)
    for dtype in ALL:
        yield Call(make.tensor((3, 2), dtype), [1, 2])
    yield Call(make.tensor((4,)), [1, 2], error=True)
    yield Call(make.tensor((4,)), [5, -1], error=True)
    yield Call(make.tensor((4,)), [4], 1, error=True)


@samples("aten::chunk", "aten::tensor_split.sections", "aten::hsplit.int")
def chunk(make):
    packet = make.operator
    for count in (1, 2, 3, 7):
        for layout in LAYOUTS[:4]:
            for dim in (0, -1):
                if "hsplit" in packet:
                    yield Call(make.tensor((2, count * 2), layout=layout), count)
                else:
                    yield Call(make.tensor((5, 4), layout=layout), count, dim)
    yield Call(make.tensor((4,)), 2)
    if "hsplit" in packet:
        yield Call(make.tensor((4, 3)), 2, error=True)
        yield Call(make.tensor(()), 2, error=True)
        return
    yield Call(make.tensor((0, 3)), 2)
    yield Call(make.tensor((4,)), 0, error=True)
    yield Call(make.tensor((4,)), 2, 1, error=True)
    yield Call(make.tensor(()), 2, error=True)


@samples("aten::diagonal")
def diagonal(make):
    for offset, dim1, dim2 in [(0, 0, 1), (1, 0, 1), (-1, 0, 1), (0, 1, 2), (2, -1, 0), (-2, 2, 0), (9, 0, 1),
                               (-9, 0, 1)]:
        for layout in LAYOUTS[:5]:
            yield Call(make.tensor((2, 3, 4), layout=layout), offset, dim1, dim2)
    for dtype in ALL:
        yield Call(make.tensor((3, 2), dtype))
    yield Call(make.tensor((0, 2)))
    yield Call(make.tensor((3, 3)), 0, 1, 1, error=True)
    yield Call(make.tensor((3, 3)), 0, 0, 2, error=True)
    yield Call(make.tensor((3,)), error=True)


@samples("aten::unfold")
def unfold(make):
    for dim, size, step in [(0, 2, 1), (1, 3, 2), (-1, 5, 1), (0, 1, 3), (-2, 4, 4), (1, 0, 1)]:
        for layout in LAYOUTS[:5]:
            yield Call(make.tensor((4, 5), layout=layout), dim, size, step)
    for dtype in ALL:
        yield Call(make.tensor((5,), dtype), 0, 2, 2)
    yield Call(make.tensor(()), 0, 1, 1)
    yield Call(make.tensor((4,)), 0, 5, 1, error=True)
    yield Call(make.tensor((4,)), 0, 2, 0, error=True)
    yield Call(make.tensor((4,)), 0, -1, 1, error=True)
    yield Call(make.tensor((4,)), 1, 1, 1, error=True)


@samples("aten::as_strided")
def as_strided(make):
    base = [([2, 3], [3, 1], None), ([3, 2], [1, 3], 0), ([2, 2, 2], [4, 2, 1], 1), ([3], [0], 2), ([], [], 5),
            ([0, 4], [1, 1], 3), ([2, 2], [1, 1], None), ([4, 3], [2, 1], 0)]
    for sizes, strides, offset in base:
        for layout in ("contiguous", "transposed", "offset", "strided"):
            yield Call(make.tensor((3, 4), layout=layout), sizes, strides, offset)
    for dtype in ALL:
        yield Call(make.tensor((6,), dtype), [2, 2], [3, 1], 1)
    yield Call(make.tensor((6,)), [3, 3], [3, 1], error=True)
    yield Call(make.tensor((6,)), [3], [1], 4, error=True)
    yield Call(make.tensor((6,)), [3], [1, 1], error=True)
    yield Call(make.tensor((6,)), [2], [-1], error=True)
    yield Call(make.tensor((6,)), [-1], [1], error=True)


RESHAPES = [((2, 6), [3, 4]), ((2, 6), [-1]), ((2, 6), [2, 2, 3]), ((2, 3, 2), [6, -1]), ((), [1, 1]), ((1, 1), []),
            ((0, 3), [3, 0]), ((0, 3), [0]), ((4,), [2, 1, 2]), ((2, 1, 3), [6]), ((2, 3), [2, 3])]


@samples("aten::view", "aten::reshape", "aten::_unsafe_view")
def view(make):
    for sizes, target in RESHAPES:
        for layout in ("contiguous", "offset"):
            yield Call(make.tensor(sizes, layout=layout), target)
    for dtype in ALL:
        yield Call(make.tensor((2, 4), dtype), [4, 2])
    for sizes, target in [((4, 2), [2, 2, 2]), ((4, 2), [4, 1, 2]), ((2, 3, 4), [2, 3, 2, 2]), ((3, 2), [3, 2])]:
        for layout in ("transposed", "strided"):
            yield Call(make.tensor(sizes, layout=layout), target)
    for layout in ("transposed", "permuted", "strided", "expanded"):
        base = make.tensor((3, 4), layout=layout)
        copies = "reshape" in make.operator or layout == "strided"
        yield Call(base, [12], error=not copies)
    yield Call(make.tensor((2, 3)), [4, 2], error=True)
    yield Call(make.tensor((2, 3)), [-1, -1], error=True)
    yield Call(make.tensor((2, 3)), [-1, 4], error=True)
    yield Call(make.tensor((0, 3)), [-1, 0], error=True)
    yield Call(make.tensor((2, 3)), [-2, -3], error=True)


@samples("aten::unflatten.int")
def unflatten(make):
    for dim, sizes in [(0, [2, 2]), (1, [3, -1]), (-1, [6, 1]), (-2, [-1, 4]), (0, [4])]:
        for layout in LAYOUTS[:4]:
            yield Call(make.tensor((4, 6), layout=layout), dim, sizes)
    yield Call(make.tensor((4, 6)), 0, [3, 2], error=True)
    yield Call(make.tensor((4, 6)), 0, [], error=True)
    yield Call(make.tensor((4, 6)), 2, [2, 2], error=True)


@samples("aten::view.dtype")
def view_dtype(make):
    pairs = [(torch.float32, torch.int32), (torch.int32, torch.float32), (torch.float64, torch.int64),
             (torch.uint8, torch.int8), (torch.float16, torch.int16), (torch.bfloat16, torch.float16),
             (torch.complex64, torch.float32), (torch.float32, torch.uint8), (torch.int8, torch.int32),
             (torch.int16, torch.float64), (torch.int64, torch.int16), (torch.float32, torch.float32)]
    for dtype, other in pairs:
        for layout in ("contiguous", "offset"):
            yield Call(make.tensor((2, 8), dtype, layout), other)
        if dtype.itemsize == other.itemsize:
            yield Call(make.tensor((2, 3), dtype, "transposed"), other)
            yield Call(make.tensor((), dtype), other)
        if dtype.itemsize > other.itemsize:
            yield Call(make.tensor((4, 3), dtype)[:, 1:2], other)
    yield Call(make.tensor((2, 3), torch.int8), torch.int32, error=True)
    yield Call(make.tensor((2, 4), torch.int8, "transposed"), torch.int32, error=True)
    yield Call(make.tensor((), torch.int64), torch.int32, error=True)
    yield Call(make.tensor((2, 2), torch.float32, "transposed"), torch.int16, error=True)


@samples("aten::view_as_real", "aten::view_as_complex")
def complex_views(make):
    to_real = "real" in make.operator
    for sizes in [(3,), (2, 3), (), (0, 2), (2, 2, 2)]:
        for layout in ("contiguous", "transposed", "offset", "expanded"):
            if to_real:
                for dtype in COMPLEX:
                    yield Call(make.tensor(sizes, dtype, layout))
            elif sizes or layout == "contiguous":
                for dtype in (torch.float32, torch.float64):
                    base = make.tensor(sizes, dtype, layout)
                    pair = torch.stack([base, base], -1)
                    yield Call(pair)
    if to_real:
        yield Call(make.tensor((3,)), error=True)
        yield Call(make.tensor((3,), torch.complex64).conj(), error=True)
        return
    yield Call(make.tensor((4, 3, 2))[::2])
    yield Call(make.tensor((4, 2), torch.float32, "offset"))
    yield Call(make.tensor((3, 3)), error=True)
    yield Call(make.tensor((3, 2), torch.int32), error=True)
    yield Call(make.tensor((2, 3)).t(), error=True)
    yield Call(make.tensor(()), error=True)


@samples("aten::broadcast_tensors", "aten::meshgrid.indexing")
def broadcast_tensors(make):
    for dtype in (torch.float32, torch.int64, torch.bool, torch.complex64):
        if "meshgrid" in make.operator:
            for indexing in ("ij", "xy"):
                yield Call([make.tensor((2,), dtype), make.tensor((3,), dtype)], indexing=indexing)
                yield Call([make.tensor((2,), dtype), make.tensor((), dtype), make.tensor((2,), dtype)],
                           indexing=indexing)
                yield Call([make.tensor((2,), dtype)], indexing=indexing)
        else:
            yield Call([make.tensor((2, 1), dtype), make.tensor((3,), dtype), make.tensor((), dtype)])
            yield Call([make.tensor((2, 3), dtype, "transposed"), make.tensor((1,), dtype)])
            yield Call([make.tensor((1,), dtype), make.tensor((0,), dtype)])
    yield Call([make.tensor((2, 2)), make.tensor((3, 3))], error=True,
               **({"indexing": "ij"} if "meshgrid" in make.operator else {}))


@samples("aten::sym_size.int")
def sym_size(make):
    for dim in (0, 1, 2, -1, -2, -3):
        yield Call(make.tensor((2, 3, 4)), dim)
        yield Call(make.tensor((0, 1, 4)), dim)
    yield Call(make.tensor((2,)), 1, error=True)


@samples("aten::copy", "aten::copy_", "aten::_to_copy", "aten::to.dtype", "aten::to.device", "aten::to.dtype_layout",
         "aten::type_as")
def convert(make):
    packet = make.operator.split("::")[1]

    def call(base, dtype):
        if packet in ("copy", "copy_"):
            return Call(make.tensor(base.shape, dtype, make.random.choice(LAYOUTS[:4])), base)
        if packet == "type_as":
            return Call(base, make.tensor((2,), dtype))
        if packet == "to.device":
            return Call(base, torch.device("cpu"), dtype, False, make.random.random() < 0.3)
        if packet == "to.dtype":
            return Call(base, dtype, False, make.random.random() < 0.3)
        return Call(base, dtype=dtype)

    for dtype in ALL:
        for other in ALL:
            values = [0.0, 1.0, -1.5, 2.75, 100.0, -7.25, 3.0]
            if dtype is torch.bool or not (dtype.is_floating_point or dtype.is_complex):
                base = make.tensor((7,), dtype)
            else:
                # What a negative float is as an unsigned integer is for the machine to say.
                values = [abs(value) for value in values] if other is torch.uint8 else values
                base = make.values(values, dtype)
            yield call(base, other)
    for dtype in FLOATS:
        for other in FLOATS:
            yield call(make.special(dtype), other)
    for dtype in INTS:
        yield call(make.special(dtype), torch.float32)
        yield call(make.special(dtype), torch.bool)
    for layout in LAYOUTS:
        yield call(make.tensor((2, 3, 4), torch.float32, layout), torch.float64)
        yield call(make.tensor((2, 3, 4), torch.float32, layout), torch.float32)
    yield call(make.tensor(()), torch.int64)
    yield call(make.tensor((0, 2)), torch.int64)
    yield call(make.tensor((3,), torch.complex64).conj(), torch.complex128)
    if packet in ("copy", "copy_"):
        for sizes, target in [((3,), (2, 3)), ((), (2, 2)), ((2, 1), (2, 3))]:
            yield Call(make.tensor(target), make.tensor(sizes))
        yield Call(make.tensor((2, 3)), make.tensor((4,)), error=True)
        if packet == "copy_":
            yield Call(make.tensor((2, 3), layout="expanded"), make.tensor((2, 3)), error=True)
    elif packet != "type_as":
        base = make.tensor((2, 3, 2, 2), layout="permuted")
        for form in (torch.contiguous_format, torch.channels_last, torch.preserve_format):
            if packet == "to.dtype":
                yield Call(base, torch.float64, memory_format=form)
            elif packet == "to.device":
                yield Call(base, torch.device("cpu"), torch.float64, memory_format=form)
            else:
                yield Call(base, memory_format=form)
