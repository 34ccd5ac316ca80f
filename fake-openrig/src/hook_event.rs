//! What one posted event says about a seat, before anything else is known of it.

/// The state one event stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EventState {
    Working,
    NeedsInput,
    Idle,
    Exited,
    Unknown,
}

impl EventState {
    /// Reads an event of a seat whose preset is `preset`.
    pub(crate) fn of(hook_event: Option<&str>, subtype: Option<&str>, preset: &str) -> Self {
        match (hook_event, subtype) {
            (Some("UserPromptSubmit" | "PreToolUse" | "active"), _) => Self::Working,
            (Some("PermissionRequest"), _)
            | (Some("Notification"), Some("permission_prompt" | "elicitation_dialog")) => Self::NeedsInput,
            (Some("Stop"), Some(subtype)) if is_exit(subtype, preset) => Self::Exited,
            (Some("Stop"), _) => Self::Idle,
            _ => Self::Unknown,
        }
    }

    /// The word the endpoint's answer uses for it.
    pub(crate) fn wire_name(self) -> &'static str {
        match self {
            Self::Working => "running",
            Self::NeedsInput => "needs_input",
            Self::Idle => "idle",
            Self::Exited => "exited",
            Self::Unknown => "unknown",
        }
    }
}

fn is_exit(subtype: &str, preset: &str) -> bool {
    subtype.strip_suffix("_exited") == Some(preset)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row() {
        let rows = [
            ("UserPromptSubmit", Some("accepted"), EventState::Working),
            ("UserPromptSubmit", None, EventState::Working),
            ("PreToolUse", Some("bash"), EventState::Working),
            ("active", Some("compaction"), EventState::Working),
            ("PermissionRequest", Some("bash"), EventState::NeedsInput),
            ("Notification", Some("permission_prompt"), EventState::NeedsInput),
            ("Notification", Some("elicitation_dialog"), EventState::NeedsInput),
            ("Notification", Some("runtime_error"), EventState::Unknown),
            ("Notification", None, EventState::Unknown),
            ("Stop", Some("dsh_exited"), EventState::Exited),
            ("Stop", Some("other_exited"), EventState::Idle),
            ("Stop", Some("_exited"), EventState::Idle),
            ("Stop", Some("cancelled"), EventState::Idle),
            ("Stop", Some("anything"), EventState::Idle),
            ("Stop", None, EventState::Idle),
            ("SessionStart", None, EventState::Unknown),
            ("stop", None, EventState::Unknown),
        ];
        for (hook_event, subtype, expected) in rows {
            assert_eq!(
                EventState::of(Some(hook_event), subtype, "dsh"),
                expected,
                "{hook_event}/{subtype:?}"
            );
        }
        assert_eq!(EventState::of(None, Some("accepted"), "dsh"), EventState::Unknown);
    }
}
