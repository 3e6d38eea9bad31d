//! Writing JSON, piece by piece, into memory.

use std::io::Write as _;

/// JSON text under construction. The caller opens and closes what it opens and closes; the
/// commas come by themselves.
#[derive(Default)]
pub(crate) struct JsonOut {
    text: Vec<u8>,
    /// Whether something stands before the next item of the innermost list or object.
    follows: bool,
}

impl JsonOut {
    /// The text.
    pub(crate) fn into_text(self) -> Vec<u8> {
        self.text
    }

    /// Makes room for `bytes` more.
    pub(crate) fn reserve(&mut self, bytes: usize) {
        self.text.reserve(bytes);
    }

    fn separate(&mut self) {
        if self.follows {
            self.text.push(b',');
        }
        self.follows = true;
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
            String::from_utf8(out.into_text()).unwrap(),
            r#"{"a":[1,0.00001,"-Infinity",{},null],"b":"\"\n","c":true}"#
        );
    }

    #[test]
    fn a_float_keeps_its_point() {
        let mut out = JsonOut::default();
        out.float(2.0);
        assert_eq!(out.into_text(), b"2.0");
    }
}
