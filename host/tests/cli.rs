//! The real binary: what it prints, where, and with which exit code.

use std::ffi::OsStr;
use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, Stdio};

/// What one run left behind.
struct Run {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

/// Runs `plumb` with nothing of the environment that could change what it says.
fn plumb<A: AsRef<OsStr>>(arguments: &[A]) -> Run {
    run(Path::new(env!("CARGO_BIN_EXE_plumb")), arguments, "").expect("the binary runs")
}

fn run<A: AsRef<OsStr>>(program: &Path, arguments: &[A], input: &str) -> io::Result<Run> {
    let mut command = Command::new(program);
    command
        .args(arguments)
        .env_clear()
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(".."));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    let mut stdin = child.stdin.take();
    if let Some(stdin) = &mut stdin {
        stdin.write_all(input.as_bytes())?;
    }
    drop(stdin);
    let output = child.wait_with_output()?;
    let text = |bytes| String::from_utf8(bytes).map_err(io::Error::other);
    Ok(Run {
        code: output.status.code(),
        stdout: text(output.stdout)?,
        stderr: text(output.stderr)?,
    })
}

#[test]
fn without_arguments_the_help_is_shown_and_the_usage_is_wrong() {
    let run = plumb::<&str>(&[]);
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("Usage: plumb"), "{}", run.stderr);
    assert_eq!(run.stdout, "");
}

#[test]
fn what_is_asked_for_goes_to_standard_output() {
    for arguments in
        [&["--help"][..], &["rules", "--help"], &["--version"], &["-V"], &["help", "rules"]]
    {
        let run = plumb(arguments);
        assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{arguments:?}");
        assert!(!run.stdout.is_empty(), "{arguments:?}");
    }
}

#[test]
fn the_version_names_the_policy() {
    assert_eq!(plumb(&["-V"]).stdout, concat!("plumb ", env!("CARGO_PKG_VERSION"), "\n"));
    let long = plumb(&["--version"]).stdout;
    assert!(long.contains("contract plumb:policy@") && long.contains("sha256 "), "{long}");
}

#[test]
fn a_wrong_command_line_says_what_was_meant() {
    for (arguments, hint) in [
        (&["rule"][..], "'rules'"),
        (&["rules", "lost-wakeup"], "did you mean `lost-wake-up`?"),
        (&["rules", "zzz"], "`plumb rules` lists them"),
        (&["profiles", "Bucke"], "did you mean `Bucket`?"),
        (&["rules", "--format", "yaml"], "possible values: human, json"),
        (&["rules", "--policy-sha256", "00"], "64 hexadecimal digits"),
        (&["completion", "tcsh"], "possible values"),
    ] {
        let run = plumb(arguments);
        assert_eq!(run.code, Some(2), "{arguments:?}: {}", run.stderr);
        assert!(run.stderr.contains(hint), "{arguments:?}: {}", run.stderr);
        assert_eq!(run.stdout, "", "{arguments:?}");
    }
}

#[test]
fn kubectl_finds_it_under_its_own_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let plugin = folder.path().join("kubectl-plumb");
    std::fs::copy(env!("CARGO_BIN_EXE_plumb"), &plugin).expect("a copy");
    let run = run(&plugin, &["rules", "--help"], "").expect("the copy runs");
    assert!(run.stdout.contains("Usage: kubectl plumb rules"), "{}", run.stdout);
}

#[test]
fn the_rules_are_listed_and_explained() {
    let list = plumb(&["rules"]);
    assert_eq!(list.code, Some(0));
    let json = plumb(&["rules", "--format", "json"]).stdout;
    let rules: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    for rule in rules.as_array().expect("an array") {
        let id = rule["id"].as_str().expect("an id");
        assert!(list.stdout.contains(id), "{id}");
        let manual = plumb(&["rules", id]);
        assert_eq!(manual.code, Some(0));
        assert!(manual.stdout.contains("Why is this bad?"), "{}", manual.stdout);
    }
}

