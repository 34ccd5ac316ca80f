use super::*;
use crate::sample::sample;
use crate::{Still, TimelineEvent};

const HOSTILE: &str = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\u{1b}[2J&quot;\u{2028}";

fn hostile() -> (Report, Vec<Timeline>) {
    let mut report = sample();
    report.runner.name = HOSTILE.into();
    report.runner.command = HOSTILE.into();
    report.runner.producer = Some(HOSTILE.into());
    report.reasons.push(HOSTILE.into());
    report.clauses[1].said = Some(HOSTILE.into());
    report.scenarios[0].title = HOSTILE.into();
    report.scenarios[0].stopped_at = Some(HOSTILE.into());
    report.scenarios[0].findings[0].said = HOSTILE.into();
    let timeline = Timeline {
        scenario: report.scenarios[0].id.clone(),
        events: vec![TimelineEvent {
            sequence: 7,
            at: 1_000_000,
            launch: 1,
            lane: "pane".into(),
            said: HOSTILE.into(),
            raw: Some(HOSTILE.into()),
        }],
        stills: vec![Still {
            sequence: 7,
            lines: vec![HOSTILE.into()],
        }],
    };
    (report, vec![timeline])
}

#[test]
fn a_page() {
    let page = html(&sample(), &[]).unwrap();
    let body = page.split_once("</head>").unwrap().1;
    insta::assert_snapshot!(body.replace(SCRIPT, "…"));
}

#[test]
fn nothing_of_a_stranger_becomes_markup() {
    let (report, timelines) = hostile();
    let page = html(&report, &timelines).unwrap();
    assert_eq!(page.matches("<script").count(), 2, "ours and the data");
    assert_eq!(page.matches("</script>").count(), 2);
    assert!(!page.contains("<img"));
}

#[test]
fn the_page_loads_nothing() {
    let (report, timelines) = hostile();
    let page = html(&report, &timelines).unwrap();
    assert!(page.contains("default-src &#39;none&#39;") || page.contains("default-src &#x27;none&#x27;"));
    for loading in ["<link", "<iframe", "@import", "url(", "src=\"", "href=\"http"] {
        assert!(!page.contains(loading), "{loading}");
    }
}

#[test]
fn the_data_is_what_was_given() {
    let (report, timelines) = hostile();
    let json = data::json(&report, &timelines).unwrap();
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(value["scenarios"][0]["events"][0][4], HOSTILE);
    assert_eq!(value["scenarios"][0]["stills"][0]["lines"][0], HOSTILE);
}
