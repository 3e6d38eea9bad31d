"""Operators that read or write by index or mask, and those that join and rearrange."""
import torch

from . import Call, samples
from .make import ALL, COMPLEX, FLOATS, HALVES, INTS, LAYOUTS


def packet(make):
    return make.operator.split("::")[1]


@samples("aten::gather", "aten::take_along_dim")
def gather(make):
    takes = "take" in make.operator

    def call(tensor, dim, index, **kwargs):
        return Call(tensor, index, dim, **kwargs) if takes else Call(tensor, dim, index, **kwargs)

    for dtype in ALL:
        for dim in (0, 1, -1):
            tensor = make.tensor((3, 4), dtype, make.random.choice(LAYOUTS))
            sizes = (2, 4) if dim == 0 else (3, 5)
            yield call(tensor, dim, make.ints(sizes, 0, 3))
    for layout in LAYOUTS:
        yield call(make.tensor((2, 3, 4), layout=layout), 1, make.ints((2, 2, 4), 0, 3))
        yield call(make.tensor((2, 3, 4), layout=layout), -1, make.ints((3, 2), 0, 4).t().unsqueeze(-1))
    yield call(make.tensor((3,)), 0, make.ints((0,), 0, 1))
    if takes:
        yield Call(make.tensor((2, 3)), make.ints((4,), 0, 6))
        yield Call(make.tensor((3, 4)), make.ints((1, 4), 0, 3), 0)
        yield Call(make.tensor((3, 4)), make.ints((3, 1), 0, 4), 1)
        yield Call(make.tensor((3, 4)), make.ints((4,), 0, 3), 0, error=True)
        return
    yield call(make.tensor(()), 0, make.ints((), 0, 1))
    yield call(make.tensor((3, 4)), 0, make.ints((2, 2), 0, 3))
    yield call(make.tensor((3,)), 0, make.values([0, 3], torch.int64), error=True)
    yield call(make.tensor((3,)), 0, make.values([-1], torch.int64), error=True)
    yield call(make.tensor((3, 4)), 0, make.ints((2, 5), 0, 3), error=True)
    yield call(make.tensor((3,)), 0, make.tensor((2,)), error=True)
    yield call(make.tensor((3,)), 1, make.ints((2,), 0, 3), error=True)


@samples("aten::scatter.src", "aten::scatter_.src", "aten::scatter.value", "aten::scatter_.value",
         "aten::scatter_add", "aten::scatter_add_", "aten::scatter_reduce.two", "aten::scatter_reduce_.two")
