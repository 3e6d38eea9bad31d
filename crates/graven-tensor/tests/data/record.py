#!/usr/bin/env python3
"""Record what torch's operators return, for tests/recorded.

usage: record.py [OPERATOR ...]
       record.py --list [OPERATOR ...]
       record.py --all FOLDER [OPERATOR ...]

Needs torch 2.15. Runs each operator's samples (`record/FAMILY.py` makes them) and writes
`recorded/OPERATOR.jsonl`, a sample a line; without arguments for all operators that have
samples. An operator is named as `aten::add.Tensor`; `aten::add` stands for all of its overloads,
and the name of a family (`pointwise`) for the whole family.
`--list` prints how many samples each has, and writes nothing. Of many samples a part is written;
`--all` writes all to another folder, which `RECORDED=FOLDER cargo test` then takes.

The same torch gives the same files: samples are drawn by the operator's name alone.
"""
import os
import pathlib
import sys
import warnings

os.environ["OMP_NUM_THREADS"] = "1"
os.environ["MKL_NUM_THREADS"] = "1"
warnings.filterwarnings("ignore")
sys.dont_write_bytecode = True

import torch  # noqa: E402

import record  # noqa: E402
from record import encode  # noqa: E402

FOLDER = pathlib.Path(__file__).parent / "recorded"


def is_chosen(name, family, chosen):
    return not chosen or name in chosen or family in chosen or name.split(".")[0] in chosen


def main(arguments):
    if "-h" in arguments or "--help" in arguments:
        print(__doc__.strip())
        return
    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    only_list = "--list" in arguments
    folder = FOLDER
    if "--all" in arguments:
        folder = pathlib.Path(arguments.pop(arguments.index("--all") + 1))
    chosen = {argument for argument in arguments if not argument.startswith("-")}
    folder.mkdir(exist_ok=True)
    total, failures = 0, []
    if not chosen and not only_list:
        for path in folder.glob("*.jsonl"):
            path.unlink()
    for name, (family, generator) in sorted(record.load().items()):
        if not is_chosen(name, family, chosen):
            continue
        lines = encode.lines(name, generator, failures, "--all" in arguments)
        total += len(lines)
        if only_list:
            print(f"{len(lines):5} {family:10} {name}")
            continue
        path = folder / f"{name.replace('::', '.')}.jsonl"
        path.write_text("".join(line + "\n" for line in lines))
    print(f"{total} samples", file=sys.stderr)
    if failures:
        sys.exit("\n".join(["calls that should not have failed, or should have:", *failures]))


main(sys.argv[1:])
