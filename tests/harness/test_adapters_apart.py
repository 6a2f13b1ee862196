"""The adapters stand apart: who uses none of them loads no framework."""

from __future__ import annotations

import subprocess
import sys


def test_importing_the_harness_loads_no_framework() -> None:
    code = (
        "import sys, harness, harness.recording, harness.adapters, cli.main\n"
        "print(sorted({'agents', 'langchain', 'langchain_core', 'langgraph'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
