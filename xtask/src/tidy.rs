//! House rules that no other tool checks: which crate may use which, how long files are, what
//! files must not contain.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

/// Crates from the lowest up: a crate may use only those before it.
const LAYERS: &[&str] = &[
    "graven-ir",
    "graven-ops",
    "graven-pt2",
    "graven-passes",
    "graven-tensor",
    "graven-runtime",
    "graven",
    "graven-cli",
];

/// The most lines of a source file that is no table.
const MOST_LINES: usize = 800;

/// Checks every rule, and lists all that is broken.
pub(crate) fn check() -> Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .context("xtask has no parent folder")?;
    let mut findings = Vec::new();
    check_layers(root, &mut findings)?;
    for path in sources(root)? {
        check_file(root, &path, &mut findings)?;
    }
    if findings.is_empty() {
        return Ok(());
    }
    bail!("{}", findings.join("\n"));
}

fn check_layers(root: &Path, findings: &mut Vec<String>) -> Result<()> {
    for (layer, name) in LAYERS.iter().enumerate() {
        let manifest = root.join("crates").join(name).join("Cargo.toml");
        let text = std::fs::read_to_string(&manifest)
            .with_context(|| format!("cannot read {}", manifest.display()))?;
        let dependencies = text.split("[dependencies]").nth(1).unwrap_or_default();
        let dependencies = dependencies.split("\n[").next().unwrap_or_default();
        for above in &LAYERS[layer..] {
            let uses = dependencies.lines().any(|line| {
                let key = line.split(['.', '=', ' ']).next().unwrap_or_default();
                key == *above
            });
            if uses {
                findings.push(format!(
                    "{name} uses {above}, which stands above it or is itself"
                ));
            }
        }
    }
    Ok(())
}

fn check_file(root: &Path, path: &Path, findings: &mut Vec<String>) -> Result<()> {
    let text =
        std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let shown = path.strip_prefix(root).unwrap_or(path).display();
    let lines = text.lines().count();
    if lines > MOST_LINES {
        findings.push(format!(
            "{shown}: {lines} lines; split it by subject (at most {MOST_LINES})"
        ));
    }
    if !text.starts_with("//!") {
        findings.push(format!(
            "{shown}: begins without a comment that says what it holds"
        ));
    }
    for (index, line) in text.lines().enumerate() {
        if line.ends_with([' ', '\t']) {
            findings.push(format!(
                "{shown}:{}: space at the end of the line",
                index + 1
            ));
        }
    }
    Ok(())
}

/// All Rust sources of the crates and of this tool.
fn sources(root: &Path) -> Result<Vec<PathBuf>> {
    let mut sources = Vec::new();
    let mut folders = vec![root.join("crates"), root.join("xtask")];
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(&folder)
            .with_context(|| format!("cannot read {}", folder.display()))?;
        for entry in entries {
            let path = entry?.path();
            let name = path
                .file_name()
                .and_then(|name| name.to_str())
                .unwrap_or_default();
            if path.is_dir() && name != "target" {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                sources.push(path);
            }
        }
    }
    sources.sort();
    Ok(sources)
}

#[cfg(test)]
mod tests {
    /// The rules hold for the tree as it stands.
    #[test]
    fn tree_is_tidy() -> anyhow::Result<()> {
        super::check()
    }
}
