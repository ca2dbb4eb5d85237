//! For people.

use std::fmt::Write;

use anstyle::{AnsiColor, Effects, Style};

use super::{
    super::{
        describe::{Part, TraceStep},
        run::Exploration,
        scenario::{Expectation, Verdict},
        search::Stop,
    },
    count, picture, unmet,
};
use crate::output::Verbosity;

const GOOD: Style = AnsiColor::Green.on_default().effects(Effects::BOLD);
const BAD: Style = AnsiColor::BrightRed.on_default().effects(Effects::BOLD);
const FAINT: Style = Style::new().effects(Effects::DIMMED);

/// Columns for the words beside the picture, at least.
const LEAST_TEXT: usize = 36;

/// One exploration.
pub fn human(
    exploration: &Exploration,
    expectation: &Expectation,
    verbosity: Verbosity,
    width: usize,
) -> String {
    let mut text = String::new();
    let _ = write_all(&mut text, exploration, expectation, verbosity, width);
    text
}

fn write_all(
    out: &mut String,
    exploration: &Exploration,
    expectation: &Expectation,
    verbosity: Verbosity,
    width: usize,
) -> std::fmt::Result {
    let unmet = unmet(exploration, expectation);
    let is_clean = exploration.verdict == Verdict::Clean;
    let style = if unmet.is_empty() { GOOD } else { BAD };
    let expected = match (unmet.is_empty(), expectation.verdict) {
        (false, _) | (true, None) => String::new(),
        (true, Some(_)) => ", as expected".to_owned(),
    };
    let steps = if is_clean {
        String::new()
    } else {
        format!(" after {}", count(exploration.trace.len(), "step"))
    };
    writeln!(
        out,
        "{} ({} queue): {style}{}{style:#}{steps}{expected}",
        exploration.scenario,
        exploration.queue,
        exploration.verdict.word(),
    )?;
    for line in &unmet {
        writeln!(out, "  {BAD}{line}{BAD:#}")?;
    }
    if !is_clean {
        writeln!(out, "  {}", exploration.reason)?;
    }
    if verbosity != Verbosity::Quiet || !unmet.is_empty() {
        write_trace(out, exploration, verbosity, width)?;
    }
    let seen = match exploration.stopped {
        None => "all there are",
        Some(Stop::Found) => "up to the first bad one",
        Some(Stop::States | Stop::Depth | Stop::Time) => "not all there are",
    };
    writeln!(
        out,
        "  {} and {} seen, {seen}; {} deep; {:.1} ms",
        count(exploration.states, "state"),
        count(exploration.transitions, "transition"),
        count(exploration.depth, "step"),
        exploration.elapsed.as_secs_f64() * 1000.0,
    )?;
    let label = if is_clean { "clean within" } else { "within" };
    for line in picture::wrap(
        &format!("{label}: {}", exploration.within().join("; ")),
        width.saturating_sub(2).max(LEAST_TEXT),
    ) {
        writeln!(out, "  {line}")?;
    }
    if exploration.asked > 0 {
        writeln!(out, "  the policy was asked {}", times(exploration.asked))?;
    }
    for note in &exploration.notes {
        writeln!(out, "  note: {note}")?;
    }
    Ok(())
}

fn times(number: usize) -> String {
    if number == 1 { "once".to_owned() } else { format!("{number} times") }
}

fn write_trace(
    out: &mut String,
    exploration: &Exploration,
    verbosity: Verbosity,
    width: usize,
) -> std::fmt::Result {
    let Some(last) = exploration.trace.last() else { return Ok(()) };
    let room = width.saturating_sub(picture::WIDTH + 6).max(LEAST_TEXT);
    write_state(out, "in the beginning", &exploration.start)?;
    writeln!(out, "\n     {}", picture::heading().trim_end())?;
    let mut before: &[Part] = &exploration.start;
    for step in &exploration.trace {
        if exploration.repeats_from == Some(step.step) {
            writeln!(out, "     {}{BAD}from here on it repeats for ever{BAD:#}", picture::lines())?;
        }
        write_step(out, step, room)?;
        let is_shown = |part: &&Part| verbosity == Verbosity::Verbose || !before.contains(part);
        let mut shown: Vec<String> = step.state.iter().filter(is_shown).map(words).collect();
        let is_gone = |part: &&Part| step.state.iter().all(|other| other.name != part.name);
        if verbosity != Verbosity::Verbose {
            shown.extend(before.iter().filter(is_gone).map(|part| match &*part.name {
                "owed" => "nothing is owed".to_owned(),
                name if name.starts_with("pass") => format!("{name}: over"),
                name => format!("{name}: up to date"),
            }));
        }
        for line in picture::wrap(&shown.join(" · "), room).iter().filter(|line| !line.is_empty())
        {
            writeln!(out, "     {}{FAINT}{line}{FAINT:#}", picture::lines())?;
        }
        before = &step.state;
    }
    write_state(out, "in the end", &last.state)?;
    writeln!(out)
}

fn write_state(out: &mut String, when: &str, state: &[Part]) -> std::fmt::Result {
    writeln!(out, "\n  {when}:")?;
    for part in state {
        writeln!(out, "    {}: {}", part.name, part.value)?;
    }
    Ok(())
}

fn write_step(out: &mut String, step: &TraceStep, room: usize) -> std::fmt::Result {
    let mut lines = picture::wrap(&step.text, room).into_iter();
    let first = lines.next().unwrap_or_default();
    writeln!(out, "{:>4} {}{first}", step.step, picture::row(step))?;
    for line in lines {
        writeln!(out, "     {}{line}", picture::lines())?;
    }
    Ok(())
}

fn words(part: &Part) -> String {
    format!("{}: {}", part.name, part.value)
}
