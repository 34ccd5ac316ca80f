//! Judges take any history.

use proptest::prelude::*;

use super::super::CLAUSES;
use crate::contract::history_builder::HistoryBuilder;
use crate::history::views::Views;

/// Lines and posts that make no sense, in any order.
fn strange(history: HistoryBuilder, choice: u8) -> HistoryBuilder {
    match choice {
        0 => history.agent_writes(r#"{"jsonrpc":"2.0","id":null,"method":"session/request_permission"}"#),
        1 => history
            .agent_writes(r#"{"jsonrpc":"2.0","id":1,"method":"session/request_permission","params":[]}"#),
        2 => history.runner_writes(r#"{"jsonrpc":"2.0","id":1,"result":7}"#),
        3 => history.runner_writes(r#"{"id":"1","error":"no"}"#),
        4 => history.post_with("Notification", "permission_prompt", |body| {
            body["sequence"] = "x".into()
        }),
        5 => history.post_with("Stop", "idle", |body| body["sequence"] = 0.into()),
        6 => history.agent_ended(),
        7 => history.stopping(),
        8 => history.prompt("\u{1b}[\u{7f}").permission("call"),
        9 => history.end_turn("end_turn"),
        10 => history.after_ms(5_000),
        11 => history.launch(|_| {}),
        12 => history.agent_writes("[]"),
        13 => history.accepted(),
        14 => history.agent_writes(r#"{"jsonrpc":"2.0","method":"news"}"#),
        _ => history.agent_writes(r#"{"jsonrpc":"2.0","id":2,"method":"fs/read_text_file"}"#),
    }
}

proptest! {
    #[test]
    fn is_judged_without_a_panic(choices in proptest::collection::vec(0_u8..16, 0..24)) {
        let history = choices.into_iter().fold(HistoryBuilder::launched(), strange).history();
        for clause in CLAUSES.iter().chain(crate::contract::evidence::CLAUSES) {
            let _ = (clause.judge)(&Views::new(&history));
        }
    }
}
