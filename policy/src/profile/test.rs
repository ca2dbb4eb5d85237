//! Answers the tests that profiles are written in; see [`Test`].

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::json::Json;
use crate::object::{Condition, Object};
use crate::pointer;
use crate::profile::number;
use crate::profile::{Test, Text};
use crate::template::{self, Comparison};
use crate::time::{self, Time};

/// Whether every test holds.
pub fn all(tests: &[Test<'_>], object: &Object<'_>) -> bool {
    tests.iter().all(|test| holds(test, object))
}

/// Whether any test holds.
pub fn any(tests: &[Test<'_>], object: &Object<'_>) -> bool {
    tests.iter().any(|test| holds(test, object))
}

/// Whether one test holds.
pub fn holds(test: &Test<'_>, object: &Object<'_>) -> bool {
    Scope { object, item: None }.holds(test)
}

/// The first failing test of an invariant, for its place in a finding.
pub fn failing<'t, 'a>(tests: &'t [Test<'a>], object: &Object<'_>) -> Option<&'t Test<'a>> {
    tests.iter().find(|test| !holds(test, object))
}

/// The JSON Pointer that a test speaks of, and what is there.
pub fn place<'r>(test: &Test<'_>, object: &'r Object<'_>) -> (String, Cow<'r, str>) {
    if !test.condition.is_empty() {
        return if let Some(condition) = object.condition(&test.condition) {
            (object.place(condition, "status"), Cow::Borrowed(condition.status.text()))
        } else {
            let list = object.lists.first().map(|list| list.pointer.clone());
            (list.unwrap_or_else(|| "/status".into()), Cow::Borrowed(""))
        };
    }
    let path = [&test.field, &test.some, &test.every].into_iter().find(|path| !path.is_empty());
    let path = path.map_or("status", |path| number::first_path(path));
    let value = object.field(path).and_then(Json::scalar);
    (pointer::locate(object.root, path), value.unwrap_or(Cow::Borrowed("")))
}

/// Whether a test asks for anything in the status, other than that it is missing.
pub fn speaks_of_status(test: &Test<'_>) -> bool {
    if test.exists == Some(false) {
        return false;
    }
    let paths = [&test.field, &test.equals, &test.below, &test.least, &test.some, &test.every];
    !test.condition.is_empty()
        || paths
            .into_iter()
            .flat_map(|text| number::paths(text))
            .any(|path| path.strip_prefix("$.").unwrap_or(path).starts_with("status"))
        || [&test.item, &test.all, &test.any, &test.none]
            .into_iter()
            .flatten()
            .any(speaks_of_status)
}

/// What the object has where the test looks, in words; nothing for tests of tests.
pub fn told(test: &Test<'_>, object: &Object<'_>) -> Option<String> {
    if !test.condition.is_empty() {
        let Some(condition) =
            object.conditions().iter().find(|condition| is_meant(test, condition))
        else {
            let none = test.exists == Some(false) && *test.condition != *"*";
            return none.then(|| format!("there is no such condition {}", test.condition));
        };
        let (type_, status, reason) = (condition.type_, condition.status.text(), condition.reason);
        return Some(match reason {
            "" => format!("{type_} is {status}"),
            _ => format!("{type_} is {status} with reason {reason}"),
        });
    }
    if test.field.is_empty() {
        return None;
    }
    let path = number::first_path(&test.field);
    let value = object.field(path);
    let shown = value.and_then(Json::scalar).filter(|text| text.len() <= 60);
    let bound = if test.below.is_empty() { &test.least } else { &test.below };
    Some(match (value, shown) {
        _ if path != &*test.field || path.starts_with("$.") => return None,
        (_, shown) if !bound.is_empty() => {
            let relation = if test.below.is_empty() { "not less" } else { "less" };
            format!("{path} is {}, {relation} than {bound}", shown.as_deref().unwrap_or("missing"))
        }
        (_, Some(text)) if !test.equals.is_empty() => {
            format!("{path} is {text}, as {}", test.equals)
        }
        (_, Some(text)) if !text.is_empty() => format!("{path} is {text}"),
        (Some(value), _) if !value.is_empty() => format!("{path} is set"),
        _ => format!("{path} is missing"),
    })
}

