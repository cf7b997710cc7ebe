//! One command of a line against its row of the table: whether it only reads, what it reads, and its words as it runs. Looks at the file system;
//! runs nothing.

use std::path::{Path, PathBuf};

use super::super::ApprovalCall;
use super::super::known::{self, KnownWords, Table, WordPart, lists};
use super::ReadCommands;
use super::table::{self, GitRow, ReadOperands, ReadRow, Walk};
use super::{files, programs, repository};

/// What was found of the commands of a line.
pub(super) struct JudgedLine<'a> {
    reads: &'a ReadCommands,
    call: &'a ApprovalCall<'a>,
    pub(super) paths: Vec<PathBuf>,
    pub(super) is_outside: bool,
    /// Whether contents of files are read that the line does not name.
    pub(super) reads_unnamed_files: bool,
    pub(super) git: Option<PathBuf>,
    pub(super) git_folders: Vec<PathBuf>,
}

/// Names in programs for awk by which it reads other files, or the environment.
const NAMES_OF_AWK: &[&str] =
    &["ENVIRON", "ARGV", "ARGC", "SYMTAB", "PROCINFO", "FUNCTAB", "system", "getline", "fflush", "close"];

/// The same for jq.
const NAMES_OF_JQ: &[&str] = &["env", "ENV", "import", "include", "modulemeta", "get_search_list", "input_filename"];

/// Parts of formats for which git runs gpg, or git.
const FORMATS_THAT_RUN: &[&str] = &["%G", "%+G", "%-G", "% G", "(signature", "(describe"];

impl<'a> JudgedLine<'a> {
    pub(super) fn new(reads: &'a ReadCommands, call: &'a ApprovalCall<'a>) -> Self {
        Self {
            reads,
            call,
            paths: Vec::new(),
            is_outside: false,
            reads_unnamed_files: false,
            git: None,
            git_folders: Vec::new(),
        }
    }

    /// The words of a command as it runs, if it only reads wherever of these folders it runs.
    pub(super) fn command(&mut self, words: &[String], folders: &[PathBuf]) -> Option<Vec<String>> {
        // Nothing is paged here.
        let without_pager: Vec<String>;
        let words = match words {
            [git, option, rest @ ..] if git == "git" && option == "--no-pager" => {
                without_pager = std::iter::once(git).chain(rest).cloned().collect();
                without_pager.as_slice()
            }
            _ => words,
        };
        let row = table::row_of(words)?;
        let Table::Row(known) = known::table_of(words) else { return None };
        if known.name() != row.name {
            return None;
        }
        let folder = folders.first()?.as_path();
        let parts = known.parts(KnownWords { words, of_rule: 0, folder }).ok()?;
        let mut command = JudgedCommand { row, parts: &parts, folders, line: self };
        command.judge()?;
        self.spelled(row, words)
    }

    fn spelled(&mut self, row: &ReadRow, words: &[String]) -> Option<Vec<String>> {
        let mut names = row.name.split(' ');
        let name = names.next()?;
        let program = row.program.unwrap_or(name);
        let root = self.git_folders.first().map(PathBuf::as_path);
        let project: Vec<&Path> = std::iter::once(self.call.cwd).chain(root).collect();
        let program = programs::find(program, &self.reads.search_path, &project)?;
        let mut spelled = vec![program.to_str()?.to_owned()];
        if name == "git" {
            spelled.push("--no-pager".to_owned());
            self.git = Some(program);
        }
        spelled.extend(names.map(str::to_owned));
        spelled.extend(row.adds.iter().map(|word| (*word).to_owned()));
        spelled.extend(words.get(row.name.split(' ').count()..)?.iter().cloned());
        Some(spelled)
    }

    /// Notes that a file is read; `None` if it must not be.
    fn file(&mut self, name: &str, folders: &[PathBuf]) -> Option<()> {
        if name == "-" {
            return Some(());
        }
        for folder in folders {
            let file = files::readable(name, folder, self.call)?;
            self.is_outside |= file.is_outside;
            self.paths.push(file.path);
        }
        Some(())
    }

    /// Notes that all files below are read.
    fn tree(&mut self, name: &str, folders: &[PathBuf]) -> Option<()> {
        self.reads_unnamed_files = true;
        self.file(name, folders)?;
        let has_keys = |folder: &PathBuf| files::contains_keys(&folder.join(name), self.call);
        (!folders.iter().any(has_keys)).then_some(())
    }
}

struct JudgedCommand<'l, 'a, 'w> {
    row: &'static ReadRow,
    parts: &'w [WordPart<'w>],
    folders: &'w [PathBuf],
    line: &'l mut JudgedLine<'a>,
}

