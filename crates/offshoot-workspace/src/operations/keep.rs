//! Copies of other agents' sessions, which outlive them.

use std::collections::HashSet;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use offshoot_foreign::{Agent, Archive, ArchivedSession, KeptCopy};
use offshoot_session::json::{Object, quote};
use offshoot_session::list::SessionInfo;
use offshoot_session::session::Session;
use offshoot_session::text::counted;

use crate::failure::{Failure, FailureKind, Hint, Result};
use crate::given::{SessionName, Text};
use crate::operation::{About, CommandGroup, Finished, FrontEnd, Operation, OperationEffect, Output};
use crate::operations::list::ListedProgram;
use crate::place::{Place, SessionProgram};
use crate::words::{Note, Words};
use crate::{closed_words, input};

closed_words! {
    /// What is done with copies.
    pub enum KeepAction {
        /// From now on sessions are copied.
        On = "on",
        /// From now on none is.
        Off = "off",
        /// What is new is copied now.
        Run = "run",
        /// Copies are listed.
        List = "list",
        /// A session is written back to where it was.
        Restore = "restore",
        /// A copy goes, and is never made again.
        Forget = "forget",
    }
}

input! {
    /// What `keep` gets.
    pub struct KeepInput {
        /// on, off, run, list, restore or forget
        action: KeepAction = arg,
        /// With restore and forget: a name from `keep list`, or a unique start of one
        name: Option<Text> = arg,
        /// With on: only this agent's sessions
        agent: Option<ListedProgram> = option ("AGENT"),
        /// With on: not the sessions of folders that fit, such as ~/private; "" for none
        exclude: Vec<Text> = option ("GLOB"),
    }
}

/// Copies sessions, and gives them back.
#[derive(Debug)]
pub struct Keep;

/// What is to be done.
#[derive(Debug)]
pub struct KeepPlan {
    action: KeepAction,
    archive: Archive,
    /// The agents whose sessions are copied, or are to be.
    agents: Vec<Agent>,
    /// Globs of the folders whose sessions are not, or are not to be.
    excluded: Vec<String>,
    /// The copies that are listed, or the one that is meant.
    copies: Vec<ArchivedSession>,
}

/// What was done.
#[derive(Debug, Default)]
pub struct KeptRun {
    copied: u64,
    bytes: u64,
    /// How many sessions are of excluded folders.
    excluded: u64,
    failed: Vec<Failure>,
}

/// What came of `keep`.
#[derive(Debug)]
pub struct KeepOutput {
    plan: KeepPlan,
    run: Option<KeptRun>,
}

impl Operation for Keep {
    type Input = KeepInput;
    type Plan = KeepPlan;
    type Written = KeptRun;
    type Output = KeepOutput;

    const ABOUT: About = About {
        name: "keep",
        aliases: &[],
        title: "Keep copies of other agents' sessions",
        says: "Claude Code and Gemini CLI delete sessions after 30 days unless their settings\n\
               say otherwise. `keep on` has offshoot copy what is new of other agents'\n\
               sessions, compressed, into its data folder: now, and with each later command at\n\
               most once in an hour. It is off until you say so. `keep run` copies now, for\n\
               cron. `keep off` ends it; the copies stay.\n\n\
               `keep on --exclude GLOB` copies no session of a folder that fits, or that is\n\
               below one that does. The globs stay until others are given; copies that there\n\
               are already stay, too.\n\n\
               `keep list` lists the copies; `gone` are those whose source is no longer there.\n\
               `keep restore NAME` writes a session back to where it was, never over a file;\n\
               what was in a database is not given back. `keep forget NAME` removes a copy, and\n\
               no later run makes it again.\n\n\
               --json prints {\"agents\", \"excluded\", \"copied\", \"bytes\", \"copies\": [{\"agent\",\n\
               \"name\", \"source\", \"bytes\", \"isGone\"}]}.",
        examples: "Examples:\n  offshoot keep on --agent claude\n  offshoot keep on --exclude '~/private' --exclude '/srv/*/secret'\n  offshoot keep list",
        past: "kept",
        effect: OperationEffect::Makes { dry_run: "Show what would be done, and write nothing" },
    };
    const GROUP: CommandGroup = CommandGroup::Maintain;
    const NOT_ON: &'static [FrontEnd] = &[FrontEnd::Rpc, FrontEnd::Slash];

