//! Writing arguments: the archive's `Argument` union.

use graven_ir::{Argument, ListKind, NodeId, Op, Value};

use super::graph::GraphWriter;
use super::value::device;
use crate::error::Pt2Error;
use crate::json_out::JsonOut;

/// Why an argument has no form.
pub(super) struct NoForm(pub(super) &'static str);

/// What a node is to one that reads it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Read {
    Tensor,
    Int,
    Float,
    Bool,
    Object,
    Graph,
    None,
    Constant,
    Several,
}

impl GraphWriter<'_> {
    /// Writes an `Argument`; `user` is what errors call the one that has it.
    pub(super) fn argument(
        &mut self,
        argument: &Argument,
        user: impl FnOnce(&Self) -> String,
    ) -> Result<(), Pt2Error> {
        self.try_argument(argument)
            .map_err(|Failure(failure)| match failure {
                Err(error) => error,
                Ok(NoForm(form)) => Pt2Error::ArgumentForm {
                    user: user(self),
                    form,
                },
            })
    }

    fn try_argument(&mut self, argument: &Argument) -> Result<(), Failure> {
        if let Argument::Node(node) = argument {
            return self.node_argument(*node);
        }
        if let Argument::List(kind, items) = argument {
            return self.list_argument(*kind, items);
        }
        self.out.open_object();
        let (out, context) = (&mut self.out, self.context);
        match argument {
            Argument::None => out.bool_field("as_none", true),
            Argument::Int(value) => out.int_field("as_int", *value),
            Argument::Float(value) => {
                out.key("as_float");
                out.float(*value);
            }
            Argument::Bool(value) => out.bool_field("as_bool", *value),
            Argument::Complex(real, imag) => {
                out.key("as_complex");
                out.open_object();
                out.key("real");
                out.float(*real);
                out.key("imag");
                out.float(*imag);
                out.close_object();
            }
            Argument::String(text) => out.string_field("as_string", context.names.get(*text)),
            Argument::DType(dtype) => out.int_field("as_scalar_type", *dtype as i64),
            Argument::MemoryFormat(format) => out.int_field("as_memory_format", *format as i64),
            Argument::Layout(layout) => out.int_field("as_layout", *layout as i64),
            Argument::Device(value) => {
                out.key("as_device");
                device(out, context, value);
            }
            Argument::Operator(target) => {
                out.string_field("as_operator", context.target_name(*target));
            }
            Argument::CustomObject(name, class) => {
                out.key("as_custom_obj");
                custom_object(out, context.names.get(*name), context.names.get(*class));
            }
            Argument::Dict(items) => {
                out.key("as_string_to_argument");
                out.open_object();
                for (key, item) in items {
                    self.out.key(self.context.names.get(*key));
                    self.try_argument(item)?;
                }
                self.out.close_object();
            }
            Argument::Node(_) | Argument::List(..) => {}
        }
        self.out.close_object();
        Ok(())
    }

    // ---- nodes ----

    /// How `node` is read.
    fn read(&self, node: NodeId) -> Result<Read, NoForm> {
        let Some(node) = self.graph.nodes.get(node.index()) else {
            return Err(NoForm("a node that the graph does not have"));
        };
        Ok(match (&node.op, &node.value) {
            (Op::GetAttr(_), _) => Read::Graph,
            (_, Value::Tensor(_) | Value::Token) => Read::Tensor,
            (_, Value::SymInt(_)) => Read::Int,
            (_, Value::SymFloat(_) | Value::Float(_)) => Read::Float,
            (_, Value::SymBool(_) | Value::Bool(_)) => Read::Bool,
            (_, Value::CustomObject(_)) => Read::Object,
            (_, Value::None) => Read::None,
            (_, Value::Constant) => Read::Constant,
            (_, Value::Tuple(_) | Value::List(_)) => Read::Several,
        })
    }

    fn node_argument(&mut self, node: NodeId) -> Result<(), Failure> {
        let (tag, inner) = match self.read(node)? {
            Read::Tensor => ("as_tensor", "name"),
            Read::Int => ("as_sym_int", "as_name"),
            Read::Float => ("as_sym_float", "as_name"),
            Read::Bool => ("as_sym_bool", "as_name"),
            Read::None => return self.try_argument(&Argument::None),
            Read::Constant => {
                let constant = self.constant(node).cloned();
                let constant = constant.ok_or(NoForm("an input without a value"))?;
                return self.try_argument(&constant);
            }
            Read::Several => return Err(NoForm("all results of a node, not one of them").into()),
            Read::Object => {
                self.out.open_object();
                self.out.key("as_custom_obj");
                if let Some(Value::CustomObject(class)) = self.value(node) {
                    let class = self.context.names.get(*class);
                    let name = self.context.names.get(self.name(node));
                    custom_object(&mut self.out, name, class);
                }
                self.out.close_object();
                return Ok(());
            }
            Read::Graph => return self.graph_argument(node).map_err(Failure::from),
        };
        let name = self.context.names.get(self.name(node));
        self.out.open_object();
        self.out.key(tag);
        self.out.open_object();
        self.out.string_field(inner, name);
        self.out.close_object();
        self.out.close_object();
        Ok(())
    }

    // ---- lists ----

    fn list_argument(&mut self, kind: ListKind, items: &[Argument]) -> Result<(), Failure> {
        let form = self.list_form(kind, items)?;
        self.out.open_object();
        self.out.key(form.tag());
        self.list_items(form, items)?;
        self.out.close_object();
        Ok(())
    }

    /// The form in which a list is written: its own if its items fit, the one that torch would
    /// choose otherwise.
    fn list_form(&self, kind: ListKind, items: &[Argument]) -> Result<Form, NoForm> {
        let own = Form::of(kind);
        if let Some(form) = own
            && self.fit(form, items)
        {
            return Ok(form);
        }
        if items.is_empty() {
            return Ok(Form::Tensors);
        }
        Form::IN_TORCHS_ORDER
            .into_iter()
            .find(|form| self.fit(*form, items))
            .ok_or(NoForm("a list of different things"))
    }

    fn fit(&self, form: Form, items: &[Argument]) -> bool {
        items.iter().all(|item| self.fits(form, item))
    }

    /// Whether `item` may stand in a list of that form.
    fn fits(&self, form: Form, item: &Argument) -> bool {
        let is = |read: Read| match item {
            Argument::Node(node) => self.read(*node).is_ok_and(|actual| actual == read),
            _ => false,
        };
        let inner = |form: Form| item.as_list().is_some_and(|items| self.fit(form, items));
        match form {
            Form::Bools => matches!(item, Argument::Bool(_)),
            Form::Ints => matches!(item, Argument::Int(_)),
            Form::Floats => matches!(item, Argument::Float(_)),
            Form::Strings => matches!(item, Argument::String(_)),
            Form::SymInts => matches!(item, Argument::Int(_)) || is(Read::Int),
            Form::SymFloats => matches!(item, Argument::Float(_)) || is(Read::Float),
            Form::SymBools => matches!(item, Argument::Bool(_)) || is(Read::Bool),
            Form::Tensors => is(Read::Tensor),
            Form::OptionalTensors => {
                matches!(item, Argument::None) || is(Read::Tensor) || is(Read::None)
            }
            Form::NestedTensors => inner(Form::Tensors),
            Form::IntLists => inner(Form::Ints),
            Form::FloatLists => inner(Form::Floats),
        }
    }

    fn list_items(&mut self, form: Form, items: &[Argument]) -> Result<(), Failure> {
        self.out.open_list();
        for item in items {
            self.list_item(form, item)?;
        }
        self.out.close_list();
        Ok(())
    }

    /// Writes an item of a list; it fits the form.
    fn list_item(&mut self, form: Form, item: &Argument) -> Result<(), Failure> {
        match (form, item) {
            (Form::Tensors, Argument::Node(node)) => {
                let name = self.context.names.get(self.name(*node));
                self.out.open_object();
                self.out.string_field("name", name);
                self.out.close_object();
            }
            (Form::OptionalTensors, item) => self.try_argument(item)?,
            (Form::SymInts | Form::SymFloats | Form::SymBools, item) => {
                self.out.open_object();
                match item {
                    Argument::Node(node) => {
                        let name = self.context.names.get(self.name(*node));
                        self.out.string_field("as_name", name);
                    }
                    Argument::Int(value) => self.out.int_field("as_int", *value),
                    Argument::Bool(value) => self.out.bool_field("as_bool", *value),
                    Argument::Float(value) => {
                        self.out.key("as_float");
                        self.out.float(*value);
                    }
                    _ => {}
                }
                self.out.close_object();
            }
            (_, Argument::Int(value)) => self.out.int(*value),
            (_, Argument::Float(value)) => self.out.float(*value),
            (_, Argument::Bool(value)) => self.out.bool(*value),
            (_, Argument::String(text)) => self.out.string(self.context.names.get(*text)),
            (Form::NestedTensors, Argument::List(_, items)) => {
                self.list_items(Form::Tensors, items)?;
            }
            (Form::IntLists, Argument::List(_, items)) => self.list_items(Form::Ints, items)?,
            (Form::FloatLists, Argument::List(_, items)) => self.list_items(Form::Floats, items)?,
            _ => {}
        }
        Ok(())
    }
}

