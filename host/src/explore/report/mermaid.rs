//! A Mermaid sequence diagram.

use std::fmt::Write;

use super::super::{describe::Lane, run::Exploration};

/// The trace as a diagram; a clean exploration is a diagram with a note.
pub fn mermaid(exploration: &Exploration) -> String {
    let mut text = String::new();
    let _ = write_all(&mut text, exploration);
    text
}

fn write_all(out: &mut String, exploration: &Exploration) -> std::fmt::Result {
    writeln!(out, "sequenceDiagram")?;
    writeln!(
        out,
        "  %% {} ({} queue): {}",
        exploration.scenario,
        exploration.queue,
        exploration.verdict.word()
    )?;
    writeln!(out, "  autonumber")?;
    for lane in Lane::ALL {
        writeln!(out, "  participant {}", lane.word())?;
    }
    for step in &exploration.trace {
        if exploration.repeats_from == Some(step.step) {
            writeln!(out, "  loop for ever")?;
        }
        let arrow = if step.lost { "-x" } else { "->>" };
        let to = step.to.unwrap_or(step.lane).word();
        writeln!(out, "  {}{arrow}{to}: {}", step.lane.word(), escape(&step.text))?;
    }
    if exploration.repeats_from.is_some() {
        writeln!(out, "  end")?;
    }
    let end = if exploration.reason.is_empty() {
        format!("{}: {}", exploration.verdict.word(), exploration.within().join(", "))
    } else {
        format!("{}: {}", exploration.verdict.word(), exploration.reason)
    };
    writeln!(out, "  Note over {},{}: {}", Lane::Source.word(), Lane::Object.word(), escape(&end))
}

/// A semicolon ends a statement, and a hash begins an entity.
fn escape(text: &str) -> String {
    text.replace(';', ",").replace('#', "#35;")
}
