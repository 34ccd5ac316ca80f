#!/usr/bin/env python3
"""A runner in plain Python: one ACP agent in one terminal pane, under the OpenRig runner contract.

Written from the contract's text alone and on the standard library alone, so that the kit is tried on a runner that
shares no code with it. Where the contract leaves a choice, this file takes the less usual side. `--fault NAME` breaks
one behaviour on purpose; `--list-faults` says which there are and which clause each one breaks.

Everything runs on one event loop and every message is handled without waiting, so the order of what the agent said,
of what the pane shows and of what is posted is one order. Only the terminal is read in a thread of its own.
"""
import argparse
import asyncio
import collections
import contextlib
import datetime
import json
import os
import re
import shlex
import signal
import sys
import termios
import threading
import time
import tty
import urllib.parse

NAME_AND_VERSION = "plain-runner 1.0.0"
BLOCK_LIMIT = 4 << 20  # bytes of one message
LINE_LIMIT = 64 << 20  # bytes of one line from the agent
PANE_LIMIT = 16 << 20  # bytes waiting for a terminal that does not read
POSTS_WAITING_LIMIT = 1000
POST_SECONDS = 2.0
NOTICE_SECONDS, HANDSHAKE_SECONDS, MODEL_SECONDS = 5.0, 60.0, 10.0

