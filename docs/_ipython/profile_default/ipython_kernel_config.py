"""ページのカーネルの設定。手元のIPythonの設定は読みません。"""

from ipykernel.iostream import OutStream

c = get_config()  # noqa: F821  IPython gives this name
c.HistoryManager.enabled = False  # no history database: pages run in parallel
c.InteractiveShell.xmode = "Minimal"  # errors on a page show no path of the machine that built it
c.IPKernelApp.log_level = 40  # no notes of the kernel among the build's messages
OutStream.flush_interval = 3600  # seconds; half a line that is sent early would become a line of its own
