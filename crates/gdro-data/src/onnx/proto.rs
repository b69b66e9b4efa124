//! The few messages of ONNX that are needed, as protocol buffers.
//!
//! Numbers of fields are those of `onnx.proto3` (ONNX IR version 8); the wire format is that of
//! <https://protobuf.dev/programming-guides/encoding/>.

/// Types of elements (`TensorProto.DataType`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Element {
    Int64 = 7,
    String = 8,
    Double = 11,
}

/// A message under construction.
#[derive(Clone, Debug, Default)]
pub(super) struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    /// An integer field.
    pub(super) fn int(mut self, field: u32, value: i64) -> Self {
        self.varint(u64::from(field) << 3);
        self.varint(value as u64);
        self
    }

    /// A field of bytes, texts or messages.
    pub(super) fn bytes(mut self, field: u32, value: &[u8]) -> Self {
        self.varint(u64::from(field) << 3 | 2);
        self.varint(value.len() as u64);
        self.0.extend_from_slice(value);
        self
    }

    /// A text field.
    pub(super) fn text(self, field: u32, value: &str) -> Self {
        self.bytes(field, value.as_bytes())
    }

    /// A message field.
    pub(super) fn message(self, field: u32, value: Message) -> Self {
        self.bytes(field, &value.0)
    }

    /// The bytes of the message.
    pub(super) fn finish(self) -> Vec<u8> {
        self.0
    }
}

/// A constant tensor.
pub(super) enum Tensor<'a> {
    Doubles(&'a [f64]),
    Ints(&'a [i64]),
    Strings(&'a [String]),
}

impl Tensor<'_> {
    /// The `TensorProto` of this name and shape.
    pub(super) fn proto(&self, name: &str, shape: &[usize]) -> Message {
        let mut tensor = Message::default();
        for size in shape {
            tensor = tensor.int(1, *size as i64);
        }
        tensor = tensor.int(2, self.element() as i64).text(8, name);
        match self {
            // Raw data are little-endian.
            Tensor::Doubles(values) => {
                let raw: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
                tensor.bytes(9, &raw)
            }
            Tensor::Ints(values) => {
                let raw: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
                tensor.bytes(9, &raw)
            }
            Tensor::Strings(values) => {
                values.iter().fold(tensor, |tensor, value| tensor.text(6, value))
            }
        }
    }

    fn element(&self) -> Element {
        match self {
            Tensor::Doubles(_) => Element::Double,
            Tensor::Ints(_) => Element::Int64,
            Tensor::Strings(_) => Element::String,
        }
    }
}

/// An attribute of a node.
pub(super) enum Attribute<'a> {
    Int(i64),
    Ints(&'a [i64]),
    Strings(&'a [String]),
}

impl Attribute<'_> {
    fn proto(&self, name: &str) -> Message {
        let attribute = Message::default().text(1, name);
        match self {
            Attribute::Int(value) => attribute.int(3, *value).int(20, 2),
            Attribute::Ints(values) => {
                values.iter().fold(attribute, |a, v| a.int(8, *v)).int(20, 7)
            }
            Attribute::Strings(values) => {
                values.iter().fold(attribute, |a, v| a.text(9, v)).int(20, 8)
            }
        }
    }
}

/// An operator with its inputs, its one output, and its attributes.
pub(super) struct Node<'a> {
    pub(super) operator: &'a str,
    /// `ai.onnx.ml`, or empty for the usual operators.
    pub(super) domain: &'a str,
    pub(super) inputs: &'a [&'a str],
    pub(super) output: &'a str,
    pub(super) attributes: &'a [(&'a str, Attribute<'a>)],
}

impl Node<'_> {
    /// The `NodeProto`.
    pub(super) fn proto(&self) -> Message {
        let node = self.inputs.iter().fold(Message::default(), |node, i| node.text(1, i));
        let node = node.text(2, self.output).text(3, self.output).text(4, self.operator);
        let node = self.attributes.iter().fold(node, |n, (name, a)| n.message(5, a.proto(name)));
        if self.domain.is_empty() { node } else { node.text(7, self.domain) }
    }
}

/// The `ValueInfoProto` of an input or output with n rows and `width` columns, or none.
pub(super) fn value(name: &str, element: Element, width: Option<usize>) -> Message {
    let rows = Message::default().text(2, "rows");
    let mut shape = Message::default().message(1, rows);
    if let Some(width) = width {
        shape = shape.message(1, Message::default().int(1, width as i64));
    }
    let tensor = Message::default().int(1, element as i64).message(2, shape);
    let kind = Message::default().message(1, tensor);
    Message::default().text(1, name).message(2, kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of the description of the wire format.
    #[test]
    fn published_encodings() {
        assert_eq!(Message::default().int(1, 150).finish(), [0x08, 0x96, 0x01]);
        let text = Message::default().text(2, "testing").finish();
        assert_eq!(text, [0x12, 0x07, 0x74, 0x65, 0x73, 0x74, 0x69, 0x6e, 0x67]);
        let inner = Message::default().int(1, 150);
        assert_eq!(Message::default().message(3, inner).finish(), [0x1a, 0x03, 0x08, 0x96, 0x01]);
        let minus = Message::default().int(1, -2).finish();
        assert_eq!(minus, [0x08, 0xfe, 255, 255, 255, 255, 255, 255, 255, 255, 1]);
    }
}
