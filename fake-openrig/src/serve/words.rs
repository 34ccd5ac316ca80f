//! What happened on the seat, as a line for the log.

use crate::board::{BoardEvent, PostShown};

/// The line; none for what only a board shows.
pub(super) fn line(event: &BoardEvent) -> Option<String> {
    match event {
        BoardEvent::Post(post) => ended(post),
        BoardEvent::Reading(reading) => Some(format!(
            "seat reads: launch {}, activity {}",
            reading.launch, reading.activity
        )),
        BoardEvent::Record(record) => Some(format!("record: {}", record.says)),
        BoardEvent::Line(line) => Some(line.text.clone()),
        _ => None,
    }
}

/// A post has one line, when it ends.
fn ended(post: &PostShown) -> Option<String> {
    let outcome = post.outcome.as_ref()?;
    let mut line = format!("post {}: {}", post.id, post.event);
    let details = [
        ("sequence", post.sequence.map(|sequence| sequence.to_string())),
        ("turn", post.turn.clone()),
        ("liveness", post.liveness.map(|seconds| format!("{seconds} s"))),
    ];
    for (name, value) in details {
        if let Some(value) = value {
            line.push_str(&format!(" {name} {value}"));
        }
    }
    if let Some(token) = post.token {
        line.push_str(&format!(" ({token})"));
    }
    line.push_str(&format!(" -> {outcome}"));
    if let Some(why) = &post.why {
        line.push_str(&format!(", counts for nothing: {why}"));
    }
    Some(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_post_has_its_line_when_it_ends() {
        let mut post = PostShown {
            id: 2,
            at: 0,
            event: "Stop/idle".into(),
            sequence: Some(4),
            turn: Some("7".into()),
            liveness: Some(30),
            token: Some("no token"),
            outcome: None,
            counts: None,
            why: None,
            body: String::new(),
        };
        assert_eq!(line(&BoardEvent::Post(post.clone())), None);
        post.outcome = Some("200".into());
        post.why = Some("another seat's".into());
        assert_eq!(
            line(&BoardEvent::Post(post)).as_deref(),
            Some(
                "post 2: Stop/idle sequence 4 turn 7 liveness 30 s (no token) -> 200, counts for nothing: another seat's"
            )
        );
    }
}