def scatter(make):
    name = packet(make)
    adds, reduces, fills = "add" in name, "reduce" in name, name.endswith("value")

    def calls(tensor, dim, index, **kwargs):
        dtype = tensor.dtype
        source = 2 if fills else make.tensor([size + make.random.randint(0, 1) for size in index.shape], dtype)
        if not reduces:
            yield Call(tensor, dim, index, source, **kwargs)
            return
        modes = ["sum", "prod", "mean", "amax", "amin"]
        for mode in make.random.sample(modes, 2):
            yield Call(tensor.clone(), dim, index, source, mode, include_self=make.random.random() < 0.5, **kwargs)

    def permutation(sizes, dim, bound):
        """Indices without duplicates along the dimension: with them the last write is not said."""
        shape = list(sizes)
        index = torch.empty(shape, dtype=torch.int64)
        flat = index.movedim(dim, -1)
        for place in torch.cartesian_prod(*[torch.arange(size) for size in flat.shape[:-1]]) if flat.dim() > 2 else \
                torch.arange(flat.shape[0]) if flat.dim() == 2 else [None]:
            values = torch.tensor(make.random.sample(range(bound), shape[dim]))
            if place is None:
                flat[:] = values
            else:
                flat[tuple(place.tolist()) if place.dim() else int(place)] = values
        return index

    def index(sizes, dim, bound):
        return make.ints(sizes, 0, bound) if adds or reduces else permutation(sizes, dim, bound)

    dtypes = [dtype for dtype in ALL if dtype is not torch.bool and not (reduces and dtype in COMPLEX)]
    for dtype in dtypes:
        for dim in (0, 1, -1):
            tensor = make.tensor((4, 5), dtype, make.random.choice(LAYOUTS[:4]))
            sizes = (3, 4) if dim == 0 else (4, 3)
            yield from calls(tensor, dim, index(sizes, dim, 4))
    for layout in LAYOUTS[:4]:
        yield from calls(make.tensor((2, 3, 4), layout=layout), 1, index((2, 2, 4), 1, 3))
        yield from calls(make.tensor((2, 3, 4), layout=layout), 2, index((1, 2, 3), 2, 4))
    yield from calls(make.tensor((3,)), 0, make.ints((0,), 0, 1))
    yield from calls(make.tensor(()), 0, make.ints((), 0, 1))
    if not adds and not reduces:
        yield from calls(make.tensor((3, 2), torch.bool), 0, index((2, 2), 0, 3)) if not fills else ()
    yield from list(calls(make.tensor((3,)), 0, make.values([3], torch.int64), error=True))[:1]
    yield from list(calls(make.tensor((3,)), 0, make.tensor((2,)), error=True))[:1]
    yield from list(calls(make.tensor((3,)), 1, make.ints((2,), 0, 3), error=True))[:1]
    yield from list(calls(make.tensor((3, 3)), 0, make.ints((2, 4), 0, 3), error=True))[:1]
    if reduces:
        yield Call(make.tensor((3,)), 0, make.ints((2,), 0, 3), make.tensor((2,)), "median", error=True)
    elif not fills:
        yield Call(make.tensor((3,)), 0, make.ints((2,), 0, 3), make.tensor((2,), torch.float64), error=True)


@samples("aten::index_select", "aten::index_add", "aten::index_add_", "aten::index_copy", "aten::index_copy_",
         "aten::index_fill.int_Scalar", "aten::index_fill_.int_Scalar", "aten::index_reduce", "aten::index_reduce_")
def index_dim(make):
    name = packet(make).split(".")[0].rstrip("_")

    def calls(tensor, dim, index, **kwargs):
        dtype = tensor.dtype
        sizes = list(tensor.shape)
        if sizes:
            sizes[dim] = index.numel()
        if name == "index_select":
            yield Call(tensor, dim, index, **kwargs)
        elif name == "index_fill":
            yield Call(tensor, dim, index, 3, **kwargs)
        elif name == "index_copy":
            yield Call(tensor, dim, index, make.tensor(sizes, dtype), **kwargs)
        elif name == "index_add":
            alpha = make.random.choice([{}, {"alpha": 2}])
            yield Call(tensor, dim, index, make.tensor(sizes, dtype, make.random.choice(LAYOUTS)), **alpha, **kwargs)
        else:
            for mode in make.random.sample(["prod", "mean", "amax", "amin"], 2):
                yield Call(tensor.clone(), dim, index, make.tensor(sizes, dtype), mode,
                           include_self=make.random.random() < 0.5, **kwargs)

    def index(count, bound):
        if name == "index_copy":
            return torch.tensor(make.random.sample(range(bound), min(count, bound)))
        return make.ints((count,), 0, bound)

    for dtype in ALL:
        if name == "index_reduce" and (dtype is torch.bool or dtype in COMPLEX):
            continue
        if name == "index_add" and dtype is torch.bool:
            continue
        for dim in (0, 1, -1):
            yield from calls(make.tensor((3, 4), dtype, make.random.choice(LAYOUTS[:4])), dim, index(3, 3))
    for layout in LAYOUTS[:4]:
        for dim in (0, 1, 2):
            yield from calls(make.tensor((2, 3, 4), layout=layout), dim, index(2, 2))
    yield from calls(make.tensor((3, 4)), 0, index(2, 3).to(torch.int32) if name in ("index_select", "index_add")
                     else index(2, 3))
    yield from calls(make.tensor((5,)), 0, index(3, 5))
    yield from calls(make.tensor((3, 2)), 0, make.ints((0,), 0, 1))
    yield from calls(make.tensor(()), 0, make.ints((1,), 0, 1))
    yield from calls(make.tensor((3,)), 0, torch.tensor(1))
    yield from list(calls(make.tensor((3,)), 0, make.values([3], torch.int64), error=True))[:1]
    yield from list(calls(make.tensor((3,)), 0, make.tensor((2,)), error=True))[:1]
    yield from list(calls(make.tensor((3, 3)), 0, make.ints((2, 2), 0, 3), error=True))[:1]
    if name in ("index_copy", "index_fill"):
        yield from list(calls(make.tensor((3,)), 0, make.values([-4], torch.int64), error=True))[:1]
    if name in ("index_copy", "index_add", "index_reduce"):
        mode = ("amax",) if name == "index_reduce" else ()
        yield Call(make.tensor((3, 2)), 0, make.ints((2,), 0, 3), make.tensor((3, 2)), *mode, error=True)
        yield Call(make.tensor((3,)), 0, make.ints((2,), 0, 3), make.tensor((2,), torch.float64), *mode, error=True)


