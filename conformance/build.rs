//! Puts the scenario library into the binary: one installed file works everywhere.

use std::path::{Path, PathBuf};

fn main() {
    let root = Path::new("../scenarios");
    println!("cargo::rerun-if-changed={}", root.display());
    let mut files = Vec::new();
    collect(root, &mut files);
    files.sort();
    let mut list = String::from("&[\n");
    for file in files {
        println!("cargo::rerun-if-changed={}", file.display());
        let id = file
            .strip_prefix(root)
            .expect("found under the root")
            .with_extension("");
        let absolute = std::path::absolute(&file).expect("the current folder is known");
        list.push_str(&format!(
            "({:?}, include_str!({absolute:?})),\n",
            id.display().to_string()
        ));
    }
    list.push(']');
    let output = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets it")).join("scenarios.rs");
    std::fs::write(output, list).expect("the output folder can be written");
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            println!("cargo::rerun-if-changed={}", path.display());
            collect(&path, files);
        } else if path.extension().is_some_and(|ending| ending == "yaml") {
            files.push(path);
        }
    }
}
