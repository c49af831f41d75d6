"""Compiles the decoder of updates into the package, where there is a C++ compiler; without one it stays pure Python."""

from __future__ import annotations

import runpy
import shutil
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from setuptools import Distribution, Extension
from setuptools.command.build_ext import build_ext

FOLDER = "ledgerframes/decoding/compiled"
LIMITED_API = "0x030B0000"  # one build for Python 3.11 and later


class CompiledDecoder(BuildHookInterface[Any]):
    """Adds the extension to a wheel, or puts it beside its sources for an editable installation."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the extension, and tag the wheel by what came of it."""
        if self.target_name != "wheel":
            return
        folder = Path(self.root, FOLDER)
        self._target = Path(tempfile.mkdtemp())
        built = compile_decoder(folder, self._target)
        if built is None:
            return
        if version == "editable":
            # Put in place at once: a program that runs with the module it replaces would crash if that was overwritten.
            Path(shutil.copy(built, folder / f"{built.name}.new")).replace(folder / built.name)
            return
        build_data["pure_python"] = False
        build_data["tag"] = f"cp311-abi3-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"
        build_data["force_include"][str(built)] = f"{FOLDER}/{built.name}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        """Remove what was compiled; the wheel has its copy."""
        if self.target_name == "wheel":
            shutil.rmtree(self._target)


def compile_decoder(folder: Path, target: Path, *options: str) -> Path | None:
    """Compile the sources; gives the module, or None where that is not possible."""
    of_sources = runpy.run_path(str(folder / "sources.py"))
    flags = ["/std:c++17", "/O2"] if sys.platform == "win32" else ["-std=c++17", "-O3", "-g0", "-fvisibility=hidden"]
    extension = Extension(
        "_decoder", [str(folder / "module.cpp")], language="c++", extra_compile_args=[*flags, *options],
        extra_link_args=list(options), py_limited_api=True, optional=True,
        define_macros=[("Py_LIMITED_API", LIMITED_API), ("LEDGERFRAMES_SOURCES", of_sources["digest"](folder))],
    )  # fmt: skip
    command = build_ext(Distribution({"name": "ledgerframes", "ext_modules": [extension]}))
    command.build_lib = command.build_temp = str(target)
    command.ensure_finalized()
    command.run()
    built = Path(command.get_ext_fullpath("_decoder"))
    return built if built.exists() else None
