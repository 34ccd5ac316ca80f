"""The agent: its process, and JSON-RPC lines to and from it."""
import asyncio
import contextlib
import json
import os
import signal

from plain.faults import broken

LINE_LIMIT = 64 << 20  # bytes of one line
UNREAD_LIMIT = 64 << 20  # bytes that the agent has not read yet


def as_dict(value):
    """The value if it is a JSON object, else an empty one: an agent may send anything."""
    return value if isinstance(value, dict) else {}


def as_list(value):
    """The value if it is a JSON array, else an empty one."""
    return value if isinstance(value, list) else []


def failure_of(answer):
    """What went wrong in a JSON-RPC answer, as (code, text), or None for a result (null is one)."""
    if "error" not in answer and "result" in answer:
        return None
    error = as_dict(answer.get("error"))
    return error.get("code"), f"{error.get('message', 'no reason given')} ({error.get('code', 'no code')})"


class Agent(asyncio.SubprocessProtocol):
    """The agent's process and its JSON-RPC lines. Calls the seat back for each message and for the exit."""

    def __init__(self, seat):
        self.seat, self.pending, self.count = seat, {}, 0
        self.line, self.skipping_line, self.last_words = bytearray(), False, b""
        self.stdout_ended, self.exited = asyncio.Event(), asyncio.Event()
        self.paused, self.when_written = False, None

    def connection_made(self, transport):
        self.transport, self.pid = transport, transport.get_pid()
        self.stdin, self.stdout = transport.get_pipe_transport(0), transport.get_pipe_transport(1)
        self.stdin.set_write_buffer_limits(high=0)  # so that resume_writing means: all of it is written

    def pause_writing(self):
        self.paused = True

    def resume_writing(self):
        self.paused = False
        self.stdout.resume_reading()
        self.written()

    def written(self):
        then, self.when_written = self.when_written, None
        if then:
            then()

    def pipe_data_received(self, fd, data):
        if fd == 2:  # read, so that the agent never blocks on it, and kept short: whole logs would bury the pane
            self.last_words = (self.last_words + data)[-1000:]
            return
        head, *lines = data.split(b"\n")
        if broken("frames-by-read"):
            self.line.clear()
        self.line += head
        for line in lines:
            if not self.skipping_line:
                self.read(bytes(self.line))
            self.line, self.skipping_line = bytearray(line), False
        if len(self.line) > LINE_LIMIT:
            self.skipping_line = True
            self.seat.pane.say("! a line from the agent is too long and was dropped")
        if self.skipping_line:
            self.line.clear()

    def pipe_connection_lost(self, fd, error):
        if fd == 1:
            self.stdout_ended.set()
            if broken("stdout-end-as-exit"):
                self.seat.posts.post("Stop", f"{self.seat.harness}_exited")

    def process_exited(self):
        self.exited.set()
        self.seat.agent_exited()

    def read(self, line):
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):  # log lines are no messages; they are none of the pane's business
            return
        if not isinstance(message, dict):
            return
        request_id, method = message.get("id"), message.get("method")
        if isinstance(method, str):
            params = as_dict(message.get("params"))
            if "id" not in message:
                self.seat.on_notification(method, params)
            elif type(request_id) in (str, int, type(None)):  # exactly: True is no id
                self.seat.on_request(request_id, method, params)
        elif isinstance(request_id, str):
            take = self.pending.get if broken("second-answer-counts") else self.pending.pop
            if on_answer := take(request_id, None):
                on_answer(message)

    def send(self, message):
        if self.reads():
            version = {} if broken("frames-without-version") else {"jsonrpc": "2.0"}
            self.stdin.write(json.dumps({**version, **message}).encode() + b"\n")
            if self.stdin.get_write_buffer_size() > UNREAD_LIMIT:  # one that only asks and never reads has to wait
                self.stdout.pause_reading()

    def request(self, method, params, on_answer, when_written=None):
        """Sends a request; `on_answer` gets the answer, `when_written` runs once the last byte is with the agent."""
        self.count += 1
        self.pending[f"plain-{self.count}"] = on_answer
        self.when_written = when_written or self.when_written
        self.send({"id": f"plain-{self.count}", "method": method, "params": params})
        if not self.paused and self.reads():
            self.written()

    def ask(self, method, params):
        """Sends a request and gives a future of its answer."""
        answer = asyncio.get_running_loop().create_future()
        self.request(method, params, lambda message: answer.done() or answer.set_result(message))
        return answer

    def signal(self, number):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            (os.kill if broken("group-survives") else os.killpg)(self.pid, number)
            return True
        return False

    def reads(self):
        """Whether its input is still open."""
        return not self.stdin.is_closing()

    async def end(self):
        """Closes the agent's input, then asks it to end, then makes it end: at most 1.5 s."""
        for step in (self.stdin.close, lambda: self.signal(signal.SIGTERM), lambda: self.signal(signal.SIGKILL)):
            if not self.exited.is_set():
                step()
                with contextlib.suppress(asyncio.TimeoutError):
                    await asyncio.wait_for(self.exited.wait(), 0.5)

    async def end_rest_of_group(self):
        """Ends what the agent left behind in its process group; the short grace lets it clean up."""
        if not broken("group-survives") and self.signal(signal.SIGTERM):
            await asyncio.sleep(0.3)
            self.signal(signal.SIGKILL)