def index_lists(make):
    """A base's sizes, and a list of indices for it."""
    rows, columns = make.ints((3,), -3, 3), make.ints((3,), -4, 4)
    mask = make.tensor((3, 4), torch.bool)
    mask[0, 1] = True
    return [
        ((3, 4), [rows]), ((3, 4), [None, columns]), ((3, 4), [rows, columns]),
        ((3, 4), [make.ints((2, 2), 0, 3)]), ((3, 4), [mask]), ((3, 4), [torch.tensor([True, False, True])]),
        ((3, 4), [None, torch.tensor([True, False, False, True])]), ((3, 4), [rows.unsqueeze(1), columns]),
        ((3, 4, 2), [rows, None, make.ints((3,), 0, 2)]), ((3, 4, 2), [None, columns, make.ints((3,), 0, 2)]),
        ((2, 3, 4), [None, rows]), ((2, 3, 4), [None, rows, make.ints((2, 1), 0, 4)]), ((3, 4), [torch.tensor(1)]),
        ((3, 4), [make.ints((0,), 0, 1)]), ((3, 4), [torch.tensor(2), torch.tensor(-1)]),
        ((3, 4), [rows.to(torch.int32)]), ((2, 3, 4), [torch.tensor([0, 1]), None, torch.tensor([[1], [2]])]),
        ((0, 3), [make.ints((0,), 0, 1)]), ((3,), [torch.zeros(3, dtype=torch.bool)]),
    ]


@samples("aten::index.Tensor")
def index(make):
    for layout in LAYOUTS:
        for sizes, indices in index_lists(make):
            yield Call(make.tensor(sizes, layout=layout), indices)
    for dtype in ALL:
        for sizes, indices in make.random.sample(index_lists(make), 2):
            yield Call(make.tensor(sizes, dtype), indices)
    yield Call(make.tensor((3, 4)), [make.values([0, 1, 0], torch.uint8).bool(), None])
    yield Call(make.tensor((3, 4)), [make.values([3], torch.int64)], error=True)
    yield Call(make.tensor((3, 4)), [make.values([-4], torch.int64)], error=True)
    yield Call(make.tensor((3, 4)), [make.tensor((2,))], error=True)
    yield Call(make.tensor((3, 4)), [make.ints((2,), 0, 3), make.ints((3,), 0, 3)], error=True)
    yield Call(make.tensor((3,)), [make.ints((2,), 0, 3), make.ints((2,), 0, 3)], error=True)
    yield Call(make.tensor((3, 4)), [torch.tensor([True, False])], error=True)


