//! A CA and certificates of its own, kept in a folder so that a restarted server is the same one.

use rcgen::{BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair, SanType};
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::fs;
use std::io;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Which certificate is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Certificate {
    Valid,
    Expired,
    OtherName,
}

impl Certificate {
    const ALL: [Self; 3] = [Self::Valid, Self::Expired, Self::OtherName];

    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Valid => "valid",
            Self::Expired => "expired",
            Self::OtherName => "other-name",
        }
    }

    fn parameters(self) -> Result<CertificateParams, rcgen::Error> {
        let name = if self == Self::OtherName { "elsewhere.example" } else { "localhost" };
        let mut parameters = CertificateParams::new(vec![name.to_owned()])?;
        if self != Self::OtherName {
            let addresses = [IpAddr::from([127, 0, 0, 1]), IpAddr::from([0, 0, 0, 0, 0, 0, 0, 1])];
            parameters.subject_alt_names.extend(addresses.into_iter().map(SanType::IpAddress));
        }
        if self == Self::Expired {
            parameters.not_before = rcgen::date_time_ymd(2019, 1, 1);
            parameters.not_after = rcgen::date_time_ymd(2020, 1, 1);
        }
        parameters.distinguished_name.push(DnType::CommonName, "contrary server");
        parameters.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        parameters.use_authority_key_identifier_extension = true;
        Ok(parameters)
    }
}

/// The CA's certificate, and what the listener needs.
pub(crate) struct Identity {
    pub(crate) ca_file: PathBuf,
    pub(crate) config: Arc<ServerConfig>,
}

fn failed(error: impl std::fmt::Display) -> io::Error {
    io::Error::other(format!("TLS identity: {error}"))
}

impl Identity {
    /// Reads the folder, and fills it before where it is empty.
    pub(crate) fn open(folder: &Path, certificate: Certificate) -> io::Result<Self> {
        let ca_file = folder.join("ca.pem");
        if !ca_file.exists() {
            make(folder, &ca_file)?;
        }
        let file = |ending: &str| folder.join(format!("{}.{ending}", certificate.name()));
        let chain = vec![CertificateDer::from_pem_file(file("pem")).map_err(failed)?];
        let key = PrivateKeyDer::from_pem_file(file("key")).map_err(failed)?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(failed)?
            .with_no_client_auth()
            .with_single_cert(chain, key)
            .map_err(failed)?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Self { ca_file, config: Arc::new(config) })
    }
}

fn make(folder: &Path, ca_file: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let ca_key = KeyPair::generate().map_err(failed)?;
    let mut ca = CertificateParams::new(Vec::<String>::new()).map_err(failed)?;
    ca.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    // A name of its own, so that no client takes one CA for another.
    ca.distinguished_name.push(DnType::CommonName, format!("contrary CA of {}", folder.display()));
    let ca_certificate = ca.self_signed(&ca_key).map_err(failed)?;
    let issuer = Issuer::from_params(&ca, &ca_key);
    for kind in Certificate::ALL {
        let key = KeyPair::generate().map_err(failed)?;
        let certificate = kind.parameters().and_then(|wanted| wanted.signed_by(&key, &issuer)).map_err(failed)?;
        fs::write(folder.join(format!("{}.pem", kind.name())), certificate.pem())?;
        fs::write(folder.join(format!("{}.key", kind.name())), key.serialize_pem())?;
    }
    fs::write(ca_file, ca_certificate.pem())
}
