"""Outputs written in this process and in others."""

import re
import subprocess
import sys

from fastsvm_cli.text.output import Output
from support.processes import PATIENCE


def write(path, *buffers):
    with Output(str(path)) as output:
        for buffer in buffers:
            output.write(buffer)


def in_new_process(code, *arguments, **options):
    """Run code with `Output` imported, for tests of a process's own standard output or rights."""
    code = "import sys\nfrom fastsvm_cli.text.output import Output\n" + code
    return subprocess.run(
        [sys.executable, "-I", "-c", code, *map(str, arguments)],
        stderr=subprocess.PIPE,
        text=True,
        timeout=PATIENCE,
        **options,
    )


def a_writer(path):
    """A process that has written half an output, and waits."""
    code = (
        "import sys\n"
        "from fastsvm_cli.text.output import Output\n"
        "with Output(sys.argv[1]) as output:\n"
        "    output.write(b'half')\n"
        "    print('ready', flush=True)\n"
        "    sys.stdin.read()\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-I", "-c", code, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdout.readline() == b"ready\n"
    return process


def killed_writer(path):
    process = a_writer(path)
    process.kill()
    process.communicate()


def timeless(text):
    """Output of --json without its timings."""
    return re.sub(r',\s*"(seconds|rows_per_second)": [^,}\s]+', "", text)
