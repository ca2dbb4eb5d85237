//! Answers the tests that profiles are written in.

use alloc::borrow::Cow;

use crate::json::Json;
use crate::object::Object;
use crate::pointer;
use crate::profile::{Test, Text};

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
    if !test.condition.is_empty() {
        return condition(test, object);
    }
    field(test, object.root)
}

fn condition(test: &Test<'_>, object: &Object<'_>) -> bool {
    let matched = object.conditions().iter().any(|condition| {
        (*test.condition == *"*" || *test.condition == *condition.type_)
            && listed(&test.status, condition.status.text())
            && listed(&test.reason, condition.reason)
            && contains(&test.contains, condition.message)
    });
    matched == test.exists.unwrap_or(true)
}

fn listed(wanted: &[Text<'_>], value: &str) -> bool {
    wanted.is_empty() || wanted.iter().any(|text| **text == *value)
}

fn contains(wanted: &[Text<'_>], value: &str) -> bool {
    wanted.is_empty() || wanted.iter().any(|text| value.contains(&**text))
}

fn field(test: &Test<'_>, root: &Json<'_>) -> bool {
    let value = pointer::find(root, &test.field);
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
    if !test.contains.is_empty() && !contains(&test.contains, text.as_deref().unwrap_or("")) {
        return false;
    }
    if !test.equals.is_empty() {
        let same = match (value, pointer::find(root, &test.equals)) {
            (None, None) => true,
            (Some(left), Some(right)) => left.same(right),
            (Some(only), None) | (None, Some(only)) => only.is_empty(),
        };
        if !same {
            return false;
        }
    }
    let number = value.and_then(Json::integer).unwrap_or(0);
    if !test.below.is_empty() && number >= bound(test, &test.below, root) {
        return false;
    }
    test.least.is_empty() || number >= bound(test, &test.least, root)
}

fn bound(test: &Test<'_>, text: &str, root: &Json<'_>) -> i64 {
    text.parse().unwrap_or_else(|_| {
        pointer::find(root, text).and_then(Json::integer).or(test.default).unwrap_or(0)
    })
}

/// The first failing test of an invariant, for its place in a finding.
pub fn failing<'t, 'a>(tests: &'t [Test<'a>], object: &Object<'_>) -> Option<&'t Test<'a>> {
    tests.iter().find(|test| !holds(test, object))
}

/// The JSON Pointer that a test speaks of, and what is there.
pub fn place<'r>(test: &Test<'_>, object: &'r Object<'_>) -> (alloc::string::String, Cow<'r, str>) {
    if !test.condition.is_empty() {
        return if let Some(condition) = object.condition(&test.condition) {
            (object.place(condition, "status"), Cow::Borrowed(condition.status.text()))
        } else {
            let list = object.lists.first().map(|list| list.pointer.clone());
            (list.unwrap_or_else(|| "/status".into()), Cow::Borrowed(""))
        };
    }
    let value = object.field(&test.field).and_then(Json::scalar);
    (pointer::locate(object.root, &test.field), value.unwrap_or(Cow::Borrowed("")))
}