@samples("aten::index_put", "aten::index_put_")
def index_put(make):
    def distinct(indices):
        """Whether no element is written twice."""
        return all(index is None or index.dtype is torch.bool or
                   (index.dim() == 1 and len(set(index.tolist())) == index.numel() and (index >= 0).all())
                   for index in indices)

    for dtype in ALL:
        for accumulate in (False, True):
            if dtype is torch.bool and accumulate:
                continue
            for sizes, indices in make.random.sample(index_lists(make), 6):
                base = make.tensor(sizes, dtype, make.random.choice(LAYOUTS[:4]))
                picked = base[tuple(slice(None) if index is None else index for index in indices)]
                if accumulate:
                    yield Call(base, indices, make.tensor(picked.shape, dtype), True)
                elif distinct(indices):
                    yield Call(base, indices, make.tensor(picked.shape, dtype))
                yield Call(base.clone(), indices, make.tensor((), dtype), accumulate and distinct(indices))
    yield Call(make.tensor((3, 4)), [None, torch.tensor([2, 0])], make.tensor((2,)))
    yield Call(make.tensor((3, 4)), [make.values([3], torch.int64)], make.tensor((4,)), error=True)
    yield Call(make.tensor((3, 4)), [make.values([0], torch.int64)], make.tensor((3,)), error=True)
    yield Call(make.tensor((3, 4)), [make.values([0], torch.int64)], make.tensor((4,), torch.float64), error=True)


@samples("aten::masked_scatter", "aten::masked_scatter_", "aten::masked_select")
def masked(make):
    selects = "select" in make.operator

    def call(tensor, mask, **kwargs):
        source = () if selects else (make.tensor((7, 5), tensor.dtype),)
        return Call(tensor, mask, *source, **kwargs)

    for dtype in ALL:
        for layout in LAYOUTS[:4]:
            yield call(make.tensor((2, 3), dtype, layout), make.tensor((2, 3), torch.bool))
    for mask in [(3,), (2, 1), ()]:
        yield call(make.tensor((2, 3)), make.tensor(mask, torch.bool))
    yield call(make.tensor((0, 2)), make.tensor((0, 2), torch.bool))
    yield call(make.tensor(()), make.tensor((), torch.bool))
    yield call(make.tensor((2, 3)), make.tensor((2,), torch.bool), error=True)
    yield call(make.tensor((2, 3)), make.tensor((2, 3)), error=True)
    if not selects:
        yield Call(make.tensor((3,)), torch.ones(3, dtype=torch.bool), make.tensor((2,)), error=True)
        yield Call(make.tensor((3,)), torch.ones(3, dtype=torch.bool), make.tensor((3,), torch.int64), error=True)


@samples("aten::nonzero", "aten::one_hot")
def nonzero(make):
    if "one_hot" in make.operator:
        for sizes in [(3,), (2, 2), (), (1, 3)]:
            for classes in (-1, 5, 7):
                yield Call(make.ints(sizes, 0, 5), classes)
        yield Call(make.ints((0,), 0, 1), 3)
        yield Call(make.ints((0,), 0, 1), error=True)
        yield Call(make.values([3], torch.int64), 3, error=True)
        yield Call(make.values([-1], torch.int64), 3, error=True)
        yield Call(make.tensor((2,)), 3, error=True)
        return
    for dtype in ALL:
        for layout in LAYOUTS[:4]:
            tensor = make.tensor((2, 4), dtype, layout)
            tensor[0, 1] = 0
            tensor[1, 2] = 0
            yield Call(tensor)
    for sizes in [(), (1,), (0,), (2, 0), (2, 3, 2), (0, 3, 2)]:
        yield Call(make.tensor(sizes, torch.bool))
    yield Call(torch.tensor(0))


