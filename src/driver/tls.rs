//! Encrypted connections: which servers are believed, and as whom we come.
//!
//! Must not know: packets, sockets. One reading of each mode for both clients.

use std::fs::File;
use std::io::{self, Read};
use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme,
};

use crate::model::{Address, Endpoint, Tls, TlsMode};

/// Certificates of a few authorities, or a chain and its key: what is larger is another file.
const MAX_BYTES: u64 = 4 << 20;

/// What every connection of an endpoint is encrypted with; its files are read once.
///
/// # Errors
/// In words: a file that cannot be read, has no certificate or key in it, or an identity whose key
/// is another one's.
pub(super) fn client_config(tls: &Tls) -> Result<Arc<ClientConfig>, String> {
    let provider = Arc::new(ring::default_provider());
    let chain = match tls.mode {
        TlsMode::VerifyCa | TlsMode::VerifyIdentity => {
            let roots = Arc::new(authorities(tls.ca.as_deref())?);
            let verifier = WebPkiServerVerifier::builder_with_provider(roots, provider.clone());
            Some(verifier.build().map_err(|error| error.to_string())?)
        }
        TlsMode::Off | TlsMode::Preferred | TlsMode::Required => None,
    };
    let verifier = Verifier { chain, mode: tls.mode, provider: provider.clone() };
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier));
    let config = match &tls.identity {
        None => builder.with_no_client_auth(),
        Some((chain, key)) => {
            let certificates = certificates(chain)?;
            let key_read = PrivateKeyDer::from_pem_slice(&read(key)?);
            let key_read = key_read.map_err(|_| {
                format!(
                    "{} holds no private key in PEM that is not under a password",
                    key.display()
                )
            })?;
            builder.with_client_auth_cert(certificates, key_read).map_err(|error| {
                format!("{} and {} do not fit: {error}", chain.display(), key.display())
            })?
        }
    };
    Ok(Arc::new(config))
}

/// The name that a certificate is held against: the host as it was given, an address too.
///
/// # Errors
/// In words, where no certificate could name such a host and the mode asks for it.
pub(super) fn server_name(endpoint: &Endpoint) -> Result<ServerName<'static>, String> {
    let Address::Tcp { host, .. } = &endpoint.address else { return Ok(nobody()) };
    match ServerName::try_from(host.as_str()) {
        Ok(name) => Ok(name.to_owned()),
        Err(_) if endpoint.tls.mode != TlsMode::VerifyIdentity => Ok(nobody()),
        Err(_) => Err(format!("`{host}` is no name that a certificate could be held against")),
    }
}

fn nobody() -> ServerName<'static> {
    ServerName::IpAddress(IpAddr::from(Ipv4Addr::UNSPECIFIED).into())
}

/// An error of a handshake with what mends it.
pub(super) fn explain(error: &io::Error, endpoint: &Endpoint) -> String {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
    let remedy = match inner {
        Some(rustls::Error::InvalidCertificate(why)) => match why {
            CertificateError::UnknownIssuer if endpoint.tls.ca.is_none() => {
                "; name the authority that signed it: tls_ca = \"PEM FILE\""
            }
            CertificateError::UnknownIssuer => "; `tls_ca` is not who signed it",
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                "; name the host as the certificate does, or ask less with tls = \"verify-ca\""
            }
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
                "; it needs a new certificate, or a clock that is right"
            }
            _ => "; tls = \"required\" encrypts without looking at the certificate",
        },
        Some(rustls::Error::AlertReceived(_)) if endpoint.tls.identity.is_none() => {
            "; it may want a certificate of ours: tls_cert and tls_key"
        }
        Some(rustls::Error::AlertReceived(_)) => "; it may not take our certificate",
        _ => "",
    };
    format!("the TLS handshake failed: {error}{remedy}")
}

fn authorities(file: Option<&Path>) -> Result<RootCertStore, String> {
    let mut roots = RootCertStore::empty();
    match file {
        Some(file) => {
            for certificate in certificates(file)? {
                let added = roots.add(certificate);
                added.map_err(|error| format!("{}: {error}", file.display()))?;
            }
        }
        None => {
            let system = rustls_native_certs::load_native_certs();
            roots.add_parsable_certificates(system.certs);
            if roots.is_empty() {
                let words = "this system names no authorities that sign certificates; name one: \
                             tls_ca = \"PEM FILE\"";
                return Err(words.to_owned());
            }
        }
    }
    Ok(roots)
}

/// All certificates of a PEM file, at least one.
fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let bytes = read(file)?;
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&bytes).collect();
    match found {
        Ok(found) if !found.is_empty() => Ok(found),
        Ok(_) => Err(format!("{} holds no certificate in PEM", file.display())),
        Err(error) => Err(format!("{}: {error}", file.display())),
    }
}

fn read(file: &Path) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let opened = File::open(file).map(|opened| opened.take(MAX_BYTES + 1));
    opened
        .and_then(|mut opened| opened.read_to_end(&mut bytes))
        .map_err(|error| format!("{}: {error}", file.display()))?;
    match bytes.len() as u64 > MAX_BYTES {
        true => Err(format!("{} is larger than {MAX_BYTES} bytes", file.display())),
        false => Ok(bytes),
    }
}

/// Looks at a server's certificate as far as the mode asks.
#[derive(Debug)]
struct Verifier {
    /// Absent where no certificate is looked at.
    chain: Option<Arc<WebPkiServerVerifier>>,
    mode: TlsMode,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let Some(chain) = &self.chain else { return Ok(ServerCertVerified::assertion()) };
        let verified =
            chain.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now);
        match verified {
            // The name is looked at last, so everything else was right.
            Err(rustls::Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if self.mode == TlsMode::VerifyCa => Ok(ServerCertVerified::assertion()),
            verified => verified,
        }
    }

    /// What an unknown server signs proves nothing, and old certificates cannot be read.
    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        match &self.chain {
            Some(chain) => chain.verify_tls12_signature(message, certificate, signed),
            None => Ok(HandshakeSignatureValid::assertion()),
        }
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        match &self.chain {
            Some(chain) => chain.verify_tls13_signature(message, certificate, signed),
            None => Ok(HandshakeSignatureValid::assertion()),
        }
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
