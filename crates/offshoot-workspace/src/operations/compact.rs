//! Replaces the older part of a session's context with a summary.

use std::io::{self, Write};

use offshoot_agent::forecast::RequestForecast;
use offshoot_agent::operate::PlanAnswer;
use offshoot_session::compact::report::{Finding, Report, report};
use offshoot_session::compact::{self, CompactionPlan, Planned, PlannedMessage, Settings};
use offshoot_session::entry::Source as _;
use offshoot_session::entry_name::short_ids;
use offshoot_session::id::{EntryId, ShortIds};
use offshoot_session::json::Object;
use offshoot_session::session::{Session, SpillPolicy};
use offshoot_session::stats;
use offshoot_session::summariser::Drafted;
use offshoot_session::text::{counted, one_line};

use crate::costs::{sizes, with_forecast, with_summary_cost, words_without_summary};
use crate::entry_words::{messages_table, short_id};
use crate::failure::Result;
use crate::given::{SessionName, Text};
use crate::input;
use crate::operation::{About, CommandGroup, Finished, FrontEnd, Operation, OperationEffect, Output};
use crate::place::Place;
use crate::plans::CompactionJson;
use crate::run::open_session;
use crate::words::{Line, NextStep, Note, Role, Words};

/// Longer parts show their first and last [`ENDS`] messages, so that a preview fits a screen.
const SHOWN: usize = 5;
const ENDS: usize = 2;

input! {
    /// What `compact` gets.
    pub struct CompactInput {
        /// A path, an id or its unique start or end, a name, or `latest`
        session: SessionName = arg,
        /// What the summary should pay attention to
        instructions: Option<Text> = arg,
        /// With --dry-run: show every message
        verbose: bool = flag ('v' requires ["dry_run"] conflicts ["json"]),
        /// Take the newest compaction back
        undo: bool = flag (conflicts ["instructions", "keep_recent_tokens", "verbose", "model", "provider", "thinking"]),
        /// With --undo: also if the result does not fit into the model's window
        force: bool = flag (requires ["undo"]),
        /// How many tokens of the newest messages to keep
        keep_recent_tokens: Option<u64> = option ("N"),
    }
}

/// Replaces the older part of a session's context with a summary.
#[derive(Debug)]
pub struct Compact;

/// What is summarised, or why nothing is.
#[derive(Debug)]
pub struct CompactSteps {
    planned: Planned,
    instructions: Option<String>,
    is_verbose: bool,
    drafted: Option<Drafted>,
}

/// What came of `compact`; `None` if there was nothing to do.
#[derive(Debug)]
pub struct CompactOutput(Option<Box<Compacted>>);

#[derive(Debug)]
struct Compacted {
    plan: Box<CompactionPlan>,
    ids: CompactionJson,
    counts: String,
    end: CompactionEnd,
}

/// What a compaction came to.
#[derive(Debug)]
enum CompactionEnd {
    Written { id: EntryId, drafted: Drafted, report: Report },
    Previewed { listed: Listed, forecast: RequestForecast, summary_cost: Option<f64> },
}

/// The rows of the table, and how many messages it leaves out.
#[derive(Debug)]
struct Listed {
    rows: Vec<(Vec<String>, Role)>,
    hidden: usize,
}

/// Why nothing is compacted.
pub(crate) fn why_nothing(planned: &Planned) -> Option<&'static str> {
    match planned {
        Planned::Cut(_) => None,
        Planned::AlreadyCompacted => Some("nothing was said since the last compaction"),
        Planned::TooSmall => Some("everything is recent enough to be kept"),
    }
}

impl Operation for Compact {
    type Input = CompactInput;
    type Plan = CompactSteps;
    type Written = EntryId;
    type Output = CompactOutput;

