//! `spec.controllers.<name>`.

use plumb_queue::Returned;

use super::{read_assignments, read_condition};
use crate::explore::{
    reader::{Fields, Node, Result},
    scenario::{
        Action, Answer, Cancels, Controller, Creates, End, ReadFrom, Starts, Step, Watch, Which,
        Write,
    },
};

pub(super) fn read(name: &str, node: &Node<'_>) -> Result<Controller> {
    let mut fields = node.fields()?;
    let controller = Controller {
        name: name.to_owned(),
        reconciles: fields.required("reconciles")?.text()?.to_owned(),
        workers: fields.optional("workers").map_or(Ok(1), |n| n.small(1, 8))?,
        starts: fields.optional("starts").map_or(Ok(Starts::Idle), |n| read_starts(&n))?,
        watches: match fields.optional("watches") {
            None => vec![],
            Some(node) => node.list()?.iter().map(read_watch).collect::<Result<_>>()?,
        },
        steps: read_steps(&fields.required("reconcile")?)?,
        results: fields
            .required("results")?
            .entries()?
            .into_iter()
            .map(|(name, node)| Ok((name.to_owned(), read_answer(&node)?)))
            .collect::<Result<_>>()?,
        path: node.path.clone(),
    };
    fields.end()?;
    Ok(controller)
}

fn read_starts(node: &Node<'_>) -> Result<Starts> {
    if node.value.is_string() {
        return node.word(&[("idle", Starts::Idle), ("queued", Starts::Queued)]);
    }
    let mut fields = node.fields()?;
    let after = fields.required("requeueAfter")?.positive_duration()?;
    fields.end()?;
    Ok(Starts::After(after))
}

fn read_watch(node: &Node<'_>) -> Result<Watch> {
    let mut fields = node.fields()?;
    let of = fields.required("of")?.text()?.to_owned();
    let which = [("old", Which::Old), ("new", Which::New)];
    let cancels =
        [("never", Cancels::Never), ("in map", Cancels::InMap), ("with add", Cancels::WithAdd)];
    let watch = Watch {
        name: match fields.optional("name") {
            Some(node) => node.text()?.to_owned(),
            None => of.clone(),
        },
        of,
        lag: fields.optional("lag").map_or(Ok(1), |n| n.small(0, 3))?,
        backlog: fields.optional("backlog").map_or(Ok(0), |n| n.small(0, 3))?,
        wakes: fields.optional("wakes").map_or(Ok(true), |n| n.bool())?,
        passes: fields.optional("passes").map(|n| read_condition(&n)).transpose()?,
        creates: match fields.optional("creates") {
            None => Creates::Pass,
            Some(node) => match node.value.as_str() {
                Some("pass") => Creates::Pass,
                Some("drop") => Creates::Drop,
                _ => Creates::When(read_condition(&node)?),
            },
        },
        maps: match fields.optional("maps") {
            None => vec![],
            Some(node) => {
                node.one_or_more().iter().map(|n| n.word(&which)).collect::<Result<_>>()?
            }
        },
        filter: fields.optional("filter").map(|n| read_condition(&n)).transpose()?,
        dedupe: fields.optional("dedupe").map_or(Ok(true), |n| n.bool())?,
        cancels: fields.optional("cancels").map_or(Ok(Cancels::Never), |n| n.word(&cancels))?,
        path: node.path.clone(),
    };
    fields.end()?;
    if watch.maps.is_empty() && (watch.filter.is_some() || watch.cancels == Cancels::InMap) {
        return Err(node
            .error("`filter` and `cancels: in map` need a map function: add `maps: [old, new]`"));
    }
    if watch.lag == 0 && (!watch.maps.is_empty() || watch.backlog > 0) {
        return Err(node.error("a map function or a backlog needs `lag: 1` or more"));
    }
    Ok(watch)
}

fn read_steps(node: &Node<'_>) -> Result<Vec<Step>> {
    let mut steps = vec![];
    for node in node.list()? {
        read_step(&node, &mut steps)?;
    }
    Ok(steps)
}