FAULTS = (
    ("no-record", "identity.record-written", "writes no launch record"),
    ("record-early", "identity.after-open", "writes the record before the agent has opened anything"),
    ("record-wrong-attempt", "identity.attempt-exact", "writes another attempt into the record"),
    ("record-wrong-harness", "identity.harness-exact", "names the protocol, not the preset, as the harness"),
    ("record-empty-producer", "identity.producer", "leaves the producer empty"),
    ("record-rewritten", "identity.written-once", "writes the record again after the first turn, with a time in it"),
    ("record-in-pieces", "identity.whole-file", "writes the record in place, in two halves"),
    ("record-ref-and-error", "identity.shape", "gives both a nativeRef and an error"),
    ("record-ref-cut", "identity.native-ref-exact", "cuts the conversation id at 32 characters"),
    ("record-ref-escaped", "identity.native-ref-exact", "percent-encodes the conversation id"),
    ("record-on-failed-open", "identity.none-on-failed-open", "writes a nativeRef after a refused open"),
    ("id-posted", "identity.only-channel", "puts the conversation id into its posts"),
    ("dies-without-record-path", "identity.runs-without-path", "ends when OPENRIG_LAUNCH_RESULT is not set"),
    ("ignores-version-mismatch", "identity.version-mismatch", "opens whatever protocol version the agent answers"),
    ("stale-record-left", "identity.stale-record", "leaves a record that is there already"),
    ("cancel-as-request", "cancel.notification", "sends session/cancel with an id"),
    ("cancelled-on-asking", "cancel.only-agents-word", "posts Stop/cancelled as soon as it has asked"),
    ("cancel-error-as-cancelled", "cancel.only-agents-word", "takes error -32800 for cancelled"),
    ("end-turn-as-cancelled", "cancel.only-agents-word", "takes end_turn after a cancel for cancelled"),
    ("cancel-not-sent", "cancel.abort-sends", "shows a cancel but sends none"),
    ("abort-as-prompt", "cancel.abort-sends", "sends /abort as a prompt"),
    ("ctrl-c-kills-agent", "cancel.ctrl-c-sends", "answers Ctrl-C by interrupting the agent's process"),
    ("cancelled-twice", "cancel.posted", "posts Stop/cancelled twice"),
    ("cancelled-not-posted", "cancel.posted", "posts nothing for a cancelled turn"),
    ("ignored-cancel-reads-idle", "cancel.ignored-stays-working", "posts idle 2 s after a cancel nobody answered"),
    ("cancel-while-idle", "cancel.none-when-idle", "sends session/cancel with no prompt in flight"),
    ("next-before-cancel-answer", "cancel.next-turn-safe", "submits the next prompt before the cancelled one ended"),
    ("cancel-not-shown", "cancel.requested-shown", "says nothing when it asks for a cancel"),
    ("second-answer-counts", "cancel.one-end", "ends a turn again on a second answer"),
    ("permission-unanswered", "permission.refused", "never answers a permission request"),
    ("permission-late", "permission.at-once", "answers a permission request after 3 s"),
    ("permission-selected", "permission.refused", "selects the first option offered"),
    ("permission-id-as-text", "permission.id-echoed", "turns the request's id into text"),
    ("permission-first-only", "permission.each", "answers only a turn's first permission request"),
    ("permission-not-shown", "permission.shown", "does not show what was asked"),
    ("permission-not-posted", "permission.posted", "posts no Notification"),
    ("permission-stop-posted", "permission.held", "posts the turn's Stop while attention is held"),
    ("permission-beat-held", "permission.held", "posts an idle beat 0.5 s after a turn that holds attention"),
    ("permission-never-cleared", "permission.cleared-by-prompt", "goes on holding after the next accepted prompt"),
    ("exit-hidden-while-held", "permission.exit-while-held", "posts no exit while attention is held"),
    ("unknown-request-empty-result", "permission.unknown-32601", "answers an unknown request with {}"),
    ("unknown-request-ignored", "permission.unknown-32601", "does not answer an unknown request"),
    ("notification-answered", "permission.notifications-ignored", "answers an unknown notification"),
    ("capabilities-untrue", "permission.capabilities-honest", "advertises files and terminals it does not serve"),
    ("resume-new-after-failure", "resume.never-new", "opens a new session when the reopen fails"),
    ("resume-new-at-once", "resume.never-new", "opens a new session instead of reopening"),
    ("resume-wrong-ref", "resume.exact-ref", "asks for the reference without its last character"),
    ("resume-load-unadvertised", "resume.advertised-method", "calls session/load though nothing is advertised"),
    ("resume-missing-on-any-error", "resume.unconfirmed-otherwise", "takes every error for missing"),
    ("resume-never-missing", "resume.missing-on-agents-word", "writes no record when the agent says missing"),
    ("resume-record-other-ref", "resume.record-same-ref", "records another reference than the one reopened"),
    ("resume-replay-as-prompts", "resume.replay-not-activity", "takes replayed user messages for prompts"),
    ("resume-replay-idle", "resume.replay-not-activity", "posts idle for replayed answers"),
    ("resume-prompt-to-new-session", "resume.continues", "sends the prompts of a resume to a second, new session"),
    ("resume-prompt-after-failure", "resume.no-prompt-after-failure", "submits prompts after a failed reopen"),
    ("input-split-lines", "input.one-block-one-prompt", "sends each line of a block as its own prompt"),
    ("input-trimmed", "input.exact-text", "trims blanks from a block"),
    ("input-cooked", "input.raw-mode", "leaves the terminal in line mode"),
    ("input-no-bracketed-paste", "input.bracketed-paste", "does not turn bracketed paste on"),
    ("input-paste-submits", "input.nothing-before-enter", "submits at the end of a paste, before Enter"),
    ("input-split-marker-lost", "input.split-reads", "loses a paste marker that two reads share"),
    ("abort-trimmed", "input.abort-exact", "takes `/abort ` for control"),
    ("abort-line-acts", "input.abort-line-is-text", "acts on an /abort line inside a block"),
    ("queue-sent-at-once", "input.mid-turn-waits", "submits a message in the middle of a turn"),
    ("queue-merged", "input.mid-turn-waits", "merges waiting messages into one prompt"),
    ("queue-reversed", "input.mid-turn-waits", "submits the newest waiting message first"),
    ("queue-not-shown", "input.mid-turn-queued", "does not say that a message waits"),
    ("post-field-missing", "activity.fields", "leaves runtime out of its posts"),
    ("post-wrong-session-name", "activity.names-from-launch", "posts under a session name of its own"),
    ("post-wrong-token", "activity.bearer", "posts with a token of its own"),
    ("sequence-constant", "activity.sequence", "posts the same sequence every time"),
    ("sequence-starts-over", "activity.sequence", "starts the sequence over with each prompt"),
    ("posts-parallel", "activity.one-at-a-time", "does not wait for the post before"),
    ("occurred-at-local", "activity.occurred-at", "posts local time without an offset"),
    ("occurred-at-past", "activity.occurred-at", "posts times an hour old"),
    ("accepted-when-queued", "activity.accepted-not-early", "posts accepted for a message that waits"),
    ("accepted-twice", "activity.accepted", "posts accepted twice for one prompt"),
    ("no-stop", "activity.turn-end", "posts nothing when a turn ends"),
    ("two-stops", "activity.turn-end", "posts two Stops for one turn"),
    ("idle-when-silent", "activity.stop-not-early", "posts idle when a turn has run for 2 s"),
    ("liveness-zero", "activity.liveness-range", "states livenessSeconds 0"),
    ("liveness-sometimes", "activity.liveness-every-idle", "states livenessSeconds on every second idle Stop"),
    ("liveness-without-beats", "activity.beats", "states livenessSeconds 1 and never beats"),
    ("hung-endpoint-blocks", "activity.never-blocks-agent", "stands still until a post is answered"),
    ("post-without-timeout", "activity.short-timeout", "waits for a post's answer without limit"),
    ("exit-not-posted", "activity.exit-posted", "does not post the agent's exit"),
    ("exit-as-idle", "activity.exit-not-idle", "posts a plain idle Stop as well for the agent's exit"),
    ("stdout-end-as-exit", "activity.no-false-exit", "takes the end of the agent's stdout for its exit"),
    ("updates-as-turns", "activity.agent-chatter", "posts working for an update outside a turn"),
    ("prompt-not-mirrored", "evidence.prompt-mirrored", "does not show accepted prompts"),
    ("prompt-error-ignored", "robust.prompt-error", "goes on waiting after a prompt was answered with an error"),
    ("first-input-ignored", "handoff.first-input", "does not read OPENRIG_FIRST_INPUT"),
    ("model-ignored", "handoff.model", "does not pass OPENRIG_MODEL on"),
    ("terminal-not-restored", "input.terminal-restored", "leaves the terminal raw and bracketed paste on"),
    ("group-survives", "shutdown.no-orphans", "ends the agent's own process, not its group"),
    ("cancelled-on-stop", "shutdown.honest-end", "posts Stop/cancelled for a turn that the stop of the seat cut"),
)
fault = ""  # the one behaviour to break, set from the command line before anything starts


def setting(name):
    """An environment variable's value, or None where it is unset or empty."""
    return os.environ.get(name) or None


def now():
    return datetime.datetime.now(datetime.timezone.utc)


def as_dict(value):
    return value if isinstance(value, dict) else {}


def as_list(value):
    return value if isinstance(value, list) else []


def failure_of(answer):
    """What went wrong in a JSON-RPC answer, as (code, text), or None for a result (null is one)."""
    if "error" not in answer and "result" in answer:
        return None
    error = as_dict(answer.get("error"))
    return error.get("code"), f"{error.get('message', 'no reason given')} ({error.get('code', 'no code')})"


