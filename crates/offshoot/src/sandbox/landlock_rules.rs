//! Landlock: files are read everywhere and written in few places; signals and abstract sockets stay inside.

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, LandlockStatus, PathBeneath, PathFd, Ruleset, RulesetAttr as _,
    RulesetCreated, RulesetCreatedAttr as _, RulesetError, RulesetStatus, Scope, make_bitflags,
};
use offshoot_agent::sandbox::Helper;
use offshoot_protocol::SandboxNetwork;

use super::DEVICES;

/// The newest version whose rights are used.
const VERSION: ABI = ABI::V6;
/// Of the namespace's own.
const PRIVATE: [&str; 3] = ["/dev/pts", "/dev/ptmx", "/dev/shm"];

/// Returns the version that the kernel enforces.
pub(super) fn apply(helper: &Helper) -> Result<u32, String> {
    let status = rules(helper).and_then(RulesetCreated::restrict_self);
    let status = status.map_err(|error| format!("Landlock: {error}"))?;
    match status.landlock {
        LandlockStatus::Available { effective_abi, .. } if status.ruleset != RulesetStatus::NotEnforced => {
            Ok(effective_abi as u32)
        }
        LandlockStatus::NotEnabled => Err("Landlock is not enabled in this kernel".to_owned()),
        _ => Err("this kernel has no Landlock".to_owned()),
    }
}

fn rules(helper: &Helper) -> Result<RulesetCreated, RulesetError> {
    let policy = &helper.policy;
    let mut ruleset = Ruleset::default().handle_access(AccessFs::from_all(VERSION))?.scope(Scope::from_all(VERSION))?;
    // A network namespace stops more, and has a loopback interface for tests.
    if policy.network == SandboxNetwork::Off && !helper.layers.namespaces {
        ruleset = ruleset.handle_access(AccessNet::from_all(VERSION))?;
    }
    let read = make_bitflags!(AccessFs::{Execute | ReadFile | ReadDir});
    let mut rules = allow(ruleset.create()?, "/", read)?;
    for path in &policy.writable {
        rules = allow(rules, path, AccessFs::from_all(VERSION))?;
    }
    let private = PRIVATE.iter().filter(|_| helper.layers.namespaces);
    for device in DEVICES.iter().chain(private) {
        rules = allow(rules, device, AccessFs::from_all(VERSION))?;
    }
    Ok(rules)
}

/// A path that does not exist needs no rule.
fn allow(
    rules: RulesetCreated,
    path: impl AsRef<std::path::Path>,
    access: BitFlags<AccessFs>,
) -> Result<RulesetCreated, RulesetError> {
    let path = path.as_ref();
    let Ok(place) = PathFd::new(path) else { return Ok(rules) };
    let access = if path.is_dir() { access } else { access & AccessFs::from_file(VERSION) };
    rules.add_rule(PathBeneath::new(place, access))
}
