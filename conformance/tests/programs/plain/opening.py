"""Opening the conversation: handshake, a new session or exactly the old one, launch record, model."""
import asyncio
import os

from plain.agent import as_dict, as_list, failure_of
from plain.faults import broken
from plain.launch import NAME, VERSION, setting

NOTICE_SECONDS, HANDSHAKE_SECONDS, MODEL_SECONDS = 5.0, 60.0, 10.0


class NotOpened(Exception):
    """There is no conversation; the text says why."""


class UnknownProtocol(NotOpened):
    """The agent speaks a protocol version that this runner does not: the connection is of no use."""


class Opening:
    """One attempt to open the conversation that the launch asks for: a new one, or the one `reference` names."""

    def __init__(self, agent, pane, record, reference):
        self.agent, self.pane, self.record, self.reference = agent, pane, record, reference
        self.place = {"cwd": os.getcwd(), "mcpServers": []}

    async def run(self):
        """Gives the session's id once the agent opened it, or raises NotOpened."""
        if broken("record-early"):
            self.record.write(nativeRef="pending")
        capabilities = await self.initialize()
        if self.reference is None or broken("resume-new-at-once"):
            session, opened = await self.new()
        else:
            session, opened = await self.reopen(capabilities)
        await self.apply_model(session, opened)
        return session

    async def answer_to(self, method, params):
        """The agent's answer to a step; where none comes, an error answer of our own stands in for it."""
        answer = self.agent.ask(method, params)
        await asyncio.wait({answer}, timeout=NOTICE_SECONDS)
        if not answer.done():
            if not broken("silence-not-shown"):
                self.pane.say(f"… the agent has not answered {method} yet; no conversation is open")
            await asyncio.wait({answer}, timeout=HANDSHAKE_SECONDS - NOTICE_SECONDS)
        return answer.result() if answer.done() else {"error": {"message": "no answer in time"}}

    async def initialize(self):
        """The handshake; gives what the agent can do."""
        offered = {}
        if broken("capabilities-untrue"):
            offered = {"fs": {"readTextFile": True, "writeTextFile": True}, "terminal": True}
        answer = await self.answer_to("initialize", {
            "protocolVersion": 1,
            "clientCapabilities": offered,
            "clientInfo": {"name": NAME, "version": VERSION},
        })
        if failure := failure_of(answer):
            raise NotOpened(f"the agent refused initialize: {failure[1]}")
        result = as_dict(answer["result"])
        spoken = result.get("protocolVersion")
        if (spoken != 1 or spoken is True) and not broken("ignores-version-mismatch"):
            raise UnknownProtocol(f"the agent speaks ACP version {spoken}, this runner only version 1")
        agent = as_dict(result.get("agentInfo"))
        self.record.producer += f"; {agent.get('name', 'agent')} {agent.get('version', 'of unknown version')}; ACP 1"
        return as_dict(result.get("agentCapabilities"))

    async def new(self):
        answer = await self.answer_to("session/new", self.place)
        if failure := failure_of(answer):
            if broken("record-on-failed-open"):
                self.record.write(nativeRef="unknown")
            raise NotOpened(f"the agent opened no conversation: {failure[1]}")
        session = as_dict(answer["result"]).get("sessionId")
        if not isinstance(session, str) or not session:
            raise NotOpened("the agent opened a conversation without an id")
        self.record.write(nativeRef=session)
        return session, as_dict(answer["result"])

    async def reopen(self, capabilities):
        """Reopens the conversation by the method the agent advertises, load before resume; never opens another."""
        if broken("resume-in-name-only"):
            raise NotOpened("reopening is left for another day")
        if capabilities.get("loadSession") is True:
            method = "session/load"
        elif as_dict(capabilities.get("sessionCapabilities")).get("resume") is not None:
            method = "session/resume"
        elif broken("resume-load-unadvertised"):
            method = "session/load"
        else:
            raise NotOpened("this agent can't reopen a conversation: whether it still exists is unconfirmed")
        reference = self.reference[:-1] if broken("resume-wrong-ref") else self.reference
        answer = await self.answer_to(method, {"sessionId": reference, **self.place})
        if failure := failure_of(answer):
            if broken("resume-new-after-failure"):
                return await self.new()
            if broken("resume-prompt-after-failure"):
                return self.reference, {}
            if self.says_missing(answer) or broken("resume-missing-on-any-error"):
                if not broken("resume-never-missing"):
                    self.record.write(error="missing")
                raise NotOpened(f"the agent says that the conversation does not exist: {failure[1]}")
            raise NotOpened(f"the conversation was not reopened and is unconfirmed: {failure[1]}")
        opened = as_dict(answer["result"])
        if opened.get("sessionId", self.reference) != self.reference:
            raise NotOpened("the agent reopened another conversation: the one asked for is unconfirmed")
        self.record.write(nativeRef=self.reference + ("-reopened" if broken("resume-record-other-ref") else ""))
        if broken("resume-prompt-to-new-session"):
            answer = await self.answer_to("session/new", self.place)
            return as_dict(answer.get("result")).get("sessionId", self.reference), opened
        return self.reference, opened

    def says_missing(self, answer):
        """Whether an error is the agent's own word that this conversation, and nothing else, is not there."""
        error = as_dict(answer.get("error"))
        data = as_dict(error.get("data"))
        named = [data.get("sessionId"), data.get("session_id"), data.get("uri")]
        this = error.get("data") is None or self.reference in named or f"session:{self.reference}" in named
        return error.get("code") == -32002 and this

    async def apply_model(self, session, opened):
        """Asks for the declared model by what the agent offers: a config option, else the older model list."""
        model = setting("OPENRIG_MODEL")
        if not model or broken("model-ignored"):
            return
        if self.reference is not None and broken("model-ignored-on-resume"):
            return
        options = [as_dict(option) for option in as_list(opened.get("configOptions"))]
        option = next((o for o in options if o.get("category") == "model" or o.get("id") == "model"), None)
        older = as_list(as_dict(opened.get("models")).get("availableModels"))
        if option:
            choices = [as_dict(choice) for choice in as_list(option.get("options"))]
            choices += [as_dict(inner) for group in choices for inner in as_list(group.get("options"))]
            params = {"configId": option.get("id"), "value": self.choose(model, choices, "value")}
            answer = self.agent.ask("session/set_config_option", {"sessionId": session, **params})
        elif older:
            params = {"modelId": self.choose(model, [as_dict(choice) for choice in older], "modelId")}
            answer = self.agent.ask("session/set_model", {"sessionId": session, **params})
        else:
            return self.pane.say(f"! the agent offers no choice of model: {model} is only in its OPENRIG_MODEL")
        await asyncio.wait({answer}, timeout=MODEL_SECONDS)
        failure = failure_of(answer.result()) if answer.done() else (None, "no answer in time")
        if failure and not broken("model-refusal-hidden"):
            self.pane.say(f"! the model {model} was not applied: {failure[1]}")

    @staticmethod
    def choose(model, choices, key):
        """The choice's value whose value or name is this model; else the model as it is, for the agent to judge."""
        if any(choice.get(key) == model for choice in choices):
            return model
        return next((choice[key] for choice in choices if choice.get("name") == model and key in choice), model)