/// What is wrong with a test beyond its shape, with its place.
pub fn problems(test: &Test<'_>, at: &str, found: &mut Vec<(String, String)>) {
    let subjects = [&test.condition, &test.field, &test.some, &test.every];
    let subjects = subjects.into_iter().filter(|text| !text.is_empty()).count();
    let combined = !test.all.is_empty() || !test.any.is_empty() || !test.none.is_empty();
    if subjects > 1 || (subjects == 0 && !combined) {
        let problem = "needs one of `condition`, `field`, `some`, `every`, `all`, `any`, `none`";
        found.push((at.into(), problem.into()));
    }
    if (test.some.is_empty() && test.every.is_empty()) != test.item.is_empty() {
        found.push((format!("{at}/where"), "goes with `some` or `every`".into()));
    }
    if !test.age.is_empty() && time::duration(&test.age).is_none() {
        found.push((format!("{at}/age"), format!("`{}` is no duration such as `15s`", test.age)));
    }
    for (key, text) in [
        ("field", &test.field),
        ("equals", &test.equals),
        ("before", &test.before),
        ("below", &test.below),
        ("least", &test.least),
        ("some", &test.some),
        ("every", &test.every),
    ] {
        for path in number::paths(text) {
            if let Some(problem) = pointer::problem(path.strip_prefix("$.").unwrap_or(path)) {
                found.push((format!("{at}/{key}"), problem));
            }
        }
    }
    for (key, list) in
        [("where", &test.item), ("all", &test.all), ("any", &test.any), ("none", &test.none)]
    {
        for (index, inner) in list.iter().enumerate() {
            problems(inner, &format!("{at}/{key}/{index}"), found);
        }
    }
}

/// What paths and conditions are read from: the object, or an item of one of its lists.
#[derive(Clone, Copy)]
struct Scope<'s> {
    object: &'s Object<'s>,
    item: Option<&'s Json<'s>>,
}

impl<'s> Scope<'s> {
    fn holds(self, test: &Test<'_>) -> bool {
        (test.condition.is_empty() || self.condition(test))
            && (test.field.is_empty() || self.field(test))
            && (test.some.is_empty() || self.some(test))
            && (test.every.is_empty() || self.items(&test.every).all(|item| item.fits(test)))
            && test.all.iter().all(|inner| self.holds(inner))
            && (test.any.is_empty() || test.any.iter().any(|inner| self.holds(inner)))
            && !test.none.iter().any(|inner| self.holds(inner))
    }

    fn fits(self, test: &Test<'_>) -> bool {
        test.item.iter().all(|inner| self.holds(inner))
    }

    fn items(self, path: &str) -> impl Iterator<Item = Self> {
        let (root, path) = self.resolve(path);
        let found: Vec<_> = pointer::find_all(root, path);
        found.into_iter().map(move |(_, item)| Scope { object: self.object, item: Some(item) })
    }

    fn some(self, test: &Test<'_>) -> bool {
        let mut fitting = self.items(&test.some).filter(|item| item.fits(test));
        if test.below.is_empty() && test.least.is_empty() {
            return fitting.next().is_some();
        }
        let count = i64::try_from(fitting.count()).unwrap_or(i64::MAX);
        self.compares(test, count)
    }

    fn condition(self, test: &Test<'_>) -> bool {
        let fits = |condition: &Condition<'_>| is_meant(test, condition);
        let found = match self.item {
            None => self.object.conditions().iter().any(fits),
            Some(item) => {
                item.at("conditions").items().iter().any(|json| fits(&Condition::read(0, json)))
            }
        };
        found == test.exists.unwrap_or(true)
    }