class TerminalBlocks:
    """Terminal bytes to ("block", text), ("interrupt", ""), ("too large", "") and ("end", "").

    A block ends at an Enter outside a paste. Bytes that may be half a marker or half a key are held until the next
    read. After a Ctrl-C in a paste the rest of that paste is dropped: its later lines were never meant as input.
    """

    IN_PASTE = re.compile(rb"\x1b\[20[01]~|\x03")
    HALF_MARKER = re.compile(rb"\x1b(?:\[(?:2(?:0[01]?)?)?)?\Z")
    OUTSIDE = re.compile(
        rb"\x1b(?:\[[0-?]{0,16}[@-~]|O[ -~]|(?!\[[0-?]{0,16}\Z|O?\Z))|[\x00-\x08\x0b-\x1a\x1c-\x1f\x7f]"
    )
    HALF_KEY = re.compile(rb"\x1b(?:\[[0-?]{0,16}|O)?\Z")

    def __init__(self):
        self.text, self.held = bytearray(), b""
        self.in_paste = self.dropping_paste = self.too_large = False

    def feed(self, data):
        data, at, events = self.held + data, 0, []
        while token := (self.IN_PASTE if self.in_paste else self.OUTSIDE).search(data, at):
            self.add(data[at : token.start()])
            at = token.end()
            events += self.in_paste_token(token[0]) if self.in_paste else self.key(token[0])
        half = (self.HALF_MARKER if self.in_paste else self.HALF_KEY).search(data, at)
        end = half.start() if half else len(data)
        self.add(data[at:end])
        self.held = b"" if fault == "input-split-marker-lost" else data[end:]
        return events

    def add(self, data):
        if self.too_large or self.dropping_paste:
            return
        self.text += data
        if len(self.text) > BLOCK_LIMIT:
            self.too_large = True
            self.text.clear()

    def in_paste_token(self, token):
        if token == b"\x03":
            self.in_paste = not self.dropping_paste  # a second one leaves a paste that never ends
            self.dropping_paste = self.in_paste
            return self.interrupt()
        if token == b"\x1b[201~":
            self.in_paste = self.dropping_paste = False
            return self.enter() if fault == "input-paste-submits" else []
        if self.dropping_paste:  # a new paste begins although the dropped one never ended
            self.dropping_paste = False
        else:
            self.add(token)
        return []

    def key(self, token):
        if token == b"\r":
            return self.enter()
        if token == b"\x03":
            return self.interrupt()
        if token == b"\x04" and not self.text:
            return [("end", "")]
        if token == b"\x1b[200~":
            self.in_paste = True
        elif token in (b"\x7f", b"\x08"):
            self.text[:] = self.text.decode("utf-8", "replace")[:-1].encode()
        return []

    def interrupt(self):
        self.text.clear()
        self.too_large = False
        return [("interrupt", "")]

    def enter(self):
        event = ("too large", "") if self.too_large else ("block", self.text.decode("utf-8", "replace"))
        self.text.clear()
        self.too_large = False
        return [event]

    def close(self):
        return []


class LineBlocks:
    """The same where there is no terminal: each line is a message, and so is what the input's end leaves."""

    def __init__(self):
        self.text, self.too_large = bytearray(), False

    def feed(self, data):
        *lines, rest = (bytes(self.text) + data).split(b"\n")
        events = [self.event(line) for line in lines]
        self.too_large = self.too_large or len(rest) > BLOCK_LIMIT
        self.text = bytearray() if self.too_large else bytearray(rest)
        return events

    def event(self, line):
        if self.too_large or len(line) > BLOCK_LIMIT:
            self.too_large = False
            return "too large", ""
        return "block", line.removesuffix(b"\r").decode("utf-8", "replace")

    def close(self):
        return self.feed(b"\n") if self.text else []


