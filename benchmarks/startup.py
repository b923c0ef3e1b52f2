"""How long one waits before anything happens."""

import http.client
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.servers import free_port
from benchmarks.table import Figure, median

FIRST = """
import time; started = time.perf_counter()
import asyncio
from fakekube.composition.cluster import Cluster
async def main():
    async with Cluster(nodes=0) as cluster:
        first, cpu = time.perf_counter() - started, time.process_time()
    from benchmarks.table import decode_seconds, median
    found = []
    for seed in range(60):
        again = time.process_time()
        async with Cluster(nodes=0, seed=seed):
            further = time.process_time() - again
        found.append((1 / further, decode_seconds()))
    rate, decode = median(found)
    print(first * 1000, 1000 / rate, cpu * 1000, decode)
asyncio.run(main())
"""
WITH_KUEUE = """
import time; started = time.perf_counter()
import asyncio
from fakekube.composition.cluster import Cluster
async def main():
    async with Cluster(nodes=0, controllers="*,kueue"):
        print((time.perf_counter() - started) * 1000, time.process_time() * 1000)
asyncio.run(main())
"""
PLUGIN = """
import pytest, time
started = time.perf_counter()
import fakekube.pytest_plugin
print((time.perf_counter() - started) * 1000)
"""


def figures() -> Iterator[Figure]:
    """Each the best of some rounds, since anything else on the machine can only add."""
    wall, cpu = min(_serve() for _ in range(4))
    yield Figure("serve, start to first answer", wall, "ms", 220, None, f"CPU {cpu:.0f} ms")
    runs = [_python(FIRST) for _ in range(4)]
    yield Figure("import and first cluster in-process", min(run[0] for run in runs), "ms", 150, 90,
                 f"CPU {min(run[2] for run in runs):.0f} ms, the interpreter's start included")
    found = min(_python(WITH_KUEUE) for _ in range(3))
    yield Figure("the same with Kueue", found[0], "ms", note=f"CPU {found[1]:.0f} ms")
    wall, cpu = min(_serve("--controllers", "*,kueue") for _ in range(3))
    yield Figure("serve with Kueue, start to first answer", wall, "ms", note=f"CPU {cpu:.0f} ms")
    rate, decode = median([(1 / run[1], run[3]) for run in runs])
    yield Figure("each further cluster in-process", 1 / rate, "ms", 2, 0.5, "CPU", decode_seconds=decode)
    yield Figure("import of the pytest plugin, unused", min(_python(PLUGIN)[0] for _ in range(3)), "ms", 30, 10)


def _python(code: str) -> list[float]:
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    return [float(word) for word in printed.split()]


def _serve(*options: str) -> tuple[float, float]:
    """Milliseconds until the first answer, on the wall and of CPU time."""
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        process = subprocess.Popen(
            [sys.executable, "-c", "from fakekube.cli import main; main()", "serve", "--port", str(port),
             "--kubeconfig", str(Path(folder) / "kubeconfig"), *options], stdout=subprocess.DEVNULL)
        try:
            while True:
                try:
                    connection = http.client.HTTPConnection("127.0.0.1", port)
                    connection.request("GET", "/api/v1/namespaces/default")
                    assert connection.getresponse().status == 200
                    return (time.perf_counter() - started) * 1000, cpu_seconds(process.pid) * 1000
                except OSError:
                    time.sleep(0.002)
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait()


def cpu_seconds(pid: int) -> float:
    """What a process has used so far."""
    words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")
