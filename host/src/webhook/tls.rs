//! Certificates: from files, reloaded when their content changes; or made on the spot.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use sha2::{Digest, Sha256};

/// Why there is no TLS.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file cannot be read.
    #[error("failed to read {file}: {source}")]
    Read {
        /// The file.
        file: String,
        /// Why.
        source: io::Error,
    },
    /// A file is not what it should be.
    #[error("failed to use {file}: {message}")]
    Content {
        /// The file.
        file: String,
        /// What is wrong.
        message: String,
    },
    /// Certificate and key do not fit each other, or the library refuses them.
    #[error("failed to set up TLS: {0}")]
    Setup(String),
}

/// The files.
#[derive(Debug, Clone)]
pub struct Files {
    /// The certificate chain, PEM.
    pub cert: PathBuf,
    /// Its key, PEM.
    pub key: PathBuf,
    /// Certificates of those that may call, PEM; everybody may without.
    pub client_ca: Option<PathBuf>,
}

impl Files {
    /// SHA-256 over the content of all files. kubelet changes a Secret by swapping a symbolic link,
    /// so the content is looked at, not the files' times.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn digest(&self) -> Result<[u8; 32], TlsError> {
        let mut digest = Sha256::new();
        for file in
            [Some(&self.cert), Some(&self.key), self.client_ca.as_ref()].into_iter().flatten()
        {
            let content = read(file)?;
            digest.update(content.len().to_le_bytes());
            digest.update(&content);
        }
        Ok(digest.finalize().into())
    }

    /// The configuration of the server.
    ///
    /// # Errors
    /// A file that cannot be read or used; a key that does not fit its certificate.
    pub fn load(&self) -> Result<ServerConfig, TlsError> {
        let chain = certificates(&self.cert)?;
        let key = PrivateKeyDer::from_pem_slice(&read(&self.key)?).map_err(|error| {
            content(&self.key, &format!("expected a private key in PEM: {error}"))
        })?;
        configure(chain, key, self.client_ca.as_deref())
    }
}

/// A certificate made on the spot.
#[derive(Debug)]
pub struct SelfSigned {
    /// The certificate of its own authority, PEM: the `caBundle` of the webhook's registration.
    pub ca_pem: String,
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
}

impl SelfSigned {
    /// A certificate for these DNS names and IP addresses, by an authority made for it alone.
    ///
    /// # Errors
    /// A name that no certificate can hold.
    pub fn new(names: &[String]) -> Result<Self, TlsError> {
        use rcgen::{
            BasicConstraints, CertificateParams, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
            KeyUsagePurpose,
        };
        let setup = |error: rcgen::Error| TlsError::Setup(error.to_string());
        let mut authority = CertificateParams::new(Vec::new()).map_err(setup)?;
        authority.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        authority.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        authority.distinguished_name.push(rcgen::DnType::CommonName, "plumb webhook authority");
        let authority_key = KeyPair::generate().map_err(setup)?;
        let authority_cert = authority.self_signed(&authority_key).map_err(setup)?;
        let issuer = Issuer::new(authority, authority_key);

        let mut leaf = CertificateParams::new(names).map_err(setup)?;
        leaf.distinguished_name.push(rcgen::DnType::CommonName, "plumb webhook");
        leaf.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        let leaf_key = KeyPair::generate().map_err(setup)?;
        let leaf_cert = leaf.signed_by(&leaf_key, &issuer).map_err(setup)?;
        let key = PrivateKeyDer::try_from(leaf_key.serialize_der())
            .map_err(|error| TlsError::Setup(error.to_owned()))?;
        Ok(Self {
            ca_pem: authority_cert.pem(),
            chain: vec![leaf_cert.der().clone(), authority_cert.der().clone()],
            key,
        })
    }

    /// The configuration of the server.
    ///
    /// # Errors
    /// A client authority that cannot be read.
    pub fn into_config(self, client_ca: Option<&Path>) -> Result<ServerConfig, TlsError> {
        configure(self.chain, self.key, client_ca)
    }
}

fn configure(
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
    client_ca: Option<&Path>,
) -> Result<ServerConfig, TlsError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let setup = |error: rustls::Error| TlsError::Setup(error.to_string());
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(setup)?;
    let builder = match client_ca {
        None => builder.with_no_client_auth(),
        Some(file) => {
            let mut roots = RootCertStore::empty();
            for certificate in certificates(file)? {
                roots.add(certificate).map_err(setup)?;
            }
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider)
                .build()
                .map_err(|error| content(file, &error.to_string()))?;
            builder.with_client_cert_verifier(verifier)
        }
    };
    let mut config = builder.with_single_cert(chain, key).map_err(setup)?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let text = read(file)?;
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&text).collect();
    let chain =
        chain.map_err(|error| content(file, &format!("expected certificates in PEM: {error}")))?;
    if chain.is_empty() {
        return Err(content(file, "it holds no certificate in PEM"));
    }
    Ok(chain)
}

fn read(file: &Path) -> Result<Vec<u8>, TlsError> {
    fs::read(file).map_err(|source| TlsError::Read { file: file.display().to_string(), source })
}

fn content(file: &Path, message: &str) -> TlsError {
    TlsError::Content { file: file.display().to_string(), message: message.to_owned() }
}
