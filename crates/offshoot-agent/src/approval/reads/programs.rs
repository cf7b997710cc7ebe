//! Which program a name is. Programs that the model may write are not found. Reads the folders of the search path.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use offshoot_session::medium::real_path_or_same;

/// The program of this name, by its whole path. None if the search path contains a folder that depends on where one is, or if the program is in one of
/// the folders of the project.
pub(super) fn find(name: &str, search_path: &[PathBuf], project: &[&Path]) -> Option<PathBuf> {
    if name.is_empty() || name.contains('/') {
        return None;
    }
    for folder in search_path {
        if !folder.is_absolute() {
            return None;
        }
        let program = folder.join(name);
        let about = std::fs::metadata(&program);
        if about.is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0) {
            return (!is_in_project(&program, project)).then_some(program);
        }
    }
    None
}

fn is_in_project(program: &Path, project: &[&Path]) -> bool {
    let real = real_path_or_same(program);
    let folder = program.parent().map(real_path_or_same).unwrap_or_default();
    project.iter().any(|place| {
        let place = real_path_or_same(place);
        program.starts_with(&place) || real.starts_with(&place) || folder.starts_with(&place)
    })
}
