//! What the component is shown at a return, and how its answer becomes a result.

use std::collections::{BTreeMap, BTreeSet};

use plumb_queue::{Flavour, Returned};
use serde_json::{Map, Value};

use super::{
    compile::{Names, Scope},
    expression::{self, Ast, Atom},
    model::{Field, Kind, Operand},
    reader::{Node, Result},
};

/// `object.field`
pub(super) type FieldName = (String, String);

/// A document with `{object.field}` in its texts, and parts that are there only `$when` something
/// holds.
#[derive(Debug, Clone)]
pub(super) struct Template {
    document: Value,
    /// Every `object.field` that the document depends on: this is what the component can see.
    pub(super) names: BTreeSet<FieldName>,
}

/// The placeholders for the name of the outcome and of the queue.
const OUTCOME: &str = "{outcome}";
const QUEUE: &str = "{queue}";

/// The condition of a part.
const WHEN: &str = "$when";

impl Template {
    pub(super) fn new(document: &Value) -> Result<Self> {
        let mut names = BTreeSet::new();
        collect(&Node::new(document, "spec.decide"), &mut names)?;
        Ok(Self { document: document.clone(), names })
    }

    /// The fields of a kind that the document shows.
    pub(super) fn reads(&self, kind: &Kind) -> u64 {
        self.names
            .iter()
            .filter(|(object, _)| *object == kind.name)
            .filter_map(|(_, name)| kind.field(name))
            .fold(0, |bits, field| bits | field.bits())
    }

    /// The values that the document shows, in the order of their names.
    pub(super) fn values(
        &self,
        names: &Names<'_>,
        scope: Scope,
    ) -> Result<Vec<(FieldName, Operand, Field)>> {
        let value = |(object, name): &(String, String)| {
            let (source, field) = names.resolve(object, name, scope, "spec.decide")?;
            let operand = Operand::Field { source, shift: field.shift, mask: field.mask };
            Ok(((object.clone(), name.clone()), operand, field.clone()))
        };
        self.names.iter().map(value).collect()
    }

    /// The document for one return.
    pub(super) fn fill(
        &self,
        outcome: &str,
        queue: Flavour,
        words: &BTreeMap<FieldName, String>,
    ) -> Value {
        fill(&self.document, &[(OUTCOME, outcome), (QUEUE, &queue.to_string())], words)
            .unwrap_or(Value::Null)
    }
}

fn collect(node: &Node<'_>, names: &mut BTreeSet<FieldName>) -> Result<()> {
    match node.value {
        Value::Object(_) => {
            for (name, inner) in node.entries()? {
                if name == WHEN {
                    let ast = expression::parse(&inner.scalar()?).map_err(|m| inner.error(m))?;
                    collect_ast(&ast, names);
                } else {
                    collect(&inner, names)?;
                }
            }
        }
        Value::Array(_) => {
            for inner in node.list()? {
                collect(&inner, names)?;
            }
        }
        Value::String(text) => {
            for name in placeholders(text) {
                names.insert(name);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
    Ok(())
}

fn collect_ast(ast: &Ast, names: &mut BTreeSet<FieldName>) {
    match ast {
        Ast::Or(parts) | Ast::And(parts) => parts.iter().for_each(|part| collect_ast(part, names)),
        Ast::Not(inner) => collect_ast(inner, names),
        Ast::Compare(left, _, right) => {
            for atom in [left, right] {
                collect_atom(atom, names);
            }
        }
        Ast::Test(atom) => collect_atom(atom, names),
    }
}

fn collect_atom(atom: &Atom, names: &mut BTreeSet<FieldName>) {
    if let Atom::Field(object, field) = atom {
        names.insert((object.clone(), field.clone()));
    }
}

fn placeholders(text: &str) -> Vec<FieldName> {
    let mut found = vec![];
    for part in text.split('{').skip(1) {
        if let Some((name, _)) = part.split_once('}')
            && let Ok(Atom::Field(object, field)) = expression::parse_atom(name)
        {
            found.push((object, field));
        }
    }
    found
}

/// `None` if the part is not there.
fn fill(
    value: &Value,
    names: &[(&str, &str)],
    words: &BTreeMap<FieldName, String>,
) -> Option<Value> {
    Some(match value {
        Value::Object(map) => {
            if let Some(when) = map.get(WHEN).and_then(Value::as_str)
                && !expression::parse(when).is_ok_and(|ast| holds(&ast, words))
            {
                return None;
            }
            let inner =
                |(name, value): (&String, &Value)| Some((name.clone(), fill(value, names, words)?));
            let kept = map.iter().filter(|(name, _)| *name != WHEN);
            Value::Object(kept.filter_map(inner).collect::<Map<_, _>>())
        }
        Value::Array(list) => list.iter().filter_map(|value| fill(value, names, words)).collect(),
        Value::String(text) => {
            let mut text = text.clone();
            for (name, word) in names {
                text = text.replace(name, word);
            }
            for name in placeholders(&text) {
                let word = words.get(&name).map_or("", String::as_str);
                text = text.replace(&format!("{{{}.{}}}", name.0, name.1), word);
            }
            Value::String(text)
        }
        other => other.clone(),
    })
}

fn holds(ast: &Ast, words: &BTreeMap<FieldName, String>) -> bool {
    let word = |atom: &Atom| match atom {
        Atom::Field(object, field) => {
            words.get(&(object.clone(), field.clone())).cloned().unwrap_or_default()
        }
        other => other.to_string(),
    };
    match ast {
        Ast::Or(parts) => parts.iter().any(|part| holds(part, words)),
        Ast::And(parts) => parts.iter().all(|part| holds(part, words)),
        Ast::Not(inner) => !holds(inner, words),
        Ast::Test(atom) => word(atom) == "true",
        Ast::Compare(left, comparison, right) => {
            let (left, right) = (word(left), word(right));
            match (left.parse(), right.parse()) {
                (Ok(left), Ok(right)) => comparison.holds(left, right),
                _ => comparison.holds(u8::from(left != right), 0),
            }
        }
    }
}

/// What the component answered, as the result of a pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decided {
    /// Now.
    Requeue,
    /// After this many milliseconds.
    After(u32),
    /// When something changes.
    Await,
    /// Never by itself.
    Stop,
}

impl Decided {
    /// The result that a controller returns who follows the decision.
    pub fn returned(self) -> Returned {
        match self {
            Self::Requeue => Returned::REQUEUE,
            Self::After(millis) => Returned::after(i64::from(millis)),
            Self::Await => Returned::EMPTY,
            Self::Stop => Returned::TERMINAL,
        }
    }
}
