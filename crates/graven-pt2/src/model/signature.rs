//! Reading the graph signature.

use graven_ir::{Argument, Context, InputKind, NameId, OutputKind};
use serde::de::{MapAccess, SeqAccess};

use super::argument::{Reference, Scope};
use crate::json::{
    Element, Fields, Interned, Object, Tagged, Union, elements, missing, unknown_form,
};

/// The signature as the archive holds it: names, where the program has places.
#[derive(Debug, Default)]
pub(super) struct SignatureParts {
    pub(super) inputs: Vec<InputParts>,
    pub(super) outputs: Vec<OutputParts>,
}

/// An `InputSpec`.
#[derive(Debug)]
pub(super) struct InputParts {
    pub(super) kind: InputKind,
    pub(super) argument: SpecArgument,
    pub(super) target: Option<NameId>,
    pub(super) persistent: Option<bool>,
}

/// An `OutputSpec`.
#[derive(Debug)]
pub(super) struct OutputParts {
    pub(super) kind: OutputKind,
    pub(super) argument: SpecArgument,
    pub(super) target: Option<NameId>,
}

/// What a spec speaks of.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum SpecArgument {
    /// The value of that name.
    Value(NameId),
    /// A constant, and the name of its placeholder where the archive gives one.
    Constant(Option<NameId>, Argument),
}

/// Reads a `GraphSignature`.
pub(super) struct SignatureReader<'a> {
    pub(super) context: &'a mut Context,
    pub(super) parts: SignatureParts,
}

impl<'de> Fields<'de> for SignatureReader<'_> {
    type Output = SignatureParts;
    const WHAT: &'static str = "a graph signature";

    fn field<A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        match key {
            "input_specs" => {
                self.parts.inputs = map.next_value_seed(elements(self.context, InputSpecItem))?;
            }
            "output_specs" => {
                self.parts.outputs = map.next_value_seed(elements(self.context, OutputSpecItem))?;
            }
            _ => {
                map.next_value::<serde::de::IgnoredAny>()?;
            }
        }
        Ok(())
    }

    fn finish<E: serde::de::Error>(self) -> Result<SignatureParts, E> {
        Ok(self.parts)
    }
}

struct InputSpecItem;

impl Element<Context, InputParts> for InputSpecItem {
    fn next<'de, A: SeqAccess<'de>>(
        &self,
        context: &mut Context,
        seq: &mut A,
    ) -> Result<Option<InputParts>, A::Error> {
        seq.next_element_seed(Tagged(InputSpecReader(context)))
    }
}

struct OutputSpecItem;

impl Element<Context, OutputParts> for OutputSpecItem {
    fn next<'de, A: SeqAccess<'de>>(
        &self,
        context: &mut Context,
        seq: &mut A,
    ) -> Result<Option<OutputParts>, A::Error> {
        seq.next_element_seed(Tagged(OutputSpecReader(context)))
    }
}

/// Reads an `InputSpec`.
struct InputSpecReader<'a>(&'a mut Context);

impl<'de> Union<'de> for InputSpecReader<'_> {
    type Output = InputParts;
    const WHAT: &'static str = "an input spec";

    fn value<A: MapAccess<'de>>(self, tag: &str, map: &mut A) -> Result<InputParts, A::Error> {
        let (kind, bare, target_field) = match tag {
            "user_input" => (InputKind::UserInput, Bare::No, ""),
            "constant_input" => (InputKind::UserInput, Bare::No, ""),
            "parameter" => (InputKind::Parameter, Bare::Yes, "parameter_name"),
            "buffer" => (InputKind::Buffer, Bare::Yes, "buffer_name"),
            "tensor_constant" => (InputKind::ConstantTensor, Bare::Yes, "tensor_constant_name"),
            "custom_obj" => (InputKind::CustomObj, Bare::Yes, "custom_obj_name"),
            "token" => (InputKind::Token, Bare::Yes, ""),
            _ => return Err(unknown_form(Self::WHAT, tag)),
        };
        let spec = map.next_value_seed(spec(self.0, bare, target_field))?;
        Ok(InputParts {
            kind,
            argument: spec.argument,
            target: spec.target,
            persistent: spec.persistent,
        })
    }
}

