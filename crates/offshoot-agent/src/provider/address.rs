//! Parts of addresses, and texts within them. Knows no client.

/// The scheme and the host, in lower case or not, of an address with `://`; the brackets of an IPv6 address are left out.
pub(crate) fn url_host(url: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = url.split_once("://")?;
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let host = rest.get(..end).unwrap_or_default();
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    let name = match host.strip_prefix('[') {
        Some(six) => six.split(']').next(),
        None => host.split(':').next(),
    };
    Some((scheme, name.unwrap_or_default()))
}

/// A text as one part of a path or of a form.
pub(crate) fn percent_encoded(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~');
    let encoded = |byte: u8| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    text.bytes().map(encoded).collect()
}
