//! Models as ONNX: encoding, scores and predictions in one graph, for any runtime.
//!
//! Every column is an input of shape (rows, 1): numbers as `double`, texts as `string`, where NaN
//! and the empty text stand for a missing cell. Standardising, one-hot levels, rare texts and
//! missing cells are in the graph, which computes in double precision.
//!
//! | output | type and shape | of |
//! |---|---|---|
//! | `label` | `string` (rows), or `int64` for whole numbers as classes | labels |
//! | `probabilities` | `double` (rows, classes) | logistic and softmax |
//! | `score` | `double` (rows) | other losses of labels |
//! | `prediction` | `double` (rows) | numbers |
//!
//! A cell that is missing where training refused that is not refused here: its features are 0.

mod proto;

use crate::features::{Encoding, FeatureColumn, WhenMissing};
use crate::labels::{MISSING, RARE};
use crate::{Error, Result};
use proto::{Attribute, Element, Message, Node, Tensor, value};

/// Name of the domain of the operators for machine learning.
const ML: &str = "ai.onnx.ml";

/// Versions of the operators: of ONNX, and of its machine learning part.
const OPSETS: (i64, i64) = (17, 3);

/// Version of the intermediate representation.
const IR: i64 = 8;

/// Names of the outputs.
const OUTPUTS: [&str; 4] = ["label", "probabilities", "score", "prediction"];

/// What all names but those of inputs and outputs begin with.
const PREFIX: &str = "gdro.";

/// What scores mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Meaning<'a> {
    /// One score: the second of two labels where it is at least 0. Log-odds, or not.
    Binary {
        /// The labels −1 and +1.
        labels: [&'a str; 2],
        /// Whether the score is a log-odds.
        probabilities: bool,
    },
    /// A score for each class, from which softmax makes probabilities.
    Multiclass {
        /// The classes.
        labels: &'a [String],
    },
    /// The score is the prediction.
    Number,
}

/// What features are made of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Input<'a> {
    /// Columns, each of which is an input.
    Columns(&'a Encoding),
    /// The features themselves: one input `X` of shape (rows, d).
    Features(usize),
}

/// A linear model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Linear<'a> {
    /// What features are made of.
    pub input: Input<'a>,
    /// c numbers per feature.
    pub weights: &'a [f64],
    /// c numbers, or none.
    pub intercepts: &'a [f64],
    /// What the scores mean.
    pub meaning: Meaning<'a>,
    /// Whether labels are whole numbers, and `label` is of type `int64`.
    pub integers: bool,
}

/// A graph under construction.
#[derive(Default)]
struct Graph {
    nodes: Vec<Message>,
    constants: Vec<Message>,
    inputs: Vec<Message>,
    outputs: Vec<Message>,
}

impl Graph {
    fn node(&mut self, operator: &str, inputs: &[&str], output: &str) {
        self.full(operator, "", inputs, output, &[]);
    }

