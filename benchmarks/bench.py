"""attention_book の速さとメモリを、torchと、裸の行列積2つと比べる表を作ります。

    python benchmarks/bench.py           # 全部（5分ほど）
    python benchmarks/bench.py --quick   # n ≤ 1024 だけ

時間は機械で変わるので、同じ実行の中の比だけを目標と並べ、合否は決めません。
"""

import datetime
import os
import platform
import re
import sys
import time
import tracemalloc
from functools import partial
from pathlib import Path

import numpy as np
import threadpoolctl
import torch

sys.path.insert(0, str(Path(__file__).parents[1]))  # the package of this checkout
import attention_book as book

SIZES = (256, 1024, 4096, 8192)
HEAD_DIM, WINDOW, EMBED_DIM, NUM_HEADS = 64, 256, 512, 8
KERNELS = {
    "scaled_dot_product": book.scaled_dot_product_attention,  # up to n = 4096: it holds n * n scores
    "blockwise": book.blockwise_attention,
    "online": book.online_attention,
}
SDPA, MATMULS = "SDPA", "行列積2つだけ"
LAYER = "層（causal）：MultiHeadAttention ÷ torchのMHA（attn_mask）"
DECODE = "生成：全部を計算し直す ÷ KVCache"
# Issue 3: from n on, at most this (DECODE: at least).
TARGETS = {
    ("全部を見る：blockwise ÷ SDPA", "float32"): {1024: 1.8},
    ("全部を見る：blockwise ÷ SDPA", "float64"): {1024: 1.45},
    ("causal：blockwise ÷ SDPA（is_causal）", "float32"): {1024: 1.6},
    ("causal：blockwise ÷ SDPA（is_causal）", "float64"): {1024: 1.45},
    ("causal：blockwise ÷ SDPA（boolマスク）", "float32"): {1024: 0.75, 4096: 0.45},
    (LAYER, "float32"): {1024: 0.45},
    (DECODE, "float32"): {1024: 80},
    ("メモリ（MiB）：blockwise", "float32"): {8192: 10},
    ("メモリ（MiB）：online", "float32"): {8192: 4},
}


def compare(functions, seconds):
    """Return ratio(a, b) of their CPU times: the median over rounds in which each function has its turn.

    On a shared machine the fastest moments of two functions may be far apart; one round is short.
    """
    times, calls = {name: [] for name in functions}, dict.fromkeys(functions, 1)
    end, rounds = time.monotonic() + seconds, 0
    while rounds < 7 or (time.monotonic() < end and rounds < 61):
        for name, function in functions.items():
            start = time.process_time()
            for _ in range(calls[name]):
                function()
            times[name].append((time.process_time() - start) / calls[name])
            calls[name] = max(1, min(100, int(0.02 / max(min(times[name]), 1e-6))))
        rounds += 1
    return lambda a, b: float(np.median(np.divide(times[a], times[b])))


def agree(functions, dtype):
    """Refuse to time functions that give different answers."""
    expected, *answers = [np.asarray(function()).ravel() for function in functions.values()]
    tolerance = 1e-10 if dtype == "float64" else 1e-4
    for answer in answers:
        np.testing.assert_allclose(answer, expected, rtol=tolerance, atol=tolerance)


def matmuls(query, key, value, is_causal=False, block_size=192):
    """The two products of blockwise_attention and nothing between them: no NumPy attention is faster."""
    output = np.empty_like(query)
    for start in range(0, len(query), block_size):
        rows, keys = slice(start, start + block_size), slice(start + block_size if is_causal else None)
        np.matmul(query[rows] @ key[keys].T, value[keys], out=output[rows])
    return output


def attention(n, dtype, seconds):
    """Yield (row, ratio) for one head: full, causal, window."""
    arrays = np.random.default_rng(0).normal(size=(3, n, HEAD_DIM)).astype(dtype)
    tensors = torch.from_numpy(arrays)[:, None, None]
    causal, window = (torch.from_numpy(book.causal_mask(n, window=size)) for size in (None, WINDOW))
    masked = f"{SDPA}（boolマスク）"
    for title, options, rivals in (
        ("全部を見る", {}, {SDPA: {}}),
        ("causal", {"is_causal": True}, {f"{SDPA}（is_causal）": {"is_causal": True}, masked: {"attn_mask": causal}}),
        (f"window {WINDOW}", {"is_causal": True, "window": WINDOW}, {masked: {"attn_mask": window}}),
    ):
        ours = {name: partial(kernel, *arrays, **options) for name, kernel in KERNELS.items()}
        if n > 4096:
            del ours["scaled_dot_product"]
        sdpa = torch.nn.functional.scaled_dot_product_attention
        theirs = {name: partial(sdpa, *tensors, **extra) for name, extra in rivals.items()}
        agree(ours | theirs, dtype)
        if "window" not in options:
            theirs[MATMULS] = partial(matmuls, *arrays, **options)
        ratio = compare(ours | theirs, seconds)
        yield from ((f"{title}：{a} ÷ {b}", ratio(a, b)) for a in ours for b in theirs)


