//! Swim lanes: one column for each actor, one row for each step.

use super::super::describe::{Lane, TraceStep};

/// Columns of the terminal between two lanes.
const PITCH: usize = 9;

/// Where the first lane stands.
const FIRST: usize = 4;

/// Columns that all lanes take.
pub(super) const WIDTH: usize = FIRST + PITCH * (Lane::ALL.len() - 1) + 4;

fn column(lane: Lane) -> usize {
    FIRST + PITCH * (lane as usize)
}

/// The names of the lanes, each above its line.
pub(super) fn heading() -> String {
    let mut row = vec![' '; WIDTH];
    for lane in Lane::ALL {
        let word = lane.word();
        let begin = column(lane) - word.chars().count() / 2;
        for (at, letter) in word.chars().enumerate() {
            row[begin + at] = letter;
        }
    }
    row.into_iter().collect()
}

/// The lines alone.
pub(super) fn lines() -> String {
    let mut row = vec![' '; WIDTH];
    for lane in Lane::ALL {
        row[column(lane)] = '│';
    }
    row.into_iter().collect()
}

/// Who acts upon whom in one step.
pub(super) fn row(step: &TraceStep) -> String {
    let mut row: Vec<char> = lines().chars().collect();
    let from = column(step.lane);
    if let Some(to) = step.to.map(column) {
        let (low, high) = (from.min(to), from.max(to));
        for (at, cell) in row.iter_mut().enumerate().take(high).skip(low + 1) {
            *cell = if *cell == '│' { '┼' } else { '─' };
            debug_assert_ne!(at, from, "the actor is at the end of the arrow");
        }
        let (head, tip) = if from < to { (to - 1, '▶') } else { (to + 1, '◀') };
        row[head] = if step.lost { '╳' } else { tip };
    }
    row[from] = if step.lost && step.to.is_none() { '╳' } else { '●' };
    row.into_iter().collect()
}

/// Breaks text into lines of at most `width` columns, between words.
pub(in super::super) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![];
    let mut line = String::new();
    let mut columns = 0;
    for word in text.split(' ') {
        let wide = word.chars().count();
        if columns > 0 && columns + 1 + wide > width {
            lines.push(std::mem::take(&mut line));
            columns = 0;
        }
        if columns > 0 {
            line.push(' ');
            columns += 1;
        }
        line.push_str(word);
        columns += wide;
    }
    lines.push(line);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(lane: Lane, to: Option<Lane>, lost: bool) -> TraceStep {
        TraceStep { step: 1, lane, to, lost, text: String::new(), state: vec![] }
    }

    #[test]
    fn arrows_lead_from_the_actor_to_the_other() {
        let rows = [
            heading(),
            row(&step(Lane::Source, None, false)),
            row(&step(Lane::Handler, Some(Lane::Worker), false)),
            row(&step(Lane::Worker, Some(Lane::Queue), true)),
        ];
        let trimmed: Vec<&str> = rows.iter().map(|row| row.trim_end()).collect();
        assert_eq!(
            trimmed,
            [
                " source    watch   handler   queue   worker   object",
                "    ●        │        │        │        │        │",
                "    │        │        ●────────┼───────▶│        │",
                "    │        │        │        │╳───────●        │",
            ]
        );
    }

    #[test]
    fn text_breaks_between_words() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("incomprehensible", 4), ["incomprehensible"]);
    }
}
