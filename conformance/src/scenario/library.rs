//! The scenarios that are built in, and those that a user brings.

use std::path::{Path, PathBuf};

use super::{Scenario, ScenarioError, load};

/// Names and texts of the built-in scenarios, put together by the build script.
const BUILT_IN: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/scenarios.rs"));

/// Scenarios in the order of their ids.
#[derive(Debug, Clone, Default)]
pub struct Library {
    /// The scenarios.
    pub scenarios: Vec<Scenario>,
}

/// Why a library could not be read.
#[derive(Debug, thiserror::Error)]
pub enum LibraryError {
    /// A scenario is wrong.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// A file or folder can't be read.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The system's word.
        source: std::io::Error,
    },
}

impl Library {
    /// The built-in scenarios.
    ///
    /// # Errors
    /// When one of them is wrong; a test sees to it that none is.
    pub fn built_in() -> Result<Self, LibraryError> {
        let scenarios = BUILT_IN
            .iter()
            .map(|(id, text)| load(id, &format!("scenarios/{id}.yaml"), text))
            .collect::<Result<_, _>>()?;
        Ok(Self { scenarios })
    }

    /// The scenario in a file, or all in a folder and the folders under it.
    ///
    /// # Errors
    /// When something can't be read or is wrong.
    pub fn read(path: &Path) -> Result<Self, LibraryError> {
        let root = if path.is_dir() {
            path
        } else {
            path.parent().unwrap_or(path)
        };
        let mut files = Vec::new();
        collect(path, &mut files)?;
        files.sort();
        let mut scenarios = Vec::new();
        for file in files {
            let text = std::fs::read_to_string(&file).map_err(|source| LibraryError::Io {
                path: file.clone(),
                source,
            })?;
            let id = file.strip_prefix(root).unwrap_or(&file).with_extension("");
            scenarios.push(load(&id.to_string_lossy(), &file.to_string_lossy(), &text)?);
        }
        Ok(Self { scenarios })
    }
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) -> Result<(), LibraryError> {
    let error = |source| LibraryError::Io {
        path: path.to_owned(),
        source,
    };
    if !path.is_dir() {
        files.push(path.to_owned());
        return Ok(());
    }
    for entry in std::fs::read_dir(path).map_err(error)? {
        let entry = entry.map_err(error)?.path();
        if entry.is_dir() || entry.extension().is_some_and(|ending| ending == "yaml") {
            collect(&entry, files)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_scenario_is_right() {
        let library = Library::built_in().unwrap_or_else(|error| panic!("{error}"));
        assert!(!library.scenarios.is_empty());
    }

    #[test]
    fn the_table_of_kinds_names_scenarios_that_exist() {
        let library = Library::built_in().unwrap();
        let table = include_str!("../../../docs/kinds-of-faults.md");
        let rows = table
            .lines()
            .filter(|line| line.starts_with("| ") && !line.starts_with("| kind"));
        let named: Vec<&str> = rows
            .flat_map(|row| row.split('`').skip(1).step_by(2))
            .filter(|name| name.contains('/'))
            .collect();
        assert!(named.len() > 100, "{} are named", named.len());
        for name in named {
            assert!(
                library.scenarios.iter().any(|scenario| scenario.id == name),
                "there is no {name}"
            );
        }
    }

    #[test]
    fn a_missing_file_is_named() {
        let error = Library::read(Path::new("/nowhere/scenario.yaml")).unwrap_err();
        assert!(error.to_string().contains("/nowhere/scenario.yaml"), "{error}");
    }
}
