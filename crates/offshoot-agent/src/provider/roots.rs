//! Root certificates that count beside the system's, such as those of a company's own authority. Reads no file.

use reqwest::{Certificate, ClientBuilder};
use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;

/// Certificates of authorities.
#[derive(Debug, Clone, Default)]
pub struct ExtraRoots(Vec<Certificate>);

impl ExtraRoots {
    /// The certificates of a PEM file that can be used, and why others cannot.
    pub fn from_pem(pem: &[u8]) -> (Self, Option<String>) {
        let (mut roots, mut bad) = (Vec::new(), Vec::new());
        for found in CertificateDer::pem_slice_iter(pem) {
            match found.map_err(|error| error.to_string()).and_then(root) {
                Ok(root) => roots.push(root),
                Err(why) => bad.push(why),
            }
        }
        let trouble = match bad.as_slice() {
            [] if roots.is_empty() => Some("it has no certificate in PEM form".to_owned()),
            [] => None,
            [first, ..] => Some(format!("{} of its certificates cannot be used, the first: {first}", bad.len())),
        };
        (Self(roots), trouble)
    }

    pub(super) fn add_to(&self, builder: ClientBuilder) -> ClientBuilder {
        if self.0.is_empty() { builder } else { builder.tls_certs_merge(self.0.iter().cloned()) }
    }
}

/// One bad root would make a client impossible.
fn root(der: CertificateDer<'static>) -> Result<Certificate, String> {
    let root = Certificate::from_der(&der).map_err(|error| error.to_string())?;
    RootCertStore::empty().add(der).map(|()| root).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOT: &str = include_str!("../../../../conformance/reports/authority/ca.pem");

    #[test]
    fn what_is_no_certificate_is_reported_and_the_others_count() {
        let junk = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
        for (pem, count, trouble) in [
            (ROOT.to_owned(), 1, None),
            (format!("a comment\n{ROOT}{ROOT}"), 2, None),
            (String::new(), 0, Some("it has no certificate")),
            ("nothing like it".to_owned(), 0, Some("it has no certificate")),
            (format!("{junk}{ROOT}"), 1, Some("1 of its certificates cannot be used, the first: ")),
        ] {
            let (roots, told) = ExtraRoots::from_pem(pem.as_bytes());
            assert_eq!(roots.0.len(), count, "{pem}");
            assert_eq!(told.is_some(), trouble.is_some(), "{told:?}");
            assert!(told.unwrap_or_default().starts_with(trouble.unwrap_or_default()));
        }
    }
}