/// One entry of the list; a `read` of several objects is several steps.
fn read_step(node: &Node<'_>, steps: &mut Vec<Step>) -> Result<()> {
    let mut fields = node.fields()?;
    let when = fields.optional("when").map(|n| read_condition(&n)).transpose()?;
    let known = ["read", "write", "set", "do", "wait", "if", "return"];
    let Some(verb) = known.into_iter().find(|verb| fields.has(verb)) else {
        return Err(node.error(format_args!("one of {} is missing", known.join(", "))));
    };
    let verb_node = fields.required(verb)?;
    let actions = match verb {
        "read" => {
            let from = match fields.optional("from") {
                None => ReadFrom::Cache,
                Some(node) if node.value.as_str() == Some("server") => ReadFrom::Server,
                Some(node) => ReadFrom::Watch(node.text()?.to_owned()),
            };
            let read = |node: Node<'_>| {
                Ok(Action::Read { object: node.text()?.to_owned(), from: from.clone() })
            };
            verb_node.one_or_more().into_iter().map(read).collect::<Result<_>>()?
        }
        "write" => vec![Action::Write(read_write(&verb_node, &mut fields)?)],
        "set" => vec![Action::Set(read_assignments(&verb_node, None)?)],
        "do" | "wait" => vec![read_work(verb == "wait", &verb_node, &mut fields)?],
        "if" => vec![Action::If {
            condition: read_condition(&verb_node)?,
            then: read_steps(&fields.required("then")?)?,
            otherwise: fields.optional("else").map_or(Ok(vec![]), |n| read_steps(&n))?,
        }],
        _ => vec![Action::Return(verb_node.text()?.to_owned())],
    };
    fields.end()?;
    for action in actions {
        steps.push(Step { when: when.clone(), action, path: node.path.clone() });
    }
    Ok(())
}

fn read_write(node: &Node<'_>, fields: &mut Fields<'_>) -> Result<Write> {
    let text = |node: Option<Node<'_>>| node.map(|n| n.text().map(str::to_owned)).transpose();
    Ok(Write {
        name: text(fields.optional("name"))?,
        to: text(fields.optional("to"))?,
        patches: node
            .one_or_more()
            .iter()
            .map(|patch| read_assignments(patch, Some("")))
            .collect::<Result<_>>()?,
        touch: fields.optional("touch").map_or(Ok(false), |n| n.bool())?,
        conflict: fields.optional("conflict").map(|n| read_steps(&n)).transpose()?,
    })
}

fn read_work(waits: bool, node: &Node<'_>, fields: &mut Fields<'_>) -> Result<Action> {
    let name = node.text()?.to_owned();
    let mut ends = vec![];
    let mut canceled = None;
    if let Some(node) = fields.optional("ends") {
        for (name, node) in node.entries()? {
            if waits && name == "canceled" {
                canceled = Some(read_steps(&node)?);
                continue;
            }
            let (when, steps) = if node.value.is_array() {
                (None, read_steps(&node)?)
            } else {
                let mut fields = node.fields()?;
                let when = read_condition(&fields.required("when")?)?;
                let steps = fields.optional("then").map_or(Ok(vec![]), |n| read_steps(&n))?;
                fields.end()?;
                (Some(when), steps)
            };
            ends.push(End { name: name.to_owned(), when, steps });
        }
    }
    if ends.is_empty() {
        ends.push(End { name: String::new(), when: None, steps: vec![] });
    }
    Ok(Action::Work { name, ends, canceled })
}

fn read_answer(node: &Node<'_>) -> Result<Answer> {
    if node.value.is_string() {
        return node.word(&[("decide", Answer::Decide)]);
    }
    let mut fields = node.fields()?;
    let flag = |node: Option<Node<'_>>| node.map_or(Ok(false), |n| n.bool());
    let returned = Returned {
        requeue: flag(fields.optional("requeue"))?,
        after: fields.optional("requeueAfter").map(|n| n.duration()).transpose()?,
        error: flag(fields.optional("error"))?,
        terminal: flag(fields.optional("terminal"))?,
    };
    fields.end()?;
    Ok(Answer::Fixed(returned))
}
