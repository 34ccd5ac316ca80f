#!/usr/bin/env python3
"""A runner that keeps the contract and does one hostile thing as well: `hostile_runner.py MANNER`.

Most manners begin once the seat is ready, so that the kit has something to judge before; the manners of the first
kind begin before anything else.
"""
import sys

sys.dont_write_bytecode = True  # a test's run must leave nothing in the source tree

import asyncio  # noqa: E402
import http.client  # noqa: E402
import json  # noqa: E402
import os  # noqa: E402
import select  # noqa: E402
import signal  # noqa: E402
import subprocess  # noqa: E402
import termios  # noqa: E402
import threading  # noqa: E402
import time  # noqa: E402
import tty  # noqa: E402
import urllib.parse  # noqa: E402

from plain.launch import LaunchRecord  # noqa: E402
from plain.seat import Seat  # noqa: E402

MIB = 1 << 20


# --- before anything else ------------------------------------------------------------------------------------------


def starts_twenty_agents():
    for _ in range(20):
        subprocess.Popen(["dsh", "acp"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)


def asks_its_terminal():
    """Asks what terminals are asked, and waits for each answer however long that takes."""
    settings = termios.tcgetattr(0)
    tty.setraw(0)
    ends = {b"\x1b[c": b"c", b"\x1b[>c": b"c", b"\x1b[5n": b"n", b"\x1b[6n": b"R", b"\x1b[>q": b"\\"}
    for query, end in ends.items():
        os.write(1, query)
        answer = b""
        while not answer.endswith(end):
            answer += os.read(0, 1)
    os.write(1, b"\x1b]11;?\x07\x1b[?2004$p\x1b[?u")  # what no tmux pane answers; a program gives that a moment
    select.select([0], [], [], 0.1)
    termios.tcsetattr(0, termios.TCSANOW, settings)


def changes_its_terminal():
    os.write(
        1,
        b"\x1bc\x1b[?1049h\x1b]0;taken over\x07\x1b]2;taken over\x1b\\\x1b[5;9r\x1b[?6h\x1b[?1003h\x1b[?1006h\x1b[?25l"
        b"\x1b[8;5;5t\x1b[4h\x1b[20h\x1b(0\x1b[31;5;7m\x1b]52;c;aGk=\x07\x1b]8;;http://localhost/\x07"
        b"\x1b[?1049l\x1b(B\x1b[r\x1b[?6l",
    )


def asks_without_end():
    """Asks again and again and never reads an answer."""
    def ask():
        while True:
            os.write(1, b"\x1b[c\x1b[6n" * 100)
    threading.Thread(target=ask, daemon=True).start()


def starts_an_agent_with_a_huge_environment():
    for number in range(8):
        os.environ[f"HUGE_{number}"] = "x" * 120_000


# --- once it is ready ----------------------------------------------------------------------------------------------


def never_exits(seat):
    seat.stop = lambda code: None
    for number in (signal.SIGHUP, signal.SIGTERM):
        seat.loop.call_soon_threadsafe(seat.loop.add_signal_handler, number, lambda: None)


def forks_away(seat):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
            os.execve("/bin/sleep", [os.environ["TMPDIR"], "1000"], {})  # no trace of the seat but this word
        os._exit(0)


def floods_the_pane(seat):
    block = b"all work and no play\r\n" * 3000
    for _ in range(1024 * MIB // len(block)):
        os.write(1, block)


def repeats_characters(seat):
    block = b"x\x1b[65535b" * 4000
    for _ in range(256 * MIB // len(block)):
        os.write(1, block)


def floods_the_endpoint(seat):
    for number in range(100_000):
        post(seat, json.dumps({"sequence": 1_000 + number, "hookEvent": "Stop", "subtype": "idle"}).encode())


def posts_100_mb(seat):
    post(seat, b'{"sequence":1000,"hookEvent":"Stop","subtype":"' + b"x" * 100_000_000 + b'"}')


def floods_the_agent(seat):
    write_to_agent(seat, b"x" * MIB, 1024)


def floods_the_agent_with_lines(seat):
    write_to_agent(seat, b'{"jsonrpc":"2.0","method":"x"}\n' * 30_000, 1024)


def answers_garbage(seat):
    write_to_agent(seat, b'\xff\xfe{"jsonrpc":\n[]\nnull\n{"id":{}}\n{"jsonrpc":"2.0","id":1e999}\n', 1)


def closes_its_terminal(seat):
    nothing, _ = os.pipe()  # never written to: it reads on and finds no end
    os.dup2(nothing, 0)
    silent = os.open("/dev/null", os.O_WRONLY)
    for number in (1, 2):
        os.dup2(silent, number)


def stops_itself(seat):
    os.kill(os.getpid(), signal.SIGSTOP)


def kills_its_group(seat):
    os.kill(0, signal.SIGKILL)


def write_to_agent(seat, block, times):
    number = seat.agent.stdin.get_extra_info("pipe").fileno()
    os.set_blocking(number, True)
    for _ in range(times):
        left = memoryview(block)
        while left:
            left = left[os.write(number, left) :]


def post(seat, body):
    base, token = seat.posts.endpoint()
    where = urllib.parse.urlsplit(base)
    if not hasattr(seat, "flood"):
        seat.flood = http.client.HTTPConnection(where.hostname, where.port)
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    seat.flood.request("POST", "/api/activity/hooks", body, headers)
    seat.flood.getresponse().read()


# --- in place of the record ----------------------------------------------------------------------------------------


def record_is_a_fifo(path):
    os.mkfifo(path)


def record_is_a_directory(path):
    os.mkdir(path)


def record_is_a_link(path):
    os.symlink("/etc/passwd", path)


def record_is_sparse(path):
    with open(path, "wb") as file:
        file.truncate(1024 * MIB)


def record_is_a_gigabyte(path):
    with open(path, "wb") as file:
        for _ in range(1024):
            file.write(b"x" * MIB)
    os.truncate(path, 0)  # the disk may be small


def record_is_garbage(path):
    with open(path, "wb") as file:
        file.write(os.urandom(4096))


def record_never_rests(path):
    until = time.monotonic() + 60
    while time.monotonic() < until:
        with open(path, "wb") as file:
            file.write(b"{}")
        os.unlink(path)


FIRST = (
    starts_twenty_agents, asks_its_terminal, changes_its_terminal, asks_without_end,
    starts_an_agent_with_a_huge_environment,
)  # fmt: skip
READY = (
    never_exits, forks_away, floods_the_pane, repeats_characters, floods_the_endpoint, posts_100_mb, floods_the_agent,
    floods_the_agent_with_lines, answers_garbage, closes_its_terminal, stops_itself, kills_its_group,
)  # fmt: skip
RECORD = (
    record_is_a_fifo, record_is_a_directory, record_is_a_link, record_is_sparse, record_is_a_gigabyte, record_is_garbage,
    record_never_rests,
)  # fmt: skip


def once_ready(manner):
    submit_next = Seat.submit_next
    begun = []

    def begin(seat):
        if not begun:
            begun.append(True)
            threading.Thread(target=manner, args=(seat,), daemon=True).start()
        submit_next(seat)

    Seat.submit_next = begin


def instead_of_the_record(manner):
    def write(record, **outcome):
        threading.Thread(target=manner, args=(os.environ["OPENRIG_LAUNCH_RESULT"],), daemon=True).start()

    LaunchRecord.write = write


def main():
    manner = {manner.__name__.replace("_", "-"): manner for manner in FIRST + READY + RECORD}.get(sys.argv[1])
    if manner in FIRST:
        manner()
    elif manner in READY:
        once_ready(manner)
    else:
        instead_of_the_record(manner)
    loop = asyncio.new_event_loop()
    code = loop.run_until_complete(Seat(loop, ["dsh", "acp"]).run())
    os._exit(code)


if __name__ == "__main__":
    main()
