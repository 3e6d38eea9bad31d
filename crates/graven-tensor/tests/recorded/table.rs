//! The table `docs/operators.md`: how each core operator is computed, and how many samples hold
//! it to torch. `BLESS=1` in the environment rewrites it.

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use graven_ops::tags::Tag;
use graven_tensor::{Eager, Way};
use libtest_mimic::{Failed, Trial};

const HEAD: &str = "\
# Operators

How the core ATen operators are computed, and how many calls of each were recorded from torch \
2.15 and are compared on every run of the tests (`crates/graven-tensor/tests/recorded`).

- kernel: computed by Rust code of its own;
- formula: taken apart into other operators;
- twin: computed by the functional operator, whose result is written to the arguments;
- missing: not computed yet.

Written by `BLESS=1 cargo test -p graven-tensor --test recorded`.
";

/// The test that the table says what is so.
pub(crate) fn trials(
    eager: &Eager,
    recorded: &[(String, PathBuf)],
) -> Result<Vec<Trial>, Box<dyn Error>> {
    let table = table(eager, recorded)?;
    Ok(vec![Trial::test("docs/operators.md", move || hold(&table))])
}

fn hold(table: &str) -> Result<(), Failed> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/operators.md");
    if std::env::var("BLESS").is_ok_and(|value| value == "1") {
        fs::write(path, table)?;
        return Ok(());
    }
    match fs::read_to_string(path)? == table {
        true => Ok(()),
        false => Err("docs/operators.md is out of date; write it with BLESS=1".into()),
    }
}

fn table(eager: &Eager, recorded: &[(String, PathBuf)]) -> Result<String, Box<dyn Error>> {
    let registry = eager.registry();
    let mut core = Vec::new();
    let mut rest = (0, 0);
    for (operator, path) in recorded {
        let id = registry.find(operator);
        let is_core = id.is_some_and(|id| registry.operator(id).has_tag(Tag::Core));
        if !is_core {
            rest = (
                rest.0 + 1,
                rest.1 + fs::read_to_string(path)?.lines().count(),
            );
        }
    }
    for id in registry.ids() {
        let operator = registry.operator(id);
        if operator.has_tag(Tag::Core) {
            core.push((operator.name().to_string(), eager.way(id)));
        }
    }
    core.sort_by(|left, right| left.0.cmp(&right.0));
    let mut text = HEAD.to_owned();
    let count = |way: Option<Way>| core.iter().filter(|row| row.1 == way).count();
    writeln!(
        text,
        "\nOf {} core operators {} have a kernel, {} a formula, {} a twin, {} are missing. {} \
         other operators are held to torch by {} recorded calls.\n",
        core.len(),
        count(Some(Way::Kernel)),
        count(Some(Way::Formula)),
        count(Some(Way::Twin)),
        count(None),
        rest.0,
        rest.1,
    )?;
    writeln!(
        text,
        "| operator | computed by | recorded calls |\n| --- | --- | ---: |"
    )?;
    for (name, way) in &core {
        let way = match way {
            Some(Way::Kernel) => "kernel",
            Some(Way::Formula) => "formula",
            Some(Way::Twin) => "twin",
            None => "missing",
        };
        let file = recorded.iter().find(|(operator, _)| operator == name);
        let calls = match file {
            Some((_, path)) => fs::read_to_string(path)?.lines().count(),
            None => 0,
        };
        writeln!(text, "| `{name}` | {way} | {calls} |")?;
    }
    Ok(text)
}
