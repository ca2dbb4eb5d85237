//! Which object a name means, by where it stands.

use super::super::{
    expression::{Ast, Atom, Comparison},
    model::{Assign, AssignedValue, Condition, Field, Kind, Operand, Source, View},
    reader::{Result, ScenarioError},
    scenario::{Assigned, Assignment, Domain},
};

/// The name under which conditions find what controllers remember.
pub(super) const MEMORY: &str = "memory";

/// Where a condition stands, and hence what its names mean.
#[derive(Debug, Clone, Copy)]
pub(in super::super) enum Scope {
    /// Everything as it is on the server.
    Server,
    /// In a pass of this controller: objects as it has read them.
    Pass(usize),
    /// As in a pass, but its own object as it is on the server.
    Doubled { controller: usize, own: usize },
    /// In a map function of this controller: `event`, and objects as its caches have them.
    Filter { controller: usize, event: usize },
    /// In a predicate: `old` and `new` of this kind.
    Change(usize),
    /// About one object of this kind, whoever holds it.
    About(usize),
}

/// Resolves names.
#[derive(Debug)]
pub(in super::super) struct Names<'a> {
    pub(in super::super) kinds: &'a [Kind],
    /// Of every controller: the kinds that its passes read, and where they keep them.
    pub(super) locals: Vec<(usize, usize, View)>,
    /// Of every informer: its controller, its kind, its name, whether it lags.
    pub(super) informers: Vec<(usize, usize, String, bool)>,
}

pub(super) fn fail<T>(path: &str, message: impl Into<String>) -> Result<T> {
    Err(ScenarioError { path: path.to_owned(), message: message.into() })
}

/// The kind of this name.
pub(super) fn kind(kinds: &[Kind], name: &str, path: &str) -> Result<usize> {
    if let Some(kind) = kinds.iter().position(|kind| kind.name == name) {
        Ok(kind)
    } else {
        let known: Vec<&str> = kinds.iter().map(|kind| &*kind.name).collect();
        fail(path, format!("there is no object `{name}`; there are {}", known.join(", ")))
    }
}

pub(super) fn field<'a>(kind: &'a Kind, name: &str, path: &str) -> Result<&'a Field> {
    if let Some(field) = kind.field(name) {
        Ok(field)
    } else {
        let known: Vec<&str> = kind.fields.iter().map(|field| &*field.name).collect();
        let message = format!("`{}` has no field `{name}`; it has {}", kind.name, known.join(", "));
        fail(path, message)
    }
}

/// The fields of `object` that a condition reads, as bits of the whole. Unknown names are left to
/// the resolver.
pub(super) fn reads(ast: &Ast, object: &str, kind: &Kind) -> u64 {
    match ast {
        Ast::Or(parts) | Ast::And(parts) => {
            parts.iter().fold(0, |bits, part| bits | reads(part, object, kind))
        }
        Ast::Not(inner) => reads(inner, object, kind),
        Ast::Compare(left, _, right) => {
            atom_reads(left, object, kind) | atom_reads(right, object, kind)
        }
        Ast::Test(atom) => atom_reads(atom, object, kind),
    }
}

pub(super) fn atom_reads(atom: &Atom, object: &str, kind: &Kind) -> u64 {
    match atom {
        Atom::Field(of, name) if of == object => kind.field(name).map_or(0, Field::bits),
        _ => 0,
    }
}

