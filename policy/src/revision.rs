//! Revisions in the forms that Flux wrote over time.
//!
//! Since version 2 of the toolkit a revision is `[<name>@]<algorithm>:<hash>`; before, it was
//! `<name>/<hash>`, `HEAD/<hash>` or the hash alone.

/// Whether both name the same revision. Digests of two algorithms cannot be compared: such
/// revisions are taken to be the same, so that nothing is said of them.
pub fn same(left: &str, right: &str) -> bool {
    if left == right {
        return true;
    }
    let (Some(left), Some(right)) = (Parts::of(left), Parts::of(right)) else { return false };
    let algorithms_differ = match (left.algorithm, right.algorithm) {
        (Some(left), Some(right)) => left != right,
        _ => false,
    };
    left.name == right.name && (algorithms_differ || left.hash == right.hash)
}

struct Parts<'r> {
    name: &'r str,
    algorithm: Option<&'r str>,
    hash: &'r str,
}

impl<'r> Parts<'r> {
    fn of(revision: &'r str) -> Option<Self> {
        if let Some((before, hash)) = revision.rsplit_once(':') {
            let (name, algorithm) = before.rsplit_once('@').unwrap_or(("", before));
            return is_hash(hash).then_some(Parts { name, algorithm: Some(algorithm), hash });
        }
        let (name, hash) = revision.rsplit_once('/').unwrap_or(("", revision));
        let name = if name == "HEAD" { "" } else { name };
        is_hash(hash).then_some(Parts { name, algorithm: None, hash })
    }
}

fn is_hash(text: &str) -> bool {
    text.len() >= 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: &str = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    const B: &str = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";

    fn named(template: &str, hash: &str) -> alloc::string::String {
        template.replace('#', hash)
    }

    #[test]
    fn forms_of_one_revision_are_the_same() {
        for (left, right) in [
            ("main/#", "main@sha1:#"),
            ("feature/x/#", "feature/x@sha1:#"),
            ("HEAD/#", "sha1:#"),
            ("#", "sha256:#"),
        ] {
            assert!(same(&named(left, A), &named(right, A)), "{left} {right}");
            assert!(!same(&named(left, A), &named(right, B)), "{left} {right}");
        }
    }

    #[test]
    fn digests_of_two_algorithms_are_not_compared() {
        assert!(same(&named("sha256:#", A), &named("blake3:#", B)));
        assert!(!same(&named("1.0@sha256:#", A), &named("1.1@blake3:#", B)));
    }

    #[test]
    fn what_is_no_revision_is_compared_as_text() {
        assert!(!same("v1", "v2"));
        assert!(!same(&named("main@sha1:#", A), "v2"));
        assert!(!same(&named("main@sha1:#", A), &named("dev@sha1:#", A)));
    }
}
