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

signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # ended kernels leave no zombie
os.environ["JPY_PARENT_PID"] = str(os.getpid())  # a kernel ends with this process; ipykernel reads it on import
# what every kernel sets; matplotlib reads it on import
os.environ.setdefault("MPLBACKEND", "module://matplotlib_inline.backend_inline")
with warnings.catch_warnings():
    warnings.simplefilter("error")  # a page must show it: this process ends, and ordinary kernels serve
    for name in SHARED:
        importlib.import_module(name)

with socket.socket(fileno=int(sys.argv[1])) as requests:
    while True:
        request, sockets, _, _ = socket.recv_fds(requests, 2**20, 1)
        if not request:  # the build has ended
            sys.exit()
        life = socket.socket(fileno=sockets[0])  # open as long as the kernel lives
        if not (pid := os.fork()):
            break
        life.sendall(pid.to_bytes(4, "big"))
        life.close()

signal.signal(signal.SIGCHLD, signal.SIG_DFL)
os.setsid()
argv, cwd, env = json.loads(request)
os.chdir(cwd)
os.environ.update(env)
sys.path[0] = ""  # as `python -m` has it
sys.modules["ipykernel.kernelapp"].launch_new_instance(argv)
os._exit(0)
