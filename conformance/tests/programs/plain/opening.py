    # --- opening -------------------------------------------------------------------------------------------------

    async def open(self):
        if broken("record-early"):
            self.write_record(nativeRef="pending")
        capabilities = {}
        if broken("capabilities-untrue"):
            capabilities = {"fs": {"readTextFile": True, "writeTextFile": True}, "terminal": True}
        name, version = NAME_AND_VERSION.split()
        answer = await self.answer_to("initialize", {
            "protocolVersion": 1, "clientCapabilities": capabilities,
            "clientInfo": {"name": name, "version": version},
        })
        if failure := failure_of(answer):
            return self.give_up(f"the agent refused initialize: {failure[1]}")
        result = as_dict(answer["result"])
        if result.get("protocolVersion") != 1 and not broken("ignores-version-mismatch"):
            self.give_up(f"the agent speaks ACP {result.get('protocolVersion')}, this runner only ACP 1")
            return await self.agent.end()
        agent = as_dict(result.get("agentInfo"))
        self.producer += f"; {agent.get('name', 'agent')} {agent.get('version', 'of unknown version')}; ACP 1"
        place = {"cwd": os.getcwd(), "mcpServers": []}
        if self.reference is None or broken("resume-new-at-once"):
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
            if broken("record-on-failed-open"):
                self.write_record(nativeRef="unknown")
            return self.give_up(f"the agent opened no conversation: {failure[1]}")
        if not isinstance(session, str) or not session:
            return self.give_up("the agent opened a conversation without an id")
        return self.opened(session, answer)

    async def reopen(self, capabilities, place):
        if capabilities.get("loadSession") is True or broken("resume-load-unadvertised"):
            method = "session/load"
        elif as_dict(capabilities.get("sessionCapabilities")).get("resume") is not None:
            method = "session/resume"
        else:
            return self.give_up("this agent can't reopen a conversation; whether it still exists is unconfirmed")
        reference = self.reference[:-1] if broken("resume-wrong-ref") else self.reference
        answer = await self.answer_to(method, {"sessionId": reference, **place})
        failure = failure_of(answer)
        if not failure and as_dict(answer["result"]).get("sessionId", self.reference) != self.reference:
            return self.give_up("the agent reopened another conversation; the one asked for is unconfirmed")
        if not failure:
            opened = self.opened(self.reference, answer)
            if broken("resume-prompt-to-new-session"):
                answer = await self.answer_to("session/new", place)
                self.session = as_dict(answer.get("result")).get("sessionId", self.session)
            return opened
        if broken("resume-new-after-failure"):
            return await self.open_new(place)
        if broken("resume-prompt-after-failure"):
            self.session = self.reference
            return {}
        if self.says_missing(answer) or broken("resume-missing-on-any-error"):
            if not broken("resume-never-missing"):
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
        other = broken("resume-record-other-ref") and self.reference
        self.write_record(nativeRef=f"{session}-reopened" if other else session)
        return as_dict(answer["result"])

    def write_record(self, **what):
        path, attempt = setting("OPENRIG_LAUNCH_RESULT"), setting("OPENRIG_LAUNCH_ATTEMPT")
        if not path or not attempt or broken("no-record") or (broken("record-early") and self.recorded):
            return
        if broken("stale-record-left") and os.path.exists(path):
            return
        record = {"format": 1, "attempt": attempt, "harness": self.harness, **what, "producer": self.producer}
        if broken("record-wrong-attempt"):
            record["attempt"] = "1"
        if broken("record-wrong-harness"):
            record["harness"] = "acp"
        if broken("record-empty-producer"):
            record["producer"] = ""
        if broken("record-ref-and-error"):
            record.update(nativeRef=self.session, error="missing")
        if broken("record-ref-cut") and "nativeRef" in record:
            record["nativeRef"] = record["nativeRef"][:32]
        if broken("record-ref-escaped") and "nativeRef" in record:
            record["nativeRef"] = urllib.parse.quote(record["nativeRef"], safe="", errors="replace")
        if broken("record-rewritten") and self.recorded:
            record["producer"] += f"; written {now().isoformat()}"
        text = json.dumps(record) + "\n"
        if broken("record-in-pieces"):
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
        if not model or broken("model-ignored"):
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
        if path and self.reference is None and not broken("first-input-ignored"):
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
