//! The file of sent prompts, one a line, in the state folder: for its owner alone, bounded, and without keys that offshoot knows.
//! Several processes append to it. A line that cannot be read is kept, and counted for whoever reads.

use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use offshoot_agent::KeySource;
use offshoot_protocol::Secrets;
use offshoot_session::medium::{SharedFile, append_or_create_regular, make_private_folder, open_regular};
use offshoot_tui::editor::PastPrompt;

/// The most prompts that are kept.
const MOST: usize = 10_000;
/// As many are kept when there are more: not every prompt rewrites the file.
const FEWER: usize = 9_500;
/// The most bytes that are kept and read.
const MOST_BYTES: u64 = 8 << 20;
/// A longer prompt is not kept.
const LONGEST: usize = 64 << 10;

/// The file of sent prompts.
#[derive(Clone)]
pub(super) struct PromptFile {
    path: PathBuf,
    /// What knows the keys.
    keys: Option<Arc<dyn KeySource>>,
}

impl PromptFile {
    pub(super) fn new(folder: &Path, keys: Option<Arc<dyn KeySource>>) -> Self {
        Self { path: folder.join("prompts"), keys }
    }

    /// The newest lines, of at most so many bytes.
    pub(super) fn newest(&self, bytes: u64) -> io::Result<String> {
        let mut file = match open_regular(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(String::new()),
            opened => opened?,
        };
        let length = file.metadata()?.len();
        let mut read = Vec::new();
        // One byte more shows whether a line begins here.
        file.seek(SeekFrom::Start(length.saturating_sub(bytes.saturating_add(1))))?;
        file.take(bytes.saturating_add(1)).read_to_end(&mut read)?;
        let text = String::from_utf8_lossy(&read).into_owned();
        match text.split_once('\n') {
            Some((_, whole)) if length > bytes => Ok(whole.to_owned()),
            _ => Ok(text),
        }
    }

    /// The prompts, the oldest first, and how many lines are damaged.
    pub(super) fn prompts(&self) -> io::Result<(Vec<PastPrompt>, usize)> {
        let text = self.newest(MOST_BYTES)?;
        let (mut prompts, mut damaged) = (Vec::new(), 0);
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            match PastPrompt::of_line(line) {
                Some(prompt) => prompts.push(prompt),
                None => damaged += 1,
            }
        }
        Ok((prompts, damaged))
    }

    /// Adds a prompt. The oldest go when there are too many.
    pub(super) fn add(&self, prompt: PastPrompt) -> io::Result<()> {
        let line = PastPrompt { text: self.masked(prompt.text), ..prompt }.line();
        if line.len() > LONGEST {
            return Ok(());
        }
        make_private_folder(self.path.parent().unwrap_or(Path::new(".")))?;
        let shared = SharedFile::private(self.path.clone(), MOST_BYTES);
        let locked = shared.lock()?;
        let mut file = append_or_create_regular(&self.path)?;
        // A line that was cut off is damaged; the one after it is not.
        let end = if self.newest(1)?.is_empty() { "" } else { "\n" };
        file.write_all(format!("{end}{line}").as_bytes())?;
        let text = self.newest(MOST_BYTES)?;
        let is_long = file.metadata()?.len() > MOST_BYTES;
        if is_long || text.lines().count() > MOST {
            // What is rewritten because of its bytes leaves room for some prompts more.
            let mut room = MOST_BYTES as usize / 8 * 7;
            let newest = text.lines().rev().take(FEWER);
            let mut kept: Vec<&str> = newest.take_while(|line| take_room(&mut room, line.len() + 1)).collect();
            kept.reverse();
            locked.replace(&(kept.join("\n") + "\n"))?;
        }
        Ok(())
    }

    fn masked(&self, text: String) -> String {
        let Some(keys) = &self.keys else { return text };
        Secrets::new(keys.known()).masked(&text).unwrap_or(text)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

fn take_room(room: &mut usize, bytes: usize) -> bool {
    let left = room.checked_sub(bytes);
    *room = left.unwrap_or(0);
    left.is_some()
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests prepare their own files")]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn prompt(text: &str) -> PastPrompt {
        PastPrompt { text: text.to_owned(), folder: Some("/w".to_owned()) }
    }

    fn texts(file: &PromptFile) -> Vec<String> {
        file.prompts().unwrap().0.into_iter().map(|prompt| prompt.text).collect()
    }

    #[test]
    fn prompts_of_several_processes_are_kept_for_their_owner_alone() {
        let folder = tempfile::tempdir().unwrap();
        let file = PromptFile::new(folder.path(), None);
        assert!(texts(&file).is_empty());
        std::thread::scope(|scope| {
            for writer in 0..4 {
                let file = &file;
                scope.spawn(move || (0..25).for_each(|at| file.add(prompt(&format!("{writer}-{at}"))).unwrap()));
            }
        });
        assert_eq!(texts(&file).len(), 100);
        assert_eq!(std::fs::metadata(file.path()).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn the_oldest_go_and_a_damaged_line_stays() {
        let folder = tempfile::tempdir().unwrap();
        let file = PromptFile::new(folder.path(), None);
        let mut lines: Vec<String> = (0..MOST - 1).map(|at| format!("\"{at}\"")).collect();
        lines[MOST - 10] = "{torn".to_owned();
        std::fs::write(file.path(), lines.join("\n") + "\n").unwrap();
        file.add(prompt("the last one that fits")).unwrap();
        assert_eq!(file.prompts().unwrap().0.len(), MOST - 1);
        file.add(prompt("one more")).unwrap();
        let (kept, damaged) = file.prompts().unwrap();
        assert_eq!((kept.len(), damaged), (FEWER - 1, 1));
        assert_eq!(kept.last().unwrap().text, "one more");
        assert!(std::fs::read_to_string(file.path()).unwrap().contains("\n{torn\n"));
    }

    #[test]
    fn a_line_that_was_cut_off_costs_itself_alone() {
        let folder = tempfile::tempdir().unwrap();
        let file = PromptFile::new(folder.path(), None);
        std::fs::write(file.path(), "\"one\"\n{\"prompt\":\"tw").unwrap();
        ["three", "four"].into_iter().for_each(|text| file.add(prompt(text)).unwrap());
        assert_eq!(
            (texts(&file), file.prompts().unwrap().1),
            (["one", "three", "four"].map(str::to_owned).to_vec(), 1)
        );
    }

    #[test]
    fn a_large_file_is_read_from_a_whole_line_on_and_made_smaller() {
        let folder = tempfile::tempdir().unwrap();
        let file = PromptFile::new(folder.path(), None);
        let long = format!("\"{}\"\n", "x".repeat(60_000));
        std::fs::write(file.path(), long.repeat(200)).unwrap();
        assert_eq!(file.prompts().unwrap().1, 0, "the first line is cut and not read");
        file.add(prompt("short")).unwrap();
        assert!(std::fs::metadata(file.path()).unwrap().len() < MOST_BYTES);
        assert_eq!(file.prompts().unwrap().1, 0);
        file.add(prompt(&"y".repeat(LONGEST))).unwrap();
        assert_eq!(texts(&file).last().unwrap(), "short", "a prompt that is too long is not kept");
    }
}
