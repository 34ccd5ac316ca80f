//! What the documentation says about open questions, as data: each reading by its number, and each clause that is
//! read into the draft by its id.

/// An open question and how it is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reading {
    /// Its number, or the clause's id.
    pub key: &'static str,
    /// The question; empty for a clause.
    pub title: &'static str,
    /// The clauses it concerns, as their ids. For a clause, none but itself.
    pub concerns: &'static str,
    /// What the draft says.
    pub draft: &'static str,
    /// What is judged.
    pub judged: &'static str,
    /// What is let pass.
    pub let_pass: &'static str,
    /// The reason.
    pub why: &'static str,
}

const READINGS: &str = include_str!("../../../docs/readings.md");
const CLAUSES: &str = include_str!("../../../docs/clauses-read-into-the-draft.md");

impl Reading {
    /// The ids of the clauses that it concerns.
    pub fn clauses(&self) -> impl Iterator<Item = &'static str> {
        self.concerns.split('`').skip(1).step_by(2)
    }
}

/// The readings, by their numbers.
pub fn numbered() -> impl Iterator<Item = Reading> {
    sections(READINGS).map(|(heading, body)| {
        let (key, title) = heading.split_once(". ").unwrap_or((heading, ""));
        reading(key, title, body)
    })
}

/// The clauses that are read into the draft.
pub fn clauses() -> impl Iterator<Item = Reading> {
    sections(CLAUSES).map(|(heading, body)| reading(heading, "", body))
}

fn sections(text: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    text.split("\n## ")
        .skip(1)
        .map(|section| section.split_once('\n').unwrap_or((section, "")))
}

fn reading(key: &'static str, title: &'static str, body: &'static str) -> Reading {
    let line = |start: &str| {
        let found = body.lines().find_map(|line| line.strip_prefix(start));
        found.unwrap_or_default()
    };
    Reading {
        key,
        title,
        concerns: line("Concerns "),
        draft: line("- Draft: "),
        judged: line("- Judged: "),
        let_pass: line("- Let pass: "),
        why: line("- Why: "),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::{Path, PathBuf};

    use super::*;
    use crate::contract;

    /// Clauses of the contract that have their reading and not yet their judge.
    const NOT_JUDGED_YET: &[&str] = &["handoff.first-input-not-on-resume", "handoff.model-unapplied"];

    fn is_known(id: &str) -> bool {
        contract::clause(id).is_some() || NOT_JUDGED_YET.contains(&id)
    }

    #[test]
    fn the_readings_are_numbered_from_1_up_and_name_clauses_that_exist() {
        for (number, reading) in (1..).zip(numbered()) {
            assert_eq!(reading.key, format!("{number}"), "{reading:?}");
            assert!(!reading.title.is_empty(), "{reading:?}");
            assert!(reading.clauses().next().is_some(), "{reading:?}");
            for id in reading.clauses() {
                assert!(is_known(id), "reading {number} names {id}");
            }
        }
    }

    #[test]
    fn each_says_what_the_draft_says_what_is_judged_what_is_let_pass_and_why() {
        for reading in numbered().chain(clauses()) {
            for said in [reading.draft, reading.judged, reading.let_pass, reading.why] {
                assert!(said.ends_with('.'), "{reading:?}");
            }
        }
    }

    #[test]
    fn every_clause_that_is_read_into_the_draft_stands_there_once_and_no_other() {
        let written: Vec<&str> = clauses().map(|reading| reading.key).collect();
        let once: BTreeSet<&str> = written.iter().copied().collect();
        assert_eq!(once.len(), written.len());
        let read: BTreeSet<&str> = contract::clauses()
            .filter(|clause| clause.basis.contains("read"))
            .map(|clause| clause.id)
            .collect();
        let missing: Vec<_> = read.difference(&once).collect();
        assert!(
            missing.is_empty(),
            "docs/clauses-read-into-the-draft.md lacks {missing:?}"
        );
        for id in once.difference(&read) {
            assert!(NOT_JUDGED_YET.contains(id), "{id} is not read into the draft");
        }
    }

    /// Numbers that the code names as readings.
    fn named_in(text: &str) -> Vec<u32> {
        let mut named = Vec::new();
        for part in text.to_lowercase().split("reading").skip(1) {
            // "reading 3", "readings 23 and 24", "readings 23 to 25".
            let part = part.strip_prefix('s').unwrap_or(part);
            let Some(list) = part
                .strip_prefix(' ')
                .filter(|list| list.starts_with(|c: char| c.is_ascii_digit()))
            else {
                continue;
            };
            let end = list.find(|c: char| !c.is_ascii_digit() && !", andto".contains(c));
            let list = &list[..end.unwrap_or(list.len())];
            named.extend(
                list.split(|c: char| !c.is_ascii_digit())
                    .filter_map(|number| number.parse::<u32>().ok()),
            );
        }
        named
    }

    fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let path = entry.path();
            if path.is_dir() {
                sources(&path, found);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                found.push(path);
            }
        }
    }

    #[test]
    fn every_number_that_the_code_names_is_a_reading() {
        let known: BTreeSet<u32> = numbered()
            .filter_map(|reading| reading.key.parse().ok())
            .collect();
        let mut files = Vec::new();
        for folder in ["src", "mutants/src"] {
            sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder), &mut files);
        }
        let mut count = 0;
        for file in files {
            for number in named_in(&std::fs::read_to_string(&file).unwrap()) {
                assert!(known.contains(&number), "{}: {number}", file.display());
                count += 1;
            }
        }
        assert!(count > 30, "the search finds {count}");
    }

    #[test]
    fn the_table_says_which_variant_takes_which_side() {
        let rows: Vec<Vec<&str>> = READINGS
            .lines()
            .filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"))
            .map(|row| row.split(" | ").collect())
            .filter(|row: &Vec<&str>| row[0].parse::<u32>().is_ok())
            .collect();
        for (reading, row) in numbered().zip(&rows) {
            assert_eq!((row[0], row.len()), (reading.key, 3), "{row:?}");
            assert!(!row[2].is_empty(), "{row:?}");
        }
        assert_eq!(rows.len(), numbered().count());
        for variant in mutants::variants() {
            for manner in &variant.manners {
                let row = rows.iter().find(|row| row[0] == manner.reading.to_string());
                let row = row.unwrap_or_else(|| panic!("no row for {manner:?}"));
                assert!(
                    row[2].contains(&format!("`{}`", variant.name)),
                    "{manner:?}: {row:?}"
                );
            }
        }
    }
}
