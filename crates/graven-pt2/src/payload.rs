//! `*_weights_config.json` and `*_constants_config.json`: which bytes are which tensor.

use graven_ir::{Context, NameId, TensorMetaId};
use serde::de::{DeserializeSeed, MapAccess};

use crate::error::Pt2Error;
use crate::json::{Fields, Object, Text, missing};
use crate::model::MetaCache;

/// A `PayloadMeta`: one entry of a config.
#[derive(Debug)]
pub(crate) struct Payload {
    pub(crate) name: NameId,
    pub(crate) path_name: String,
    pub(crate) is_parameter: bool,
    pub(crate) use_pickle: bool,
    pub(crate) meta: Option<TensorMetaId>,
}

/// Reads the config that `text` is; `path` is what errors call it.
pub(crate) fn read_config(
    context: &mut Context,
    text: &str,
    path: &str,
) -> Result<Vec<Payload>, Pt2Error> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let reader = Object(ConfigReader {
        context,
        payloads: None,
    });
    reader
        .deserialize(&mut deserializer)
        .and_then(|payloads| deserializer.end().map(|()| payloads))
        .map_err(|source| Pt2Error::Json {
            path: path.to_owned(),
            source,
        })
}

/// Reads a `PayloadConfig`.
struct ConfigReader<'a> {
    context: &'a mut Context,
    payloads: Option<Vec<Payload>>,
}

impl<'de> Fields<'de> for ConfigReader<'_> {
    type Output = Vec<Payload>;
    const WHAT: &'static str = "a payload config";

    fn field<A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        if key == "config" {
            self.payloads = Some(map.next_value_seed(Object(PayloadsReader {
                context: self.context,
                metas: MetaCache::default(),
                payloads: Vec::new(),
            }))?);
        } else {
            map.next_value::<serde::de::IgnoredAny>()?;
        }
        Ok(())
    }

    fn finish<E: serde::de::Error>(self) -> Result<Vec<Payload>, E> {
        missing(self.payloads, "config")
    }
}

/// Reads the mapping from names to payloads.
struct PayloadsReader<'a> {
    context: &'a mut Context,
    metas: MetaCache,
    payloads: Vec<Payload>,
}

impl<'de> Fields<'de> for PayloadsReader<'_> {
    type Output = Vec<Payload>;
    const WHAT: &'static str = "a mapping of payloads";

    fn field<A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        let name = self.context.names.intern(key);
        self.payloads
            .push(map.next_value_seed(Object(PayloadReader {
                context: self.context,
                metas: &mut self.metas,
                name,
                path_name: None,
                is_parameter: false,
                use_pickle: false,
                meta: None,
            }))?);
        Ok(())
    }

    fn finish<E: serde::de::Error>(self) -> Result<Vec<Payload>, E> {
        Ok(self.payloads)
    }
}

/// Reads a `PayloadMeta`.
struct PayloadReader<'a> {
    context: &'a mut Context,
    metas: &'a mut MetaCache,
    name: NameId,
    path_name: Option<String>,
    is_parameter: bool,
    use_pickle: bool,
    meta: Option<TensorMetaId>,
}

impl<'de> Fields<'de> for PayloadReader<'_> {
    type Output = Payload;
    const WHAT: &'static str = "a payload";

    fn field<A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        match key {
            "path_name" => {
                let Text(path) = map.next_value()?;
                self.path_name = Some(path.into_owned());
            }
            "is_param" => self.is_parameter = map.next_value()?,
            "use_pickle" => self.use_pickle = map.next_value()?,
            "tensor_meta" => {
                self.meta = self.metas.next_optional_value(self.context, map)?;
            }
            _ => {
                map.next_value::<serde::de::IgnoredAny>()?;
            }
        }
        Ok(())
    }

    fn finish<E: serde::de::Error>(self) -> Result<Payload, E> {
        Ok(Payload {
            name: self.name,
            path_name: missing(self.path_name, "path_name")?,
            is_parameter: self.is_parameter,
            use_pickle: self.use_pickle,
            meta: self.meta,
        })
    }
}
