"""The seat: what comes from the pane and what comes from the agent, made into turns and reports."""
import asyncio
import collections
import contextlib
import json
import os
import signal
import threading

from plain.agent import Agent, as_dict, as_list, failure_of
from plain.faults import broken
from plain.launch import LaunchRecord, setting
from plain.opening import NotOpened, Opening, UnknownProtocol
from plain.posts import Posts, now
from plain.terminal import BLOCK_LIMIT, LineBlocks, Pane, TerminalBlocks

TITLES_KEPT = 256
STOP_SECONDS = 2.7


class Seat:
    """One agent and one conversation in one pane.

    Every message is handled at once and without waiting, so that the order in which things happened, are shown and
    are posted is one order. `turn` is the number of the prompt in flight, or None.
    """

    def __init__(self, loop, command):
        self.loop, self.command = loop, command
        self.harness = setting("OPENRIG_RUNTIME") or "dsh"
        self.reference = setting("OPENRIG_RESUME_REF")
        self.pane = Pane(loop)
        self.posts = Posts(self.pane, self.harness)
        self.record = LaunchRecord(self.pane, self.harness)
        self.agent = self.session = self.turn = self.opening = self.exit_report = None
        self.ready = self.held = self.cancel_asked = self.input_ended = self.stopping = False
        self.unusable = ""  # why no prompt can be submitted any more
        self.turns, self.refused_in_turn = 0, 0
        self.waiting, self.titles = collections.deque(), collections.OrderedDict()
        self.end = loop.create_future()

    # --- the seat's life -----------------------------------------------------------------------------------------

    async def run(self):
        """Runs the seat until its input ends or a signal comes; gives the exit code."""
        for number, ignored in ((signal.SIGHUP, "hangup-ignored"), (signal.SIGTERM, "terminate-ignored")):
            ending = (lambda _: None) if broken(ignored) else self.stop
            self.loop.add_signal_handler(number, ending, 128 + number)
        if broken("resize-ends-seat"):
            self.loop.add_signal_handler(signal.SIGWINCH, self.stop, 1)
        self.loop.add_signal_handler(signal.SIGINT, self.on_interrupt)
        try:
            self.pane.open()
            if broken("dies-without-record-path") and not setting("OPENRIG_LAUNCH_RESULT"):
                return 1
            environment = dict(os.environ)
            token = environment.pop("OPENRIG_ACTIVITY_HOOK_TOKEN", "")  # the right to post is the runner's own
            arguments = [token] if broken("token-in-arguments") else []
            if broken("token-shown"):
                for byte in f"posting with {token}\n":
                    self.pane.stream(byte)
            _, self.agent = await self.loop.subprocess_exec(
                lambda: Agent(self), *self.command, *arguments, env=environment, process_group=0
            )
        except OSError as error:
            self.pane.say(f"! the agent {self.command[0]} can't be started: {error.strerror}")
            return 127
        else:
            posting = self.loop.create_task(self.posts.run())
            self.opening = self.loop.create_task(self.open())
            threading.Thread(target=self.read_input, daemon=True).start()
            code = await self.end
            await self.close()
            posting.cancel()
            return code
        finally:
            self.pane.close()

    def stop(self, code):
        if not self.end.done():
            self.end.set_result(code)

    async def close(self):
        """Ends the agent and lets the posts that wait go out, in bounded time."""
        self.stopping = True
        self.opening.cancel()
        self.pane.close()
        if broken("cancelled-on-stop") and self.turn:
            self.posts.post("Stop", "cancelled")
        if broken("exit-claimed-on-stop"):
            self.posts.post("Stop", f"{self.harness}_exited")
            await self.posts.queue.join()
            await asyncio.sleep(1)
        with contextlib.suppress(asyncio.TimeoutError):
            async with asyncio.timeout(STOP_SECONDS):
                await self.agent.end()
                if self.exit_report:
                    await self.exit_report
                await self.posts.queue.join()

    async def open(self):
        try:
            self.session = await Opening(self.agent, self.pane, self.record, self.reference).run()
        except NotOpened as reason:
            self.give_up(str(reason))
            if isinstance(reason, UnknownProtocol):
                await self.agent.end()
            return
        self.posts.conversation = self.session
        self.ready = True
        self.pane.say(f"ready: {self.record.producer}")
        self.take_first_input()
        self.submit_next()

    def take_first_input(self):
        """Puts the launch's first input before what was typed; a reopened conversation has had its own already."""
        path = setting("OPENRIG_FIRST_INPUT")
        if not path or broken("first-input-ignored"):
            return
        if self.reference is not None and not broken("first-input-on-resume"):
            return
        try:
            with open(path, encoding="utf-8", errors="replace", newline="") as file:
                text = file.read(BLOCK_LIMIT)
        except OSError as error:
            return self.pane.say(f"! the first input can't be read: {error.strerror}")
        if text.strip() and broken("first-input-last"):
            self.waiting.append(text)
        elif text.strip():
            self.waiting.appendleft(text)

    def give_up(self, reason):
        """No prompt will be submitted any more, and the pane says why."""
        self.unusable = reason
        self.pane.say(f"! {reason}")
        self.drop_waiting()
        self.stop_if_done()

    def stop_if_done(self):
        """Ends the seat where a pipe was its input and all that it brought is done."""
        if self.input_ended and not self.turn and not self.waiting and (self.ready or self.unusable):
            self.stop(0)

    # --- input ---------------------------------------------------------------------------------------------------

    def read_input(self):
        """The thread that reads the terminal; it hands each message over to the event loop."""
        blocks = TerminalBlocks() if self.pane.saved else LineBlocks()
        data = self.pane.early
        while True:
            with contextlib.suppress(OSError):  # the terminal is gone: the same as its end
                data = data or os.read(0, 65536)
            for kind, text in blocks.feed(data) if data else blocks.close() + [("end", "")]:
                self.loop.call_soon_threadsafe(self.on_input, kind, text)
            if not data:
                return
            data = b""

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
            if not broken("end-of-input-ignored", "hangup-ignored"):
                self.stop(0)
        else:  # what a pipe brought is still worked off
            self.input_ended = True
            self.stop_if_done()

    def on_block(self, text):
        text = text.strip() if broken("input-trimmed") else text
        control = text == "/abort" or (broken("abort-trimmed") and text.strip() == "/abort")
        if broken("abort-line-acts") and "/abort" in text.splitlines():
            control = True
        if control and not broken("abort-as-prompt"):
            return self.abort()
        for part in text.splitlines() if broken("input-split-lines") else [text]:
            if part.strip():
                self.accept_message(part)

    def accept_message(self, text):
        if self.unusable:
            return self.pane.say(f"! not sent: {self.unusable}")
        self.waiting.append(text)
        if broken("accepted-when-queued"):
            self.posts.post("UserPromptSubmit", "accepted")
        if (self.turn or not self.ready) and not broken("queue-not-shown"):
            until = "the running turn has ended" if self.turn else "the agent is ready"
            self.pane.say(f"queued until {until} ({len(self.waiting)} waiting)")
        self.submit_next()

    def drop_waiting(self):
        if self.waiting:
            self.pane.say(f"! waiting messages dropped, not sent: {len(self.waiting)}")
            self.waiting.clear()

    # --- turns ---------------------------------------------------------------------------------------------------

    def submit_next(self):
        busy = self.turn is not None and not broken("queue-sent-at-once")
        if broken("next-before-cancel-answer") and self.cancel_asked:
            busy = False
        if busy or not self.ready or not self.waiting or self.unusable or self.stopping:
            return
        if not self.agent.reads():
            return self.give_up("the agent no longer reads its input")
        text = self.waiting.pop() if broken("queue-reversed") else self.waiting.popleft()
        if broken("queue-merged"):
            text = "\n".join([text, *self.waiting])
            self.waiting.clear()
        self.turns += 1
        self.turn, self.cancel_asked, self.refused_in_turn = self.turns, False, 0
        if not broken("prompt-not-mirrored"):
            self.pane.say(f"you ▸ {text}")
        turn, prompt = self.turn, {"sessionId": self.session, "prompt": [{"type": "text", "text": text}]}
        self.agent.request("session/prompt", prompt, lambda answer: self.turn_ended(turn, answer), self.submitted)

    def submitted(self):
        if not broken("permission-never-cleared"):
            self.held = False
        for _ in range(0 if broken("accepted-when-queued") else 2 if broken("accepted-twice") else 1):
            self.posts.post("UserPromptSubmit", "accepted")
        if broken("idle-when-silent"):
            self.loop.call_later(2, self.claim_idle, self.turn)

    def claim_idle(self, turn):
        """Only faults come here: an idle report for a turn of which nothing is known."""
        if self.turn == turn:
            self.posts.post("Stop", "idle")

    def turn_ended(self, turn, answer):
        failure, reason = failure_of(answer), as_dict(answer.get("result")).get("stopReason")
        if failure and broken("prompt-error-ignored"):
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
        if broken("cancel-error-as-cancelled") and failure and failure[0] == -32800:
            subtype = "cancelled"
        if broken("end-turn-as-cancelled") and self.cancel_asked and subtype == "end_turn":
            subtype = "cancelled"
        self.post_stop(subtype)
        if broken("record-rewritten") and turn == 1:
            self.record.write(nativeRef=self.session)
        self.submit_next()
        self.stop_if_done()

    def post_stop(self, subtype):
        if self.held and not broken("permission-stop-posted"):
            if broken("permission-beat-held"):
                self.loop.call_later(0.5, self.posts.post, "Stop", "idle")
            return
        times = 1
        if broken("no-stop") or (subtype == "cancelled" and broken("cancelled-not-posted", "cancelled-on-asking")):
            times = 0
        if broken("two-stops") or (subtype == "cancelled" and broken("cancelled-twice")):
            times = 2
        for _ in range(times):
            self.posts.post("Stop", subtype)

    def on_interrupt(self):
        if broken("ctrl-c-kills-agent"):
            self.agent.signal(signal.SIGINT)
        else:
            self.abort()

    def abort(self):
        """Asks the agent to cancel; what becomes of the turn is the agent's word alone."""
        if not self.turn and not (broken("cancel-while-idle") and self.session):
            return self.pane.say("nothing to cancel: no prompt is running")
        if not broken("cancel-not-shown"):
            self.pane.say(f"cancel requested at {now():%H:%M:%S}Z; the turn goes on until the agent ends it")
        self.drop_waiting()
        self.cancel_asked = True
        if broken("cancel-as-request"):
            self.agent.request("session/cancel", {"sessionId": self.session}, lambda answer: None)
        elif not broken("cancel-not-sent"):
            self.agent.send({"method": "session/cancel", "params": {"sessionId": self.session}})
        if broken("cancelled-on-asking"):
            self.posts.post("Stop", "cancelled")
        if broken("ignored-cancel-reads-idle"):
            self.loop.call_later(2, self.claim_idle, self.turn)

    # --- what the agent sends ------------------------------------------------------------------------------------

    def on_request(self, request_id, method, params):
        if method == "session/request_permission":
            self.refuse_permission(request_id, params)
        elif broken("unknown-request-empty-result"):
            self.agent.send({"id": request_id, "result": {}})
        elif not broken("unknown-request-ignored"):
            self.agent.send({"id": request_id, "error": {"code": -32601, "message": f"method not found: {method}"}})

    def refuse_permission(self, request_id, params):
        self.refused_in_turn += 1
        answer = {"id": request_id, "result": {"outcome": {"outcome": "cancelled"}}}
        options = as_list(params.get("options"))
        if broken("permission-selected") and options:
            chosen = {"outcome": "selected", "optionId": as_dict(options[0]).get("optionId")}
            answer["result"]["outcome"] = chosen
        if broken("permission-id-as-text"):
            answer["id"] = str(request_id)
        if broken("permission-late"):
            self.loop.call_later(3, self.agent.send, answer)
        elif not broken("permission-unanswered") and not (broken("permission-first-only") and self.refused_in_turn > 1):
            self.agent.send(answer)
        if not broken("permission-not-shown"):
            self.pane.say(f"! permission refused: {self.what_was_asked(as_dict(params.get('toolCall')))[:4000]}")
        if not broken("permission-not-posted"):
            self.held = True
            self.posts.post("Notification", "permission_prompt")

    def what_was_asked(self, call):
        """The request's title, else an earlier update's, and what the tool was to be run with; else the call's id."""
        title, given = call.get("title") or self.titles.get(str(call.get("toolCallId"))), call.get("rawInput")
        if isinstance(given, dict):
            given = ", ".join(f"{key}: {value}" for key, value in given.items())
        words = [str(word) for word in (title, given) if word]
        return " ▸ ".join(words) or str(call.get("toolCallId") or "it did not say for what")

    def on_notification(self, method, params):
        if method != "session/update":
            if broken("notification-answered"):
                self.agent.send({"id": None, "error": {"code": -32601, "message": f"method not found: {method}"}})
            return
        update = as_dict(params.get("update"))
        kind, content = update.get("sessionUpdate"), as_dict(update.get("content"))
        text = content.get("text") if isinstance(content.get("text"), str) else ""
        if isinstance(update.get("title"), str) and "toolCallId" in update:
            self.titles[str(update["toolCallId"])] = update["title"]
            if len(self.titles) > TITLES_KEPT:
                self.titles.popitem(last=False)
        # Outside a turn there is nothing to show: a reopened conversation's past may still be coming in.
        if kind == "agent_message_chunk" and self.turn and params.get("sessionId") == self.session:
            self.pane.stream(text)
        if broken("updates-as-turns") and self.ready and not self.turn:
            self.posts.post("active", "agent_update")
        if broken("resume-replay-as-prompts") and kind == "user_message_chunk" and not self.turn:
            self.pane.say(f"you ▸ {text}")
            self.posts.post("UserPromptSubmit", "accepted")
        if broken("resume-replay-idle") and kind == "agent_message_chunk" and not self.ready:
            self.posts.post("Stop", "idle")

    def agent_exited(self):
        self.exit_report = self.loop.create_task(self.report_exit())

    async def report_exit(self):
        """Reports the exit once what the agent still said has been read; a child of it may keep its stdout open."""
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self.agent.stdout_ended.wait(), 0.5)
        self.opening.cancel()
        if broken("exit-as-idle"):
            self.posts.post("Stop", "idle")
        if not broken("exit-not-posted") and not (broken("exit-hidden-while-held") and self.held):
            self.posts.post("Stop", f"{self.harness}_exited")
        self.turn = None
        if last_words := self.agent.last_words.decode("utf-8", "replace").strip():
            self.pane.say(f"the agent's last words: {last_words}")
        self.give_up(f"the agent has exited ({self.agent.transport.get_returncode()})")
        await self.agent.end_rest_of_group()
