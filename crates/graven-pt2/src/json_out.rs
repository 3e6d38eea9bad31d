//! Writing JSON, piece by piece.

use std::io::{self, Write};

/// JSON text under construction. The caller says what it opens and closes; the commas come by
/// themselves.
#[derive(Default)]
pub(crate) struct JsonOut<'a> {
    text: Vec<u8>,
    /// Whether something stands before the next item of the innermost list or object.
    follows: bool,
    /// Where the text goes when there is enough of it; without one it stays.
    sink: Option<&'a mut dyn Write>,
    /// Why the sink took no more.
    failure: Option<io::Error>,
}

impl<'a> JsonOut<'a> {
    /// How much is handed to the sink at once.
    const STEP: usize = 1 << 16;

    /// Text that goes to `sink`.
    pub(crate) fn to(sink: &'a mut dyn Write) -> Self {
        Self {
            text: Vec::with_capacity(2 * Self::STEP),
            sink: Some(sink),
            ..Self::default()
        }
    }

    /// Ends the text: what is left goes to the sink, or is given back where there is none.
    pub(crate) fn finish(mut self) -> io::Result<Vec<u8>> {
        self.hand_on();
        match self.failure {
            Some(error) => Err(error),
            None => Ok(self.text),
        }
    }

    fn hand_on(&mut self) {
        if let Some(sink) = &mut self.sink {
            if self.failure.is_none() {
                self.failure = sink.write_all(&self.text).err();
            }
            self.text.clear();
        }
    }

    fn separate(&mut self) {
        if self.follows {
            self.text.push(b',');
        }
        self.follows = true;
        if self.text.len() >= Self::STEP {
            self.hand_on();
        }
    }

    fn open(&mut self, bracket: u8) {
        self.separate();
        self.text.push(bracket);
        self.follows = false;
    }

    fn close(&mut self, bracket: u8) {
        self.text.push(bracket);
        self.follows = true;
    }

    pub(crate) fn open_object(&mut self) {
        self.open(b'{');
    }

    pub(crate) fn close_object(&mut self) {
        self.close(b'}');
    }

    pub(crate) fn open_list(&mut self) {
        self.open(b'[');
    }

    pub(crate) fn close_list(&mut self) {
        self.close(b']');
    }

    /// The name of a field; its value comes next.
    pub(crate) fn key(&mut self, key: &str) {
        self.string(key);
        self.text.push(b':');
        self.follows = false;
    }

    pub(crate) fn string(&mut self, text: &str) {
        self.separate();
        // Writing to memory cannot fail, and a string always has a JSON form.
        let _ = serde_json::to_writer(&mut self.text, text);
    }

    pub(crate) fn null(&mut self) {
        self.raw("null");
    }

    pub(crate) fn bool(&mut self, value: bool) {
        self.raw(if value { "true" } else { "false" });
    }

    pub(crate) fn int(&mut self, value: i64) {
        self.separate();
        let _ = write!(self.text, "{value}");
    }

    /// A number; torch writes those that JSON does not have as strings.
    pub(crate) fn float(&mut self, value: f64) {
        if value.is_finite() {
            self.separate();
            let _ = serde_json::to_writer(&mut self.text, &value);
        } else if value.is_nan() {
            self.string("NaN");
        } else if value > 0.0 {
            self.string("Infinity");
        } else {
            self.string("-Infinity");
        }
    }

    /// Text that is JSON already.
    pub(crate) fn raw(&mut self, json: &str) {
        self.separate();
        self.text.extend_from_slice(json.as_bytes());
    }

    // ---- fields ----

    pub(crate) fn string_field(&mut self, key: &str, text: &str) {
        self.key(key);
        self.string(text);
    }

    pub(crate) fn int_field(&mut self, key: &str, value: i64) {
        self.key(key);
        self.int(value);
    }

    pub(crate) fn bool_field(&mut self, key: &str, value: bool) {
        self.key(key);
        self.bool(value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_stand_between_items() {
        let mut out = JsonOut::default();
        out.open_object();
        out.key("a");
        out.open_list();
        out.int(1);
        out.float(1e-5);
        out.float(f64::NEG_INFINITY);
        out.open_object();
        out.close_object();
        out.null();
        out.close_list();
        out.string_field("b", "\"\n");
        out.bool_field("c", true);
        out.close_object();
        assert_eq!(
            String::from_utf8(out.finish().unwrap()).unwrap(),
            r#"{"a":[1,0.00001,"-Infinity",{},null],"b":"\"\n","c":true}"#
        );
    }

    #[test]
    fn a_float_keeps_its_point() {
        let mut out = JsonOut::default();
        out.float(2.0);
        assert_eq!(out.finish().unwrap(), b"2.0");
    }

    #[test]
    fn a_sink_gets_all_of_a_long_text() {
        let mut sink = Vec::new();
        let mut out = JsonOut::to(&mut sink);
        out.open_list();
        for value in 0..100_000 {
            out.int(value);
        }
        out.close_list();
        assert!(out.finish().unwrap().is_empty());
        let values: Vec<i64> = serde_json::from_slice(&sink).unwrap();
        assert!(values.into_iter().eq(0..100_000));
    }

    #[test]
    fn a_full_sink_is_an_error() {
        let mut sink = [0_u8; 10];
        let mut sink = sink.as_mut_slice();
        let mut out = JsonOut::to(&mut sink);
        out.string("more than ten bytes");
        assert!(out.finish().is_err());
    }
}