    const ABOUT: About = About {
        name: "compact",
        aliases: &[],
        title: "Summarise the older part of a session to shorten its context",
        says: "The newest messages stay word for word: about --keep-recent-tokens tokens,\n\
               else the number in settings.json, else 20000. A summary replaces everything\n\
               before them in the context. Nothing is deleted: the summary is one more\n\
               entry, and you can go back to the entries before it. The cut is where pi\n\
               would cut. Entries with the label `pin` stay word for word, inside the\n\
               summary.\n\n\
               Afterwards a report lists paths, addresses, identifiers, numbers and rules\n\
               that the summary dropped. The model is --model, else the session's, else\n\
               the one of settings.json. Without a model, or if it fails, offshoot extracts\n\
               the summary by rules, and the new entry says so.\n\n\
               --dry-run changes nothing: it shows what would be summarised and what would\n\
               stay, the first and last messages of each part, and what the next request and\n\
               the summary would cost. -v shows all messages.\n\n\
               --undo takes the newest compaction of the branch back, also later: the session\n\
               continues before it, with copies of everything that was said since. It prints\n\
               what `pick` does with --json, and takes --dry-run.\n\n\
               --json prints the plan, or `null` if there is nothing to compact:\n\n  \
               {\"firstKeptEntryId\", \"isSplitTurn\", \"turnStartEntryId\", \"tokensBefore\",\n   \
               \"messageTokensBefore\", \"tokensKept\", \"previousCompactionId\", \"previousSummary\",\n   \
               \"messagesToSummarize\": [{\"entryId\", \"role\", \"tokens\"}],\n   \
               \"turnPrefixMessages\": [...], \"keptMessages\": [...], \"pinned\": [ids],\n   \
               \"readFiles\", \"modifiedFiles\", \"conversation\", \"turnPrefixConversation\",\n   \
               \"settings\": {\"enabled\", \"reserveTokens\", \"keepRecentTokens\"}}\n\n\
               With --dry-run it has more members, where null is not known:\n\n  \
               \"forecast\": {\"contextTokens\", \"messageTokens\", \"overheadTokens\",\n               \
               \"cachedTokens\", \"freshTokens\", \"cacheExpiresInMs\",\n               \
               \"costNow\", \"costLater\"},\n  \
               \"summaryCost\"\n\n\
               Without --dry-run it has others:\n\n  \
               \"id\", \"summary\", \"details\", \"estimatedTokensAfter\",\n  \
               \"report\": {\"rules\": {\"said\", \"missing\", \"listed\": [{\"text\", \"times\"}]},\n             \
               \"paths\", \"addresses\", \"identifiers\", \"numbers\"}\n\n\
               `id` is that of the new entry. Each part of the report has the members of\n\
               `rules`. Costs are in US dollars.",
        examples: "Examples:\n  offshoot compact latest --dry-run\n  \
                   offshoot compact latest --keep-recent-tokens 5000\n  \
                   offshoot compact latest 'what was decided' --model haiku:low\n  \
                   offshoot compact latest --undo            # as if it had not been compacted\n  \
                   offshoot label latest 1a2b3c4d pin        # keeps that entry word for word",
        past: "compacted",
        effect: OperationEffect::Writes {
            dry_run: "Only show what would be summarised and what would stay",
            refused_at_work: Some("the agent is at work: stop it first"),
            moves: true,
            spill: SpillPolicy::Temporary,
        },
    };

    const GROUP: CommandGroup = CommandGroup::Write;

    const MAY_ASK: bool = true;

    // An agent also compacts without being asked, with events of its own: there it is one job for both.
    const NOT_ON: &'static [FrontEnd] = &[FrontEnd::Rpc, FrontEnd::Slash];

    fn session(input: &CompactInput) -> Option<&SessionName> {
        Some(&input.session)
    }

    fn plan(place: &Place, at: Option<&Session>, input: &CompactInput) -> Result<CompactSteps> {
        let session = open_session(at)?;
        let user = place.compaction_settings(session)?;
        let keep_recent_tokens = input.keep_recent_tokens.unwrap_or(user.keep_recent_tokens);
        let settings = Settings { keep_recent_tokens, ..user };
        let planned = compact::plan(session, session.leaf(), session.dialect(), &settings)?;
        if matches!(planned, Planned::TooSmall) {
            let less = format!("--keep-recent-tokens N keeps less than {keep_recent_tokens} tokens");
            place.tell(Note::Helps(less));
        }
        let instructions = input.instructions.as_ref().map(|text| text.0.clone());
        Ok(CompactSteps { planned, instructions, is_verbose: input.verbose, drafted: None })
    }