@samples("aten::select_scatter", "aten::slice_scatter", "aten::diagonal_scatter", "aten::as_strided_scatter")
def view_scatter(make):
    name = packet(make)

    def arguments():
        yield from {
            "select_scatter": [((3, 4), (4,), (0, 1)), ((3, 4), (3,), (1, -1)), ((3, 4), (3,), (-1, 0))],
            "slice_scatter": [((4, 3), (2, 3), (0, 1, 3)), ((4, 3), (4, 2), (1, 0, 9, 2)), ((4, 3), (4, 3), ()),
                              ((4, 3), (0, 3), (0, 3, 1)), ((4, 3), (1, 3), (0, -1, None)), ((4, 3), (4, 1), (-1, 1, 2))],
            "diagonal_scatter": [((3, 4), (3,), ()), ((3, 4), (3,), (1,)), ((3, 4), (2,), (-1,)),
                                 ((2, 3, 4), (2, 3), (0, 2, 1)), ((3, 4), (0,), (9,))],
            "as_strided_scatter": [((3, 4), (2, 3), ([2, 3], [4, 1])), ((3, 4), (2,), ([2], [5], 1)),
                                   ((3, 4), (2, 2), ([2, 2], [1, 4], 3)), ((6,), (), ([], [], 2))],
        }[name]

    for dtype in ALL:
        for base, source, given in arguments():
            layout = make.random.choice(LAYOUTS[:1] if name == "as_strided_scatter" else LAYOUTS)
            yield Call(make.tensor(base, dtype, layout), make.tensor(source, dtype, make.random.choice(LAYOUTS)), *given)
    base, source, given = next(arguments())
    yield Call(make.tensor(base), make.tensor((5, 5)), *given, error=True)


@samples("aten::cat", "aten::stack", "aten::concatenate")
def join(make):
    stacks = "stack" in make.operator
    for dtype in ALL:
        for dim in (0, 1, -1):
            other = (2, 3) if stacks or dim != 0 else (4, 3)
            layouts = make.random.choice(LAYOUTS), make.random.choice(LAYOUTS)
            yield Call([make.tensor((2, 3), dtype, layouts[0]), make.tensor(other, dtype, layouts[1])], dim)
    for dtype in ALL:
        other = make.random.choice(ALL)
        yield Call([make.tensor((2, 3), dtype), make.tensor((2, 3), other), make.tensor((2, 3), dtype)], 1)
    for layout in LAYOUTS:
        for dim in (0, 1, 2, -3):
            yield Call([make.tensor((2, 3, 2), layout=layout), make.tensor((2, 3, 2), layout=layout)], dim)
    yield Call([make.tensor((2, 3, 2, 2), layout="channels_last"), make.tensor((2, 3, 2, 2), layout="channels_last")], 1)
    yield Call([make.tensor((0, 3)), make.tensor((0, 3))], 0)
    yield Call([make.tensor((2, 3))])
    if stacks:
        yield Call([make.tensor(()), make.tensor(())])
        yield Call([make.tensor((2,)), make.tensor((3,))], error=True)
    else:
        yield Call([make.tensor((2, 3)), make.tensor((0, 3))])
        yield Call([make.tensor((2, 3)), make.tensor((0,))], 1)
        yield Call([make.tensor((0,)), make.tensor((2, 3), torch.float64)], 1)
        yield Call([make.tensor(()), make.tensor(())], error=True)
        yield Call([make.tensor((2, 3)), make.tensor((2, 4))], error=True)
    yield Call([], error=True)
    yield Call([make.tensor((2, 3)), make.tensor((2, 3))], 3, error=True)


@samples("aten::repeat")
def repeat(make):
    for dtype in ALL:
        for repeats in ([2, 1], [1, 3], [2, 2, 2]):
            yield Call(make.tensor((2, 3), dtype, make.random.choice(LAYOUTS)), repeats)
    for layout in LAYOUTS:
        yield Call(make.tensor((2, 3), layout=layout), [2, 3])
    yield Call(make.tensor(()), [3])
    yield Call(make.tensor(()), [])
    yield Call(make.tensor((2,)), [0])
    yield Call(make.tensor((0, 2)), [2, 2])
    yield Call(make.tensor((2, 3)), [2], error=True)
    yield Call(make.tensor((2, 3)), [2, -1], error=True)


