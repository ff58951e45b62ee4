"""ページのカーネルの設定。手元のIPythonの設定は読みません。"""

from ipykernel.iostream import OutStream

c = get_config()  # noqa: F821  IPython gives this name
c.HistoryManager.enabled = False  # no history database: pages run in parallel
c.InteractiveShell.xmode = "Minimal"  # errors on a page show no path of the machine that built it
c.IPKernelApp.log_level = 50  # no notes of the kernel among the messages of the build, also when a cell is stopped
OutStream.flush_interval = 3600  # seconds; half a line that is sent early would become a line of its own