    fn nothing(steps: &CompactSteps) -> Option<Line> {
        why_nothing(&steps.planned).map(Line::from)
    }

    fn prepare(place: &Place, at: &Session, steps: &CompactSteps) -> Result<Option<PlanAnswer>> {
        let Planned::Cut(plan) = &steps.planned else { return Ok(None) };
        let drafted = place.compaction(at, plan, steps.instructions.as_deref())?;
        Ok(Some(PlanAnswer { drafted: Some(drafted), ..PlanAnswer::default() }))
    }

    fn complete(_: &Place, _: &Session, steps: &mut CompactSteps, answer: Option<&PlanAnswer>) -> Result<()> {
        steps.drafted = answer.and_then(|answer| answer.drafted.clone());
        Ok(())
    }

    fn commit(_: &Place, at: &mut Session, steps: &CompactSteps) -> Result<Option<EntryId>> {
        let (Planned::Cut(plan), Some(drafted)) = (&steps.planned, &steps.drafted) else { return Ok(None) };
        Ok(Some(at.append(&plan.entry(drafted, at.dialect()))?))
    }

    fn output(steps: CompactSteps, finished: Finished<'_, EntryId>) -> Result<CompactOutput> {
        let CompactSteps { planned, instructions, is_verbose, drafted } = steps;
        let Finished { place, session, written, .. } = finished;
        let (session, Planned::Cut(plan)) = (open_session(session)?, planned) else { return Ok(CompactOutput(None)) };
        let end = match written.zip(drafted) {
            Some((id, drafted)) => CompactionEnd::Written { id, report: report(&plan, &drafted.text), drafted },
            None => CompactionEnd::Previewed {
                listed: Listed::of(session, &plan, is_verbose)?,
                forecast: place.after_compaction(session, plan.tokens_kept())?,
                summary_cost: place.compaction_cost(session, &plan, instructions.as_deref())?,
            },
        };
        let (ids, counts) = (CompactionJson::of(session.tree(), &plan), counts(session, &plan)?);
        Ok(CompactOutput(Some(Box::new(Compacted { plan, ids, counts, end }))))
    }
}

fn counts(session: &Session, plan: &CompactionPlan) -> Result<String> {
    let went = counted(plan.dropped().count(), "message", "messages");
    let split = if plan.is_split() { ", among them the beginning of a turn whose end is kept" } else { "" };
    let pinned = match plan.pinned.len() {
        0 => String::new(),
        count => format!("; {} pinned", counted(count, "entry is", "entries are")),
    };
    let first_kept = short_id(session, plan.first_kept_id.as_str())?;
    Ok(format!("{went} summarised{split}; {} kept from {first_kept}{pinned}", plan.kept.len()))
}

impl Listed {
    fn of(session: &Session, plan: &CompactionPlan, is_verbose: bool) -> Result<Self> {
        let parts =
            [("summarised", &plan.history), ("summarised (split turn)", &plan.turn_prefix), ("kept", &plan.kept)];
        let entries = parts.iter().flat_map(|(_, messages)| messages.iter().map(|said| said.ix));
        let ids = short_ids(session.tree(), entries)?;
        let (mut rows, mut hidden) = (Vec::new(), 0);
        for (what, messages) in parts {
            let is_cut = messages.len() > SHOWN && !is_verbose;
            for (at, said) in messages.iter().enumerate() {
                if is_cut && at == ENDS {
                    let rest = &messages[ENDS..messages.len() - ENDS];
                    let tokens: u64 = rest.iter().map(|said| said.tokens).sum();
                    let count = format!("… {} more messages", rest.len());
                    let cells = [what.to_owned(), "…".to_owned(), String::new(), tokens.to_string(), count];
                    rows.push((cells.to_vec(), Role::Dim));
                    hidden += rest.len();
                }
                if !is_cut || at < ENDS || at >= messages.len() - ENDS {
                    rows.push((row(session, plan, what, said, &ids)?, Role::Plain));
                }
            }
        }
        Ok(Self { rows, hidden })
    }
}