impl Names<'_> {
    pub(in super::super) fn kind(&self, name: &str, path: &str) -> Result<usize> {
        kind(self.kinds, name, path)
    }

    /// Where this controller's cache of a kind is: the first watch of it that lags.
    pub(super) fn cache(&self, controller: usize, kind: usize) -> Source {
        let of = |(c, k, _, lags): &(usize, usize, String, bool)| {
            (*c, *k, *lags) == (controller, kind, true)
        };
        match self.informers.iter().position(of) {
            Some(informer) => Source::Cache(informer),
            None => Source::Server(kind),
        }
    }

    fn local(&self, controller: usize, kind: usize) -> Option<Source> {
        let of = |(c, k, _): &&(usize, usize, View)| (*c, *k) == (controller, kind);
        self.locals.iter().find(of).map(|(.., view)| Source::Local(*view))
    }

    pub(in super::super) fn resolve(
        &self,
        object: &str,
        name: &str,
        scope: Scope,
        path: &str,
    ) -> Result<(Source, &Field)> {
        let given = match (object, scope) {
            ("old", Scope::Change(kind)) => Some((kind, Source::Old)),
            ("new", Scope::Change(kind)) => Some((kind, Source::New)),
            ("event", Scope::Filter { event, .. }) => Some((event, Source::Event)),
            ("old" | "new", _) => return fail(path, "`old` and `new` are known in `passes` only"),
            ("event", _) => return fail(path, "`event` is known in `filter` only"),
            _ => None,
        };
        let (kind, source) = if let Some(given) = given {
            given
        } else {
            let kind = self.kind(object, path)?;
            (kind, self.source(kind, scope, path)?)
        };
        Ok((source, field(&self.kinds[kind], name, path)?))
    }

    fn source(&self, kind: usize, scope: Scope, path: &str) -> Result<Source> {
        let name = &self.kinds[kind].name;
        Ok(match scope {
            Scope::Server => Source::Server(kind),
            _ if name == MEMORY && !matches!(scope, Scope::Change(_) | Scope::About(_)) => {
                Source::Server(kind)
            }
            Scope::Pass(controller) => match self.local(controller, kind) {
                Some(source) => source,
                None => return fail(path, format!("no step reads `{name}`; add `read: {name}`")),
            },
            Scope::Doubled { own, .. } if own == kind => Source::Server(kind),
            Scope::Doubled { controller, .. } => {
                self.local(controller, kind).unwrap_or(Source::Server(kind))
            }
            Scope::Filter { controller, .. } => self.cache(controller, kind),
            Scope::Change(_) => return fail(path, "a predicate sees `old` and `new` only"),
            Scope::About(about) if about == kind => Source::Event,
            Scope::About(about) => {
                let about = &self.kinds[about].name;
                return fail(path, format!("this condition is about `{about}` only"));
            }
        })
    }

    pub(in super::super) fn condition(
        &self,
        ast: &Ast,
        scope: Scope,
        path: &str,
    ) -> Result<Condition> {
        let all = |parts: &[Ast]| -> Result<Vec<Condition>> {
            parts.iter().map(|part| self.condition(part, scope, path)).collect()
        };
        Ok(match ast {
            Ast::Or(parts) => Condition::Any(all(parts)?),
            Ast::And(parts) => Condition::All(all(parts)?),
            Ast::Not(inner) => Condition::Not(Box::new(self.condition(inner, scope, path)?)),
            Ast::Test(Atom::Label(label)) if label == "true" => Condition::Always(true),
            Ast::Test(Atom::Label(label)) if label == "false" => Condition::Always(false),
            Ast::Test(atom) => {
                self.compare(atom, Comparison::Equal, &Atom::Label("true".to_owned()), scope, path)?
            }
            Ast::Compare(left, comparison, right) => {
                self.compare(left, *comparison, right, scope, path)?
            }
        })
    }

    fn compare(
        &self,
        left: &Atom,
        comparison: Comparison,
        right: &Atom,
        scope: Scope,
        path: &str,
    ) -> Result<Condition> {
        let field_of = |atom: &Atom| match atom {
            Atom::Field(object, name) => Ok(Some(self.resolve(object, name, scope, path)?)),
            _ => Ok(None),
        };
        let (left_field, right_field) = (field_of(left)?, field_of(right)?);
        let Some((_, like)) = left_field.or(right_field) else {
            return fail(path, format!("`{left}` and `{right}`: one of them must be a field"));
        };
        if comparison.is_order() && matches!(like.domain, Domain::Labels(_)) {
            return fail(
                path,
                format!("`{left}` and `{right}` have no order: they are not numbers"),
            );
        }
        let operand = |atom: &Atom| self.operand(atom, &like.domain, scope, path);
        Ok(Condition::Compare(operand(left)?, comparison, operand(right)?))
    }

    /// A value that can be compared with, or written to, a field of this domain.
    fn operand(&self, atom: &Atom, like: &Domain, scope: Scope, path: &str) -> Result<Operand> {
        let unlike = || fail(path, format!("`{atom}` is not among the values {}", words(like)));
        match atom {
            Atom::Number(number) => match like {
                Domain::Numbers { .. } => Ok(Operand::Constant(*number)),
                Domain::Labels(_) => unlike(),
            },
            Atom::Label(label) => match like {
                Domain::Labels(labels) => match labels.iter().position(|l| l == label) {
                    Some(index) => Ok(Operand::Constant(u8::try_from(index).unwrap_or(u8::MAX))),
                    None => unlike(),
                },
                Domain::Numbers { .. } => unlike(),
            },
            Atom::Field(object, name) => {
                let (source, field) = self.resolve(object, name, scope, path)?;
                match (&field.domain, like) {
                    (Domain::Numbers { .. }, Domain::Numbers { .. }) => {}
                    (left, right) if left == right => {}
                    (left, _) => {
                        let message = format!(
                            "`{atom}` has the values {}, which cannot be compared with {}",
                            words(left),
                            words(like)
                        );
                        return fail(path, message);
                    }
                }
                Ok(Operand::Field { source, shift: field.shift, mask: field.mask })
            }
        }
    }

    /// A value for a field. It always fits.
    pub(super) fn assign(&self, assignment: &Assignment, scope: Scope) -> Result<Assign> {
        let Assignment { object, field: name, value, path } = assignment;
        let kind = self.kind(object, path)?;
        let field = field(&self.kinds[kind], name, path)?;
        let value = match (value, &field.domain) {
            (Assigned::Next, Domain::Numbers { high, .. }) => AssignedValue::Next { high: *high },
            (Assigned::Next, Domain::Labels(_)) => {
                return fail(path, "`next` is for numbers");
            }
            (Assigned::Value(atom), domain) => {
                self.check_range(atom, field, scope, path)?;
                AssignedValue::Operand(self.operand(atom, domain, scope, path)?)
            }
        };
        Ok(Assign { kind, shift: field.shift, mask: field.mask, value })
    }

    fn check_range(&self, atom: &Atom, field: &Field, scope: Scope, path: &str) -> Result<()> {
        let Domain::Numbers { low, high } = field.domain else { return Ok(()) };
        let (from_low, from_high) = match atom {
            Atom::Number(number) => (*number, *number),
            Atom::Label(_) => return Ok(()),
            Atom::Field(object, name) => match self.resolve(object, name, scope, path)?.1.domain {
                Domain::Numbers { low, high } => (low, high),
                Domain::Labels(_) => return Ok(()),
            },
        };
        if from_low < low || from_high > high {
            return fail(path, format!("`{atom}` may be outside {}", words(&field.domain)));
        }
        Ok(())
    }
}

fn words(domain: &Domain) -> String {
    match domain {
        Domain::Numbers { low, high } => format!("{low}..{high}"),
        Domain::Labels(labels) => labels.join(" | "),
    }
}
