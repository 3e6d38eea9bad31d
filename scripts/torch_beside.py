#!/usr/bin/env python3
"""Time torch and graven side by side: load, functionalize and save of N batch norms in training.

usage: torch_beside.py GRAVEN_BINARY [--layers 1024] [--runs 5] [--folder DIR]

Needs torch (2.8 or later). Makes the program once, then takes turns: one run of torch (load,
run_decompositions({}), save), one of graven, so that both see the same machine. Prints each
stage's median and the ratio of the medians.
"""
import argparse
import os
import pathlib
import statistics
import subprocess
import tempfile
import time
import warnings

os.environ.setdefault("OMP_NUM_THREADS", "1")
warnings.filterwarnings("ignore")
import torch  # noqa: E402


class Chain(torch.nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.layers = torch.nn.ModuleList([torch.nn.BatchNorm1d(4) for _ in range(layers)])

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


def timed(function, *arguments):
    start = time.perf_counter()
    result = function(*arguments)
    return result, time.perf_counter() - start


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("graven", type=pathlib.Path)
    parser.add_argument("--layers", type=int, default=1024)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--folder", type=pathlib.Path, default=None)
    options = parser.parse_args()
    torch.set_num_threads(1)
    folder = options.folder or pathlib.Path(tempfile.mkdtemp())
    source = folder / f"batchnorm_{options.layers}.pt2"
    if not source.exists():
        program = torch.export.export(Chain(options.layers).train(), (torch.randn(8, 4),))
        torch.export.save(program, source)
    stages = {"load": [], "functionalize": [], "save": []}
    graven = []
    for run in range(options.runs):
        program, seconds = timed(torch.export.load, source)
        stages["load"].append(seconds)
        functional, seconds = timed(program.run_decompositions, {})
        stages["functionalize"].append(seconds)
        stages["save"].append(timed(torch.export.save, functional, folder / "torch.pt2")[1])
        command = [options.graven, "functionalize", source, "-o", folder / "graven.pt2"]
        for _ in range(5):
            graven.append(timed(lambda: subprocess.run(command, check=True))[1])
    nodes = len(program.graph.nodes)
    print(f"{options.layers} layers, {nodes} nodes, {options.runs} runs of torch {torch.__version__}, medians")
    for stage, seconds in stages.items():
        print(f"  torch {stage:<14} {statistics.median(seconds):8.3f} s")
    total = statistics.median(map(sum, zip(*stages.values())))
    ours = statistics.median(graven)
    print(f"  torch all            {total:8.3f} s")
    print(f"  graven, whole process {ours:7.3f} s   ({total / ours:.0f} times faster)")


main()