/// Writes a `CustomObjArgument`.
pub(super) fn custom_object(out: &mut JsonOut<'_>, name: &str, class: &str) {
    out.open_object();
    out.string_field("name", name);
    out.string_field("class_fqn", class);
    out.close_object();
}

/// The list forms of the archive.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Bools,
    Ints,
    Floats,
    Strings,
    SymInts,
    SymFloats,
    SymBools,
    Tensors,
    NestedTensors,
    OptionalTensors,
    IntLists,
    FloatLists,
}

impl Form {
    const IN_TORCHS_ORDER: [Self; 12] = [
        Self::Bools,
        Self::Ints,
        Self::Floats,
        Self::Strings,
        Self::SymInts,
        Self::SymFloats,
        Self::SymBools,
        Self::Tensors,
        Self::NestedTensors,
        Self::OptionalTensors,
        Self::IntLists,
        Self::FloatLists,
    ];

    fn of(kind: ListKind) -> Option<Self> {
        Some(match kind {
            ListKind::Tensors => Self::Tensors,
            ListKind::OptionalTensors => Self::OptionalTensors,
            ListKind::Ints => Self::Ints,
            ListKind::SymInts => Self::SymInts,
            ListKind::Floats => Self::Floats,
            ListKind::SymFloats => Self::SymFloats,
            ListKind::Bools => Self::Bools,
            ListKind::SymBools => Self::SymBools,
            ListKind::Strings => Self::Strings,
            ListKind::NestedTensors => Self::NestedTensors,
            ListKind::IntLists => Self::IntLists,
            ListKind::FloatLists => Self::FloatLists,
            ListKind::Mixed | ListKind::Tuple => return None,
        })
    }

    fn tag(self) -> &'static str {
        match self {
            Self::Bools => "as_bools",
            Self::Ints => "as_ints",
            Self::Floats => "as_floats",
            Self::Strings => "as_strings",
            Self::SymInts => "as_sym_ints",
            Self::SymFloats => "as_sym_floats",
            Self::SymBools => "as_sym_bools",
            Self::Tensors => "as_tensors",
            Self::NestedTensors => "as_nested_tensors",
            Self::OptionalTensors => "as_optional_tensors",
            Self::IntLists => "as_int_lists",
            Self::FloatLists => "as_float_lists",
        }
    }
}

/// An argument that cannot be written: because of its form, or of something inside it.
struct Failure(Result<NoForm, Pt2Error>);

impl From<NoForm> for Failure {
    fn from(form: NoForm) -> Self {
        Self(Ok(form))
    }
}

impl From<Pt2Error> for Failure {
    fn from(error: Pt2Error) -> Self {
        Self(Err(error))
    }
}
