"""ページのカーネルを、ライブラリを読み込み済みのプロセス（warm.py）から枝分かれさせて、速く起動する。

Linuxのほかや、枝分かれに失敗したときは、普通のカーネルを起動します。ページの出力は同じです。
"""

import json
import os
import select
import signal
import socket
import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

from jupyter_client.provisioning import KernelProvisionerFactory, LocalProvisioner
from sphinx.util.parallel import make_chunks

WORTHWHILE = 3  # pages; for fewer, loading every library takes longer than it saves
warm = requests = None  # the process and the socket to it; workers of a parallel build share both


def start(app, env, docnames):
    global warm, requests
    if len(docnames) < WORTHWHILE or sys.platform != "linux":
        return
    requests, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)  # one packet is one request
    with theirs:
        warm = subprocess.Popen(
            [sys.executable, Path(__file__).with_name("warm.py"), str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C is for Sphinx, whose end closes the socket and so ends warm.py
            env=os.environ | {"PYDEVD_DISABLE_FILE_VALIDATION": "1"},  # no advice on debugging from each kernel
        )
    KernelProvisionerFactory.instance().default_provisioner_name = "forked"


def stop(app, error):
    if requests:
        requests.close()
        warm.terminate()
        warm.wait()


class ForkedProvisioner(LocalProvisioner):
    """Ask warm.py for the process; everything else is as for an ordinary kernel."""

    async def launch_kernel(self, cmd, **kwargs):
        argv = cmd[cmd.index("ipykernel_launcher") + 1 :]
        try:
            self.process = Fork(argv, kwargs.get("cwd", os.getcwd()), kwargs["env"])
        except OSError:  # warm.py has ended, and has said why
            return await super().launch_kernel(cmd, **kwargs)
        self.pid = self.pgid = self.process.pid
        return self.connection_info


class Fork:
    """What LocalProvisioner uses of subprocess.Popen, for a process that is not our child."""

    stdin = stdout = stderr = None

    def __init__(self, *wanted):
        ours, theirs = socket.socketpair()
        with ours:
            with theirs:  # closed before we wait: the other end closes with the process that holds it
                socket.send_fds(requests, [json.dumps(wanted).encode()], [theirs.fileno()])
            if not (pid := ours.recv(4)):
                raise ConnectionResetError
            self.pid, self.life = int.from_bytes(pid, "big"), ours.detach()

    def poll(self):
        return 0 if select.select([self.life], [], [], 0)[0] else None

    def wait(self):  # LocalProvisioner has polled until the process was gone
        os.close(self.life)

    def send_signal(self, signum=signal.SIGKILL):
        os.kill(self.pid, signum)

    kill = terminate = send_signal  # LocalProvisioner asks the whole group first


def setup(app):
    forked = EntryPoint("forked", "kernels:ForkedProvisioner", KernelProvisionerFactory.GROUP_NAME)
    KernelProvisionerFactory.instance().provisioners["forked"] = forked
    # some pages take a hundred times as long as others: small batches keep every core busy to the end
    make_chunks.__defaults__ = (1,)  # maxbatch
    app.connect("env-before-read-docs", start)
    app.connect("build-finished", stop)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
