//! Authorities, and what they sign, in PEM files of a folder.
//!
//! Must not know: servers.

use std::path::{Path, PathBuf};

use rcgen::{CertificateParams, DnType, IsCa, Issuer, KeyPair};

/// Who signs certificates.
pub(crate) struct Authority {
    issuer: Issuer<'static, KeyPair>,
    /// Its own certificate.
    pub(crate) file: PathBuf,
}

impl Authority {
    pub(crate) fn new(folder: &Path, name: &str) -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let file = folder.join(format!("{name}.pem"));
        std::fs::write(&file, params.self_signed(&key).unwrap().pem()).unwrap();
        Self { issuer: Issuer::new(params, key), file }
    }

    /// Signs a certificate for these host names and addresses into files of this name; its days
    /// are over where `is_old`. Returns certificate and key.
    pub(crate) fn sign(&self, (certificate, key): (&Path, &Path), names: &[&str], is_old: bool) {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let mut params = CertificateParams::new(names).unwrap();
        params.distinguished_name.push(DnType::CommonName, "nobody in particular");
        if is_old {
            params.not_after = rcgen::date_time_ymd(2020, 1, 1);
        }
        let pair = KeyPair::generate().unwrap();
        let signed = params.signed_by(&pair, &self.issuer).unwrap();
        std::fs::write(certificate, signed.pem()).unwrap();
        std::fs::write(key, pair.serialize_pem()).unwrap();
    }
}
