use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::declare_rule;
use crate::finding::{Finding, Severity};
use crate::json::Json;
use crate::pointer;
use crate::rule::{Check, View};

declare_rule! {
    /// ## What it does
    ///
    /// Looks for a route of the Gateway API that was refused for `NoMatchingListenerHostname`, while
    /// a listener of that gateway has a hostname that matches one of the route's.
    ///
    /// ## Why is this bad?
    ///
    /// The refusal depends on two objects, and only the generation of one of them is in the
    /// condition. When the listener is mended, the route's generation does not move: its condition
    /// looks current, and stays False while the traffic flows.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: gateway.networking.k8s.io/v1
    /// kind: Gateway
    /// metadata: {name: web, namespace: default, generation: 2}
    /// spec:
    ///   gatewayClassName: envoy
    ///   listeners:
    ///   - {name: http, port: 80, protocol: HTTP, hostname: "*.example.com"}
    /// status:
    ///   conditions:
    ///   - {type: Programmed, status: "True", reason: Programmed, message: "", lastTransitionTime: "2026-01-01T00:05:00Z", observedGeneration: 2}
    /// ---
    /// apiVersion: gateway.networking.k8s.io/v1
    /// kind: HTTPRoute
    /// metadata: {name: app, namespace: default, generation: 1}
    /// spec:
    ///   parentRefs: [{name: web}]
    ///   hostnames: [app.example.com]
    /// status:
    ///   parents:
    ///   - parentRef: {name: web}
    ///     controllerName: gateway.envoyproxy.io/gatewayclass-controller
    ///     conditions:
    ///     - {type: Accepted, status: "False", reason: NoMatchingListenerHostname, message: "", lastTransitionTime: "2026-01-01T00:00:00Z", observedGeneration: 1}
    /// ```
    ///
    /// ## Instead
    ///
    /// ```yaml
    /// apiVersion: gateway.networking.k8s.io/v1
    /// kind: Gateway
    /// metadata: {name: web, namespace: default, generation: 2}
    /// spec:
    ///   gatewayClassName: envoy
    ///   listeners:
    ///   - {name: http, port: 80, protocol: HTTP, hostname: "*.example.org"}
    /// status:
    ///   conditions:
    ///   - {type: Programmed, status: "True", reason: Programmed, message: "", lastTransitionTime: "2026-01-01T00:05:00Z", observedGeneration: 2}
    /// ---
    /// apiVersion: gateway.networking.k8s.io/v1
    /// kind: HTTPRoute
    /// metadata: {name: app, namespace: default, generation: 1}
    /// spec:
    ///   parentRefs: [{name: web}]
    ///   hostnames: [app.example.com]
    /// status:
    ///   parents:
    ///   - parentRef: {name: web}
    ///     controllerName: gateway.envoyproxy.io/gatewayclass-controller
    ///     conditions:
    ///     - {type: Accepted, status: "False", reason: NoMatchingListenerHostname, message: "", lastTransitionTime: "2026-01-01T00:00:00Z", observedGeneration: 1}
    /// ```
    ///
    /// ## Severity
    ///
    /// Warning once the gateway's own conditions speak of its current generation, or carry none: its
    /// controller has seen the listeners then. Info before.
    ///
    /// ## References
    ///
    /// - <https://github.com/envoyproxy/gateway/issues/8861>
    /// - <https://github.com/kubernetes-sigs/gateway-api/pull/5115>
    pub static RULE = {
        id: "route-refused-though-listener-matches",
        family: "related",
        severity: Warning,
        means: Stale,
        since: "0.1.0",
        summary: "a route is refused for its hostnames though a listener matches one",
        check: Check::Set(check),
    }
}

const GROUP: &str = "gateway.networking.k8s.io";