    fn session(_: &KeepInput) -> Option<&SessionName> {
        None
    }

    fn check(_: &Place, input: &KeepInput) -> Result<()> {
        let needs_name = matches!(input.action, KeepAction::Restore | KeepAction::Forget);
        match (needs_name, &input.name) {
            (true, None) => Err(usage("a name says which copy is meant").hint(listed())),
            (false, Some(Text(name))) => Err(usage(format!("{name:?} is one word too many"))),
            _ if !input.exclude.is_empty() && input.action != KeepAction::On => {
                Err(usage("--exclude goes with `keep on`"))
            }
            _ => Ok(()),
        }
    }

    fn plan(place: &Place, _: Option<&Session>, input: &KeepInput) -> Result<KeepPlan> {
        let archive = place.archive()?;
        let known = archive.agents();
        let agents = match input.action {
            // Also of agents that come later.
            KeepAction::On => Agent::ALL.iter().copied().filter(|agent| fits(input, *agent)).collect(),
            KeepAction::Off => Vec::new(),
            _ => known.unwrap_or_default(),
        };
        if agents.is_empty() && input.action == KeepAction::On {
            return Err(usage("--agent names no other agent"));
        }
        if agents.is_empty() && input.action == KeepAction::Run {
            let hint = Hint::Text("`offshoot keep on` has sessions copied".to_owned());
            return Err(Failure::refused(FailureKind::Failed, "no agent's sessions are copied").hint(hint));
        }
        let given: Vec<&str> = input.exclude.iter().map(|Text(glob)| glob.as_str()).collect();
        let excluded = if given.is_empty() { archive.excluded() } else { globs_of(place, &given)? };
        let mut copies = archive.list().map_err(|error| Failure::io("read the copies", &error))?;
        if let Some(Text(name)) = &input.name {
            copies.retain(|copy| copy.name.starts_with(name.as_str()));
            match copies.as_slice() {
                [_] => {}
                [] => {
                    return Err(
                        Failure::refused(FailureKind::NotFound, format!("no copy is named {name:?}")).hint(listed())
                    );
                }
                _ => return Err(usage(format!("{name:?} is the start of {} names", copies.len())).hint(listed())),
            }
        }
        Ok(KeepPlan { action: input.action, archive, agents, excluded, copies })
    }

    fn make(place: &Place, _: Option<&mut Session>, plan: &KeepPlan) -> Result<Option<KeptRun>> {
        let copy = plan.copies.first();
        match (plan.action, copy) {
            (KeepAction::On | KeepAction::Off, _) => {
                plan.archive
                    .set(&plan.agents, &plan.excluded)
                    .map_err(|error| Failure::io("write the settings of copies", &error))?;
                Ok(Some(if plan.action == KeepAction::On { run(place, plan) } else { KeptRun::default() }))
            }
            (KeepAction::Run, _) => Ok(Some(run(place, plan))),
            (KeepAction::Restore, Some(copy)) => {
                let file = copy.source.display();
                place.announce(&format!("writing {file}, a file of {}", copy.agent.title()));
                plan.archive.restore(copy).map_err(|error| Failure::io(format!("restore {file}"), &error))?;
                Ok(Some(KeptRun { copied: 1, bytes: copy.bytes, ..KeptRun::default() }))
            }
            (KeepAction::Forget, Some(copy)) => {
                plan.archive.forget(copy).map_err(|error| Failure::io(format!("forget {}", copy.name), &error))?;
                Ok(Some(KeptRun::default()))
            }
            (KeepAction::List | KeepAction::Restore | KeepAction::Forget, _) => Ok(None),
        }
    }

