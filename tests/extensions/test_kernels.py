"""Kernels forked from one warm process: what an ordinary kernel survives, they survive."""

import os
import signal
import subprocess
import sys
import time

import kernels
import nbformat
import pytest
from jupyter_client.provisioning import KernelProvisionerFactory
from nbclient import NotebookClient
from nbclient.exceptions import CellTimeoutError, DeadKernelError

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="other systems start ordinary kernels")


class App:
    def connect(self, event, handler): ...


@pytest.fixture(scope="module", autouse=True)
def warm():
    kernels.setup(App())
    kernels.start(None, None, ["a", "b", "c"])
    yield kernels.warm
    process = kernels.warm
    kernels.stop(None, None)
    KernelProvisionerFactory.instance().default_provisioner_name = "local-provisioner"
    assert process.poll() is not None


def run(*codes, **options):
    """Execute cells; return their texts and the process ids of kernel and parent."""
    cells = [nbformat.v4.new_code_cell(code) for code in ("import os\nprint(os.getpid(), os.getppid())", *codes)]
    notebook = nbformat.v4.new_notebook(cells=cells)
    client = NotebookClient(notebook, kernel_name="python3", **options)
    try:
        client.execute()
    finally:
        run.pid, run.parent = map(int, cells[0].outputs[0].text.split())
    return ["".join(output.get("text", "") for output in cell.outputs) for cell in cells[1:]]


def gone(pid):
    for _ in range(100):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.1)
    return False


def test_pages_share_the_imports_and_nothing_else(warm):
    first = run("import sys\nprint('torch' in sys.modules)\nsecret = 1\nsys.modules['json'].secret = 2")
    pid = run.pid
    second = run("print('secret' in globals(), hasattr(__import__('json'), 'secret'))")

    assert (first, second) == (["True\n"], ["False False\n"])
    assert run.parent == warm.pid
    assert pid != run.pid
    assert gone(pid)
    assert gone(run.pid)


def test_environment_and_folder_are_the_managers(monkeypatch, tmp_path):
    monkeypatch.setenv("BOOK_TEST", "いろは")
    monkeypatch.chdir(tmp_path)

    assert run("print(os.environ['BOOK_TEST'], os.getcwd())") == [f"いろは {tmp_path}\n"]


def test_a_figure_of_pyplot_is_shown():
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell("import matplotlib.pyplot as p\np.plot([1]);")]
    )
    NotebookClient(notebook, kernel_name="python3").execute()

    assert "image/png" in notebook.cells[0].outputs[0].data


def test_a_cell_can_be_interrupted():
    options = {"timeout": 2, "interrupt_on_timeout": True, "allow_errors": True}

    assert run("while True: pass", "print('next')", **options) == ["", "next\n"]


def test_a_cell_that_never_ends_is_ended():
    with pytest.raises(CellTimeoutError):
        run("while True: pass", timeout=2)

    assert gone(run.pid)


def test_a_kernel_that_dies_is_noticed_and_the_next_one_runs():
    with pytest.raises(DeadKernelError):
        run("os.kill(os.getpid(), 9)")

    assert run("print(1)") == ["1\n"]


def test_without_the_warm_process_an_ordinary_kernel_runs(monkeypatch):
    requests, theirs = kernels.socket.socketpair(kernels.socket.AF_UNIX, kernels.socket.SOCK_SEQPACKET)
    theirs.close()
    monkeypatch.setattr(kernels, "requests", requests)

    assert run("print(1)") == ["1\n"]
    assert run.parent == os.getpid()
    requests.close()


def test_other_systems_and_short_builds_start_nothing(monkeypatch):
    before = kernels.warm
    kernels.start(None, None, ["a", "b"])
    monkeypatch.setattr(sys, "platform", "darwin")
    kernels.start(None, None, ["a", "b", "c"])

    assert kernels.warm is before


BUILD = """
import sys
import kernels
from test_kernels import App, run
kernels.setup(App())
kernels.start(None, None, ["a", "b", "c"])
run(f"open({sys.argv[1]!r}, 'w').write(f'{{os.getpid()}} {{os.getppid()}}')", "while True: pass")
"""


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGKILL])
def test_a_build_that_is_stopped_leaves_no_process(tmp_path, sent):
    path = tmp_path / "pids"
    folders = os.pathsep.join([os.path.dirname(kernels.__file__), os.path.dirname(__file__)])
    env = os.environ | {"PYTHONPATH": folders}
    build = subprocess.Popen([sys.executable, "-c", BUILD, path], env=env, stderr=subprocess.DEVNULL)
    while not path.exists() or not path.read_text():
        assert build.poll() is None
        time.sleep(0.1)
    build.send_signal(sent)

    assert build.wait(30) != 0
    assert all(gone(int(pid)) for pid in path.read_text().split())