impl<'w> JudgedCommand<'_, '_, 'w> {
    fn judge(&mut self) -> Option<()> {
        self.options()?;
        let operands = self.operands();
        match self.row.operands {
            ReadOperands::Texts => Some(()),
            ReadOperands::Files => self.files(&operands),
            ReadOperands::TextThenFiles(given_by) => {
                let texts = usize::from(!self.has_option(given_by));
                self.files(operands.get(texts..).unwrap_or_default())
            }
            ReadOperands::AwkThenFiles => {
                let text = operands.first()?;
                (!names_one(text, NAMES_OF_AWK) && !text.contains('\\')).then_some(())?;
                self.files(operands.get(1..).unwrap_or_default())
            }
            ReadOperands::JqThenFiles => {
                self.words().all(|word| !names_one(word, NAMES_OF_JQ)).then_some(())?;
                self.files(operands.get(1..).unwrap_or_default())
            }
            ReadOperands::Expression => {
                let folders: Vec<&str> =
                    operands.into_iter().filter(|word| !matches!(*word, "(" | ")" | "!" | ",")).collect();
                self.files(&folders)
            }
            ReadOperands::Revisions(row) => self.revisions(row, &operands),
        }
    }

    fn operands(&self) -> Vec<&'w str> {
        let of_part = |part: &'w WordPart<'w>| match part {
            WordPart::Operand(word) => Some(*word),
            WordPart::Option { .. } => None,
        };
        self.parts.iter().filter_map(of_part).collect()
    }

    /// Operands, and the values of options.
    fn words(&self) -> impl Iterator<Item = &'w str> {
        self.parts.iter().filter_map(|part| match part {
            WordPart::Option { value, .. } => *value,
            WordPart::Operand(word) => Some(*word),
        })
    }

    fn has_option(&self, listed: &[&str]) -> bool {
        self.parts.iter().any(|part| matches!(part, WordPart::Option { name, .. } if lists(listed, name)))
    }

    /// The values of options are files unless the row says that they are texts.
    fn options(&mut self) -> Option<()> {
        for part in self.parts {
            let WordPart::Option { name, value } = part else { continue };
            if lists(self.row.without, name) {
                return None;
            }
            let Some(value) = value.filter(|_| !lists(self.row.texts, name)) else { continue };
            if self.folders.iter().any(|folder| files::looks_like_a_path(value, folder)) {
                self.line.file(value, self.folders)?;
            }
        }
        Some(())
    }

    fn files(&mut self, names: &[&str]) -> Option<()> {
        let walks = match self.row.walk {
            Walk::Never => false,
            Walk::RefusesFolders if self.name_a_folder(names) => return None,
            Walk::RefusesFolders => false,
            Walk::With(options) => self.has_option(options),
            Walk::Always => true,
        };
        if !walks {
            return names.iter().try_for_each(|name| self.line.file(name, self.folders));
        }
        let names = if names.is_empty() { &["."] } else { names };
        names.iter().try_for_each(|name| self.line.tree(name, self.folders))
    }

    fn name_a_folder(&self, names: &[&str]) -> bool {
        self.folders.iter().any(|folder| names.iter().any(|name| folder.join(name).is_dir()))
    }

    fn revisions(&mut self, row: GitRow, operands: &[&str]) -> Option<()> {
        if !self.line.reads.finds_repositories {
            return None;
        }
        let own = repository::own(self.folders, self.line.call.cwd)?;
        self.line.is_outside |= own.is_outside;
        match row {
            GitRow::Contents => self.line.reads_unnamed_files = true,
            GitRow::WorkTree if own.may_have_submodules => return None,
            GitRow::WorkTree => self.line.reads_unnamed_files = true,
            GitRow::Lists(listing) if !operands.is_empty() && !self.has_option(listing) => return None,
            GitRow::Lists(_) | GitRow::Names => {}
        }
        if self.words().any(|word| FORMATS_THAT_RUN.iter().any(|format| word.contains(format))) {
            return None;
        }
        // A word that is no file is a revision; git fails if it is neither.
        for name in operands {
            if self.folders.iter().any(|folder| files::looks_like_a_path(name, folder)) {
                self.line.file(name, self.folders)?;
            }
        }
        self.line.git_folders.push(own.root);
        self.line.git_folders.extend(self.folders.iter().cloned());
        Some(())
    }
}

/// Whether a text has one of the names as a whole word.
fn names_one(text: &str, names: &[&str]) -> bool {
    text.split(|c: char| c != '_' && !c.is_ascii_alphanumeric()).any(|word| names.contains(&word))
}
