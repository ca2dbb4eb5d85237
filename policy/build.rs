//! Checks the profiles in `profiles/` and packs them, so that an evaluation reads only the one
//! that it needs: a sorted index of kinds, and each profile in a form that is quick to read.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

#[path = "build/pack.rs"]
mod pack;
#[path = "src/profile/schema.rs"]
#[expect(unreachable_pub, unused_imports, reason = "shared with the library")]
mod schema;

fn main() {
    println!("cargo::rerun-if-changed=profiles");
    println!("cargo::rerun-if-changed=src/profile");
    println!("cargo::rerun-if-changed=build");
    if env::var("CARGO_CFG_TARGET_ARCH").as_deref() == Ok("wasm32") {
        // A small shadow stack first in memory turns an overflow into a trap; an initial memory
        // of 1 MiB spares the usual evaluation a `memory.grow`.
        println!("cargo::rustc-link-arg-cdylib=-zstack-size=131072");
        println!("cargo::rustc-link-arg-cdylib=--initial-memory=2097152");
    }
    let mut documents = Vec::new();
    let mut index = BTreeMap::new();
    for path in profile_files() {
        let text = fs::read_to_string(&path).expect("a profile is readable");
        let options = serde_saphyr::options! {
            budget: serde_saphyr::budget! { max_nodes: 1_000_000, max_documents: 4_096, },
        };
        let profiles: Vec<schema::Profile<'_>> =
            serde_saphyr::from_str_with_options(&text, options)
                .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        for profile in profiles {
            assert!(!profile.kinds.is_empty(), "{}: a profile without kinds", path.display());
            for kind in &profile.kinds {
                let key = (profile.group.to_string(), kind.to_string());
                let twice = index.insert(key.clone(), documents.len());
                assert!(twice.is_none(), "{}: {key:?} has two profiles", path.display());
            }
            documents.push(pack::pack(&profile).expect("a profile can be packed"));
        }
    }
    let mut code = String::new();
    writeln!(code, "/// Group, kind and place in `DOCUMENTS`, sorted.").expect("memory");
    writeln!(code, "pub(super) static INDEX: &[(&str, &str, usize)] = &[").expect("memory");
    for ((group, kind), place) in &index {
        writeln!(code, "    ({group:?}, {kind:?}, {place}),").expect("memory");
    }
    writeln!(code, "];\n/// The profiles, packed.").expect("memory");
    writeln!(code, "pub(super) static DOCUMENTS: &[&str] = &[").expect("memory");
    for document in &documents {
        writeln!(code, "    {document:?},").expect("memory");
    }
    writeln!(code, "];").expect("memory");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    fs::write(out.join("profiles.rs"), code).expect("OUT_DIR is writable");
}

fn profile_files() -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(Path::new("profiles"))
        .expect("the folder profiles exists")
        .map(|entry| entry.expect("a folder entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "yaml"))
        .collect();
    files.sort();
    files
}
