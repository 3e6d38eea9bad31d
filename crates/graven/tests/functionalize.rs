//! Each case of the corpus is functionalized: the result is pure, an archive of it reads back as
//! the same program, functionalizing it again changes nothing, and it is torch's functional
//! program except where this file says that it is not.

mod support;

use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use graven::text;
use libtest_mimic::{Arguments, Failed, Trial};

use support::agreement::{self, Agreement};

/// Cases whose functional graph is not torch's, and why.
const DIFFERENT: &[(&str, &str)] = &[
    (
        "copy_fill_zero",
        "`copy_` of a number into a buffer: torch puts the number in the buffer's place, and its \
         shape is lost",
    ),
    (
        "expand_reads",
        "torch adds the change that is written through `expand` to the base, which is not exact",
    ),
];

/// A case, and how its functional program compares with torch's once it was made.
struct Case {
    name: String,
    folder: PathBuf,
    outcome: OnceLock<Result<Agreement, Failed>>,
}

impl Case {
    fn outcome(&self) -> &Result<Agreement, Failed> {
        self.outcome.get_or_init(|| self.functionalize())
    }

    fn functionalize(&self) -> Result<Agreement, Failed> {
        let registry = support::registry(&self.folder);
        let mut program = graven::load(self.folder.join("model.pt2"))?;
        graven::functionalize(&mut program, &registry)?;
        support::check_functional(&program, &registry)?;
        let expected = fs::read_to_string(self.folder.join("functional.txt"))?;
        Ok(agreement::compare(&text::fx(&program), &expected))
    }

    fn check(&self) -> Result<(), Failed> {
        let reason = DIFFERENT.iter().find(|(name, _)| *name == self.name);
        match (self.outcome().clone()?, reason) {
            (Agreement::Different(_), Some(_)) => Ok(()),
            (Agreement::Different(difference), None) => {
                Err(format!("differs from torch's: {difference}").into())
            }
            (_, Some((_, reason))) => {
                Err(format!("agrees with torch's now; take it off the list: {reason}").into())
            }
            (_, None) => Ok(()),
        }
    }
}

fn main() {
    let arguments = Arguments::from_args();
    let cases: Vec<Arc<Case>> = support::programs("cases")
        .into_iter()
        .map(|(name, folder)| {
            Arc::new(Case {
                name,
                folder,
                outcome: OnceLock::new(),
            })
        })
        .collect();
    let mut trials: Vec<Trial> = cases
        .iter()
        .cloned()
        .map(|case| Trial::test(case.name.clone(), move || case.check()))
        .collect();
    trials.push(Trial::test("agreement_with_torch", move || totals(&cases)));
    libtest_mimic::run(&arguments, trials).exit();
}

/// Of all cases, 95% have torch's graph and 80% have its names as well.
fn totals(cases: &[Arc<Case>]) -> Result<(), Failed> {
    let (mut alike, mut identical) = (0, 0);
    for case in cases {
        match case.outcome() {
            Ok(Agreement::Identical) => {
                alike += 1;
                identical += 1;
            }
            Ok(Agreement::Isomorphic) => alike += 1,
            Ok(Agreement::Different(_)) | Err(_) => {}
        }
    }
    let listed = DIFFERENT
        .iter()
        .find(|(name, _)| cases.iter().all(|case| case.name != *name));
    if let Some((name, _)) = listed {
        return Err(format!("`{name}` is listed and is no case").into());
    }
    let all = cases.len();
    if all < 90 || alike * 100 < all * 95 || identical * 100 < all * 80 {
        return Err(format!("of {all} cases {alike} are alike, {identical} identical").into());
    }
    Ok(())
}