    fn full(
        &mut self,
        operator: &str,
        domain: &str,
        inputs: &[&str],
        output: &str,
        attributes: &[(&str, Attribute<'_>)],
    ) {
        self.nodes.push(Node { operator, domain, inputs, output, attributes }.proto());
    }

    fn constant(&mut self, name: &str, shape: &[usize], tensor: &Tensor<'_>) {
        self.constants.push(tensor.proto(name, shape));
    }

    fn number(&mut self, name: &str, number: f64) {
        self.constant(name, &[1], &Tensor::Doubles(&[number]));
    }

    fn cast(&mut self, input: &str, output: &str, to: Element) {
        self.full("Cast", "", &[input], output, &[("to", Attribute::Int(to as i64))]);
    }

    /// Adds a column: an input `name`, and the names of what makes its features, in order.
    fn column(&mut self, at: usize, column: &FeatureColumn) -> Result<Vec<String>> {
        let name = column.name();
        let own = |part: &str| format!("gdro.{part}_{at}");
        match column {
            FeatureColumn::Number { mean, deviation, missing, .. } => {
                self.inputs.push(value(name, Element::Double, Some(1)));
                let (mean_of, scale_of, zero) = (own("mean"), own("scale"), own("zero"));
                self.number(&mean_of, *mean);
                self.number(&zero, 0.0);
                let (less, scaled, gap, out) =
                    (own("less"), own("scaled"), own("gap"), own("number"));
                self.node("Sub", &[name, &mean_of], &less);
                if *deviation == 0.0 {
                    self.number(&scale_of, 0.0);
                    self.node("Mul", &[&less, &scale_of], &scaled);
                } else {
                    self.number(&scale_of, *deviation);
                    self.node("Div", &[&less, &scale_of], &scaled);
                }
                self.node("IsNaN", &[name], &gap);
                self.node("Where", &[&gap, &zero, &scaled], &out);
                let mut made = vec![out];
                if *missing == WhenMissing::Indicator {
                    let flag = own("missing");
                    self.cast(&gap, &flag, Element::Double);
                    made.push(flag);
                }
                Ok(made)
            }
            FeatureColumn::Text { levels, rare, .. } => {
                self.inputs.push(value(name, Element::String, Some(1)));
                let place = |text: &str| levels.iter().position(|l| l == text);
                let mut keys: Vec<String> = Vec::new();
                let mut codes: Vec<i64> = Vec::new();
                for (code, level) in levels.iter().enumerate() {
                    // Cells that are missing are empty here.
                    let key = if level == MISSING { "" } else { level };
                    keys.push(key.to_owned());
                    codes.push(code as i64);
                }
                if let Some(code) = place(RARE) {
                    keys.extend(rare.iter().cloned());
                    codes.extend(rare.iter().map(|_| code as i64));
                }
                let (code, hot, flat, out) =
                    (own("code"), own("hot"), own("gdro.flat"), own("text"));
                let attributes = [
                    ("keys_strings", Attribute::Strings(&keys)),
                    ("values_int64s", Attribute::Ints(&codes)),
                    ("default_int64", Attribute::Int(-1)),
                ];
                self.full("LabelEncoder", ML, &[name], &code, &attributes);
                let all: Vec<i64> = (0..levels.len() as i64).collect();
                let attributes =
                    [("cats_int64s", Attribute::Ints(&all)), ("zeros", Attribute::Int(1))];
                self.full("OneHotEncoder", ML, &[&code], &hot, &attributes);
                let shape = own("shape");
                self.constant(&shape, &[2], &Tensor::Ints(&[-1, levels.len() as i64]));
                self.node("Reshape", &[&hot, &shape], &flat);
                self.cast(&flat, &out, Element::Double);
                Ok(vec![out])
            }
            FeatureColumn::Hash { .. } => {
                Err(Error::NotInOnnx { what: format!("the hash of the texts of column `{name}`") })
            }
        }
    }

    /// Adds labels by their index, as the output `label`.
    fn label(&mut self, index: &str, labels: &[String], integers: bool) -> Result<()> {
        let element = if integers {
            let numbers: std::result::Result<Vec<i64>, _> =
                labels.iter().map(|l| l.parse::<i64>()).collect();
            let what = || Error::NotInOnnx { what: "a label that is no whole number".to_owned() };
            let numbers = numbers.map_err(|_| what())?;
            self.constant("gdro.labels", &[numbers.len()], &Tensor::Ints(&numbers));
            Element::Int64
        } else {
            self.constant("gdro.labels", &[labels.len()], &Tensor::Strings(labels));
            Element::String
        };
        self.node("Gather", &["gdro.labels", index], "label");
        self.outputs.push(value("label", element, None));
        Ok(())
    }
}

/// The model as the bytes of an ONNX file. Features by index are one input `X`, like
/// [`Input::Features`].
///
/// # Errors
/// [`Error::NotInOnnx`] for hashed texts, which ONNX has no operators for, for features by index
/// beside columns by name, and for a column with the name of an output.
///
/// # Panics
/// When the numbers of weights and intercepts do not fit the features.
pub fn onnx(model: &Linear<'_>) -> Result<Vec<u8>> {
    let mut graph = Graph::default();
    let (features, mut dimension) = match model.input {
        Input::Features(d) => {
            graph.inputs.push(value("X", Element::Double, Some(d)));
            ("X".to_owned(), d)
        }
        Input::Columns(encoding) if encoding.is_matrix() => {
            let width = encoding.dimension() - usize::from(encoding.has_constant());
            graph.inputs.push(value("X", Element::Double, Some(width)));
            ("X".to_owned(), encoding.dimension())
        }
        Input::Columns(encoding) => {
            if encoding.has_sparse() {
                let what = "features by index beside columns by name".to_owned();
                return Err(Error::NotInOnnx { what });
            }
            let taken =
                |c: &&FeatureColumn| OUTPUTS.contains(&c.name()) || c.name().starts_with(PREFIX);
            if let Some(column) = encoding.columns().iter().find(taken) {
                let name = column.name();
                return Err(Error::NotInOnnx { what: format!("a column of the name `{name}`") });
            }
            let mut made = Vec::new();
            for (at, column) in encoding.columns().iter().enumerate() {
                made.extend(graph.column(at, column)?);
            }
            let parts: Vec<&str> = made.iter().map(String::as_str).collect();
            graph.full("Concat", "", &parts, "gdro.features", &[("axis", Attribute::Int(1))]);
            ("gdro.features".to_owned(), encoding.dimension())
        }
    };
    let outputs = model.weights.len() / dimension;
    assert_eq!(outputs * dimension, model.weights.len(), "weights for every feature");
    let mut weights = model.weights.to_vec();
    let mut intercepts = vec![0.0; outputs];
    if !model.intercepts.is_empty() {
        intercepts.copy_from_slice(model.intercepts);
    }
    if let Input::Columns(encoding) = model.input {
        if encoding.has_constant() {
            dimension -= 1;
            let last = weights.split_off(dimension * outputs);
            intercepts.iter_mut().zip(last).for_each(|(i, w)| *i += w);
        }
        // A column with one value in training counts nothing, whatever it is later.
        let mut first = 0;
        for column in encoding.columns() {
            let end = first + column.width();
            if column.is_constant() {
                weights[first * outputs..end * outputs].fill(0.0);
            }
            first = end;
        }
    }
    graph.constant("gdro.weights", &[dimension, outputs], &Tensor::Doubles(&weights));
    graph.constant("gdro.intercepts", &[1, outputs], &Tensor::Doubles(&intercepts));
    graph.node("MatMul", &[&features, "gdro.weights"], "gdro.products");
    graph.node("Add", &["gdro.products", "gdro.intercepts"], "gdro.scores");
    graph.constant("gdro.flat", &[1], &Tensor::Ints(&[-1]));
    match model.meaning {
        Meaning::Number => {
            graph.node("Reshape", &["gdro.scores", "gdro.flat"], "prediction");
            graph.outputs.push(value("prediction", Element::Double, None));
        }
        Meaning::Binary { labels, probabilities } => {
            let labels = labels.map(str::to_owned);
            graph.number("gdro.nought", 0.0);
            graph.node("GreaterOrEqual", &["gdro.scores", "gdro.nought"], "gdro.positive");
            graph.node("Reshape", &["gdro.positive", "gdro.flat"], "gdro.positive_flat");
            graph.cast("gdro.positive_flat", "gdro.class", Element::Int64);
            graph.label("gdro.class", &labels, model.integers)?;
            if probabilities {
                // Both by a sigmoid, so that a small one keeps its digits.
                graph.node("Neg", &["gdro.scores"], "gdro.negated");
                graph.node("Sigmoid", &["gdro.negated"], "gdro.first");
                graph.node("Sigmoid", &["gdro.scores"], "gdro.second");
                let axis = [("axis", Attribute::Int(1))];
                graph.full("Concat", "", &["gdro.first", "gdro.second"], "probabilities", &axis);
                graph.outputs.push(value("probabilities", Element::Double, Some(2)));
            } else {
                graph.node("Reshape", &["gdro.scores", "gdro.flat"], "score");
                graph.outputs.push(value("score", Element::Double, None));
            }
        }
        Meaning::Multiclass { labels } => {
            let attributes = [("axis", Attribute::Int(1)), ("keepdims", Attribute::Int(0))];
            graph.full("ArgMax", "", &["gdro.scores"], "gdro.class", &attributes);
            graph.label("gdro.class", labels, model.integers)?;
            let axis = [("axis", Attribute::Int(1))];
            graph.full("Softmax", "", &["gdro.scores"], "probabilities", &axis);
            graph.outputs.push(value("probabilities", Element::Double, Some(outputs)));
        }
    }
    Ok(assemble(graph))
}

/// The `ModelProto` of a graph.
fn assemble(graph: Graph) -> Vec<u8> {
    let add = |message: Message, field: u32, parts: Vec<Message>| {
        parts.into_iter().fold(message, |m, part| m.message(field, part))
    };
    let mut body = add(Message::default(), 1, graph.nodes).text(2, "gdro");
    body = add(body, 5, graph.constants);
    body = add(body, 11, graph.inputs);
    body = add(body, 12, graph.outputs);
    let opset = |domain: &str, version| Message::default().text(1, domain).int(2, version);
    Message::default()
        .int(1, IR)
        .text(2, "gdro")
        .text(3, env!("CARGO_PKG_VERSION"))
        .message(7, body)
        .message(8, opset("", OPSETS.0))
        .message(8, opset(ML, OPSETS.1))
        .finish()
}