fn check(view: &View<'_>, related: &[View<'_>]) -> Vec<Finding> {
    let object = view.object;
    if object.group() != GROUP || !object.kind.ends_with("Route") || object.deleting {
        return Vec::new();
    }
    let hostnames: Vec<&str> =
        object.root.at("spec").at("hostnames").items().iter().filter_map(Json::str).collect();
    let mut findings = Vec::new();
    for (place, parent) in object.status().at("parents").items().iter().enumerate() {
        let reference = parent.at("parentRef");
        let conditions = parent.at("conditions").items();
        let refused = conditions.iter().enumerate().find(|(_, condition)| {
            condition.at("type").str() == Some("Accepted")
                && condition.at("status").str() == Some("False")
                && condition.at("reason").str() == Some("NoMatchingListenerHostname")
        });
        let Some((index, condition)) = refused else { continue };
        let own = condition.at("observedGeneration").integer();
        if own.is_some_and(|own| object.generation.is_some_and(|generation| own < generation)) {
            continue;
        }
        let namespace = reference.at("namespace").str().unwrap_or(object.namespace);
        let gateway = related.iter().enumerate().find(|(_, other)| {
            other.object.group() == GROUP
                && other.object.kind == reference.at("kind").str().unwrap_or("Gateway")
                && Some(other.object.name) == reference.at("name").str()
                && other.object.namespace == namespace
        });
        let Some((beside, gateway)) = gateway else { continue };
        let Some((listener, wanted, hostname)) = matching(gateway, reference, &hostnames) else {
            continue;
        };
        let current = gateway.object.conditions().iter().all(|condition| {
            condition
                .observed_generation
                .is_none_or(|own| gateway.object.generation.is_none_or(|newest| own >= newest))
        });
        let name = gateway.object.name;
        let message = format!(
            "Accepted is False for NoMatchingListenerHostname, but a listener of Gateway {name} \
             has `{hostname}`, which matches `{wanted}`"
        );
        let mut finding = RULE
            .finding(format!("/status/parents/{place}/conditions/{index}/status"), message)
            .beside("/spec/hostnames", format!("asks for `{wanted}`"))
            .elsewhere(
                format!("related/{beside}"),
                format!("/spec/listeners/{listener}"),
                format!("listens for `{hostname}`"),
            )
            .help("change the route, so that its controller looks again; it should do so on every change of a parent");
        if !current {
            finding.severity = Severity::Info;
        }
        findings.push(finding);
    }
    findings
}

/// A listener that the reference selects and whose hostname matches: its place, the route's
/// hostname, its own.
fn matching<'r>(
    gateway: &View<'r>,
    reference: &Json<'_>,
    hostnames: &[&'r str],
) -> Option<(usize, &'r str, &'r str)> {
    let listeners = pointer::find(gateway.object.root, "spec.listeners")?.items();
    listeners.iter().enumerate().find_map(|(place, listener)| {
        let section = reference.at("sectionName");
        let port = reference.at("port");
        if (!section.is_empty() && !section.same(listener.at("name")))
            || (!port.is_empty() && !port.same(listener.at("port")))
        {
            return None;
        }
        let hostname = listener.at("hostname").str().filter(|name| !name.is_empty()).unwrap_or("*");
        if hostnames.is_empty() {
            return Some((place, "*", hostname));
        }
        let wanted = hostnames.iter().find(|wanted| intersect(hostname, wanted))?;
        Some((place, *wanted, hostname))
    })
}

/// Whether two hostnames have a name in common. `*.` stands for one label or more, `*` for all.
fn intersect(left: &str, right: &str) -> bool {
    let (left, right): (String, String) = (left.to_lowercase(), right.to_lowercase());
    let covers = |pattern: &str, name: &str| match pattern.strip_prefix('*') {
        Some("") => true,
        Some(suffix) => name.len() > suffix.len() && name.ends_with(suffix),
        None => pattern == name,
    };
    left == right || covers(&left, &right) || covers(&right, &left)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostnames_intersect_as_the_gateway_api_has_it() {
        for (left, right, wanted) in [
            ("*", "app.example.com", true),
            ("*.example.com", "app.example.com", true),
            ("*.example.com", "a.b.example.com", true),
            ("*.example.com", "example.com", false),
            ("*.example.com", "*.example.com", true),
            ("*.example.com", "*.app.example.com", true),
            ("app.example.com", "*.example.org", false),
        ] {
            assert_eq!(intersect(left, right), wanted, "{left} {right}");
            assert_eq!(intersect(right, left), wanted, "{right} {left}");
        }
    }
}
