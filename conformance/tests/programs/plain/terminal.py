"""The terminal: bytes in to messages, text out to the person who looks at the pane."""
import contextlib
import os
import re
import select
import signal
import termios
import tty

from plain.faults import broken

BLOCK_LIMIT = 4 << 20  # bytes of one message
PANE_LIMIT = 16 << 20  # bytes waiting for a terminal that does not read


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
        self.held = b"" if broken("input-split-marker-lost") else data[end:]
        return events

    def add(self, data):
        if self.too_large or self.dropping_paste:
            return
        self.text += data
        if len(self.text) > BLOCK_LIMIT:
            self.too_large = True
            self.text.clear()

    def in_paste_token(self, token):
        if token == b"\x03" and not broken("pasted-ctrl-c-is-text"):
            self.in_paste = not self.dropping_paste  # a second one leaves a paste that never ends
            self.dropping_paste = self.in_paste
            return self.interrupt()
        if token == b"\x1b[201~":
            self.in_paste = self.dropping_paste = False
            return self.enter() if broken("input-paste-submits") else []
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
        if broken("piped-lines-joined") and lines:
            lines = [b" ".join(lines)]
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
        self.is_terminal, self.saved = os.isatty(0), None
        self.in_line = self.closed = False
        self.early = b""  # what was typed before the terminal was raw
        self.line_end = "\r\n" if os.isatty(1) else "\n"

    def open(self):
        if self.is_terminal and not broken("input-cooked"):
            self.saved = termios.tcgetattr(0)
            self.early = self.read_early()
            tty.setraw(0, termios.TCSANOW)
        if os.isatty(1):
            # Opened anew: O_NONBLOCK on the descriptor we were given would change it for its other holders too.
            with contextlib.suppress(OSError):
                self.out = os.open(os.ttyname(1), os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK)
            if self.is_terminal and not broken("input-no-bracketed-paste"):
                self.write("\x1b[?2004h")

    @staticmethod
    def read_early():
        """Lines that came in before the terminal was raw: it has turned their Enter into a line feed."""
        early = b""
        with contextlib.suppress(OSError):
            while select.select([0], [], [], 0)[0] and (data := os.read(0, 65536)):
                early += data
        return early.removesuffix(b"\n") + b"\r" if early.endswith(b"\n") else early

    def close(self):
        """Gives the terminal back as it was found; nothing is written after it."""
        if self.closed or broken("terminal-not-restored"):
            return
        if self.is_terminal and os.isatty(1):
            self.write("\x1b[?2004l")
        if self.saved:
            signal.signal(signal.SIGTTOU, signal.SIG_IGN)  # a background process may be stopped for tcsetattr
            with contextlib.suppress(termios.error):
                termios.tcsetattr(0, termios.TCSANOW, self.saved)
        self.closed = True

    def say(self, text):
        """Shows lines of its own, whatever stands in the last line."""
        self.stream(("\n" if self.in_line else "") + text + "\n")

    def stream(self, text):
        """Shows text as it comes, without the control characters that could disturb the terminal."""
        text = re.sub(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", "", text.replace("\r\n", "\n").replace("\r", "\n"))
        if text:
            self.in_line = not text.endswith("\n")
            self.write(text.replace("\n", self.line_end))

    def write(self, text):
        if broken("piped-coloured") and not self.is_terminal:
            text = f"\x1b[2m{text}\x1b[0m"
        waiting = bool(self.unwritten)
        if not self.closed and len(self.unwritten) < PANE_LIMIT:
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
