//! `plumb`: judges the status that Kubernetes controllers publish.
fn main() {}
