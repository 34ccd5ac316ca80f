//! Several edges as one, one behind the other.

use reference_runner::{Crossing, Edge, LaunchFacts};

/// Edges from the runner outwards. What leaves the runner passes them in this order, what enters it in the other;
/// what one of them makes of a crossing goes on from there.
pub(crate) struct Chain(pub(crate) Vec<Box<dyn Edge>>);

impl Edge for Chain {
    fn launched(&mut self, facts: &mut LaunchFacts) {
        for edge in &mut self.0 {
            edge.launched(facts);
        }
    }

    fn cross(&mut self, crossing: Crossing) -> Vec<Crossing> {
        let from = if enters(&crossing) { self.0.len() } else { 0 };
        let mut arrived = Vec::new();
        self.go_on(crossing, from, &mut arrived);
        arrived
    }
}

impl Chain {
    /// Takes a crossing on from between two edges; `passed` of them are on the runner's side of it.
    fn go_on(&mut self, crossing: Crossing, passed: usize, arrived: &mut Vec<Crossing>) {
        let next = if enters(&crossing) {
            passed.checked_sub(1)
        } else {
            Some(passed)
        };
        let Some((index, edge)) = next.and_then(|index| Some((index, self.0.get_mut(index)?))) else {
            arrived.push(crossing);
            return;
        };
        for made in edge.cross(crossing) {
            let passed = if enters(&made) { index } else { index + 1 };
            self.go_on(made, passed, arrived);
        }
    }
}

/// Whether it comes from outside into the runner.
fn enters(crossing: &Crossing) -> bool {
    matches!(
        crossing,
        Crossing::Typed(_) | Crossing::EndOfInput | Crossing::Signal(_) | Crossing::FromAgent(_)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::altered::on_crossing;

    /// Marks lines that it passes, and sends one of its own to the agent for each that comes from there.
    fn marking(mark: char) -> Box<dyn Edge> {
        on_crossing(move |_, crossing| match crossing {
            Crossing::ToAgent(line) => Some(vec![Crossing::ToAgent(format!("{line}{mark}"))]),
            Crossing::FromAgent(line) => Some(vec![
                Crossing::ToAgent(mark.to_string()),
                Crossing::FromAgent(format!("{line}{mark}")),
            ]),
            _ => None,
        })
    }

    #[test]
    fn each_way_has_its_order_and_what_is_made_on_the_way_goes_on_from_there() {
        let mut chain = Chain(vec![marking('a'), marking('b')]);
        let out = Crossing::ToAgent(String::new());
        assert_eq!(chain.cross(out), [Crossing::ToAgent("ab".into())]);
        assert_eq!(
            chain.cross(Crossing::FromAgent(String::new())),
            [
                Crossing::ToAgent("b".into()),
                Crossing::ToAgent("ab".into()),
                Crossing::FromAgent("ba".into()),
            ]
        );
    }
}
