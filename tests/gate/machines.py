"""The settings of the sessions, and those of another machine (a module: two folders of tests have a conftest)."""

import platform

from numpy._core import _multiarray_umath as CPU

# noxfile.py; without colours
ENV = {"LC_ALL": "C", "PYTHONUTF8": "1", "OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "default", "NO_COLOR": "1"}
# Everything of another machine that may not change an output. NumPy warns of features that the CPU lacks.
OTHER_MACHINE = {
    "OMP_NUM_THREADS": "2",
    "TZ": "Asia/Tokyo",
    "PYTHONHASHSEED": "1",
    "LC_ALL": "C.UTF-8",
    "ATEN_CPU_CAPABILITY": "default",
    "NPY_DISABLE_CPU_FEATURES": " ".join(name for name in CPU.__cpu_dispatch__ if CPU.__cpu_features__[name]),
}
if platform.machine() in ("x86_64", "AMD64"):
    OTHER_MACHINE["OPENBLAS_CORETYPE"] = "Haswell"
