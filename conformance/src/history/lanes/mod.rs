//! What is seen in each lane, one file per lane.

mod pane;
mod post;
mod process;
mod reading;
mod record;
mod step;
mod wire;

pub use pane::{Pane, TerminalSettings};
pub use post::{Authorization, PostEnd, PostFact};
pub use process::Process;
pub use reading::Reading;
pub use record::{RecordChange, RecordFact};
pub use step::{Delivery, Launched, Step};
pub use wire::Wire;
