//! The target: its address, its certificate, and what every request carries.

use super::options::{EndpointOptions, Protocol};
use hyper::http::uri::{Authority, Scheme, Uri};
use hyper::http::{HeaderMap, HeaderName, HeaderValue, header};
use parking_lot::Mutex;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use std::io;
use std::sync::Arc;

/// What is fixed for a run, but for the token.
pub(super) struct Endpoint {
    pub(super) scheme: Scheme,
    pub(super) authority: Authority,
    pub(super) host: String,
    pub(super) port: u16,
    /// The path of the URL without its last slash: before every path, once.
    pub(super) base: String,
    /// Of every request.
    pub(super) headers: HeaderMap,
    tls: Option<Tls>,
    token: Mutex<Option<HeaderValue>>,
}

struct Tls {
    name: ServerName<'static>,
    http1: Arc<ClientConfig>,
    http2: Arc<ClientConfig>,
}

fn refused(text: impl std::fmt::Display) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, format!("endpoint: {text}"))
}

fn bearer(token: &str) -> io::Result<HeaderValue> {
    let mut value = HeaderValue::try_from(format!("Bearer {}", token.trim()))
        .map_err(|_| refused("the token has characters that no header may have"))?;
    value.set_sensitive(true);
    Ok(value)
}

impl Endpoint {
    pub(super) fn new(options: &EndpointOptions) -> io::Result<Self> {
        let url = &options.url;
        let uri: Uri = url.parse().map_err(|error| refused(format!("{url} is no URL: {error}")))?;
        let (Some(scheme), Some(authority)) = (uri.scheme().cloned(), uri.authority().cloned()) else {
            return Err(refused(format!("{url} needs a scheme and a host, as in https://HOST:6443")));
        };
        let secure = scheme == Scheme::HTTPS;
        if !secure && scheme != Scheme::HTTP {
            return Err(refused(format!("{url} must begin with http:// or https://")));
        }
        let host = authority.host().trim_start_matches('[').trim_end_matches(']').to_owned();
        let mut headers = HeaderMap::new();
        for (name, value) in &options.headers {
            let name = HeaderName::try_from(name).map_err(|_| refused(format!("{name:?} is no header's name")))?;
            let value = HeaderValue::try_from(value)
                .map_err(|_| refused(format!("the value of {name} has characters that no header may have")))?;
            headers.append(name, value);
        }
        let tls = if secure {
            let name = options.server_name.clone().unwrap_or_else(|| host.clone());
            let name =
                ServerName::try_from(name.clone()).map_err(|_| refused(format!("{name:?} is no server's name")))?;
            let http1 = Arc::new(tls_config(options, b"http/1.1")?);
            Some(Tls { name, http1, http2: Arc::new(tls_config(options, b"h2")?) })
        } else {
            None
        };
        Ok(Self {
            port: authority.port_u16().unwrap_or(if secure { 443 } else { 80 }),
            base: uri.path().trim_end_matches('/').to_owned(),
            scheme,
            authority,
            host,
            headers,
            tls,
            token: Mutex::new(options.token.as_deref().map(bearer).transpose()?),
        })
    }

    /// How a connection is secured; `None` for plain text.
    pub(super) fn tls(&self, protocol: Protocol) -> Option<(Arc<ClientConfig>, ServerName<'static>)> {
        let tls = self.tls.as_ref()?;
        let config = match protocol {
            Protocol::Http1 => &tls.http1,
            Protocol::Http2 => &tls.http2,
        };
        Some((Arc::clone(config), tls.name.clone()))
    }

    /// The Authorization header of now.
    pub(super) fn token(&self) -> Option<HeaderValue> {
        self.token.lock().clone()
    }

    /// Another token, from now on.
    pub(super) fn set_token(&self, token: &str) -> io::Result<()> {
        *self.token.lock() = Some(bearer(token)?);
        Ok(())
    }

    /// The Host header of HTTP/1.1.
    pub(super) fn host_header(&self) -> io::Result<(HeaderName, HeaderValue)> {
        let value = HeaderValue::try_from(self.authority.as_str()).map_err(|_| refused("the host is no host"))?;
        Ok((header::HOST, value))
    }
}

fn tls_config(options: &EndpointOptions, alpn: &[u8]) -> io::Result<ClientConfig> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(refused)?;
    let builder = if options.insecure {
        builder.dangerous().with_custom_certificate_verifier(Arc::new(AnyCertificate(provider)))
    } else {
        let pem = options.ca_pem.as_deref().ok_or_else(|| refused("https needs ca_pem, or insecure"))?;
        let mut roots = RootCertStore::empty();
        for certificate in CertificateDer::pem_slice_iter(pem.as_bytes()) {
            let certificate = certificate.map_err(|error| refused(format!("ca_pem: {error}")))?;
            // A bundle may hold certificates that no verifier takes; the others are enough.
            let _ = roots.add(certificate);
        }
        if roots.is_empty() {
            return Err(refused("ca_pem holds no certificate"));
        }
        builder.with_root_certificates(roots)
    };
    let mut config = match (&options.client_cert_pem, &options.client_key_pem) {
        (Some(chain), Some(key)) => {
            let chain = CertificateDer::pem_slice_iter(chain.as_bytes())
                .collect::<Result<Vec<_>, _>>()
                .map_err(|error| refused(format!("client_cert_pem: {error}")))?;
            let key = PrivateKeyDer::from_pem_slice(key.as_bytes())
                .map_err(|error| refused(format!("client_key_pem: {error}")))?;
            builder
                .with_client_auth_cert(chain, key)
                .map_err(|error| refused(format!("client certificate: {error}")))?
        }
        (None, None) => builder.with_no_client_auth(),
        _ => return Err(refused("client_cert_pem and client_key_pem go together")),
    };
    config.alpn_protocols = vec![alpn.to_vec()];
    // Each connection is a client of its own: none takes up the session of another.
    config.resumption = rustls::client::Resumption::disabled();
    Ok(config)
}

/// Takes any certificate, as `insecure-skip-tls-verify` asks; signatures of the handshake are still checked.
#[derive(Debug)]
struct AnyCertificate(Arc<rustls::crypto::CryptoProvider>);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        rustls::crypto::verify_tls12_signature(message, cert, dss, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        rustls::crypto::verify_tls13_signature(message, cert, dss, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
