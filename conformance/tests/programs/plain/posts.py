"""Activity posts: what happened in the seat, told to OpenRig's endpoint in the order it happened."""
import asyncio
import contextlib
import datetime
import json
import os
import re
import threading
import urllib.parse

from plain.faults import broken
from plain.launch import setting

WAITING_LIMIT = 1000  # posts
POST_SECONDS = 2.0


def now():
    """This moment, in UTC."""
    return datetime.datetime.now(datetime.timezone.utc)


class Posts:
    """Facts to OpenRig's activity endpoint: one at a time, in order, never waited for by anyone."""

    def __init__(self, pane, harness):
        self.pane, self.harness, self.queue = pane, harness, asyncio.Queue()
        self.sequence, self.last_time, self.trouble_shown, self.idle_stops = 0, "", False, 0
        self.conversation = None  # only a fault ever posts it

    def post(self, hook_event, subtype):
        if self.queue.qsize() >= WAITING_LIMIT:
            return
        if broken("sequence-starts-over") and subtype == "accepted":
            self.sequence = 0
        self.sequence = 1 if broken("sequence-constant") else self.sequence + 1
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
        if broken("hung-endpoint-blocks"):
            thread = threading.Thread(target=asyncio.run, args=(self.deliver(body),), daemon=True)
            thread.start()
            thread.join()
        else:
            self.queue.put_nowait(body)

    def distort(self, body):
        """The faults of a post's own fields."""
        if broken("post-field-missing"):
            del body["runtime"]
        if broken("post-wrong-session-name"):
            body["sessionName"] = "plain-runner"
        if broken("id-posted"):
            body["conversation"] = self.conversation
        if broken("occurred-at-local"):
            body["occurredAt"] = datetime.datetime.now().isoformat(timespec="milliseconds")
        if broken("occurred-at-past"):
            body["occurredAt"] = (now() - datetime.timedelta(hours=1)).isoformat(timespec="milliseconds")
        if body["hookEvent"] == "Stop" and not body["subtype"].endswith("_exited"):
            self.idle_stops += 1
            if broken("liveness-zero"):
                body["livenessSeconds"] = 0
            if broken("liveness-without-beats"):
                body["livenessSeconds"] = 1
            if broken("liveness-sometimes") and self.idle_stops % 2:
                body["livenessSeconds"] = 3600

    async def run(self):
        while body := await self.queue.get():
            if broken("posts-parallel"):
                asyncio.ensure_future(self.deliver(body))
            else:
                await self.deliver(body)
            self.queue.task_done()

    async def deliver(self, body):
        """Sends one post and repeats it once, unless OpenRig just hung: the facts behind it must not wait twice."""
        limit = None if broken("post-without-timeout") else 8.0 if broken("hung-endpoint-blocks") else POST_SECONDS
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
            with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
                with open(os.path.join(home, "activity-endpoint.json"), encoding="utf-8") as file:
                    found = json.load(file)
                base, token = base or found["baseUrl"], token or found["token"]
        return base, "plain-token" if broken("post-wrong-token") else token

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
