//! How much of a sandbox this system enforces, found by trying.

use std::fmt;

use offshoot_protocol::SandboxNetwork;

use super::policy::SandboxLayers;

/// What the helper could set up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Confinement {
    /// Why there are no namespaces of one's own.
    pub namespaces: Result<(), String>,
    /// The version of Landlock, or why there is none.
    pub landlock: Result<u32, String>,
    /// Why system calls cannot be refused.
    pub calls: Result<(), String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say what they are")]
pub enum SandboxState {
    On(Confinement),
    /// Why nothing can be enforced.
    Impossible(String),
}

/// What is not enforced, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gaps {
    open: Vec<&'static str>,
    why: Option<String>,
}

impl Confinement {
    pub(super) fn layers(&self) -> SandboxLayers {
        SandboxLayers {
            namespaces: self.namespaces.is_ok(),
            landlock: self.landlock.is_ok(),
            calls: self.calls.is_ok(),
        }
    }
}

impl SandboxState {
    /// What commands can do although the sandbox should stop it.
    pub fn gaps(&self, network: SandboxNetwork) -> Gaps {
        let confinement = match self {
            Self::On(confinement) => confinement,
            Self::Impossible(why) => return Gaps { open: Vec::new(), why: Some(why.clone()) },
        };
        let version = *confinement.landlock.as_ref().unwrap_or(&0);
        let lacks_namespaces = confinement.namespaces.is_err();
        let has_no_network = network == SandboxNetwork::Off;
        let rows = [
            (lacks_namespaces, "writes to .git/hooks, .git/config and agents' settings in the working folder"),
            (lacks_namespaces, "new modes and times of other files"),
            (lacks_namespaces && version < 3, "truncating other files"),
            (lacks_namespaces, "reading files of keys"),
            (lacks_namespaces, "other programs' sockets"),
            (lacks_namespaces, "other programs' System V memory"),
            (lacks_namespaces && has_no_network && version < 4, "network"),
            (lacks_namespaces && has_no_network && version >= 4, "network other than TCP"),
            (!lacks_namespaces && !has_no_network && version < 6, "other programs' abstract sockets"),
            (version < 6, "signals to other processes"),
            (lacks_namespaces && version < 5, "control of devices"),
            (version < 1, "writes into other programs' pipes"),
            (
                confinement.calls.is_err(),
                "limits and priorities of other processes, the session's keys, virtual machines' sockets",
            ),
        ];
        let open = rows.into_iter().filter(|(is_open, _)| *is_open).map(|(_, what)| what).collect();
        let why = confinement.namespaces.as_ref().err().or(confinement.landlock.as_ref().err());
        let why = why.or(confinement.calls.as_ref().err()).cloned();
        Gaps { open, why }
    }
}

impl Gaps {
    /// Whether all is enforced.
    pub fn is_empty(&self) -> bool {
        self.open.is_empty() && self.why.is_none()
    }
}

impl fmt::Display for Gaps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let open = self.open.join(", ");
        match &self.why {
            Some(why) if open.is_empty() => f.write_str(why),
            Some(why) => write!(f, "{open} ({why})"),
            None => f.write_str(&open),
        }
    }
}
