"""実行が途中で止まっても、Sphinxを落とさずに理由を伝え、壊れた控えは捨てて作り直す。"""

import asyncio
import shutil
from contextlib import suppress
from time import perf_counter

from jupyter_cache import get_cache
from jupyter_cache.executors.utils import ExecutionResult, single_nb_execution
from myst_nb.core.execute import cache, direct
from nbclient.exceptions import CellExecutionError, CellTimeoutError
from nbformat.v4 import new_output
from sphinx.util import logging

log = logging.getLogger(__name__)
start_client = cache.NotebookClientCache.start_client

ATTEMPTS = 3  # to start a kernel
DIED = (
    "カーネルが、起動中かセルの途中で終わりました。メモリーが足りないか、ほかから止められました。"
    "もう一度作っても同じなら、そのセルの計算を小さくしてください。"
)
ENDLESS = (
    "セルが{}秒たっても終わりません。繰り返しの終わりを確かめるか、計算を小さくしてください。"
    "上限は conf.py の nb_execution_timeout です。"
)


def run(notebook, cwd, timeout, **options):
    """Replace single_nb_execution: a kernel that died is a result too, and the reason is told in Japanese."""
    cells = []
    for attempt in range(ATTEMPTS):
        begun = perf_counter()
        try:
            result = single_nb_execution(
                *(notebook, cwd, timeout),
                **options,
                on_cell_execute=lambda cell, cell_index: cells.append(cell),
                coalesce_streams=True,  # MyST-NB's own merging breaks a line that came in two pieces
            )
        except RuntimeError as error:  # DeadKernelError, or no answer from a new kernel
            result = ExecutionResult(notebook, cwd, perf_counter() - begun, error, DIED)
            if not cells and attempt + 1 < ATTEMPTS:
                continue  # nothing has run: another build took one of its ports, for example
        if isinstance(result.err, CellTimeoutError):
            result.exc_string = ENDLESS.format(timeout)
        if not isinstance(result.err, CellExecutionError | None):
            show(result, cells[-1] if cells else next(x for x in notebook.cells if x.cell_type == "code"))
        return result


def show(result, cell):
    """Let the cell that was stopped tell why, as its page then does in every later build."""
    name = type(result.err).__name__
    error = new_output("error", ename=name, evalue=result.exc_string, traceback=[f"{name}: {result.exc_string}"])
    cell.outputs = [output for output in cell.outputs if output.output_type != "error"] + [error]


def make_cache(app, env, docnames):
    """Make the cache before the workers of a parallel build would, all at once."""
    if app.config.nb_execution_mode == "cache":
        with suppress(Exception):  # what is damaged is told where it is read
            get_cache(app.config.nb_execution_cache_path).list_cache_records()


def start(self):
    """Replace NotebookClientCache.start_client: a cache that cannot be read is no loss."""
    try:
        start_client(self)
    except Exception as error:  # damage shows as an error of sqlite, JSON or nbformat, wherever it is met
        path = self.nb_config.execution_cache_path
        log.warning("実行結果の控えが読めないので、捨てて作り直します: %s（%r）", path, error, type="recover")
        shutil.rmtree(path)
        start_client(self)


def refuse(loop, sent, callback):
    """Keep nbclient from catching Ctrl-C: it would stop its kernel only, and wait for its answer for ever."""
    raise RuntimeError


def setup(app):
    asyncio.SelectorEventLoop.add_signal_handler = refuse
    direct.single_nb_execution = cache.single_nb_execution = run
    cache.NotebookClientCache.start_client = start
    app.connect("env-before-read-docs", make_cache)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
