//! Who may call.

use std::fs;

use hyper::StatusCode;
use plumb_host::engine::Policy;
use plumb_host::webhook::server::Certificate;
use plumb_host::webhook::tls::SelfSigned;
use plumb_tests::server::{Client, JSON, Protocol, SHORT, Server};

use crate::sized;

/// An authority, and a client's certificate by it with its key, all PEM.
fn authority() -> (String, String, String) {
    let mut params = rcgen::CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let key = rcgen::KeyPair::generate().unwrap();
    let authority = params.self_signed(&key).unwrap().pem();
    let issuer = rcgen::Issuer::new(params, key);
    let mut params = rcgen::CertificateParams::new(Vec::new()).unwrap();
    params.extended_key_usages = vec![rcgen::ExtendedKeyUsagePurpose::ClientAuth];
    let key = rcgen::KeyPair::generate().unwrap();
    let certificate = params.signed_by(&key, &issuer).unwrap();
    (authority, certificate.pem(), key.serialize_pem())
}

#[tokio::test(flavor = "multi_thread")]
async fn with_a_client_authority_only_its_certificates_may_call() {
    let folder = tempfile::tempdir().unwrap();
    let (ours, cert, key) = authority();
    let (_, other_cert, other_key) = authority();
    let file = folder.path().join("ca.crt");
    fs::write(&file, ours).unwrap();
    let certificate = SelfSigned::new(&["localhost".to_owned()]).unwrap();
    let ca_pem = certificate.ca_pem.clone();
    let certificate = Certificate::SelfSigned { certificate, client_ca: Some(file) };
    let server =
        Server::with(Policy::embedded().unwrap(), None, certificate, ca_pem.clone(), SHORT).await;
    let ask = async |identity: Option<(&str, &str)>| {
        let mut client =
            Client::connect_as(server.bound.judging, &ca_pem, Protocol::Http1, identity)
                .await
                .map_err(|error| error.to_string())?;
        let answer = client.post("/validate", JSON, sized(true).into()).await;
        answer.map(|(status, _)| status).map_err(|error| error.to_string())
    };
    assert_eq!(ask(Some((&cert, &key))).await, Ok(StatusCode::OK));
    for identity in [None, Some((other_cert.as_str(), other_key.as_str()))] {
        assert!(ask(identity).await.is_err(), "{identity:?}");
    }
    assert_eq!(ask(Some((&cert, &key))).await, Ok(StatusCode::OK));
    server.stop().await;
}
