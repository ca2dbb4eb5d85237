//! The generated pages of `docs/` are what the code says.

use std::fmt::Write;

use clap::{Arg, Command};
use plumb_host::engine::{Policy, Rule};
use plumb_host::exit::Exit;
use plumb_tests::generated;

#[test]
fn the_rules_manual_is_what_the_component_says() {
    let rules = Policy::embedded().unwrap().rules().unwrap();
    let mut files: Vec<_> =
        rules.iter().map(|rule| (format!("{}.md", rule.id), rule_page(rule))).collect();
    files.push(("README.md".to_owned(), rule_index(&rules)));
    generated::check("docs/rules", &files, true)
        .unwrap_or_else(|difference| panic!("{difference}"));
}

#[test]
fn the_manual_of_the_command_line_is_what_clap_says() {
    let mut command = plumb_host::cli::command();
    command.build();
    let mut page = String::from(
        "# Command line\n\n\
         Called as `kubectl-plumb`, found by kubectl on the path, it is `kubectl plumb`.\n\n\
         What every command takes stands here once.\n",
    );
    section(&mut page, &command, &[]);
    let files = [("cli.md".to_owned(), page), ("exit-codes.md".to_owned(), exit_codes())];
    generated::check("docs", &files, false).unwrap_or_else(|difference| panic!("{difference}"));
}

fn rule_index(rules: &[Rule]) -> String {
    let mut page = String::from(
        "# Rules\n\n\
         `plumb rules` lists them, `plumb rules RULE` explains one.\n\n\
         | rule | family | needs a | severity | since | what is wrong |\n\
         | --- | --- | --- | --- | --- | --- |\n",
    );
    for Rule { id, family, scope, severity, since, summary, .. } in rules {
        let link = format!("[`{id}`]({id}.md)");
        writeln!(page, "| {link} | {family} | {scope} | {severity} | {since} | {summary} |")
            .expect("a string takes all");
    }
    page
}

fn rule_page(rule: &Rule) -> String {
    let Rule { id, family, scope, severity, since, summary, manual } = rule;
    let source = format!("policy/src/rules/{family}/{}.rs", id.replace('-', "_"));
    let fixtures = format!("fixtures/rules/{id}");
    format!(
        "# {id}\n\n{summary}\n\n\
         | family | needs a | severity | since | |\n\
         | --- | --- | --- | --- | --- |\n\
         | {family} | {scope} | {severity} | {since} | \
         [source](../../{source}) · [fixtures](../../{fixtures}) |\n\n{}\n",
        manual.trim()
    )
}

fn exit_codes() -> String {
    let mut page = String::from("# Exit codes\n\n| code | name | meaning |\n| --- | --- | --- |\n");
    for exit in Exit::ALL {
        let name = format!("{exit:?}").to_lowercase();
        writeln!(page, "| {} | {name} | {} |", exit.code(), exit.meaning())
            .expect("a string takes all");
    }
    page + "\n\
        Where several hold, the greatest wins: a run that could not judge everything vouches for\n\
        nothing, whatever it found in the rest. The output's format makes no difference.\n\n\
        A closed pipe (`plumb replay … | head`) ends the run quietly, with the code of what was\n\
        judged until then.\n"
}

/// A command and those below it. `above` are the arguments that stand further up already.
fn section(page: &mut String, command: &Command, above: &[&Arg]) {
    let name = command.get_bin_name().unwrap_or(command.get_name());
    let about = command.get_long_about().or(command.get_about());
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ");
    write!(
        page,
        "\n## {name}\n\n{}\n\n```text\n{usage}\n```\n",
        about.map_or(String::new(), sentence)
    )
    .expect("a string takes all");
    let own: Vec<&Arg> = command
        .get_arguments()
        .filter(|argument| !argument.is_hide_set())
        .filter(|argument| !above.iter().any(|known| known.get_id() == argument.get_id()))
        .collect();
    let mut headings: Vec<&str> = Vec::new();
    for argument in &own {
        let heading = heading(argument);
        if !headings.contains(&heading) {
            headings.push(heading);
        }
    }
    for name in headings {
        write!(page, "\n### {name}\n\n").expect("a string takes all");
        for argument in own.iter().filter(|argument| heading(argument) == name) {
            writeln!(page, "- {}", describe(argument)).expect("a string takes all");
        }
    }
    let global = own.iter().copied().filter(|argument| {
        argument.is_global_set() || ["help", "version"].contains(&argument.get_id().as_str())
    });
    let known: Vec<&Arg> = above.iter().copied().chain(global).collect();
    for below in command.get_subcommands().filter(|below| below.get_name() != "help") {
        section(page, below, &known);
    }
}

fn heading(argument: &Arg) -> &str {
    match argument.get_help_heading() {
        Some(heading) => heading,
        None if argument.is_positional() => "Arguments",
        None => "Other",
    }
}

fn describe(argument: &Arg) -> String {
    let mut names = Vec::new();
    names.extend(argument.get_short().map(|short| format!("-{short}")));
    names.extend(argument.get_long().map(|long| format!("--{long}")));
    let aliases = argument.get_visible_aliases().unwrap_or_default();
    names.extend(aliases.iter().map(|alias| format!("--{alias}")));
    let mut text = format!("`{}", names.join("`, `"));
    if argument.get_action().takes_values() {
        let values = argument.get_value_names().unwrap_or_default().join(" ");
        let gap = if names.is_empty() { "" } else { " " };
        let more = if argument.is_positional() && is_many(argument) { "…" } else { "" };
        text += &format!("{gap}{values}{more}");
    }
    text += "`: ";
    text += &argument.get_long_help().or(argument.get_help()).map_or(String::new(), sentence);
    let values: Vec<String> = argument
        .get_possible_values()
        .iter()
        .filter(|value| !value.is_hide_set() && argument.get_action().takes_values())
        .map(|value| match value.get_help() {
            Some(help) => format!("`{}` ({help})", value.get_name()),
            None => format!("`{}`", value.get_name()),
        })
        .collect();
    if !values.is_empty() {
        text += &format!("\n  One of {}.", values.join(", "));
    }
    let defaults: Vec<_> =
        argument.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
    if !defaults.is_empty() && argument.get_action().takes_values() {
        text += &format!("\n  Default: `{}`.", defaults.join(" "));
    }
    text
}

fn is_many(argument: &Arg) -> bool {
    argument.get_num_args().is_some_and(|range| range.max_values() > 1)
        || matches!(argument.get_action(), clap::ArgAction::Append)
}

/// Ends with a full stop, as prose does.
fn sentence(text: &clap::builder::StyledStr) -> String {
    let text = text.to_string();
    if text.ends_with('.') { text } else { text + "." }
}