fn row(
    session: &Session,
    plan: &CompactionPlan,
    what: &str,
    said: &PlannedMessage,
    ids: &ShortIds<'_>,
) -> Result<Vec<String>> {
    let is_pinned = plan.pinned.iter().any(|pinned| pinned.ix == said.ix);
    let what = if is_pinned { "pinned" } else { what };
    let id = session.tree().node(said.ix).id().map_or("-", |id| ids.get(id.as_str()));
    let spoken = said.parts.first().map(|part| one_line(&part.text, 100));
    let words = stats::words(&session.entry(said.ix)?).or(spoken).unwrap_or_default();
    let role = said.role.word().unwrap_or("?");
    Ok(vec![what.to_owned(), one_line(id, 40), role.to_owned(), said.tokens.to_string(), words])
}

impl Output for CompactOutput {
    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        let Some(compacted) = &self.0 else { return out.write_all(b"null") };
        let Compacted { plan, ids, end, .. } = compacted.as_ref();
        let object: Object = ids.object(plan);
        let object = match end {
            CompactionEnd::Written { id, drafted, report } => object
                .str("id", id.as_str())
                .str("summary", &drafted.text)
                .raw("details", &drafted.details)
                .raw("estimatedTokensAfter", plan.tokens_after(&drafted.text))
                .raw("report", report.to_json()),
            CompactionEnd::Previewed { forecast, summary_cost, .. } => {
                with_summary_cost(with_forecast(object, Some(forecast)), *summary_cost)
            }
        };
        out.write_all(object.finish().as_bytes())
    }

    fn words(&self, words: &mut Words) {
        let Some(compacted) = &self.0 else { return };
        let Compacted { plan, counts, end, .. } = compacted.as_ref();
        match end {
            CompactionEnd::Written { id, drafted, report } => {
                let sizes = sizes(plan.before.messages, plan.tokens_after(&drafted.text));
                let id_line = Line::from("compacted in ").and(Role::Id, id.as_str());
                words.line(id_line.and(Role::Plain, format!(": {sizes}")));
                words.line(counts.clone());
                say_report(report, words);
                words.next.push(NextStep::new("entry", "shows the summary").with(id.as_str()));
            }
            CompactionEnd::Previewed { listed, forecast, summary_cost } => {
                words.is_long = true;
                words.table(messages_table(&listed.rows));
                words.line("");
                words.line(counts.clone());
                words.line(format!("{}, and the summary", sizes(plan.before.messages, plan.tokens_kept())));
                words.line(Line::of(Role::Dim, words_without_summary(forecast, *summary_cost)));
                if listed.hidden > 0 {
                    words.notes.push(Note::Helps("-v shows every message".to_owned()));
                }
            }
        }
    }
}

/// Says what the summary dropped.
fn say_report(report: &Report, words: &mut Words) {
    if report.is_clean() {
        return words
            .line("the summary mentions every rule, path, address, identifier and number of the summarised messages");
    }
    words.line("");
    words.line("not mentioned in the summary:");
    for Finding { sort, said, missing, listed } in report.findings.iter().filter(|finding| finding.missing > 0) {
        words.line(Line::from("  ").and(Role::Bold, format!("{missing} of {said} {}", sort.noun(*said))));
        for one in listed {
            let times = if one.times > 1 { format!("  ({} times)", one.times) } else { String::new() };
            words.line(Line::from(format!("    {}", one_line(&one.text, 200))).and(Role::Dim, times));
        }
        if *missing > listed.len() {
            words.line(Line::from("    ").and(Role::Dim, format!("and {} more", missing - listed.len())));
        }
    }
}
