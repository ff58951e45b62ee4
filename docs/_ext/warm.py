"""重いライブラリを一度だけ読み込み、ページのカーネルに枝分かれするプロセス（kernels.py が起動します）。"""

import importlib
import json
import os
import signal
import socket
import sys
import warnings

# Not pyplot: its first import sets up the figures of the kernel that it happens in.
SHARED = "torch", "matplotlib.figure", "matplotlib.backends.backend_agg", "ipykernel.kernelapp", "ipykernel.debugger"


def main():
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # ended kernels leave no zombie
    os.environ["JPY_PARENT_PID"] = str(os.getpid())  # a kernel ends with this process; ipykernel reads it on import
    # what every kernel sets; matplotlib reads it on import
    os.environ.setdefault("MPLBACKEND", "module://matplotlib_inline.backend_inline")
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a page must show it: this process ends, and ordinary kernels serve
        for name in SHARED:
            importlib.import_module(name)

    requests = socket.socket(fileno=int(sys.argv[1]))
    while True:
        request, sockets, _, _ = socket.recv_fds(requests, 2**20, 1)
        if not request:  # the build has ended
            requests.close()
            return
        life = socket.socket(fileno=sockets[0])  # open as long as the kernel lives
        if pid := os.fork():
            life.sendall(pid.to_bytes(4, "big"))
            life.close()
            continue
        requests.close()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.setsid()
        wanted = json.loads(request)
        os.chdir(wanted["cwd"])
        os.environ.clear()
        os.environ.update(wanted["env"])
        sys.path[0] = ""  # as `python -m` has it
        sys.modules["ipykernel.kernelapp"].launch_new_instance(wanted["argv"])
        os._exit(0)


main()
