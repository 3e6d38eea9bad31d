//! How alike two printed functional programs are: the listing of a graph, an empty line and the
//! signature.

use std::collections::HashMap;

/// How alike they are.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Agreement {
    /// The same lines, names included.
    Identical,
    /// The same operators, arguments, order and outputs; names of nodes differ.
    Isomorphic,
    /// Anything else: the first difference.
    Different(String),
}

/// One node as the listing shows it.
#[derive(PartialEq, Eq)]
struct Line<'a> {
    name: &'a str,
    users: &'a str,
    body: &'a str,
}

/// A printed program, taken apart.
#[derive(PartialEq, Eq)]
struct Listing<'a> {
    nodes: Vec<Line<'a>>,
    outputs: &'a str,
    signature: &'a str,
}

impl<'a> Listing<'a> {
    fn parse(text: &'a str) -> Self {
        let text = text.trim_matches('\n');
        let (graph, signature) = text.split_once("\n\n").unwrap_or((text, ""));
        let mut lines = graph.lines().map(str::trim);
        Self {
            nodes: lines.clone().filter_map(node).collect(),
            outputs: lines
                .rfind(|line| line.starts_with("return"))
                .unwrap_or_default(),
            signature: signature.trim(),
        }
    }

    /// The lines with each node called by its position.
    fn canonical(&self) -> Vec<String> {
        let positions: HashMap<&str, usize> = self
            .nodes
            .iter()
            .enumerate()
            .map(|(position, node)| (node.name, position))
            .collect();
        let renamed = |text: &str, sigil: Option<char>| rename(text, sigil, &positions);
        let mut lines: Vec<String> = Vec::new();
        for (position, node) in self.nodes.iter().enumerate() {
            let body = if node.body.starts_with("placeholder") {
                "placeholder".to_owned()
            } else {
                renamed(node.body, Some('%'))
            };
            lines.push(format!("v{position} users={} {body}", node.users));
        }
        lines.push(renamed(self.outputs, None));
        for line in self.signature.lines() {
            // What stands behind the colon names parameters, buffers and inputs, not nodes.
            let (name, rest) = line.split_once(':').unwrap_or((line, ""));
            lines.push(format!("{}:{rest}", renamed(name, None)));
        }
        lines
    }
}

/// `%name : [num_users=1] = body`
fn node(line: &str) -> Option<Line<'_>> {
    let (name, rest) = line.strip_prefix('%')?.split_once(" : [num_users=")?;
    let (users, body) = rest.split_once("] = ")?;
    Some(Line { name, users, body })
}

/// Replaces each name of a node by its position; with a sigil, only names that stand behind it.
fn rename(text: &str, sigil: Option<char>, positions: &HashMap<&str, usize>) -> String {
    let is_start = |letter: char| letter.is_ascii_alphabetic() || letter == '_';
    let mut renamed = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(is_start) {
        let (before, from) = rest.split_at(start);
        let length = from
            .find(|letter: char| !is_start(letter) && !letter.is_ascii_digit())
            .unwrap_or(from.len());
        let (word, after) = from.split_at(length);
        let is_name = sigil.is_none_or(|sigil| before.ends_with(sigil));
        renamed += before;
        match positions.get(word).filter(|_| is_name) {
            Some(position) => renamed += &format!("v{position}"),
            None => renamed += word,
        }
        rest = after;
    }
    renamed + rest
}

/// Compares two printed programs.
pub(crate) fn compare(found: &str, expected: &str) -> Agreement {
    let (found, expected) = (Listing::parse(found), Listing::parse(expected));
    if found == expected {
        return Agreement::Identical;
    }
    let (found, expected) = (found.canonical(), expected.canonical());
    if found == expected {
        return Agreement::Isomorphic;
    }
    let mut lines = found.iter().zip(&expected).enumerate();
    let different = lines.find(|(_, (found, expected))| found != expected);
    Agreement::Different(match different {
        Some((line, (found, expected))) => {
            format!("line {line}\nexpected: {expected}\nfound:    {found}")
        }
        None => format!("{} lines expected, {} found", expected.len(), found.len()),
    })
}
