//! The data that the page's script draws from.

use std::collections::HashMap;

use serde::Serialize;

use crate::timeline::LANES;
use crate::{FindingReport, Report, Still, Timeline};

#[derive(Serialize)]
struct Data<'a> {
    lanes: [&'static str; LANES.len()],
    scenarios: Vec<Scenario<'a>>,
}

/// Sequence, nanoseconds, launch, lane's place, words, raw: names would be most of the page.
type Drawn<'a> = (u64, u64, u32, usize, &'a str, Option<&'a str>);

#[derive(Serialize)]
struct Scenario<'a> {
    stopped_at: Option<&'a str>,
    fault: Option<&'a str>,
    findings: &'a [FindingReport],
    events: Vec<Drawn<'a>>,
    stills: &'a [Still],
}

/// The data as JSON that may stand in a page: no character of it can end the element it stands in.
pub(super) fn json(report: &Report, timelines: &[Timeline]) -> serde_json::Result<String> {
    let timelines: HashMap<&str, &Timeline> = timelines
        .iter()
        .map(|timeline| (timeline.scenario.as_str(), timeline))
        .collect();
    let scenarios = report
        .scenarios
        .iter()
        .map(|scenario| {
            let timeline = timelines.get(scenario.id.as_str());
            Scenario {
                stopped_at: scenario.stopped_at.as_deref(),
                fault: scenario.fault.as_deref(),
                findings: &scenario.findings,
                events: timeline
                    .iter()
                    .flat_map(|timeline| &timeline.events)
                    .map(|event| {
                        let lane = LANES
                            .iter()
                            .position(|lane| *lane == event.lane)
                            .unwrap_or_default();
                        (
                            event.sequence,
                            event.at,
                            event.launch,
                            lane,
                            event.said.as_str(),
                            event.raw.as_deref(),
                        )
                    })
                    .collect(),
                stills: timeline.map_or(&[], |timeline| &timeline.stills),
            }
        })
        .collect();
    let json = serde_json::to_string(&Data {
        lanes: LANES,
        scenarios,
    })?;
    Ok(json
        .replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('&', "\\u0026")
        .replace('\u{2028}', "\\u2028")
        .replace('\u{2029}', "\\u2029"))
}