/// Reads an `OutputSpec`.
struct OutputSpecReader<'a>(&'a mut Context);

impl<'de> Union<'de> for OutputSpecReader<'_> {
    type Output = OutputParts;
    const WHAT: &'static str = "an output spec";

    fn value<A: MapAccess<'de>>(self, tag: &str, map: &mut A) -> Result<OutputParts, A::Error> {
        let (kind, bare, target_field) = match tag {
            "user_output" => (OutputKind::UserOutput, Bare::No, ""),
            "loss_output" => (OutputKind::LossOutput, Bare::Yes, ""),
            "buffer_mutation" => (OutputKind::BufferMutation, Bare::Yes, "buffer_name"),
            "parameter_mutation" => (OutputKind::ParameterMutation, Bare::Yes, "parameter_name"),
            "user_input_mutation" => (OutputKind::UserInputMutation, Bare::Yes, "user_input_name"),
            "gradient_to_parameter" => {
                (OutputKind::GradientToParameter, Bare::Yes, "parameter_name")
            }
            "gradient_to_user_input" => (
                OutputKind::GradientToUserInput,
                Bare::Yes,
                "user_input_name",
            ),
            "token" => (OutputKind::Token, Bare::Yes, ""),
            _ => return Err(unknown_form(Self::WHAT, tag)),
        };
        let spec = map.next_value_seed(spec(self.0, bare, target_field))?;
        Ok(OutputParts {
            kind,
            argument: spec.argument,
            target: spec.target,
        })
    }
}

/// Whether the `arg` of a spec is a bare object with a name or a tagged `Argument`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bare {
    Yes,
    No,
}

/// Reads what stands under the tag of any spec.
struct SpecReader<'a> {
    context: &'a mut Context,
    bare: Bare,
    target_field: &'static str,
    argument: Option<SpecArgument>,
    target: Option<NameId>,
    persistent: Option<bool>,
    name: Option<NameId>,
    constant: Option<Argument>,
}

fn spec<'a>(
    context: &'a mut Context,
    bare: Bare,
    target_field: &'static str,
) -> Object<SpecReader<'a>> {
    Object(SpecReader {
        context,
        bare,
        target_field,
        argument: None,
        target: None,
        persistent: None,
        name: None,
        constant: None,
    })
}

/// What a spec says.
struct SpecParts {
    argument: SpecArgument,
    target: Option<NameId>,
    persistent: Option<bool>,
}

impl<'de> Fields<'de> for SpecReader<'_> {
    type Output = SpecParts;
    const WHAT: &'static str = "a spec";

    fn field<A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        match key {
            "arg" if self.bare == Bare::Yes => {
                let (name, _) = map.next_value_seed(Scope::new(self.context, None).named())?;
                self.argument = Some(SpecArgument::Value(name));
            }
            "arg" => {
                let mut scope = Scope::new(self.context, None);
                let argument = map.next_value_seed(scope.argument())?;
                self.argument = Some(match (argument, scope.references.pop()) {
                    (
                        Argument::Node(_),
                        Some(Reference::Value(name) | Reference::CustomObject(name, _)),
                    ) => SpecArgument::Value(name),
                    (argument, _) => SpecArgument::Constant(None, argument),
                });
            }
            "value" => {
                let mut scope = Scope::new(self.context, None);
                self.constant = Some(map.next_value_seed(scope.argument())?);
            }
            "name" => {
                self.name = Some(map.next_value_seed(Interned(&mut self.context.names))?);
            }
            "persistent" => self.persistent = Some(map.next_value()?),
            _ if key == self.target_field => {
                self.target = Some(map.next_value_seed(Interned(&mut self.context.names))?);
            }
            _ => {
                map.next_value::<serde::de::IgnoredAny>()?;
            }
        }
        Ok(())
    }

    fn finish<E: serde::de::Error>(self) -> Result<SpecParts, E> {
        if !self.target_field.is_empty() {
            missing(self.target, self.target_field)?;
        }
        let constant = self
            .constant
            .map(|constant| SpecArgument::Constant(self.name, constant));
        Ok(SpecParts {
            argument: missing(self.argument.or(constant), "arg")?,
            target: self.target,
            persistent: self.persistent,
        })
    }
}
