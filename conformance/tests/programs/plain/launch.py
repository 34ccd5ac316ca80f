"""The launch: what OpenRig passes in the environment, and the launch record that answers it."""
import contextlib
import datetime
import json
import os
import time
import urllib.parse

from plain.faults import broken

NAME, VERSION = "plain-runner", "1.0.0"


def setting(name):
    """An environment variable's value, or None where it is unset or empty."""
    return os.environ.get(name) or None


class LaunchRecord:
    """The record of this launch attempt. Written whole or not at all: a new file takes the name's place."""

    def __init__(self, pane, harness):
        self.pane, self.harness, self.written = pane, harness, False
        self.producer = f"{NAME} {VERSION}"

    def write(self, **outcome):
        """Writes `nativeRef=…` or `error="missing"`; without a path or an attempt there is nothing to write."""
        path, attempt = setting("OPENRIG_LAUNCH_RESULT"), setting("OPENRIG_LAUNCH_ATTEMPT")
        if not path or not attempt or broken("no-record") or (broken("record-early") and self.written):
            return
        if broken("stale-record-left") and os.path.exists(path):
            return
        record = {"format": 1, "attempt": attempt, "harness": self.harness, **outcome, "producer": self.producer}
        self.distort(record)
        text = json.dumps(record) + "\n"
        if broken("record-in-pieces"):
            with open(path, "w", encoding="utf-8") as file:
                file.write(text[:40])
                file.flush()
                time.sleep(0.3)
                file.write(text[40:])
            return
        part = f"{path}.{os.getpid()}.part"
        try:
            with open(part, "w", encoding="utf-8") as file:
                file.write(text)
            os.replace(part, path)
            self.written = True
        except OSError as error:
            self.pane.say(f"! the launch record can't be written: {error.strerror}")
            with contextlib.suppress(OSError):
                os.unlink(part)

    def distort(self, record):
        """The faults of the record's own fields."""
        reference = record.get("nativeRef")
        if broken("record-wrong-attempt"):
            record["attempt"] = "1"
        if broken("record-wrong-harness"):
            record["harness"] = "acp"
        if broken("record-empty-producer"):
            record["producer"] = ""
        if broken("record-rewritten") and self.written:
            record["producer"] += f"; written {datetime.datetime.now().isoformat()}"
        if reference and broken("record-ref-and-error"):
            record["error"] = "missing"
        if reference and broken("record-ref-cut"):
            record["nativeRef"] = reference[:32]
        if reference and broken("record-ref-escaped"):
            record["nativeRef"] = urllib.parse.quote(reference, safe="", errors="replace")
