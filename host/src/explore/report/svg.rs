//! An SVG picture.

use std::fmt::Write;

use super::{
    super::{describe::Lane, run::Exploration},
    picture::wrap,
};

/// Pixels.
const PITCH: usize = 90;
const LEFT: usize = 80;
const TOP: usize = 70;
const ROW: usize = 18;
const TEXT_LEFT: usize = LEFT + PITCH * (Lane::ALL.len() - 1) + 50;
/// Characters of a line of text, and pixels that one takes at most.
const TEXT_WIDTH: usize = 64;
const LETTER: usize = 8;

/// The trace as a picture.
pub fn svg(exploration: &Exploration) -> String {
    let mut text = String::new();
    let _ = write_all(&mut text, exploration);
    text
}

fn write_all(out: &mut String, exploration: &Exploration) -> std::fmt::Result {
    let steps: Vec<Vec<String>> =
        exploration.trace.iter().map(|step| wrap(&step.text, TEXT_WIDTH)).collect();
    let rows: usize = steps.iter().map(|lines| lines.len() + 1).sum::<usize>();
    let end = wrap(
        &format!(
            "{}: {}",
            exploration.verdict.word(),
            match &*exploration.reason {
                "" => exploration.within().join("; "),
                reason => reason.to_owned(),
            }
        ),
        TEXT_WIDTH + TEXT_LEFT / LETTER,
    );
    let width = TEXT_LEFT + TEXT_WIDTH * LETTER;
    let bottom = TOP + rows * ROW;
    let height = bottom + (end.len() + 2) * ROW;
    writeln!(
        out,
        r##"<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" font-family="monospace" font-size="13">
<rect width="100%" height="100%" fill="#ffffff"/>
<defs>
<marker id="head" markerWidth="8" markerHeight="8" refX="7" refY="4" orient="auto"><path d="M0,0 L8,4 L0,8 z" fill="#1f4e79"/></marker>
<marker id="lost" markerWidth="10" markerHeight="10" refX="8" refY="5" orient="auto"><path d="M2,1 L8,9 M8,1 L2,9" stroke="#c00000" stroke-width="1.5"/></marker>
</defs>
<text x="20" y="24" font-weight="bold">{} ({} queue)</text>"##,
        escape(&exploration.scenario),
        exploration.queue,
    )?;
    for lane in Lane::ALL {
        let x = column(lane);
        writeln!(
            out,
            r##"<text x="{x}" y="{}" text-anchor="middle" fill="#555555">{}</text>"##,
            TOP - 14,
            lane.word()
        )?;
        writeln!(
            out,
            r##"<line x1="{x}" y1="{}" x2="{x}" y2="{bottom}" stroke="#bbbbbb"/>"##,
            TOP - 6
        )?;
    }
    let mut y = TOP + ROW;
    for (step, lines) in exploration.trace.iter().zip(&steps) {
        if exploration.repeats_from == Some(step.step) {
            let line = y - ROW;
            writeln!(
                out,
                r##"<line x1="20" y1="{line}" x2="{width}" y2="{line}" stroke="#c00000" stroke-dasharray="6 4"/>"##
            )?;
            writeln!(
                out,
                r##"<text x="{TEXT_LEFT}" y="{}" fill="#c00000">from here on it repeats for ever</text>"##,
                line - 4
            )?;
        }
        let from = column(step.lane);
        let (colour, marker) = if step.lost { ("#c00000", "lost") } else { ("#1f4e79", "head") };
        writeln!(out, r##"<text x="20" y="{}" fill="#888888">{}</text>"##, y + 4, step.step)?;
        if let Some(to) = step.to.map(column) {
            let tip = if from < to { to - 3 } else { to + 3 };
            writeln!(
                out,
                r#"<line x1="{from}" y1="{y}" x2="{tip}" y2="{y}" stroke="{colour}" stroke-width="1.5" marker-end="url(#{marker})"/>"#
            )?;
        }
        writeln!(out, r#"<circle cx="{from}" cy="{y}" r="4" fill="{colour}"/>"#)?;
        for (line, text) in lines.iter().enumerate() {
            writeln!(
                out,
                r#"<text x="{TEXT_LEFT}" y="{}">{}</text>"#,
                y + 4 + line * ROW,
                escape(text)
            )?;
        }
        y += (lines.len() + 1) * ROW;
    }
    for (line, text) in end.iter().enumerate() {
        writeln!(
            out,
            r#"<text x="20" y="{}" font-weight="bold">{}</text>"#,
            bottom + (line + 1) * ROW,
            escape(text)
        )?;
    }
    writeln!(out, "</svg>")
}

fn column(lane: Lane) -> usize {
    LEFT + PITCH * (lane as usize)
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
