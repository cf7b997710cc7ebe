//! Asks an npm registry for a package, for machines without npm: versions and tags, no ranges, no keys.

use std::time::Duration;

use reqwest::Client;
use serde_json::Value;

use crate::archive::{MOST_PACKED, Packed};
use crate::error::{PackageError, Result};
use crate::source::is_exact;

const USUAL: &str = "https://registry.npmjs.org";
const MOST_SAID: u64 = 32 << 20;
const LONGEST: Duration = Duration::from_secs(300);

/// The package's archive and its version.
pub(crate) fn fetch(package: &str, name: &str, wanted: Option<&str>, registry: Option<&str>) -> Result<Packed> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| PackageError::fetch(package, error.to_string()))?;
    runtime.block_on(async {
        let asked = ask(package, name, wanted, registry.unwrap_or(USUAL));
        tokio::time::timeout(LONGEST, asked)
            .await
            .unwrap_or_else(|_| Err(PackageError::fetch(package, "the registry took too long")))
    })
}

async fn ask(package: &str, name: &str, wanted: Option<&str>, registry: &str) -> Result<Packed> {
    let failed = |why: String| PackageError::fetch(package, why);
    // If another part of the program has installed a provider, it stays.
    let _already = rustls::crypto::ring::default_provider().install_default();
    let client = Client::builder().user_agent(concat!("offshoot/", env!("CARGO_PKG_VERSION"))).build();
    let client = client.map_err(|error| failed(error.to_string()))?;
    let address = format!("{}/{}", registry.trim_end_matches('/'), name.replace('/', "%2f"));
    let about = bytes(&client, package, &address, MOST_SAID).await?;
    let about: Value = serde_json::from_slice(&about).map_err(|error| failed(format!("{address}: {error}")))?;
    let wanted = wanted.unwrap_or("latest");
    let tagged = about.pointer("/dist-tags").and_then(|tags| tags.get(wanted)).and_then(Value::as_str);
    let version = match tagged {
        Some(version) => version,
        None if is_exact(wanted) => wanted,
        None => return Err(failed(format!("{wanted:?} is neither a version nor a tag: a range needs npm"))),
    };
    let dist = about.get("versions").and_then(|versions| versions.get(version)).and_then(|one| one.get("dist"));
    let dist = dist.ok_or_else(|| failed(format!("there is no version {version}")))?;
    let text = |name: &str| dist.get(name).and_then(Value::as_str);
    let tarball = text("tarball").filter(|tarball| tarball.starts_with("https://") || tarball.starts_with("http://"));
    let tarball = tarball.ok_or_else(|| failed("the registry names no archive".to_owned()))?;
    let integrity = text("integrity").ok_or_else(|| failed("the registry has no integrity for it".to_owned()))?;
    let archive = bytes(&client, package, tarball, MOST_PACKED).await?;
    Ok(Packed { version: version.to_owned(), integrity: integrity.to_owned(), archive })
}

async fn bytes(client: &Client, package: &str, address: &str, most: u64) -> Result<Vec<u8>> {
    let failed = |why: String| PackageError::fetch(package, format!("{address}: {why}"));
    let mut response = client.get(address).send().await.map_err(|error| failed(error.without_url().to_string()))?;
    if !response.status().is_success() {
        return Err(failed(response.status().to_string()));
    }
    let mut read = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| failed(error.without_url().to_string()))? {
        read.extend_from_slice(&chunk);
        if read.len() as u64 > most {
            return Err(failed(format!("it is larger than {} MiB", most >> 20)));
        }
    }
    Ok(read)
}
