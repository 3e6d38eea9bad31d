#!/usr/bin/env python3
"""Time single operators of torch and graven on the same sizes, and print the ratios.

usage: kernels_beside.py [--threads 1] [--filter NAME]

Needs torch, and cargo in the path. A ratio above 1 says that graven is faster.
"""
import argparse
import os
import statistics
import subprocess
import time


def cases(torch):
    f = torch.nn.functional
    r = torch.randn
    return {
        "add_4": (torch.add, r(4), r(4)),
        "mul_4": (torch.mul, r(4), r(4)),
        "relu_4": (torch.relu, r(4)),
        "add_1m": (torch.add, r(1 << 20), r(1 << 20)),
        "exp_1m": (torch.exp, r(1 << 20)),
        "tanh_1m": (torch.tanh, r(1 << 20)),
        "gelu_1m": (f.gelu, r(1 << 20)),
        "sum_1m": (torch.sum, r(1 << 20)),
        "mm_512": (torch.mm, r(512, 512), r(512, 512)),
        "mm_1024": (torch.mm, r(1024, 1024), r(1024, 1024)),
        "mm_2048": (torch.mm, r(2048, 2048), r(2048, 2048)),
        "mv_1024": (torch.mv, r(1024, 1024), r(1024)),
        "linear_128_768_768": (f.linear, r(128, 768), r(768, 768), r(768)),
        "conv7_3_64_224": (f.conv2d, r(1, 3, 224, 224), r(64, 3, 7, 7), None, (2, 2), (3, 3)),
        "conv3_64_64_56": (f.conv2d, r(1, 64, 56, 56), r(64, 64, 3, 3), None, (1, 1), (1, 1)),
        "softmax_1024_1024": (torch.softmax, r(1024, 1024), -1),
        "layer_norm_512_768": (f.layer_norm, r(512, 768), (768,)),
        "attention_8_12_128_64": (
            f.scaled_dot_product_attention,
            r(8, 12, 128, 64),
            r(8, 12, 128, 64),
            r(8, 12, 128, 64),
        ),
    }


def median(function, *args):
    def run(count):
        start = time.perf_counter_ns()
        for _ in range(count):
            function(*args)
        return time.perf_counter_ns() - start

    run(3)
    once = max(run(1), 1)
    count = min(max(int(5e6 / once), 1), 100_000)
    rounds = 7 if once > 5e7 else 31
    return statistics.median(run(count) / count for _ in range(rounds))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--filter", default="")
    options = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = str(options.threads)
    os.environ["RAYON_NUM_THREADS"] = str(options.threads)
    import torch

    torch.set_num_threads(options.threads)
    command = ["cargo", "bench", "-q", "-p", "graven-tensor", "--bench", "kernels"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    ours = dict(line.split() for line in printed.splitlines() if len(line.split()) == 2)
    print(f"{'operator':24} {'torch µs':>12} {'graven µs':>12} {'ratio':>6}")
    with torch.no_grad():
        for name, (function, *args) in cases(torch).items():
            if options.filter in name and name in ours:
                theirs, mine = median(function, *args), float(ours[name])
                print(f"{name:24} {theirs / 1e3:12.2f} {mine / 1e3:12.2f} {theirs / mine:6.2f}")


if __name__ == "__main__":
    main()