class Pane:
    """The terminal: its modes, and text for the person who looks at it. Never makes the event loop wait."""

    def __init__(self, loop):
        self.loop, self.out, self.unwritten = loop, 1, bytearray()
        self.is_terminal, self.saved, self.in_line = os.isatty(0), None, False
        self.line_end = "\r\n" if os.isatty(1) else "\n"

    def open(self):
        if self.is_terminal and fault != "input-cooked":
            self.saved = termios.tcgetattr(0)
            tty.setraw(0, termios.TCSANOW)
        if os.isatty(1):
            # Opened anew: O_NONBLOCK on the descriptor we were given would change it for its other holders too.
            with contextlib.suppress(OSError):
                self.out = os.open(os.ttyname(1), os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK)
            if self.is_terminal and fault != "input-no-bracketed-paste":
                self.write("\x1b[?2004h")

    def close(self):
        if fault == "terminal-not-restored":
            return
        if self.is_terminal and os.isatty(1):
            self.write("\x1b[?2004l")
        if self.saved:
            signal.signal(signal.SIGTTOU, signal.SIG_IGN)  # a background process may be stopped for tcsetattr
            with contextlib.suppress(termios.error):
                termios.tcsetattr(0, termios.TCSANOW, self.saved)

    def say(self, text):
        self.stream(("\n" if self.in_line else "") + text + "\n")

    def stream(self, text):
        text = re.sub(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", "", text.replace("\r\n", "\n").replace("\r", "\n"))
        if text:
            self.in_line = not text.endswith("\n")
            self.write(text.replace("\n", self.line_end))

    def write(self, text):
        waiting = bool(self.unwritten)
        if len(self.unwritten) < PANE_LIMIT:
            self.unwritten += text.encode("utf-8", "replace")
        if not waiting:
            self.flush()

    def flush(self):
        try:
            while self.unwritten:
                del self.unwritten[: os.write(self.out, self.unwritten[:65536])]
        except BlockingIOError:
            self.loop.add_writer(self.out, self.flush)
            return
        except OSError:  # the terminal is gone
            self.unwritten.clear()
        self.loop.remove_writer(self.out)


class Posts:
    """Facts to OpenRig's activity endpoint: one at a time, in order, never waited for by anyone."""

    def __init__(self, pane, harness):
        self.pane, self.harness, self.queue = pane, harness, asyncio.Queue()
        self.sequence, self.last_time, self.trouble_shown, self.idle_stops = 0, "", False, 0
        self.conversation = None  # only a fault ever posts it

    def post(self, hook_event, subtype):
        if self.queue.qsize() >= POSTS_WAITING_LIMIT:
            return
        if fault == "sequence-starts-over" and subtype == "accepted":
            self.sequence = 0
        self.sequence = 1 if fault == "sequence-constant" else self.sequence + 1
        self.last_time = max(self.last_time, now().isoformat(timespec="milliseconds"))
        body = {
            "sessionName": setting("OPENRIG_SESSION_NAME"),
            "nodeId": setting("OPENRIG_NODE_ID"),
            "runtime": self.harness,
            "generation": setting("OPENRIG_OCCUPANT_GENERATION"),
            "sequence": self.sequence,
            "occurredAt": self.last_time,
            "hookEvent": hook_event,
            "subtype": subtype,
        }
        self.distort(body)
        if fault == "hung-endpoint-blocks":
            thread = threading.Thread(target=asyncio.run, args=(self.deliver(body),), daemon=True)
            thread.start()
            thread.join()
        else:
            self.queue.put_nowait(body)

    def distort(self, body):
        """The faults of a post's own fields."""
        if fault == "post-field-missing":
            del body["runtime"]
        if fault == "post-wrong-session-name":
            body["sessionName"] = "plain-runner"
        if fault == "id-posted":
            body["conversation"] = self.conversation
        if fault == "occurred-at-local":
            body["occurredAt"] = datetime.datetime.now().isoformat(timespec="milliseconds")
        if fault == "occurred-at-past":
            body["occurredAt"] = (now() - datetime.timedelta(hours=1)).isoformat(timespec="milliseconds")
        if body["hookEvent"] == "Stop" and not body["subtype"].endswith("_exited"):
            self.idle_stops += 1
            if fault == "liveness-zero":
                body["livenessSeconds"] = 0
            if fault == "liveness-without-beats":
                body["livenessSeconds"] = 1
            if fault == "liveness-sometimes" and self.idle_stops % 2:
                body["livenessSeconds"] = 3600

    async def run(self):
        while body := await self.queue.get():
            if fault == "posts-parallel":
                asyncio.ensure_future(self.deliver(body))
            else:
                await self.deliver(body)
            self.queue.task_done()

    async def deliver(self, body):
        """Sends one post and repeats it once, unless OpenRig just hung: the facts behind it must not wait twice."""
        limit = {"post-without-timeout": None, "hung-endpoint-blocks": 8.0}.get(fault, POST_SECONDS)
        for _ in range(2):
            try:
                base, token = self.endpoint()
                if not base or not token:
                    return
                status = await asyncio.wait_for(self.exchange(base, token, body), limit)
                trouble = "" if status < 400 else f"it answered {status}"
                if status < 500:
                    break
            except asyncio.TimeoutError:
                trouble = "it did not answer in time"
                break
            except (OSError, ValueError, IndexError, EOFError, asyncio.LimitOverrunError) as error:
                trouble = str(error) or type(error).__name__
        if trouble and not self.trouble_shown:
            self.pane.say(f"! OpenRig did not take an activity post: {trouble}")
        self.trouble_shown = bool(trouble)

    @staticmethod
    def endpoint():
        """The base URL and token; looked up for each post, because OpenRig writes its file anew when it restarts."""
        base, token = setting("OPENRIG_URL"), setting("OPENRIG_ACTIVITY_HOOK_TOKEN")
        if not base and (port := setting("OPENRIG_PORT")):
            host = setting("OPENRIG_HOST") or "127.0.0.1"
            base = f"http://[{host}]:{port}" if ":" in host and "[" not in host else f"http://{host}:{port}"
        if not base or not token:
            home = setting("OPENRIG_HOME") or os.path.expanduser("~/.openrig")
            with contextlib.suppress(OSError, ValueError):
                with open(os.path.join(home, "activity-endpoint.json"), encoding="utf-8") as file:
                    found = as_dict(json.load(file))
                base, token = base or found.get("baseUrl"), token or found.get("token")
        return base, "plain-token" if fault == "post-wrong-token" else token

    @staticmethod
    async def exchange(base, token, body):
        """One HTTP request on a connection of its own; gives the answer's status code."""
        url = urllib.parse.urlsplit(base.strip().rstrip("/") + "/api/activity/hooks")
        port = url.port or (443 if url.scheme == "https" else 80)
        content = json.dumps(body).encode()
        head = (
            f"POST {url.path} HTTP/1.1\r\nHost: {url.netloc}\r\nAuthorization: Bearer {token}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\nConnection: close\r\n\r\n"
        )
        reader, writer = await asyncio.open_connection(url.hostname, port, ssl=url.scheme == "https" or None)
        try:
            writer.write(head.encode() + content)
            await writer.drain()
            answer = await reader.readuntil(b"\r\n\r\n")
            if length := re.search(rb"(?i)\r\ncontent-length: *(\d{1,9})\r\n", answer):
                await reader.readexactly(min(int(length[1]), 65536))
            return int(answer.split()[1])
        finally:
            writer.close()


class Agent(asyncio.SubprocessProtocol):
    """The agent's process and its JSON-RPC lines. Calls the seat back for each message and for the exit."""

    def __init__(self, seat):
        self.seat, self.pending, self.count = seat, {}, 0
        self.line, self.skipping_line, self.last_words = bytearray(), False, b""
        self.stdout_ended, self.exited = asyncio.Event(), asyncio.Event()
        self.paused, self.when_written = False, None

    def connection_made(self, transport):
        self.transport, self.pid = transport, transport.get_pid()
        self.stdin = transport.get_pipe_transport(0)
        self.stdin.set_write_buffer_limits(high=0)  # so that resume_writing means: all of it is written

    def pause_writing(self):
        self.paused = True

    def resume_writing(self):
        self.paused = False
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
            if fault == "stdout-end-as-exit":
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
            elif request_id is None or (isinstance(request_id, (str, int, float)) and request_id is not True):
                self.seat.on_request(request_id, method, params)
        elif isinstance(request_id, str):
            take = self.pending.get if fault == "second-answer-counts" else self.pending.pop
            if on_answer := take(request_id, None):
                on_answer(message)

    def send(self, message):
        if not self.stdin.is_closing():
            self.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def request(self, method, params, on_answer, when_written=None):
        """Sends a request; `on_answer` gets the answer, `when_written` runs once the last byte is with the agent."""
        self.count += 1
        self.pending[f"plain-{self.count}"] = on_answer
        self.when_written = when_written or self.when_written
        self.send({"id": f"plain-{self.count}", "method": method, "params": params})
        if not self.paused and not self.stdin.is_closing():
            self.written()

    def ask(self, method, params):
        """Sends a request and gives a future of its answer."""
        answer = asyncio.get_running_loop().create_future()
        self.request(method, params, lambda message: answer.done() or answer.set_result(message))
        return answer

    def signal(self, number):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            (os.kill if fault == "group-survives" else os.killpg)(self.pid, number)
            return True
        return False

    async def end(self):
        """Closes the agent's input, then asks it to end, then makes it end: at most 1.6 s."""
        for step in (self.stdin.close, lambda: self.signal(signal.SIGTERM), lambda: self.signal(signal.SIGKILL)):
            if not self.exited.is_set():
                step()
                with contextlib.suppress(asyncio.TimeoutError):
                    await asyncio.wait_for(self.exited.wait(), 0.6)

    async def end_rest_of_group(self):
        """Ends what the agent left behind in its process group; the short grace lets it clean up."""
        if fault != "group-survives" and self.signal(signal.SIGTERM):
            await asyncio.sleep(0.3)
            self.signal(signal.SIGKILL)


class Seat:
    """One conversation: opens it, records it, runs its turns and reports them."""

    def __init__(self, loop, command):
        self.loop, self.command = loop, shlex.split(command)
        self.harness = setting("OPENRIG_RUNTIME") or "dsh"
        self.reference = setting("OPENRIG_RESUME_REF")
        self.pane = Pane(loop)
        self.posts = Posts(self.pane, self.harness)
        self.agent = self.session = self.turn = self.opening = self.after_exit = None
        self.ready = self.held = self.cancel_asked = self.input_ended = self.stopping = self.recorded = False
        self.unusable = ""  # why no prompt can be submitted any more
        self.producer, self.turns, self.refused_in_turn = NAME_AND_VERSION, 0, 0
        self.waiting, self.titles = collections.deque(), collections.OrderedDict()
        self.end = loop.create_future()

    async def run(self):
        """Runs the seat until its input ends or a signal comes; gives the exit code."""
        for number in (signal.SIGHUP, signal.SIGTERM):
            self.loop.add_signal_handler(number, self.stop, 128 + number)
        self.loop.add_signal_handler(signal.SIGINT, self.on_interrupt)
        self.pane.open()
        if fault == "dies-without-record-path" and not setting("OPENRIG_LAUNCH_RESULT"):
            self.pane.close()
            return 1
        environment = {name: value for name, value in os.environ.items() if name != "OPENRIG_ACTIVITY_HOOK_TOKEN"}
        try:
            _, self.agent = await self.loop.subprocess_exec(
                lambda: Agent(self), *self.command, env=environment, process_group=0
            )
        except OSError as error:
            self.pane.say(f"! the agent {self.command[0]} can't be started: {error.strerror}")
            self.pane.close()
            return 127
        posting = self.loop.create_task(self.posts.run())
        self.opening = self.loop.create_task(self.open())
        threading.Thread(target=self.read_input, daemon=True).start()
        code = await self.end
        self.stopping = True
        self.opening.cancel()
        self.pane.close()
        if fault == "cancelled-on-stop" and self.turn:
            self.posts.post("Stop", "cancelled")
        await asyncio.wait([self.loop.create_task(self.end_agent()), self.loop.create_task(self.posts.queue.join())],
                           timeout=2.7)
        posting.cancel()
        return code

    def stop(self, code):
        if not self.end.done():
            self.end.set_result(code)

    async def end_agent(self):
        await self.agent.end()
        if self.after_exit:
            await self.after_exit

    # --- opening -------------------------------------------------------------------------------------------------

    async def open(self):
        if fault == "record-early":
            self.write_record(nativeRef="pending")
        capabilities = {}
        if fault == "capabilities-untrue":
            capabilities = {"fs": {"readTextFile": True, "writeTextFile": True}, "terminal": True}
        name, version = NAME_AND_VERSION.split()
        answer = await self.answer_to("initialize", {
            "protocolVersion": 1, "clientCapabilities": capabilities,
            "clientInfo": {"name": name, "version": version},
        })
        if failure := failure_of(answer):
            return self.give_up(f"the agent refused initialize: {failure[1]}")
        result = as_dict(answer["result"])
        if result.get("protocolVersion") != 1 and fault != "ignores-version-mismatch":
            self.give_up(f"the agent speaks ACP {result.get('protocolVersion')}, this runner only ACP 1")
            return await self.agent.end()
        agent = as_dict(result.get("agentInfo"))
        self.producer += f"; {agent.get('name', 'agent')} {agent.get('version', 'of unknown version')}; ACP 1"
        place = {"cwd": os.getcwd(), "mcpServers": []}
        if self.reference is None or fault == "resume-new-at-once":
            opened = await self.open_new(place)
        else:
            opened = await self.reopen(as_dict(result.get("agentCapabilities")), place)
        if opened is not None:
            await self.apply_model(opened)
            self.become_ready()

    async def answer_to(self, method, params):
        """The agent's answer to a step of the handshake; giving up is an answer too, an error of our own."""
        answer = self.agent.ask(method, params)
        await asyncio.wait({answer}, timeout=NOTICE_SECONDS)
        if not answer.done():
            self.pane.say(f"… the agent has not answered {method} yet; no conversation is open")
            await asyncio.wait({answer}, timeout=HANDSHAKE_SECONDS - NOTICE_SECONDS)
        return answer.result() if answer.done() else {"error": {"message": "no answer in time"}}

    async def open_new(self, place):
        answer = await self.answer_to("session/new", place)
        session = as_dict(answer.get("result")).get("sessionId")
        if failure := failure_of(answer):
            if fault == "record-on-failed-open":
                self.write_record(nativeRef="unknown")
            return self.give_up(f"the agent opened no conversation: {failure[1]}")
        if not isinstance(session, str) or not session:
            return self.give_up("the agent opened a conversation without an id")
        return self.opened(session, answer)

    async def reopen(self, capabilities, place):
        if capabilities.get("loadSession") is True or fault == "resume-load-unadvertised":
            method = "session/load"
        elif as_dict(capabilities.get("sessionCapabilities")).get("resume") is not None:
            method = "session/resume"
        else:
            return self.give_up("this agent can't reopen a conversation; whether it still exists is unconfirmed")
        reference = self.reference[:-1] if fault == "resume-wrong-ref" else self.reference
        answer = await self.answer_to(method, {"sessionId": reference, **place})
        failure = failure_of(answer)
        if not failure and as_dict(answer["result"]).get("sessionId", self.reference) != self.reference:
            return self.give_up("the agent reopened another conversation; the one asked for is unconfirmed")
        if not failure:
            opened = self.opened(self.reference, answer)
            if fault == "resume-prompt-to-new-session":
                answer = await self.answer_to("session/new", place)
                self.session = as_dict(answer.get("result")).get("sessionId", self.session)
            return opened
        if fault == "resume-new-after-failure":
            return await self.open_new(place)
        if fault == "resume-prompt-after-failure":
            self.session = self.reference
            return {}
        if self.says_missing(answer) or fault == "resume-missing-on-any-error":
            if fault != "resume-never-missing":
                self.write_record(error="missing")
            return self.give_up(f"the agent says that the conversation does not exist: {failure[1]}")
        return self.give_up(f"the conversation was not reopened and is unconfirmed: {failure[1]}")

    def says_missing(self, answer):
        """Whether an error is the agent's own word that this conversation, and nothing else, is not there."""
        error = as_dict(answer.get("error"))
        if error.get("code") != -32002:
            return False
        data = as_dict(error.get("data"))
        named = [data.get("sessionId"), data.get("session_id"), data.get("uri")]
        return error.get("data") is None or self.reference in named or f"session:{self.reference}" in named

    def opened(self, session, answer):
        self.session = self.posts.conversation = session
        other = fault == "resume-record-other-ref" and self.reference
        self.write_record(nativeRef=f"{session}-reopened" if other else session)
        return as_dict(answer["result"])

    def write_record(self, **what):
        path, attempt = setting("OPENRIG_LAUNCH_RESULT"), setting("OPENRIG_LAUNCH_ATTEMPT")
        if not path or not attempt or fault == "no-record" or (fault == "record-early" and self.recorded):
            return
        if fault == "stale-record-left" and os.path.exists(path):
            return
        record = {"format": 1, "attempt": attempt, "harness": self.harness, **what, "producer": self.producer}
        if fault == "record-wrong-attempt":
            record["attempt"] = "1"
        if fault == "record-wrong-harness":
            record["harness"] = "acp"
        if fault == "record-empty-producer":
            record["producer"] = ""
        if fault == "record-ref-and-error":
            record.update(nativeRef=self.session, error="missing")
        if fault == "record-ref-cut" and "nativeRef" in record:
            record["nativeRef"] = record["nativeRef"][:32]
        if fault == "record-ref-escaped" and "nativeRef" in record:
            record["nativeRef"] = urllib.parse.quote(record["nativeRef"], safe="", errors="replace")
        if fault == "record-rewritten" and self.recorded:
            record["producer"] += f"; written {now().isoformat()}"
        text = json.dumps(record) + "\n"
        if fault == "record-in-pieces":
            with open(path, "w", encoding="utf-8", buffering=1) as file:
                file.write(text[:40] + "\n")
                time.sleep(0.3)
                file.write(text[40:])
            return
        try:
            with open(f"{path}.{os.getpid()}.part", "w", encoding="utf-8") as file:
                file.write(text)
            os.replace(file.name, path)
            self.recorded = True
        except OSError as error:
            self.pane.say(f"! the launch record can't be written: {error.strerror}")

    async def apply_model(self, opened):
        """Asks for the declared model by what the agent offers: a config option, else the older model list."""
        model = setting("OPENRIG_MODEL")
        if not model or fault == "model-ignored":
            return
        options = [as_dict(option) for option in as_list(opened.get("configOptions"))]
        option = next((o for o in options if o.get("category") == "model" or o.get("id") == "model"), None)
        older = as_dict(opened.get("models")).get("availableModels")
        if option:
            entries = [as_dict(entry) for entry in as_list(option.get("options"))]
            entries += [as_dict(inner) for entry in entries for inner in as_list(entry.get("options"))]
            value = next((e["value"] for e in entries if e.get("name") == model and "value" in e), model)
            value = model if any(e.get("value") == model for e in entries) else value
            method, params = "session/set_config_option", {"configId": option.get("id"), "value": value}
        elif older:
            entries = [as_dict(entry) for entry in as_list(older)]
            value = next((e["modelId"] for e in entries if e.get("name") == model and "modelId" in e), model)
            method, params = "session/set_model", {"modelId": value}
        else:
            return self.pane.say(f"! the agent offers no choice of model; {model} is only in its OPENRIG_MODEL")
        answer = self.agent.ask(method, {"sessionId": self.session, **params})
        await asyncio.wait({answer}, timeout=MODEL_SECONDS)
        failure = failure_of(answer.result()) if answer.done() else (None, "no answer in time")
        if failure:
            self.pane.say(f"! the model {model} was not applied: {failure[1]}")

    def become_ready(self):
        self.ready = True
        self.pane.say(f"ready: {self.producer}")
        path = setting("OPENRIG_FIRST_INPUT")
        if path and self.reference is None and fault != "first-input-ignored":
            try:
                with open(path, encoding="utf-8", errors="replace", newline="") as file:
                    text = file.read(BLOCK_LIMIT)
                if text.strip():
                    self.waiting.appendleft(text)
            except OSError as error:
                self.pane.say(f"! the first input can't be read: {error.strerror}")
        self.submit_next()

    def give_up(self, reason):
        """No prompt will be submitted any more, and the pane says why."""
        self.unusable = reason
        self.pane.say(f"! {reason}")
        self.drop_waiting()
        self.stop_if_done()

    # --- input ---------------------------------------------------------------------------------------------------

    def read_input(self):
        blocks = TerminalBlocks() if self.pane.saved else LineBlocks()
        while True:
            try:
                data = os.read(0, 65536)
            except OSError:  # the terminal is gone
                data = b""
            for kind, text in blocks.feed(data) if data else blocks.close() + [("end", "")]:
                self.loop.call_soon_threadsafe(self.on_input, kind, text)
            if not data:
                return

    def on_input(self, kind, text):
        if self.stopping:
            return
        if kind == "interrupt":
            self.on_interrupt()
        elif kind == "too large":
            self.pane.say(f"! the message was not sent: it has more than {BLOCK_LIMIT} bytes")
        elif kind == "block":
            self.on_block(text)
        elif self.pane.is_terminal:
            self.stop(0)
        else:  # what a pipe brought is still worked off
            self.input_ended = True
            self.stop_if_done()

    def on_block(self, text):
        text = text.strip() if fault == "input-trimmed" else text
        control = text == "/abort" or (fault == "abort-trimmed" and text.strip() == "/abort")
        if fault == "abort-line-acts" and "/abort" in text.splitlines():
            control = True
        if control and fault != "abort-as-prompt":
            return self.abort()
        for part in text.splitlines() if fault == "input-split-lines" else [text]:
            if part.strip():
                self.accept_message(part)

    def accept_message(self, text):
        if self.unusable:
            return self.pane.say(f"! not sent: {self.unusable}")
        self.waiting.append(text)
        if fault == "accepted-when-queued":
            self.posts.post("UserPromptSubmit", "accepted")
        if (self.turn or not self.ready) and fault != "queue-not-shown":
            until = "the running turn has ended" if self.turn else "the agent is ready"
            self.pane.say(f"queued until {until} ({len(self.waiting)} waiting)")
        self.submit_next()

    def drop_waiting(self):
        if self.waiting:
            self.pane.say(f"! waiting messages dropped, not sent: {len(self.waiting)}")
            self.waiting.clear()

    def stop_if_done(self):
        if self.input_ended and not self.turn and not self.waiting and (self.ready or self.unusable):
            self.stop(0)

    # --- turns ---------------------------------------------------------------------------------------------------

    def submit_next(self):
        busy = self.turn is not None and fault != "queue-sent-at-once"
        if fault == "next-before-cancel-answer" and self.cancel_asked:
            busy = False
        if busy or not self.ready or not self.waiting or self.unusable:
            return
        text = self.waiting.pop() if fault == "queue-reversed" else self.waiting.popleft()
        if fault == "queue-merged":
            text = "\n".join([text, *self.waiting])
            self.waiting.clear()
        self.turns += 1
        self.turn, self.cancel_asked, self.refused_in_turn = self.turns, False, 0
        if fault != "prompt-not-mirrored":
            self.pane.say(f"you ▸ {text}")
        turn, prompt = self.turn, {"sessionId": self.session, "prompt": [{"type": "text", "text": text}]}
        self.agent.request("session/prompt", prompt, lambda answer: self.turn_ended(turn, answer), self.submitted)

    def submitted(self):
        if fault != "permission-never-cleared":
            self.held = False
        for _ in range({"accepted-when-queued": 0, "accepted-twice": 2}.get(fault, 1)):
            self.posts.post("UserPromptSubmit", "accepted")
        if fault == "idle-when-silent":
            self.loop.call_later(2, self.claim_idle, self.turn)

    def claim_idle(self, turn):
        """Only faults come here: an idle report for a turn of which nothing is known."""
        if self.turn == turn:
            self.posts.post("Stop", "idle")

    def turn_ended(self, turn, answer):
        failure, reason = failure_of(answer), as_dict(answer.get("result")).get("stopReason")
        if failure and fault == "prompt-error-ignored":
            return
        self.agent.written()  # an agent may answer before it has read all of the prompt
        if self.turn == turn:
            self.turn = None
        if failure:
            self.pane.say(f"! the prompt failed: {failure[1]}")
            subtype = "prompt_failed"
        else:  # only the five words of the protocol become a subtype: an agent can't name an exit here
            known = ("end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled")
            subtype = reason if reason in known else "turn_ended"
            self.pane.say(f"turn over: {subtype}")
        if fault == "cancel-error-as-cancelled" and failure and failure[0] == -32800:
            subtype = "cancelled"
        if fault == "end-turn-as-cancelled" and self.cancel_asked and subtype == "end_turn":
            subtype = "cancelled"
        self.post_stop(subtype)
        if fault == "record-rewritten" and turn == 1:
            self.write_record(nativeRef=self.session)
        self.submit_next()
        self.stop_if_done()

    def post_stop(self, subtype):
        if self.held and fault != "permission-stop-posted":
            if fault == "permission-beat-held":
                self.loop.call_later(0.5, self.posts.post, "Stop", "idle")
            return
        times = 1
        if fault == "no-stop" or (subtype == "cancelled" and fault in ("cancelled-not-posted", "cancelled-on-asking")):
            times = 0
        if fault == "two-stops" or (subtype == "cancelled" and fault == "cancelled-twice"):
            times = 2
        for _ in range(times):
            self.posts.post("Stop", subtype)

    def on_interrupt(self):
        if fault == "ctrl-c-kills-agent":
            self.agent.signal(signal.SIGINT)
        else:
            self.abort()

    def abort(self):
        """Asks the agent to cancel; what becomes of the turn is the agent's word alone."""
        if not self.turn and fault != "cancel-while-idle":
            return self.pane.say("nothing to cancel: no prompt is running")
        if fault != "cancel-not-shown":
            self.pane.say(f"cancel requested at {now():%H:%M:%S}Z; the turn goes on until the agent ends it")
        self.drop_waiting()
        self.cancel_asked = True
        if fault == "cancel-as-request":
            self.agent.request("session/cancel", {"sessionId": self.session}, lambda answer: None)
        elif fault != "cancel-not-sent":
            self.agent.send({"method": "session/cancel", "params": {"sessionId": self.session}})
        if fault == "cancelled-on-asking":
            self.posts.post("Stop", "cancelled")
        if fault == "ignored-cancel-reads-idle":
            self.loop.call_later(2, self.claim_idle, self.turn)

    # --- what the agent sends ------------------------------------------------------------------------------------

    def on_request(self, request_id, method, params):
        if method == "session/request_permission":
            self.refuse_permission(request_id, params)
        elif fault == "unknown-request-empty-result":
            self.agent.send({"id": request_id, "result": {}})
        elif fault != "unknown-request-ignored":
            self.agent.send({"id": request_id, "error": {"code": -32601, "message": f"method not found: {method}"}})

    def refuse_permission(self, request_id, params):
        self.refused_in_turn += 1
        answer = {"id": request_id, "result": {"outcome": {"outcome": "cancelled"}}}
        options = as_list(params.get("options"))
        if fault == "permission-selected" and options:
            chosen = {"outcome": "selected", "optionId": as_dict(options[0]).get("optionId")}
            answer["result"]["outcome"] = chosen
        if fault == "permission-id-as-text":
            answer["id"] = str(request_id)
        if fault == "permission-late":
            self.loop.call_later(3, self.agent.send, answer)
        elif fault != "permission-unanswered" and not (fault == "permission-first-only" and self.refused_in_turn > 1):
            self.agent.send(answer)
        if self.stopping:
            return
        call = as_dict(params.get("toolCall"))
        asked = call.get("title") or self.titles.get(str(call.get("toolCallId")))
        if not asked and call.get("rawInput"):
            asked = json.dumps(call["rawInput"], ensure_ascii=False)
        asked = asked or call.get("toolCallId") or "something it did not name"
        if fault != "permission-not-shown":
            self.pane.say(f"! permission refused: {str(asked)[:4000]}")
        if fault != "permission-not-posted":
            self.held = True
            self.posts.post("Notification", "permission_prompt")

    def on_notification(self, method, params):
        if method != "session/update":
            if fault == "notification-answered":
                self.agent.send({"id": None, "error": {"code": -32601, "message": f"method not found: {method}"}})
            return
        update = as_dict(params.get("update"))
        kind, content = update.get("sessionUpdate"), as_dict(update.get("content"))
        text = content.get("text") if isinstance(content.get("text"), str) else ""
        if isinstance(update.get("title"), str) and "toolCallId" in update:
            self.titles[str(update["toolCallId"])] = update["title"]
            if len(self.titles) > 256:
                self.titles.popitem(last=False)
        # Outside a turn there is nothing to show: a reopened conversation's past may still be coming in.
        if kind == "agent_message_chunk" and self.turn and params.get("sessionId") == self.session:
            self.pane.stream(text)
        if fault == "updates-as-turns" and self.ready and not self.turn:
            self.posts.post("active", "agent_update")
        if fault == "resume-replay-as-prompts" and kind == "user_message_chunk" and not self.turn:
            self.pane.say(f"you ▸ {text}")
            self.posts.post("UserPromptSubmit", "accepted")
        if fault == "resume-replay-idle" and kind == "agent_message_chunk" and not self.ready:
            self.posts.post("Stop", "idle")

    def agent_exited(self):
        self.after_exit = self.loop.create_task(self.report_exit())

    async def report_exit(self):
        """Reports the exit once what the agent still said has been read; a child of it may keep its stdout open."""
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self.agent.stdout_ended.wait(), 0.5)
        if not self.stopping:
            self.opening.cancel()
            if fault == "exit-as-idle":
                self.posts.post("Stop", "idle")
            if fault != "exit-not-posted" and not (fault == "exit-hidden-while-held" and self.held):
                self.posts.post("Stop", f"{self.harness}_exited")
            self.turn = None
            if last_words := self.agent.last_words.decode("utf-8", "replace").strip():
                self.pane.say(f"its last words: {last_words}")
            self.give_up(f"the agent has exited ({self.agent.transport.get_returncode()})")
        await self.agent.end_rest_of_group()


def main():
    global fault
    parser = argparse.ArgumentParser(description="Runs one ACP agent in this terminal for OpenRig.")
    parser.add_argument("--agent", default="dsh acp", help="the agent's command line (default: %(default)s)")
    parser.add_argument("--fault", default="", choices=[name for name, _, _ in FAULTS], metavar="NAME",
                        help="break one behaviour on purpose")
    parser.add_argument("--list-faults", action="store_true", help="print the faults as JSON and end")
    options = parser.parse_args()
    if options.list_faults:
        print(json.dumps([dict(zip(("name", "clause", "what"), entry)) for entry in FAULTS], indent=1))
        return
    fault = options.fault
    loop = asyncio.new_event_loop()
    code = loop.run_until_complete(Seat(loop, options.agent).run())
    sys.stdout.flush()
    os._exit(code)  # the thread that reads the terminal, or a name lookup that hangs, must not hold up the end


if __name__ == "__main__":
    main()