#[test]
fn a_profile_is_shown_as_yaml_and_can_be_set_again() {
    let list = plumb(&["profiles"]);
    assert!(list.stdout.contains("GitRepository"), "{}", list.stdout);
    let json = plumb(&["profiles", "--format", "json"]).stdout;
    let profiles: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let folder = tempfile::tempdir().expect("a folder");
    for profile in profiles.as_array().expect("an array") {
        let kind = format!("{}.{}", profile["kind"], profile["group"]).replace('"', "");
        let yaml = plumb(&["profiles", &kind]).stdout;
        let lines: Vec<&str> = yaml.lines().filter(|line| !line.starts_with('#')).collect();
        let entry = format!("- {}\n", lines.join("\n  "));
        let file = folder.path().join("plumb.yaml");
        let head = "apiVersion: plumb.dev/v1alpha1\nkind: Settings\nprofiles:\n";
        std::fs::write(&file, format!("{head}{entry}")).expect("written");
        let file = file.to_str().expect("UTF-8");
        let own = plumb(&["profiles", &kind, "--settings", file]);
        assert_eq!((own.code, own.stderr.as_str()), (Some(0), ""), "{kind}:\n{entry}");
        let title = format!("# {}, settings\n", kind.trim_end_matches('.'));
        assert!(own.stdout.starts_with(&title), "{}", own.stdout);
    }
}

#[test]
fn a_profile_is_proposed_from_samples() {
    let sample = "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: a}\nstatus:\n  \
                  conditions:\n  - {type: Ready, status: \"True\"}\n";
    let binary = Path::new(env!("CARGO_BIN_EXE_plumb"));
    let inferred = run(binary, &["profiles", "infer", "-"], sample).expect("the binary runs");
    assert_eq!((inferred.code, inferred.stderr.as_str()), (Some(0), ""));
    assert!(inferred.stdout.contains("kinds: [Widget]"), "{}", inferred.stdout);
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("plumb.yaml");
    std::fs::write(&file, inferred.stdout).expect("written");
    let list = plumb(&["profiles", "--settings", file.to_str().expect("UTF-8")]);
    assert_eq!((list.code, list.stderr.as_str()), (Some(0), ""));
    assert!(list.stdout.contains("Widget"), "{}", list.stdout);
    let nothing = plumb(&["profiles", "infer", "no-such-file.yaml"]);
    assert_eq!(nothing.code, Some(3), "{}", nothing.stderr);
}

#[test]
fn wrong_settings_are_told_with_their_place() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("plumb.yaml");
    let text = "apiVersion: plumb.dev/v1alpha1\nkind: Settings\nprofiles:\n- {group: a, kinds: [B], colour: red}\n";
    std::fs::write(&file, text).expect("written");
    let run = plumb(&["profiles", "--settings", file.to_str().expect("UTF-8")]);
    assert_eq!(run.code, Some(2), "{}", run.stderr);
    assert!(run.stderr.contains("profiles[0]") && run.stderr.contains("colour"), "{}", run.stderr);
}

#[test]
fn what_is_no_policy_is_refused() {
    let run = plumb(&["rules", "--policy", "Cargo.toml"]);
    assert_eq!(run.code, Some(4), "{}", run.stderr);
    assert!(run.stderr.contains("failed to load the policy Cargo.toml"), "{}", run.stderr);
    assert_eq!(plumb(&["rules", "--policy", "no-such-file.wasm"]).code, Some(4));
}

#[test]
fn completions_name_the_commands() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let run = plumb(&["completion", shell]);
        assert_eq!(run.code, Some(0), "{shell}");
        assert!(run.stdout.contains("profiles"), "{shell}");
    }
}

#[test]
fn colours_are_for_terminals_only() {
    assert!(!plumb(&["rules"]).stdout.contains('\u{1b}'));
    assert!(plumb(&["rules", "--color", "always"]).stdout.contains('\u{1b}'));
}

#[test]
fn a_component_can_be_looked_at() {
    let run = plumb(&["policy", "inspect"]);
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
    for row in
        ["world        plumb:policy/policy@0.1.0", "imports      none", "licence      Apache-2.0"]
    {
        assert!(run.stdout.contains(row), "{row}:\n{}", run.stdout);
    }
    let run = plumb(&["policy", "inspect", "--format", "json"]);
    let told: serde_json::Value = serde_json::from_str(&run.stdout).expect("it is JSON");
    assert_eq!(told["imports"], serde_json::json!([]));
    assert_eq!(told["exports"], serde_json::json!(["plumb:policy/evaluator@0.1.0"]));
    assert_eq!(told["sha256"].as_str().map(str::len), Some(64));
    assert!(told["bytes"].as_u64() > Some(100_000), "{}", told["bytes"]);
    assert!(told["rules"].as_array().is_some_and(|rules| !rules.is_empty()));
}

#[test]
fn what_is_no_component_is_refused() {
    for command in ["inspect", "test"] {
        let run = plumb(&["policy", command, "Cargo.toml"]);
        assert_eq!((run.code, run.stdout.as_str()), (Some(4), ""), "{command}");
        assert!(run.stderr.contains("it is not WebAssembly"), "{}", run.stderr);
    }
}
