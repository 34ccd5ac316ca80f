//! What seatcheck reports, and how it looks. One model, one file per format; nothing here knows how a run is made.

mod badge;
mod github;
mod html;
mod json;
mod junit;
mod markdown;
mod model;
#[cfg(test)]
mod sample;
mod self_test;
mod table;
mod timeline;

pub use badge::badge;
pub use github::annotations as github_annotations;
pub use html::{HtmlError, html};
pub use json::{FormatError, read, write};
pub use junit::junit;
pub use markdown::report as markdown;
pub use model::{
    Claims, ClauseReport, FindingReport, Kit, LeftOut, Outcome, PromotionStep, Report, RunnerReport, SCHEMA,
    STATEMENT, ScenarioReport, Verdict,
};
pub use self_test::{MutantReport, SelfTest, VacuousReport};
pub use table::{clauses as clause_table, report as table, self_test as self_test_table};
pub use timeline::{Still, Timeline, TimelineEvent};