    /// What a path is read from, and the path within it.
    fn resolve<'p>(self, path: &'p str) -> (&'s Json<'s>, &'p str) {
        match (path.strip_prefix("$."), self.item) {
            (Some(rest), _) => (self.object.root, rest),
            (None, Some(item)) => (item, if path == "@" { "" } else { path }),
            (None, None) => (self.object.root, path),
        }
    }

    fn find(self, path: &str) -> Option<&'s Json<'s>> {
        let (root, path) = self.resolve(path);
        pointer::find(root, path)
    }

    fn number(self, text: &str, default: i64) -> i64 {
        let find_all = |path: &str| {
            let (root, path) = self.resolve(path);
            pointer::find_all(root, path).into_iter().map(|(_, value)| value).collect()
        };
        number::value(text, default, &find_all)
    }

    fn compares(self, test: &Test<'_>, number: i64) -> bool {
        let default = test.default.unwrap_or(0);
        (test.below.is_empty() || number < self.number(&test.below, default))
            && (test.least.is_empty() || number >= self.number(&test.least, default))
    }

    fn field(self, test: &Test<'_>) -> bool {
        let value = self.find(&test.field);
        if let Some(exists) = test.exists
            && exists != value.is_some_and(|value| !value.is_empty())
        {
            return false;
        }
        let text = value.and_then(Json::scalar);
        let is = |wanted: &Text<'_>| text.as_deref() == Some(&**wanted);
        if !test.one_of.is_empty() && !test.one_of.iter().any(is) {
            return false;
        }
        if test.not_in.iter().any(is) {
            return false;
        }
        let text = text.as_deref().unwrap_or("");
        if !contains(&test.contains, text) {
            return false;
        }
        if let Some(wanted) = test.whole
            && whole(text) != Some(wanted)
        {
            return false;
        }
        if !test.reads.is_empty()
            && template::compare(&test.reads, text, self.object.root) != Comparison::Agrees
        {
            return false;
        }
        if !test.age.is_empty() && !self.is_old(text, &test.age) {
            return false;
        }
        if !test.before.is_empty() {
            let other = self.find(&test.before).and_then(Json::str).and_then(Time::parse);
            let (Some(time), Some(other)) = (Time::parse(text), other) else { return false };
            if time >= other {
                return false;
            }
        }
        if !test.equals.is_empty() {
            let same = match (value, self.find(&test.equals)) {
                (None, None) => true,
                (Some(left), Some(right)) => left.same(right),
                (Some(only), None) | (None, Some(only)) => only.is_empty(),
            };
            if !same {
                return false;
            }
        }
        (test.below.is_empty() && test.least.is_empty())
            || self.compares(test, self.number(&test.field, 0))
    }

    fn is_old(self, text: &str, age: &str) -> bool {
        match (self.object.now, Time::parse(text), time::duration(age)) {
            (Some(now), Some(then), Some(age)) => now.since(then) >= age,
            _ => false,
        }
    }
}

/// Whether a test speaks of this condition, but for `exists`.
fn is_meant(test: &Test<'_>, condition: &Condition<'_>) -> bool {
    let type_ = condition.type_;
    (*test.condition == *"*" || *test.condition == *type_)
        && !test.except.iter().any(|text| **text == *type_)
        && listed(&test.status, condition.status.text())
        && listed(&test.reason, condition.reason)
        && !test.not_reason.iter().any(|text| **text == *condition.reason)
        && contains(&test.contains, condition.message)
}

fn listed(wanted: &[Text<'_>], value: &str) -> bool {
    wanted.is_empty() || wanted.iter().any(|text| **text == *value)
}

fn contains(wanted: &[Text<'_>], value: &str) -> bool {
    wanted.is_empty() || wanted.iter().any(|text| value.contains(&**text))
}

/// Whether both numbers of a text such as `2/3` are equal; nothing for another text.
fn whole(text: &str) -> Option<bool> {
    let (part, all) = text.split_once('/')?;
    let (part, all): (u64, u64) = (part.trim().parse().ok()?, all.trim().parse().ok()?);
    Some(part == all)
}