@samples("aten::flip", "aten::roll", "aten::rot90")
def turn(make):
    name = packet(make)
    options = {
        "flip": [([0],), ([1, 0],), ([-1],), ([],)],
        "roll": [([1], [0]), ([1, -2], [0, 1]), ([2],), ([-5], [-1]), ([7],)],
        "rot90": [(), (2,), (-1,), (3, [1, 0]), (0,)],
    }[name]
    for dtype in ALL:
        for given in options:
            yield Call(make.tensor((2, 3), dtype, make.random.choice(LAYOUTS)), *given)
    for layout in LAYOUTS:
        for given in options[:3]:
            yield Call(make.tensor((2, 3, 4), layout=layout), *given)
    yield Call(make.tensor((0, 3)), *options[0])
    if name == "flip":
        yield Call(make.tensor(()), [])
        yield Call(make.tensor((2, 3)), [0, 0], error=True)
        yield Call(make.tensor((2, 3)), [2], error=True)
    elif name == "roll":
        yield Call(make.tensor((4,)), [1], [0])
        yield Call(make.tensor((2, 3)), [1, 2], [0], error=True)
        yield Call(make.tensor((2, 3)), [1], [2], error=True)
    else:
        yield Call(make.tensor((3,)), error=True)
        yield Call(make.tensor((2, 3)), 1, [0, 0], error=True)


@samples("aten::tril", "aten::triu")
def triangle(make):
    for dtype in ALL:
        for diagonal in (0, 1, -1):
            yield Call(make.tensor((3, 4), dtype, make.random.choice(LAYOUTS)), diagonal)
    for layout in LAYOUTS:
        yield Call(make.tensor((2, 3, 3), layout=layout), make.random.randint(-2, 2))
    for sizes in [(0, 3), (3, 0), (1, 1), (2, 0, 3)]:
        yield Call(make.tensor(sizes))
    for diagonal in (9, -9):
        yield Call(make.tensor((2, 3)), diagonal)
    yield Call(make.tensor((3,)), error=True)


@samples("aten::pixel_shuffle", "aten::pixel_unshuffle")
def pixels(make):
    shuffles = packet(make) == "pixel_shuffle"
    for dtype in (torch.float32, torch.float64, torch.int64, torch.bool, torch.float16):
        for factor in (1, 2):
            for layout in ("contiguous", "permuted", "channels_last"):
                sizes = (2, factor * factor, 2, 2) if shuffles else (2, 1, 2 * factor, factor)
                yield Call(make.tensor(sizes, dtype, layout), factor)
    yield Call(make.tensor((4, 2, 2)), 2)
    yield Call(make.tensor((3, 3, 3)), 2, error=True)
    yield Call(make.tensor((4, 4)), 2, error=True)
    yield Call(make.tensor((4, 2, 2)), 0, error=True)


@samples("aten::constant_pad_nd", "aten::pad", "aten::reflection_pad1d", "aten::reflection_pad2d",
         "aten::reflection_pad3d", "aten::replication_pad1d", "aten::replication_pad2d", "aten::replication_pad3d")
