"""The behaviours this runner can break on purpose, one at a time, and the clause that each of them breaks."""

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

_active = ""


def choose(name):
    """Breaks one behaviour from now on; "" breaks none."""
    global _active
    _active = name


def broken(*names):
    """Whether the behaviour to break is one of these."""
    return _active in names


def listing():
    """All faults as dictionaries of name, clause and what."""
    return [{"name": name, "clause": clause, "what": what} for name, clause, what in FAULTS]
