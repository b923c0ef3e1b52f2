"""Programs that run in turns on one processor, so that all of them meet the machine as it is.

The speed of a machine that others share changes by a quarter within seconds, and what runs after
something else meets another machine. Needs a system that can stop processes.
"""

import os
import signal
import subprocess
import time
from collections.abc import Sequence

TURN_SECONDS, LOOK_SECONDS = 0.3, 0.01


def in_turns(commands: Sequence[Sequence[str]]) -> list[str]:
    """Run programs until all have ended; what each of them wrote.

    Raises CalledProcessError for the first that fails.
    """
    running = [_stopped(command) for command in commands]
    left = [*running]
    try:
        while left:
            left = [process for process in left if _goes_on(process)]
    finally:
        for process in left:
            process.kill()
    written = [process.communicate()[0] for process in running]
    for process, command in zip(running, commands, strict=True):
        if process.returncode:
            raise subprocess.CalledProcessError(process.returncode, list(command))
    return written


def _stopped(command: Sequence[str]) -> subprocess.Popen[str]:
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    process.send_signal(signal.SIGSTOP)
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(process.pid, {min(os.sched_getaffinity(0))})
    return process


def _goes_on(process: subprocess.Popen[str]) -> bool:
    """Give a process its turn; whether it needs another."""
    process.send_signal(signal.SIGCONT)
    end = time.monotonic() + TURN_SECONDS
    while time.monotonic() < end:
        if process.poll() is not None:
            return False
        time.sleep(LOOK_SECONDS)
    process.send_signal(signal.SIGSTOP)
    return True
