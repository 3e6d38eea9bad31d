"""Tensors to call operators with: small, of every dtype and layout, drawn by the operator's name."""
import random
import zlib

import torch

BOOL = [torch.bool]
INTS = [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64]
HALVES = [torch.float16, torch.bfloat16]
FLOATS = [torch.float32, torch.float64, *HALVES]
COMPLEX = [torch.complex64, torch.complex128]
REALS = [*FLOATS, *INTS]
ALL = [*FLOATS, *INTS, *BOOL, *COMPLEX]

LAYOUTS = ["contiguous", "transposed", "strided", "offset", "expanded", "permuted"]

INF, NAN = float("inf"), float("nan")


def special(dtype):
    """Values at the edges of a dtype."""
    if dtype is torch.bool:
        return [True, False, True, True]
    if not dtype.is_floating_point and not dtype.is_complex:
        info = torch.iinfo(dtype)
        return [0, 1, info.min, info.max, 2, 3, info.max - 1, info.min + 1, 7]
    info = torch.finfo(dtype)
    reals = [0.0, -0.0, 1.0, -1.0, INF, -INF, NAN, info.max, info.min, info.tiny, info.eps, 0.5, -0.5, 1.5, 2.5, -2.5]
    if dtype.is_complex:
        # What becomes of complex zeros and infinities hangs on how a division is written.
        return [complex(value, other) for value, other in zip([*reals[2:4], *reals[11:]], [-1.0, 1.0, 2.0, -0.5, 3.0])]
    return reals


class Make:
    """Draws tensors."""

    def __init__(self, operator):
        self.operator = operator
        self.random = random.Random(zlib.crc32(operator.encode()))

    @property
    def is_inplace(self):
        name = self.operator.split("::")[1].split(".")[0]
        return name.endswith("_") and not name.endswith("__")

    def number(self, dtype, low=None, high=None):
        """A number with few digits."""
        draw = self.random
        if dtype is torch.bool:
            return draw.random() < 0.5
        if dtype.is_complex:
            return complex(draw.randint(-24, 24) / 8, draw.randint(-24, 24) / 8)
        if dtype.is_floating_point:
            low, high = (-3 if low is None else low), (3 if high is None else high)
            return low + (high - low) * draw.randint(1, 31) / 32
        default = 0 if dtype is torch.uint8 else -9
        return draw.randint(default if low is None else int(low), 9 if high is None else int(high))

    def numbers(self, count, dtype, low=None, high=None):
        return [self.number(dtype, low, high) for _ in range(count)]

    def ints(self, sizes, low, high, dtype=torch.int64):
        """Integers in `[low, high)`, contiguous: indices."""
        count = 1
        for size in sizes:
            count *= size
        return torch.tensor([self.random.randrange(low, high) for _ in range(count)], dtype=dtype).reshape(sizes)

    def values(self, values, dtype, sizes=None):
        """These values."""
        tensor = torch.tensor(values, dtype=dtype)
        return tensor if sizes is None else tensor.reshape(sizes)

    def special(self, dtype):
        return self.values(special(dtype), dtype)

    def special_pair(self, dtype):
        """Two tensors that pair edge values with edge values."""
        values = special(dtype)
        left = [value for value in values for _ in range(2)]
        right = [values[(place * 7 + step * 3) % len(values)] for place in range(len(values)) for step in range(2)]
        return self.values(left, dtype), self.values(right, dtype)

    def tensor(self, sizes, dtype=torch.float32, layout="contiguous", low=None, high=None):
        """Numbers with few digits in one of `LAYOUTS`, or "channels_last"."""
        sizes = tuple(sizes)
        rank = len(sizes)

        def plain(sizes):
            count = 1
            for size in sizes:
                count *= size
            # A clone, as `reshape` gives a view.
            return torch.tensor(self.numbers(count, dtype, low, high), dtype=dtype).reshape(sizes).clone()

        if layout == "transposed" and rank >= 2:
            return plain((*sizes[:-2], sizes[-1], sizes[-2])).transpose(-1, -2)
        if layout == "permuted" and rank >= 2:
            return plain(tuple(reversed(sizes))).permute(*reversed(range(rank)))
        if layout == "strided" and rank >= 1:
            return plain((*sizes[:-1], sizes[-1] * 2))[..., ::2]
        if layout == "offset" and rank >= 1:
            return plain((sizes[0] + 1, *sizes[1:]))[1:]
        if layout == "expanded" and rank >= 1:
            return plain((1, *sizes[1:])).expand(sizes)
        if layout == "channels_last" and rank in (4, 5):
            order = [0, *range(2, rank), 1]
            back = [0, rank - 1, *range(1, rank - 1)]
            return plain([sizes[dim] for dim in order]).permute(back)
        return plain(sizes)

    def layouts(self, sizes, dtype=torch.float32, low=None, high=None, skip=()):
        """The same sizes in every layout; no expanded ones for an operator that writes."""
        for layout in LAYOUTS:
            if layout in skip or (self.is_inplace and layout == "expanded"):
                continue
            yield self.tensor(sizes, dtype, layout, low, high)
