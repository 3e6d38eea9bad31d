//! A small functionalization: records what formulas call, as torch's machine would.
//!
//! Storages count writes; a tensor that is older than its storage is taken again from the base
//! through its views when it is read. Metadata comes from shape rules alone.

use graven_ir::schema::DefaultValue;
use graven_ir::{Context, TensorMeta};
use graven_ops::catalogue::view::{self, ViewArguments};
use graven_ops::emit::EmitError;
use graven_ops::{Arg, Emit, Operator, Registry, Tag, TwinArgument, TwinResult, shape};

use crate::parse::Node;

pub(crate) struct Machine<'a> {
    pub(crate) context: &'a mut Context,
    pub(crate) registry: Registry,
    /// Metadata of the values: inputs, then nodes. `getitem`s are nodes.
    pub(crate) values: Vec<Option<TensorMeta>>,
    pub(crate) nodes: Vec<Node>,
    tensors: Vec<Tensor>,
    storages: Vec<Storage>,
}

#[derive(Clone)]
struct Tensor {
    storage: usize,
    chain: Vec<ViewCall>,
    value: usize,
    generation: usize,
}

struct Storage {
    base: usize,
    generation: usize,
}

#[derive(Clone)]
struct ViewCall {
    operator: String,
    args: Vec<Arg<usize>>,
}

type Values = Result<Vec<usize>, EmitError>;

impl<'a> Machine<'a> {
    pub(crate) fn new(context: &'a mut Context, inputs: &[TensorMeta]) -> Self {
        let mut machine = Self {
            context,
            registry: Registry::aten(),
            values: inputs.iter().cloned().map(Some).collect(),
            nodes: Vec::new(),
            tensors: Vec::new(),
            storages: Vec::new(),
        };
        for input in 0..inputs.len() {
            machine.fresh(input);
        }
        machine
    }

    fn fresh(&mut self, value: usize) -> usize {
        self.storages.push(Storage {
            base: value,
            generation: 0,
        });
        self.tensors.push(Tensor {
            storage: self.storages.len() - 1,
            chain: Vec::new(),
            value,
            generation: 0,
        });
        self.tensors.len() - 1
    }

    fn meta_of(&self, value: usize) -> &TensorMeta {
        self.values[value].as_ref().expect("a tensor")
    }

    /// Records a pure call on values.
    fn record(
        &mut self,
        operator: &str,
        args: &[Arg<usize>],
        kwargs: &[(&str, Arg<usize>)],
    ) -> Values {
        let known = args
            .iter()
            .map(|arg| self.with_metas(arg))
            .collect::<Vec<_>>();
        let keywords = kwargs
            .iter()
            .map(|(name, arg)| (*name, self.with_metas(arg)));
        let keywords = keywords.collect::<Vec<_>>();
        let metas = shape::infer(self.context, operator, &known, &keywords)?;
        let id = self.registry.find(operator).expect("an operator");
        let schema = self.registry.operator(id).schema();
        let is_single = schema.returns.len() == 1 && !schema.returns[0].ty.is_list();
        self.nodes.push(Node {
            operator: operator.to_owned(),
            args: args.to_vec(),
            kwargs: kwargs
                .iter()
                .map(|(name, arg)| ((*name).to_owned(), arg.clone()))
                .collect(),
            metas: metas.to_vec(),
        });
        let node = self.values.len();
        if is_single {
            self.values.push(metas.into_iter().next());
            return Ok(vec![node]);
        }
        self.values.push(None);
        for (index, meta) in metas.into_iter().enumerate() {
            self.nodes.push(Node {
                operator: "getitem".to_owned(),
                args: vec![Arg::Value(node), Arg::int(index as i64)],
                kwargs: Vec::new(),
                metas: vec![meta.clone()],
            });
            self.values.push(Some(meta));
        }
        Ok((node + 1..self.values.len()).collect())
    }

    fn with_metas(&self, arg: &Arg<usize>) -> Arg<TensorMeta> {
        map(arg, &mut |value| {
            Ok::<_, EmitError>(self.meta_of(*value).clone())
        })
        .expect("no error")
    }

