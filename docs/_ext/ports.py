"""並列に動くカーネルが、同じポートを取り合わないようにする。

jupyter_clientは、空いているポートをOSに尋ねて番号だけを控え、後で起動したカーネルがそのポートを開きます。
その間に、OSが同じ番号をほかの接続に渡すと、カーネルは起動できずに終わります。
OSが接続に渡す範囲（Linuxは32768から、ほかは49152から）の外から選べば、その間に取られません。
"""

import secrets
import socket

from jupyter_client.connect import LocalPortCache

FIRST, COUNT = 20_000, 12_000


def find_available_port(self, ip):
    """Replace LocalPortCache.find_available_port; `secrets`, because forked workers share other random states."""
    while True:
        port = FIRST + secrets.randbelow(COUNT)
        if port not in self.currently_used_ports and is_free(ip, port):
            self.currently_used_ports.add(port)
            return port


def is_free(ip, port):
    with socket.socket() as probe:
        try:
            probe.bind((ip, port))
        except OSError:
            return False
    return True


def setup(app):
    LocalPortCache.find_available_port = find_available_port
    return {"parallel_read_safe": True, "parallel_write_safe": True}
