//! The CA and the server certificate of one run, and the token.

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair, KeyUsagePurpose,
    SanType,
};
use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use std::fmt::Write as _;
use std::io;
use std::net::IpAddr;
use std::sync::Arc;

/// What clients need, and what the listener needs.
pub(crate) struct Identity {
    /// The CA certificate, PEM.
    pub(crate) ca_pem: String,
    /// For the listener.
    pub(crate) config: Arc<ServerConfig>,
}

fn failed(error: impl std::fmt::Display) -> io::Error {
    io::Error::other(format!("TLS identity: {error}"))
}

impl Identity {
    /// Makes a CA and a certificate for the address, localhost and kubernetes; neither key leaves this
    /// process.
    pub(crate) fn new(listen: IpAddr) -> io::Result<Self> {
        let ca_key = KeyPair::generate().map_err(failed)?;
        let mut ca = CertificateParams::new(Vec::<String>::new()).map_err(failed)?;
        ca.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        ca.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        ca.distinguished_name.push(DnType::CommonName, "perfq run CA");
        let ca_certificate = ca.self_signed(&ca_key).map_err(failed)?;

        let key = KeyPair::generate().map_err(failed)?;
        let names = ["localhost", "kubernetes", "kubernetes.default.svc"].map(String::from);
        let mut server = CertificateParams::new(names.to_vec()).map_err(failed)?;
        let mut addresses = vec![IpAddr::from([127, 0, 0, 1]), IpAddr::from([0, 0, 0, 0, 0, 0, 0, 1])];
        addresses.push(listen);
        addresses.dedup();
        server.subject_alt_names.extend(addresses.into_iter().map(SanType::IpAddress));
        server.distinguished_name.push(DnType::CommonName, "perfq serve");
        server.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        server.use_authority_key_identifier_extension = true;
        let certificate = server.signed_by(&key, &Issuer::from_params(&ca, &ca_key)).map_err(failed)?;

        let chain = vec![certificate.der().clone()];
        let private = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(failed)?
            .with_no_client_auth()
            .with_single_cert(chain, private)
            .map_err(failed)?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Self { ca_pem: ca_certificate.pem(), config: Arc::new(config) })
    }
}

/// 256 random bits as hex: the bearer token of one run.
pub(crate) fn token() -> io::Result<String> {
    let bytes = random()?;
    Ok(bytes.iter().fold(String::with_capacity(64), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    }))
}

/// 32 bytes of the system's random numbers.
pub(crate) fn random() -> io::Result<[u8; 32]> {
    let mut bytes = [0u8; 32];
    let provider = rustls::crypto::ring::default_provider();
    provider.secure_random.fill(&mut bytes).map_err(|_| io::Error::other("the system gave no random numbers"))?;
    Ok(bytes)
}
