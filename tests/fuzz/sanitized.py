"""Runs the fuzz of the decoders under the address and undefined-behaviour sanitizers: `python -m tests.fuzz.sanitized`.

The decoder is compiled anew into a temporary folder, by `$CXX` or `c++`, which has to be gcc. Arguments go to
`tests.fuzz.decoders`. `--plain` compiles the string scan that needs no SIMD.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

from ledgerframes.decoding.compiled import sources

NAME = "ledgerframes.decoding.compiled._decoder"
FOLDER = Path(sources.__file__).parent
FLAGS = (
    *("-std=c++17", "-O1", "-g", "-fno-omit-frame-pointer", "-fPIC", "-shared", "-Wall", "-Wextra", "-Wconversion"),
    *("-Werror", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"),
)
RUN = f"""
import importlib.util, sys
spec = importlib.util.spec_from_file_location({NAME!r}, sys.argv.pop(1))
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
sys.modules[{NAME!r}] = module
from tests.fuzz.decoders import main
sys.exit(main())
"""


def main() -> int:
    """Compile, and run the fuzz in a process of its own."""
    arguments = [argument for argument in sys.argv[1:] if argument != "--plain"]
    plain = ["-DLEDGERFRAMES_PLAIN_SCAN"] if len(arguments) < len(sys.argv) - 1 else []
    compiler = os.environ.get("CXX", "c++")
    with tempfile.TemporaryDirectory() as folder:
        built = Path(folder) / "_decoder.so"
        macros = ("-DPy_LIMITED_API=0x030B0000", f"-DLEDGERFRAMES_SOURCES={sources.digest(FOLDER)}", *plain)
        include = f"-I{sysconfig.get_path('include')}"
        subprocess.run([compiler, *FLAGS, *macros, include, "-o", built, FOLDER / "module.cpp"], check=True)
        # The interpreter is not sanitized, so the sanitizer has to be loaded first; and it asks the C++ library for
        # what it replaces.
        preload = ":".join(_library(compiler, name) for name in ("libasan.so", "libstdc++.so"))
        # The interpreter itself leaves memory to the end of the process.
        environment = {**os.environ, "LD_PRELOAD": preload, "ASAN_OPTIONS": "detect_leaks=0", "PYTHONMALLOC": "malloc"}
        command = [sys.executable, "-W", "ignore", "-c", RUN, str(built), *arguments]
        return subprocess.run(command, env=environment, check=False).returncode


def _library(compiler: str, name: str) -> str:
    done = subprocess.run([compiler, f"-print-file-name={name}"], check=True, capture_output=True, text=True)
    return done.stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
