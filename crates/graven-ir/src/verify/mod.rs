//! The verifier: what every program keeps to, and what a functional one keeps to besides.
//!
//! - [`violation`]: the rules, each with a stable code;
//! - `graph`: nodes, names, order of definition, outputs, of each graph by itself;
//! - `nested`: what a higher-order operator passes to its graphs and gets from them;
//! - `signature`: placeholders, outputs and state against the signature.
//!
//! A finding names the rule, the node, and the source line that the node came from. All of it
//! takes time linear in the program; nested graphs are walked with a list, not by recursion.

mod graph;
mod nested;
mod signature;
pub mod violation;

use std::fmt;

use crate::context::{Context, TargetId};
use crate::graph::{Graph, Node, NodeId, Op};
use crate::names::NameId;
use crate::program::ExportedProgram;
use crate::text::SourceLine;

pub use violation::Violation;

/// A rule broken at one place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// The rule, and how it is broken.
    pub violation: Violation,
    /// The nested graph, as a path of attributes: `true_graph_0.body_graph_0`. Empty for the
    /// program's own graph.
    pub graph: String,
    /// The node, where there is one.
    pub node: Option<String>,
    /// The line of the model that the node came from: `model.py:13 in forward`.
    pub source_line: Option<String>,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.violation.code(), self.violation)?;
        if let Some(node) = &self.node {
            write!(f, ", at node `{node}`")?;
        }
        if !self.graph.is_empty() {
            write!(f, " of graph `{}`", self.graph)?;
        }
        if let Some(line) = &self.source_line {
            write!(f, " ({line})")?;
        }
        Ok(())
    }
}

/// A program breaks the verifier's rules.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{}", Summary(.findings))]
pub struct VerifyError {
    /// Where, in program order; never empty.
    pub findings: Vec<Finding>,
}

/// The first finding, and how many more there are.
struct Summary<'a>(&'a [Finding]);

impl fmt::Display for Summary<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((first, others)) = self.0.split_first() else {
            return Ok(());
        };
        match others.len() {
            0 => write!(f, "{first}"),
            1 => write!(f, "{first} (and 1 more finding)"),
            others => write!(f, "{first} (and {others} more findings)"),
        }
    }
}

/// The most findings that are kept: a broken program may break a rule at every node.
pub const MAX_FINDINGS: usize = 1000;

/// Checks the rules that every program keeps to.
///
/// # Errors
/// The rules that are broken, and where.
pub fn verify(program: &ExportedProgram) -> Result<(), VerifyError> {
    to_result(verify_all(program))
}

/// The places where `program` breaks a rule that all programs keep to, in program order; the
/// first [`MAX_FINDINGS`] of them.
pub fn verify_all(program: &ExportedProgram) -> Vec<Finding> {
    let mut report = Report::new(&program.context);
    for_each_graph(&mut report, &program.graph, |report, graph| {
        graph::check(report, graph);
        nested::check(report, graph);
    });
    signature::check(&mut report, program);
    report.findings
}

/// Checks the rules of every program, and that no node of any graph writes to an argument.
///
/// `writes` tells whether an operator's schema says that it writes; graven-ir knows no schemas
/// by itself.
///
/// # Errors
/// The rules that are broken, and where.
pub fn verify_functional(
    program: &ExportedProgram,
    writes: &dyn Fn(TargetId) -> bool,
) -> Result<(), VerifyError> {
    let mut findings = verify_all(program);
    let mut report = Report::new(&program.context);
    for_each_graph(&mut report, &program.graph, |report, graph| {
        check_no_writes(report, graph, writes);
    });
    findings.append(&mut report.findings);
    to_result(findings)
}

fn check_no_writes(report: &mut Report<'_>, graph: &Graph, writes: &dyn Fn(TargetId) -> bool) {
    for (id, node) in graph.iter() {
        if let Op::Call(target) = node.op
            && writes(target)
        {
            let operator = report.context.target_name(target).to_owned();
            report.at_node(graph, id, Violation::Write { operator });
        }
    }
}

fn to_result(findings: Vec<Finding>) -> Result<(), VerifyError> {
    if findings.is_empty() {
        Ok(())
    } else {
        Err(VerifyError { findings })
    }
}

/// What has been found, and in which graph the check is.
struct Report<'a> {
    context: &'a Context,
    findings: Vec<Finding>,
    /// The graphs come to so far: the position of the one around it here, and its name.
    /// Nothing stands for the program's own graph.
    entered: Vec<(Option<usize>, NameId)>,
    /// The one that is being checked, by its position in `entered`.
    current: Option<usize>,
}

impl<'a> Report<'a> {
    fn new(context: &'a Context) -> Self {
        Self {
            context,
            findings: Vec::new(),
            entered: Vec::new(),
            current: None,
        }
    }

    fn name(&self, name: NameId) -> String {
        self.context.names.get(name).to_owned()
    }

    fn node_name(&self, graph: &Graph, id: NodeId) -> String {
        graph
            .nodes
            .get(id.index())
            .map_or_else(|| format!("#{}", id.0), |node| self.name(node.name))
    }

    /// Adds a finding about the graph as a whole.
    fn at_graph(&mut self, violation: Violation) {
        self.add(violation, None, None);
    }

    /// Adds a finding about a node of the graph that is being checked.
    fn at_node(&mut self, graph: &Graph, id: NodeId, violation: Violation) {
        let node = graph.nodes.get(id.index());
        let source_line = node.and_then(|node| self.source_line(node));
        self.add(violation, Some(self.node_name(graph, id)), source_line);
    }

    fn add(&mut self, violation: Violation, node: Option<String>, source_line: Option<String>) {
        if self.findings.len() < MAX_FINDINGS {
            let graph = self.path();
            self.findings.push(Finding {
                violation,
                graph,
                node,
                source_line,
            });
        }
    }

    fn source_line(&self, node: &Node) -> Option<String> {
        let trace = self.context.metadata_text(node.metadata, "stack_trace")?;
        let line = SourceLine::innermost(trace)?;
        Some(format!("{}:{} in {}", line.file, line.line, line.function))
    }

    fn path(&self) -> String {
        let mut names = Vec::new();
        let mut graph = self.current;
        while let Some((outer, name)) = graph.and_then(|index| self.entered.get(index)) {
            names.push(self.context.names.get(*name));
            graph = *outer;
        }
        names.reverse();
        names.join(".")
    }
}

/// Calls `check` with `graph` and all graphs nested in it, outer ones first.
fn for_each_graph<'g>(
    report: &mut Report<'_>,
    graph: &'g Graph,
    mut check: impl FnMut(&mut Report<'_>, &'g Graph),
) {
    let mut pending = vec![(None, graph)];
    while let Some((current, graph)) = pending.pop() {
        report.current = current;
        check(report, graph);
        for nested in graph.graphs.iter().rev() {
            report.entered.push((current, nested.name));
            pending.push((Some(report.entered.len() - 1), &nested.graph));
        }
    }
    report.current = None;
}