    pub(crate) fn sync(&mut self, tensor: usize) -> Result<usize, EmitError> {
        let Tensor {
            storage,
            chain,
            value,
            generation,
        } = self.tensors[tensor].clone();
        let Storage {
            base,
            generation: newest,
        } = self.storages[storage];
        if generation == newest {
            return Ok(value);
        }
        let mut value = base;
        for view in &chain {
            value = self.take_view(value, view)?;
        }
        self.tensors[tensor].value = value;
        self.tensors[tensor].generation = newest;
        Ok(value)
    }

    fn take_view(&mut self, base: usize, view: &ViewCall) -> Result<usize, EmitError> {
        let mut args = vec![Arg::Value(base)];
        args.extend(view.args.iter().cloned());
        Ok(self.record(&view.operator, &args, &[])?[0])
    }

    /// Whether the input was written to.
    pub(crate) fn is_written(&self, input: usize) -> bool {
        self.storages[self.tensors[input].storage].generation > 0
    }

    fn write(&mut self, tensor: usize, value: usize) -> Result<(), EmitError> {
        let dtype = self.meta_of(self.tensors[tensor].value).dtype;
        let mut value = value;
        if self.meta_of(value).dtype != dtype {
            let kwargs = [
                ("dtype", Arg::DType(dtype)),
                ("layout", Arg::Layout(graven_ir::Layout::Strided)),
            ];
            value = self.record("aten::_to_copy", &[Arg::Value(value)], &kwargs)?[0];
        }
        let Tensor { storage, chain, .. } = self.tensors[tensor].clone();
        if let Some((_, before)) = chain.split_last() {
            let mut bases = vec![self.storages[storage].base];
            for view in before {
                let base = self.take_view(bases[bases.len() - 1], view)?;
                bases.push(base);
            }
            for (view, base) in chain.iter().zip(&bases).rev() {
                let inverse = view::inverse(&view.operator).expect("an inverse");
                let arguments = ViewArguments {
                    args: view.args.clone(),
                    kwargs: Vec::new(),
                };
                value = inverse.write_back(&mut Pure(self), &arguments, base, value)?;
            }
        }
        self.storages[storage].base = value;
        self.storages[storage].generation += 1;
        self.sync(tensor).map(drop)
    }

    /// Calls the functional twin of a writing operator.
    fn call_write(
        &mut self,
        operator: &Operator,
        args: &[Arg<usize>],
        kwargs: &[(&str, Arg<usize>)],
    ) -> Values {
        let id = self
            .registry
            .find(&operator.name().to_string())
            .expect("an operator");
        let twin = self.registry.functional_twin(id).expect("a twin").clone();
        let twin_operator = self.registry.operator(twin.operator).clone();
        let schema = operator.schema();
        let given = |index: usize| {
            let name = &*schema.arguments[index].name;
            let keyword = || kwargs.iter().find(|(keyword, _)| *keyword == name);
            args.get(index).or_else(|| keyword().map(|(_, arg)| arg))
        };
        let (mut twin_args, mut twin_kwargs) = (Vec::new(), Vec::new());
        let declared = twin_operator.schema().arguments.iter();
        for (position, (argument, source)) in declared.zip(&twin.arguments).enumerate() {
            let TwinArgument::Argument(index) = *source else {
                continue;
            };
            let default = twin.defaults.iter().find(|(other, _)| *other == position);
            let arg = match (given(index), default) {
                (Some(arg), _) => map(arg, &mut |tensor| self.sync(*tensor))?,
                (None, Some((_, DefaultValue::Int(value)))) => Arg::int(*value),
                (None, Some((_, DefaultValue::Float(value)))) => Arg::Float(*value),
                _ => continue,
            };
            match argument.keyword_only {
                true => twin_kwargs.push((&*argument.name, arg)),
                false => twin_args.push(arg),
            }
        }
        let name = twin_operator.name().to_string();
        let results = self.record(&name, &twin_args, &twin_kwargs)?;
        let mut own = Vec::new();
        for (value, result) in results.into_iter().zip(&twin.results) {
            match *result {
                TwinResult::Own(_) => own.push(self.fresh(value)),
                TwinResult::NewValueOf(index) => {
                    if let Some(Arg::Value(tensor)) = given(index) {
                        self.write(*tensor, value)?;
                    }
                }
            }
        }
        let mut own = own.into_iter();
        let returned = |index| match schema
            .return_alias(index)
            .map(|alias| given(alias.argument))
        {
            Some(Some(Arg::Value(tensor))) => Some(*tensor),
            _ => own.next(),
        };
        Ok((0..schema.returns.len()).filter_map(returned).collect())
    }