def layer(n, dtype, seconds):
    """Yield (row, ratio) for a whole layer: one sequence in parallel, then one more token after n - 1."""
    torch.manual_seed(0)
    theirs = torch.nn.MultiheadAttention(EMBED_DIM, NUM_HEADS, batch_first=True, dtype=getattr(torch, dtype))
    ours = book.MultiHeadAttention.from_torch(theirs.state_dict(), NUM_HEADS)
    x = np.random.default_rng(0).normal(size=(n, EMBED_DIM)).astype(dtype)
    tensor, hidden = torch.from_numpy(x)[None], torch.from_numpy(~book.causal_mask(n))
    cache = book.KVCache()
    for some in (x[: n - 2], x[n - 2 : n - 1]):  # in two parts, so that the next token finds room
        ours(some, is_causal=True, cache=cache)

    def one_more():
        output = ours(x[-1:], is_causal=True, cache=cache)
        cache.keep(x[:-1])  # n - 1 tokens again
        return output

    for row, functions in (
        # need_weights=True is what torch does when nothing is said
        (LAYER, [lambda: ours(x, is_causal=True), lambda: theirs(tensor, tensor, tensor, attn_mask=hidden)[0]]),
        (DECODE, [lambda: ours(x, is_causal=True)[-1], one_more]),
    ):
        functions = dict(enumerate(functions))
        agree(functions, dtype)
        yield row, compare(functions, seconds)(0, 1)


def memory(n, dtype):
    """Yield (row, MiB) beyond the inputs, at most at one time."""
    arrays = np.random.default_rng(0).normal(size=(3, n, HEAD_DIM)).astype(dtype)
    for name, kernel in KERNELS.items():
        tracemalloc.start()
        kernel(*arrays)
        yield f"メモリ（MiB）：{name}", tracemalloc.get_traced_memory()[1] / 2**20
        tracemalloc.stop()


def measure(sizes, seconds):
    """Return {(row, dtype): {n: number}}."""
    rows = {}
    for n in sizes:
        for dtype in ("float32", "float64"):
            print(f"測っています：n = {n}、{dtype}", file=sys.stderr, flush=True)
            found = [*attention(n, dtype, seconds), *memory(n, dtype)]
            if n <= 4096:  # beyond, torch's layer would need many GiB
                found += layer(n, dtype, seconds)
            for row, number in found:
                rows.setdefault((row, dtype), {})[n] = number
    order = list(dict.fromkeys(row for row, _ in rows))  # both dtypes of a row side by side
    return dict(sorted(rows.items(), key=lambda item: order.index(item[0][0])))


def cell(number, limits, n, least):
    if number is None:
        return ""
    text = f"{number:.2f}" if number < 10 else f"{number:.0f}"
    if not (limit := [limits[start] for start in limits if start <= n]):
        return text
    reached = number >= limit[-1] if least else number <= limit[-1]
    return f"{text} {'○' if reached else '×'}"


def table(rows, sizes):
    yield f"| 比べるもの | dtype | {' | '.join(f'n = {n}' for n in sizes)} | 目標 |"
    yield f"| --- | --- | {'---: | ' * len(sizes)}--- |"
    for (row, dtype), numbers in rows.items():
        limits, least = TARGETS.get((row, dtype), {}), row == DECODE
        goal = "、".join(f"n ≥ {n} で{limit}{'以上' if least else '以下'}" for n, limit in limits.items())
        cells = [cell(numbers.get(n), limits, n, least) for n in sizes]
        yield f"| {' | '.join([row, dtype, *cells, goal])} |"


def processor():
    info = Path("/proc/cpuinfo")
    cpu = re.search(r"model name\s*: (.+)", info.read_text() if info.exists() else "")
    return cpu[1] if cpu else platform.machine()


def machine():
    """Return what the numbers depend on."""
    blas = [x["architecture"] for x in threadpoolctl.threadpool_info() if x["internal_api"] == "openblas"]
    yield f"{datetime.date.today()}、{processor()}、1スレッド、"
    yield f"NumPy {np.__version__}（OpenBLASのカーネルは {'、'.join(blas) or '不明'}）、"
    yield f"torch {torch.__version__}、Python {platform.python_version()} で測りました。\n"
    yield "数はCPU時間の比の中央値で、メモリは入力のほかに同時に持つ最大です。"
    yield f"1ヘッド、{HEAD_DIM}次元です。層と生成は{EMBED_DIM}次元、{NUM_HEADS}ヘッドです。\n"


def main():
    if core := os.environ.get("OPENBLAS_CORETYPE"):
        sys.exit(f"OPENBLAS_CORETYPE={core} はNumPyの行列積を変えるので、測れません。この環境変数を消してください。")
    quick = sys.argv[1:] == ["--quick"]
    if sys.argv[1:] and not quick:
        sys.exit(f"使える引数は --quick だけです: {' '.join(sys.argv[1:])}。")
    sizes = SIZES[:2] if quick else SIZES
    torch.set_num_threads(1)
    with threadpoolctl.threadpool_limits(1), torch.no_grad():
        rows = measure(sizes, 1 if quick else 4)
    print("".join(machine()), *table(rows, sizes), sep="\n")


if __name__ == "__main__":
    main()