    fn output(plan: KeepPlan, finished: Finished<'_, KeptRun>) -> Result<KeepOutput> {
        Ok(KeepOutput { plan, run: finished.written })
    }
}

/// Copies what is new of every session of these agents. One that fails does not end the others.
fn run(place: &Place, plan: &KeepPlan) -> KeptRun {
    let mut done = KeptRun::default();
    let _lock = match plan.archive.lock() {
        Ok(Some(lock)) => lock,
        // Another process copies the same now.
        Ok(None) => return done,
        Err(error) => {
            done.failed.push(Failure::io("lock the copies", &error));
            return done;
        }
    };
    let excluded = match ExcludedFolders::new(&plan.excluded) {
        Ok(excluded) => excluded,
        // Nothing is copied that somebody may not want to be.
        Err(failure) => {
            done.failed.push(failure);
            return done;
        }
    };
    for agent in &plan.agents {
        let paths = place.agents_sessions(Some(*agent)).into_iter().map(|(_, path)| path).collect();
        let (left_out, paths) = match excluded.apart(place, paths) {
            Ok(parts) => parts,
            Err(failure) => {
                done.failed.push(failure);
                continue;
            }
        };
        done.excluded += left_out;
        for path in paths {
            match plan.archive.keep(*agent, &path, place.now()) {
                Ok(KeptCopy::Bytes(bytes)) => (done.copied, done.bytes) = (done.copied + 1, done.bytes + bytes),
                Ok(KeptCopy::Nothing | KeptCopy::Forgotten) => {}
                Err(error) => done.failed.push(Failure::io(format!("copy {}", path.display()), &error)),
            }
        }
    }
    done
}

/// Globs as they are kept: from the root, with the home folder for `~`.
fn globs_of(place: &Place, given: &[&str]) -> Result<Vec<String>> {
    let given = given.iter().filter(|glob| !glob.is_empty());
    let globs = given.map(|glob| {
        let home = place.home().map(|home| home.to_string_lossy().into_owned());
        let glob = match (glob.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with('/')), home) {
            (Some(rest), Some(home)) => globset::escape(&home) + rest,
            _ => (*glob).to_owned(),
        };
        if !glob.starts_with(['/', '*']) {
            return Err(usage(format!("{glob:?} would fit no folder: begin it with /, ~ or **/")));
        }
        Ok(if glob.len() > 1 { glob.trim_end_matches('/').to_owned() } else { glob })
    });
    let globs = globs.collect::<Result<Vec<_>>>()?;
    ExcludedFolders::new(&globs)?;
    Ok(globs)
}

/// The folders whose sessions are not copied.
struct ExcludedFolders(GlobSet);

impl ExcludedFolders {
    fn new(globs: &[String]) -> Result<Self> {
        let bad = |error: &globset::Error| usage(format!("--exclude: {error}"));
        let mut set = GlobSetBuilder::new();
        for glob in globs {
            set.add(GlobBuilder::new(glob).literal_separator(true).build().map_err(|error| bad(&error))?);
        }
        Ok(Self(set.build().map_err(|error| bad(&error))?))
    }

    /// How many of these sessions are of such folders, and the others.
    fn apart(&self, place: &Place, paths: Vec<PathBuf>) -> Result<(u64, Vec<PathBuf>)> {
        if self.0.is_empty() {
            return Ok((0, paths));
        }
        let infos = place.infos(&paths.iter().cloned().collect())?;
        let is_excluded = |info: &&SessionInfo| {
            let folder = Path::new(&info.cwd);
            folder.is_absolute() && folder.ancestors().any(|folder| self.0.is_match(folder))
        };
        let excluded: HashSet<&Path> = infos.iter().filter(is_excluded).map(|info| info.path.as_path()).collect();
        let count = paths.len();
        let paths: Vec<PathBuf> = paths.into_iter().filter(|path| !excluded.contains(path.as_path())).collect();
        Ok(((count - paths.len()) as u64, paths))
    }
}

