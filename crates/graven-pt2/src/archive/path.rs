//! Names of entries: what is a path inside the archive and what is not.

use crate::error::Pt2Error;

/// Refuses a name that does not stay inside the archive wherever it is unpacked: `..`, an
/// absolute path, a drive, a backslash, a NUL, an empty component.
pub(crate) fn check_path(name: &str) -> Result<(), Pt2Error> {
    let drive = name.as_bytes().get(1) == Some(&b':');
    let leaves = name.is_empty()
        || drive
        || name.contains(['\\', '\0'])
        || name
            .split('/')
            .any(|component| matches!(component, "" | "." | ".."));
    if leaves {
        return Err(Pt2Error::PathLeavesArchive {
            path: name.to_owned(),
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_leave_are_refused() {
        for name in [
            "",
            "/etc/passwd",
            "../x",
            "a/../../x",
            "a//b",
            "a/",
            "C:/x",
            "a\\b",
            "a\0b",
            "./a",
        ] {
            assert!(check_path(name).is_err(), "{name:?}");
        }
        for name in [
            "a",
            "model/.data/version",
            "data/weights/weight_0",
            "a..b/c",
        ] {
            assert!(check_path(name).is_ok(), "{name:?}");
        }
    }
}