    fn call_view(&mut self, operator: &str, args: &[Arg<usize>]) -> Values {
        let Some(Arg::Value(of)) = args.first() else {
            panic!("{operator}: a view of nothing");
        };
        let synced = args
            .iter()
            .map(|arg| map(arg, &mut |tensor| self.sync(*tensor)));
        let synced = synced.collect::<Result<Vec<_>, _>>()?;
        let results = self.record(operator, &synced, &[])?;
        let Tensor { storage, chain, .. } = self.tensors[*of].clone();
        let views = results.into_iter().map(|value| {
            let mut chain = chain.clone();
            chain.push(ViewCall {
                operator: operator.to_owned(),
                args: synced[1..].to_vec(),
            });
            self.tensors.push(Tensor {
                storage,
                chain,
                value,
                generation: 0,
            });
            self.tensors.len() - 1
        });
        let views: Vec<usize> = views.collect();
        // torch records a dtype view as the view and a `detach` of it.
        if operator == "aten::view.dtype" {
            return self.call_view("aten::detach", &[Arg::Value(views[0])]);
        }
        Ok(views)
    }
}

/// The same argument with each value replaced.
fn map<A, B, X>(arg: &Arg<A>, f: &mut impl FnMut(&A) -> Result<B, X>) -> Result<Arg<B>, X> {
    Ok(match arg {
        Arg::Value(value) => Arg::Value(f(value)?),
        Arg::List(items) => {
            let items = items.iter().map(|item| map(item, f));
            Arg::List(items.collect::<Result<_, _>>()?)
        }
        Arg::None => Arg::None,
        Arg::Int(value) => Arg::Int(*value),
        Arg::Float(value) => Arg::Float(*value),
        Arg::Bool(value) => Arg::Bool(*value),
        Arg::Complex(real, imaginary) => Arg::Complex(*real, *imaginary),
        Arg::Str(text) => Arg::Str(text.clone()),
        Arg::DType(dtype) => Arg::DType(*dtype),
        Arg::Layout(layout) => Arg::Layout(*layout),
        Arg::Device(device) => Arg::Device(*device),
        Arg::MemoryFormat(format) => Arg::MemoryFormat(*format),
    })
}

/// Pure calls on values, for view inverses.
struct Pure<'m, 'a>(&'m mut Machine<'a>);

impl Emit for Pure<'_, '_> {
    type Value = usize;
    type Error = EmitError;

    fn call(
        &mut self,
        operator: &str,
        args: &[Arg<usize>],
        kwargs: &[(&str, Arg<usize>)],
    ) -> Values {
        self.0.record(operator, args, kwargs)
    }

    fn meta<'a>(&'a self, value: &'a usize) -> &'a TensorMeta {
        self.0.meta_of(*value)
    }

    fn context(&mut self) -> &mut Context {
        self.0.context
    }
}

impl Emit for Machine<'_> {
    type Value = usize;
    type Error = EmitError;

    fn call(
        &mut self,
        operator: &str,
        args: &[Arg<usize>],
        kwargs: &[(&str, Arg<usize>)],
    ) -> Values {
        let id = self
            .registry
            .find(operator)
            .unwrap_or_else(|| panic!("{operator}"));
        let known = self.registry.operator(id).clone();
        if known.is_mutable() && !known.has_tag(Tag::InplaceView) {
            return self.call_write(&known, args, kwargs);
        }
        if known.is_view() {
            return self.call_view(operator, args);
        }
        let args = args
            .iter()
            .map(|arg| map(arg, &mut |tensor| self.sync(*tensor)));
        let args = args.collect::<Result<Vec<_>, _>>()?;
        let mut keywords = Vec::new();
        for (name, arg) in kwargs {
            keywords.push((*name, map(arg, &mut |tensor| self.sync(*tensor))?));
        }
        let values = self.record(operator, &args, &keywords)?;
        Ok(values.into_iter().map(|value| self.fresh(value)).collect())
    }

    fn meta<'a>(&'a self, tensor: &'a usize) -> &'a TensorMeta {
        self.meta_of(self.tensors[*tensor].value)
    }

    fn context(&mut self) -> &mut Context {
        self.context
    }
}
