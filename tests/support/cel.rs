//! Evaluates the expressions of admission policies, as an API server does.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use cel::extractors::This;
use cel::{Context, ExecutionError, Program, Value as CelValue};
use serde_json::{Map, Value, json};

type Result<T> = std::result::Result<T, String>;

/// The value of an expression over `object`, `oldObject` and `variables`.
fn value(
    expression: &str,
    object: &Value,
    old: &Value,
    variables: &Map<String, Value>,
) -> Result<Value> {
    let program = compiled(expression)?;
    let mut context = Context::default();
    context.add_function("indexOf", index_of).map_err(|error| error.to_string())?;
    for (name, value) in
        [("object", object), ("oldObject", old), ("variables", &Value::Object(variables.clone()))]
    {
        context.add_variable(name, value.clone()).map_err(|error| error.to_string())?;
    }
    let found = program.execute(&context).map_err(|error| format!("{error}\n{expression}"))?;
    found.json().map_err(|error| format!("{error:?}"))
}

/// Compiling takes far longer than evaluating, and each expression is evaluated many times.
fn compiled(expression: &str) -> Result<Rc<Program>> {
    thread_local! {
        static PROGRAMS: RefCell<HashMap<String, Rc<Program>>> = RefCell::default();
    }
    if let Some(program) = PROGRAMS.with_borrow(|programs| programs.get(expression).cloned()) {
        return Ok(program);
    }
    // The interpreter has no types of messages; a map serves as well.
    let text =
        ["op", "path", "value"].iter().fold(expression.replace("JSONPatch{", "{"), |text, key| {
            text.replace(&format!("{{{key}: "), &format!("{{'{key}': "))
                .replace(&format!(", {key}: "), &format!(", '{key}': "))
        });
    let program = Program::compile(&text).map_err(|error| format!("{error}\n{text}"))?;
    let program = Rc::new(program);
    PROGRAMS.with_borrow_mut(|programs| {
        programs.insert(expression.to_owned(), Rc::clone(&program));
    });
    Ok(program)
}

/// Kubernetes' `indexOf` of lists.
#[expect(
    clippy::needless_pass_by_value,
    clippy::unnecessary_wraps,
    reason = "the interpreter's form"
)]
fn index_of(
    This(list): This<Arc<Vec<CelValue>>>,
    wanted: CelValue,
) -> std::result::Result<i64, ExecutionError> {
    let place = list.iter().position(|item| *item == wanted);
    Ok(place.map_or(-1, |place| i64::try_from(place).unwrap_or(-1)))
}

/// Whether a condition holds.
///
/// # Errors
/// It does not compile, it fails, or it is no condition.
pub fn holds(expression: &str, object: &Value, old: &Value) -> Result<bool> {
    let value = value(expression, object, old, &Map::new())?;
    value.as_bool().ok_or_else(|| format!("it must be a bool and is {value}"))
}

/// The object as a `MutatingAdmissionPolicy` leaves it.
///
/// # Errors
/// An expression fails, or a patch does.
pub fn mutated(policy: &Value, object: &Value) -> Result<Value> {
    let mut object = object.clone();
    let Some(variables) = variables(policy, &object)? else { return Ok(object) };
    for mutation in policy["spec"]["mutations"].as_array().into_iter().flatten() {
        let expression = mutation["jsonPatch"]["expression"].as_str().unwrap_or_default();
        let patch = value(expression, &object, &Value::Null, &variables)?;
        let patch: json_patch::Patch =
            serde_json::from_value(patch).map_err(|error| error.to_string())?;
        json_patch::patch(&mut object, &patch).map_err(|error| error.to_string())?;
    }
    Ok(object)
}

/// What a `ValidatingAdmissionPolicy` says against an object.
///
/// # Errors
/// An expression fails.
pub fn denials(policy: &Value, object: &Value) -> Result<Vec<Value>> {
    let Some(variables) = variables(policy, object)? else { return Ok(Vec::new()) };
    let mut denials = Vec::new();
    for validation in policy["spec"]["validations"].as_array().into_iter().flatten() {
        let expression = validation["expression"].as_str().unwrap_or_default();
        if value(expression, object, &Value::Null, &variables)? != json!(true) {
            denials.push(validation["message"].clone());
        }
    }
    Ok(denials)
}

/// The values of a policy's variables; nothing where its conditions do not match.
fn variables(policy: &Value, object: &Value) -> Result<Option<Map<String, Value>>> {
    for condition in policy["spec"]["matchConditions"].as_array().into_iter().flatten() {
        if !holds(condition["expression"].as_str().unwrap_or_default(), object, &Value::Null)? {
            return Ok(None);
        }
    }
    let mut variables = Map::new();
    for variable in policy["spec"]["variables"].as_array().into_iter().flatten() {
        let expression = variable["expression"].as_str().unwrap_or_default();
        let value = value(expression, object, &Value::Null, &variables)?;
        variables.insert(variable["name"].as_str().unwrap_or_default().to_owned(), value);
    }
    Ok(Some(variables))
}