fn fits(input: &KeepInput, agent: Agent) -> bool {
    input.agent.is_none_or(|wanted| wanted.takes(SessionProgram::of_agent(agent)))
}

fn usage(why: impl Into<String>) -> Failure {
    Failure::refused(FailureKind::Usage, why)
}

fn listed() -> Hint {
    Hint::Text("`offshoot keep list` lists the copies".to_owned())
}

impl Output for KeepOutput {
    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        let copy = |copy: &ArchivedSession| {
            Object::new()
                .str("agent", copy.agent.word())
                .str("name", &copy.name)
                .str("source", &copy.source.to_string_lossy())
                .raw("bytes", copy.bytes)
                .raw("isGone", copy.is_gone())
                .finish()
        };
        let copies: Vec<String> = self.plan.copies.iter().map(copy).collect();
        let agents: Vec<String> = self.plan.agents.iter().map(|agent| format!("\"{}\"", agent.word())).collect();
        let excluded: Vec<String> = self.plan.excluded.iter().map(|glob| quote(glob)).collect();
        let object = Object::new()
            .raw("agents", format!("[{}]", agents.join(",")))
            .raw("excluded", format!("[{}]", excluded.join(",")))
            .raw("copied", self.run.as_ref().map_or(0, |run| run.copied))
            .raw("bytes", self.run.as_ref().map_or(0, |run| run.bytes))
            .raw("copies", format!("[{}]", copies.join(",")));
        out.write_all(object.finish().as_bytes())
    }

    fn failed(&self) -> &[Failure] {
        self.run.as_ref().map_or(&[], |run| &run.failed)
    }

    fn failure(&self) -> Option<&Failure> {
        self.failed().first()
    }

    fn words(&self, words: &mut Words) {
        let titles: Vec<&str> = self.plan.agents.iter().map(|agent| agent.title()).collect();
        let agents = if titles.len() == Agent::ALL.len() { "other agents".to_owned() } else { titles.join(", ") };
        let copied = |run: &KeptRun| {
            let sessions = counted(usize::try_from(run.copied).unwrap_or(usize::MAX), "session", "sessions");
            let left_out = usize::try_from(run.excluded).unwrap_or(usize::MAX);
            let left_out = match left_out {
                0 => String::new(),
                _ => format!("; {} of excluded folders not", counted(left_out, "session", "sessions")),
            };
            format!("{sessions} copied, {:.1} MB{left_out}", run.bytes as f64 / 1e6)
        };
        match (self.plan.action, &self.run, self.plan.copies.first()) {
            (KeepAction::On, None, _) => words.line(format!("would copy sessions of {agents}")),
            (KeepAction::On, Some(run), _) => {
                words.line(format!("sessions of {agents} are copied from now on: {}", copied(run)));
            }
            (KeepAction::Off, _, _) => words.line("no session is copied from now on; the copies stay"),
            (KeepAction::Run, Some(run), _) => words.line(copied(run)),
            (KeepAction::Restore, Some(_), Some(copy)) => words.line(format!("restored {}", copy.source.display())),
            (KeepAction::Restore, None, Some(copy)) => words.line(format!("would write {}", copy.source.display())),
            (KeepAction::Forget, run, Some(copy)) => {
                let did = if run.is_some() { "forgot" } else { "would forget" };
                words.line(format!("{did} {}", copy.name));
            }
            _ => {
                for copy in &self.plan.copies {
                    let gone = if copy.is_gone() { ", gone" } else { "" };
                    let size = format!("{:.1} MB", copy.bytes as f64 / 1e6);
                    words.line(format!("{}  {}  {size}{gone}", copy.agent.word(), copy.name));
                }
                for glob in &self.plan.excluded {
                    words.notes.push(Note::Told(format!("sessions of {glob} are not copied")));
                }
                if self.plan.copies.is_empty() {
                    words.notes.push(Note::Told("there are no copies".to_owned()));
                }
            }
        }
    }
}