def pad(make):
    name = packet(make)
    if name in ("constant_pad_nd", "pad"):
        for dtype in ALL:
            for given in [[1, 2], [1, 0, 2, 1], [-1, 1], [0, 0], [-1, -1, 1, 0]]:
                value = make.random.choice([{}, {"value": 2.0}]) if dtype not in COMPLEX else {}
                yield Call(make.tensor((3, 3), dtype, make.random.choice(LAYOUTS)), given, **value)
        yield Call(make.tensor((2, 3, 2, 2), layout="channels_last"), [1, 1, 0, 1], **(
            {"value": 1.0} if name == "pad" else {"value": 1}))
        yield Call(make.tensor((0, 2)), [1, 1])
        yield Call(make.tensor((2, 3)), [1], error=True)
        yield Call(make.tensor((2, 3)), [1, 1, 1, 1, 1, 1], error=True)
        yield Call(make.tensor((2, 3)), [-2, -2], error=True)
        if name == "pad":
            for mode in ("reflect", "replicate", "circular"):
                yield Call(make.tensor((1, 2, 4)), [1, 2], mode)
                yield Call(make.tensor((1, 2, 3, 4)), [1, 2, 1, 0], mode)
                yield Call(make.tensor((2, 4), torch.float64), [2, 1], mode)
            yield Call(make.tensor((1, 4)), [4, 0], "reflect", error=True)
            yield Call(make.tensor((1, 4)), [1, 0], "mirror", error=True)
        return
    dims = int(name[-2])
    sizes = [(2, 3, 4), (2, 4), (1, 2, 3, 4), (2, 3, 4), (1, 1, 2, 3, 4), (2, 3, 2, 3)]
    sizes = [size for size in sizes if len(size) in (dims + 1, dims + 2)]
    reflects = "reflection" in name
    dtypes = [torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.complex64]
    for dtype in dtypes:
        for size in sizes:
            for _ in range(5):
                bounds = [size[len(size) - 1 - place // 2] - 1 for place in range(2 * dims)]
                given = [make.random.randint(0, min(bound, 2)) for bound in bounds]
                if make.random.random() < 0.3:
                    given[0] = -1
                layout = make.random.choice([*LAYOUTS, "channels_last"])
                yield Call(make.tensor(size, dtype, layout), given)
    yield Call(make.tensor(sizes[0]), [1] * (2 * dims - 1), error=True)
    yield Call(make.tensor((2,) * dims), [1] * (2 * dims), error=True)
    if reflects:
        yield Call(make.tensor(sizes[0]), [9] + [0] * (2 * dims - 1), error=True)


@samples("aten::embedding", "aten::embedding_dense_backward")
def embedding(make):
    if "backward" in make.operator:
        for dtype in (torch.float32, torch.float64):
            for sizes in [(4,), (2, 3), (), (0,)]:
                for padding, scales in [(-1, False), (1, False), (-1, True), (0, True)]:
                    grad = make.tensor((*sizes, 3), dtype, make.random.choice(LAYOUTS[:4]))
                    yield Call(grad, make.ints(sizes, 0, 4), 4, padding, scales)
                    yield Call(grad, make.ints(sizes, 0, 4).to(torch.int32), 5, padding, scales)
        return
    for dtype in ALL:
        for sizes in [(4,), (2, 3), ()]:
            yield Call(make.tensor((4, 3), dtype, make.random.choice(LAYOUTS)), make.ints(sizes, 0, 4))
    yield Call(make.tensor((4, 3)), make.ints((3,), 0, 4).to(torch.int32))
    yield Call(make.tensor((4, 3)), make.ints((3,), 0, 4), 1)
    yield Call(make.tensor((4, 3)), make.ints((0,), 0, 1))
    yield Call(make.tensor((4, 3)), make.ints((4, 2), 0, 4).t())
    yield Call(make.tensor((4, 3)), make.values([4], torch.int64), error=True)
    yield Call(make.tensor((4, 3)), make.values([-1], torch.int64), error=True)
    yield Call(make.tensor((4,)), make.ints((2,), 0, 4), error=True)
    yield Call(make.tensor((4, 3)), make.tensor((2,)), error=True)


@samples("aten::_embedding_bag", "aten::embedding_bag.padding_idx")
def embedding_bag(make):
    whole = "padding" in make.operator
    for dtype in (torch.float32, torch.float64):
        for mode in (0, 1, 2):
            for offsets in ([0, 2, 5], [0, 0, 3], [0]):
                for last, padding in [(False, None), (True, None), (False, 1)]:
                    if last and len(offsets) < 2:
                        continue
                    given = [*offsets[:-1], 6] if last else offsets
                    weights = make.tensor((6,), dtype) if mode == 0 and make.random.random() < 0.5 else None
                    padding = padding if whole or padding is not None else -1
                    yield Call(make.tensor((5, 3), dtype), make.ints((6,), 0, 5), torch.tensor(given), False, mode,
                               False, weights, last, padding)
    yield Call(make.tensor((5, 3)), make.values([5], torch.int64), torch.tensor([0]), False, 0, False, None, False,
               None if whole else -1, error=True)


@samples("aten::unfold_backward")
def unfold_backward(make):
    for dtype in FLOATS:
        for sizes, dim, size, step in [((5,), 0, 2, 1), ((5, 3), 0, 3, 2), ((2, 6), 1, 2, 2), ((2, 5), -1, 4, 1),
                                       ((4, 3), 0, 1, 3)]:
            grad = torch.empty(sizes).unfold(dim, size, step).shape
            yield Call(make.tensor(grad, dtype, make.random.choice(LAYOUTS[:4])), list(sizes), dim, size, step)


@samples("aten::_assert_async.msg", "aten::_assert_scalar", "aten::_assert_tensor_metadata")
def asserts(make):
    name = packet(make)
    if name == "_assert_async.msg":
        for dtype in ALL:
            yield Call(torch.ones((), dtype=dtype), "holds")
            yield Call(torch.ones((1,), dtype=dtype), "holds")
        yield Call(torch.tensor(False), "fails", error=True)
        yield Call(torch.tensor(0.0), "fails", error=True)
        yield Call(make.tensor((2,)), "one of two", error=True)
    elif name == "_assert_scalar":
        for number in (True, 1, 2, 0.5, -1, 3.5, 7, -2, 9, 11):
            yield Call(number, "holds")
        yield Call(False, "fails", error=True)
        yield Call(0, "fails", error=True)
    else:
        for dtype in ALL:
            yield Call(make.tensor((2, 3), dtype), [2, 3], [3, 1], dtype)
        yield Call(make.tensor((2, 3)), [2, 3])
        yield Call(make.tensor((2, 3)), None, None, torch.float32, device=torch.device("cpu"), layout=torch.strided)
        yield Call(make.tensor((2, 3)), [3, 2], error=True)
        yield Call(make.tensor((2, 3)), [2, 3], [1, 2], error=True)
        yield Call(make.tensor((2, 3)), None, None, torch.float64, error=True)


@samples("aten::_local_scalar_dense", "aten::item", "aten::sym_numel", "aten::sym_storage_offset",
         "aten::sym_stride.int", "aten::sym_is_contiguous")
def queries(make):
    name = packet(make)
    if name in ("_local_scalar_dense", "item"):
        for dtype in ALL:
            for sizes in [(), (1,), (1, 1)]:
                yield Call(make.tensor(sizes, dtype))
            for value in make.special(dtype):
                yield Call(value.clone())
        yield Call(make.tensor((3,))[2])
        yield Call(make.tensor((1,), torch.complex64).conj())
        if name == "item":
            yield Call(make.tensor((2,)), error=True)
            yield Call(make.tensor((0,)), error=True)
        return
    for layout in [*LAYOUTS, "channels_last"]:
        for sizes in [(2, 3), (2, 3, 4), (), (0, 3), (1, 3, 1), (2, 3, 2, 2)]:
            tensor = make.tensor(sizes, layout=layout)
            if name == "sym_stride.int":
                for dim in range(-len(sizes), len(sizes)):
                    yield Call(tensor, dim)
            elif name == "sym_is_contiguous":
                if make.random.random() < 0.7:
                    yield Call(tensor)
                elif len(sizes) == 4:
                    yield Call(tensor, torch.channels_last)
            else:
                yield Call(tensor)
    if name == "sym_stride.int":
        yield Call(make.tensor((2,)), 1, error=True)


@samples("aten::resize_")
def resize_(make):
    for dtype in (torch.float32, torch.int64, torch.bool, torch.complex64):
        for sizes in [[2, 3], [3, 2], [6], [2, 2], [], [1, 2, 3], [0], [2, 0]]:
            yield Call(make.tensor((2, 3), dtype), sizes)
            yield Call(make.tensor((3, 2), dtype, "transposed"), sizes)
    for sizes in ([4, 4], [9]):
        yield Call(make.tensor((2, 3)), sizes, geometry=True)
    yield Call(make.tensor((2, 3)), [-1], error=True)
