//! What seatcheck reports, and how it looks. One model, one file per format; nothing here knows how a run is made.

mod json;
mod model;
mod self_test;
mod table;

pub use json::{FormatError, read, write};
pub use model::{
    Claims, ClauseReport, FindingReport, Kit, LeftOut, Outcome, PromotionStep, Report, RunnerReport, SCHEMA,
    STATEMENT, ScenarioReport, Verdict,
};
pub use self_test::{MutantReport, SelfTest, VacuousReport};
pub use table::{clauses as clause_table, report as table, self_test as self_test_table};
