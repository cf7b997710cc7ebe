//! The table of operations as commands: their options, what was given, and how an outcome is printed. Knows no particular
//! operation.

use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use clap::builder::{NonEmptyStringValueParser, PathBufValueParser, PossibleValuesParser};
use clap::parser::ValueSource;
use clap::{ArgAction, ArgMatches, Args as _, FromArgMatches as _, ValueHint};
use offshoot_app::app::App;
use offshoot_app::error::{CommandError, Result, spelled};
use offshoot_app::models::ModelArgs;
use offshoot_app::next_request::RequestOfApp;
use offshoot_app::session_words::session_words;
use offshoot_app::ui::columns::{Align, Column, Table};
use offshoot_app::ui::style::{PaintedLine, style_of};
use offshoot_workspace::{
    Arg, ArgForm, ArgKind, ArgValue, ByteSize, DRY_RUN_FLAG, FrontEnd, Given, JSON_FLAG, OPERATIONS, Outcome, Output,
    Row, SESSION_ARG, ScreenSize, TableColumn, Words, WordsBlock, WordsTable, find_operation,
};

use super::misplaced::misplaced;

/// The command line with a command for each operation.
pub(super) fn with_operations(all: clap::Command) -> clap::Command {
    OPERATIONS.iter().filter(|row| row.is_on(FrontEnd::CommandLine)).fold(all, |all, row| all.subcommand(command(row)))
}

fn command(row: &'static Row) -> clap::Command {
    clap::Command::new(row.about.name).visible_aliases(row.about.aliases).defer(with_arguments)
}

/// The arguments and the help of the operation of this name, which are built if they are asked for.
fn with_arguments(command: clap::Command) -> clap::Command {
    let Some(row) = find_operation(command.get_name()) else { return command };
    let about = &row.about;
    let command = command.after_help(about.examples);
    // Arguments about `--json` come after it.
    let is_about_json = |arg: &Arg| arg.prints_json || arg.requires.contains(&JSON_FLAG);
    let at = row.args.iter().position(is_about_json).unwrap_or(row.args.len());
    let (before, behind) = row.args.split_at_checked(at).unwrap_or((row.args, &[]));
    let mut command = before.iter().fold(command, |command, arg| command.arg(argument(arg)));
    if let Some(dry_run) = about.effect.dry_run() {
        command = command.arg(clap::Arg::new(DRY_RUN_FLAG).long("dry-run").help(dry_run).action(ArgAction::SetTrue));
    }
    if !row.is_raw {
        command = command.arg(clap::Arg::new(JSON_FLAG).long(JSON_FLAG).help("Print JSON").action(ArgAction::SetTrue));
    }
    let command = behind.iter().fold(command, |command, arg| command.arg(argument(arg)));
    let command = if row.may_ask { ModelArgs::augment_args(command) } else { command };
    // A group of arguments brings words of its own.
    command.about(about.title).long_about(format!("{}\n\n{}", about.title, about.says))
}

fn argument(arg: &'static Arg) -> clap::Arg {
    let says = arg.says.iter().map(|line| line.trim()).collect::<Vec<_>>().join("\n");
    let mut made = clap::Arg::new(arg.name)
        .help(says)
        .conflicts_with_all(arg.conflicts)
        .requires_all(arg.requires.iter().copied())
        .required(arg.is_needed);
    made = match arg.form {
        ArgForm::Positional => made.value_name(arg.capitals),
        ArgForm::Option { value, short } => {
            short.into_iter().fold(made.long(arg.hyphened).value_name(value), clap::Arg::short)
        }
        ArgForm::Flag { short } => {
            short.into_iter().fold(made.long(arg.hyphened).action(ArgAction::SetTrue), clap::Arg::short)
        }
    };
    if arg.is_many {
        made = made.action(ArgAction::Append);
        if arg.form == ArgForm::Positional {
            made = made.num_args(1..);
        }
    }
    made = arg.unless.iter().fold(made, |made, other| made.required_unless_present(*other));
    match arg.kind {
        ArgKind::Word(words) => {
            let is_said = words.iter().all(|word| arg.says.iter().any(|line| line.contains(word)));
            made.value_parser(PossibleValuesParser::new(words)).hide_possible_values(is_said)
        }
        ArgKind::Size => made.value_parser(|text: &str| ByteSize::parse(text).map(|_| text.to_owned())),
        ArgKind::FilledText => made.value_parser(NonEmptyStringValueParser::new()),
        ArgKind::Number => made.value_parser(clap::value_parser!(u64)),
        ArgKind::File => made.value_parser(PathBufValueParser::new()).value_hint(ValueHint::AnyPath),
        ArgKind::Folder => made.value_parser(PathBufValueParser::new()),
        ArgKind::Session => made.value_parser(session_words()),
        ArgKind::Entry | ArgKind::EntryRange | ArgKind::Text | ArgKind::Flag => made,
    }
}

/// An operation as it was typed.
#[derive(Debug)]
pub(crate) struct TypedOperation {
    row: &'static Row,
    given: Given,
    is_dry: bool,
    is_json: bool,
    model: ModelArgs,
}

impl TypedOperation {
    /// The operation of a command's name, with what was typed for it; `None` if no operation has this name.
    ///
    /// # Errors
    /// clap's.
    pub(super) fn of(name: &str, matches: &ArgMatches) -> std::result::Result<Option<Self>, clap::Error> {
        let by_option = OPERATIONS.iter().find(|row| is_asked_by_option(row, name, matches));
        let by_name = || OPERATIONS.iter().find(|row| row.about.name == name && row.is_on(FrontEnd::CommandLine));
        let Some(row) = by_option.or_else(by_name) else { return Ok(None) };
        let model = if row.may_ask { ModelArgs::from_arg_matches(matches)? } else { ModelArgs::default() };
        Ok(Some(Self {
            row,
            given: given(row, matches),
            is_dry: row.about.effect.dry_run().is_some() && matches.get_flag(DRY_RUN_FLAG),
            is_json: row.is_raw
                || matches.get_flag(JSON_FLAG)
                || row.args.iter().any(|arg| arg.prints_json && matches.get_flag(arg.name)),
            model,
        }))
    }

    #[cfg(test)]
    pub(super) fn name(&self) -> &'static str {
        self.row.about.name
    }

    /// The arguments without options.
    fn words(&self) -> Vec<String> {
        let of = |arg: &Arg| self.given.texts(arg.name);
        self.row.args.iter().filter(|arg| arg.form == ArgForm::Positional).flat_map(of).collect()
    }

    /// The options, as one types them.
    fn options(&self) -> Vec<String> {
        let mut given = self.given.clone();
        let mut words = Vec::new();
        for arg in self.row.args.iter().filter(|arg| arg.form != ArgForm::Positional) {
            let option = format!("--{}", arg.hyphened);
            let values = match given.take(arg.name) {
                None => continue,
                Some(ArgValue::Flag) => {
                    words.push(option);
                    continue;
                }
                Some(ArgValue::Text(text)) => vec![text],
                Some(ArgValue::Many(texts)) => texts,
                Some(ArgValue::Number(number)) => vec![number.to_string()],
                Some(ArgValue::Path(path)) => vec![path.to_string_lossy().into_owned()],
            };
            words.extend(values.into_iter().flat_map(|value| [option.clone(), value]));
        }
        words
    }

    /// Runs it and shows its output, which `shown` gets.
    pub(super) fn run(self, app: &App, shown: &mut Option<Box<dyn Output>>) -> Result<()> {
        let session = self.given.text(SESSION_ARG).map(str::to_owned);
        let (words, options) = (self.words(), self.options());
        let place = app.place().with_next_request(Arc::new(RequestOfApp { app: app.clone(), typed: self.model }));
        let outcome = self.row.run(self.given, &place, self.is_dry);
        let named = session.as_deref().unwrap_or_default();
        app.tell(&place.take_notes(), named);
        let outcome = outcome.map_err(|failure| {
            let meant = misplaced(self.row, (&words, &options), &failure, &place);
            let mut error = CommandError::of_operation(failure, session.as_deref());
            meant.into_iter().for_each(|line| error.hints.insert(0, format!("did you mean `{line}`?")));
            error
        })?;
        let output = match outcome {
            Outcome::Nothing { why, .. } if !self.is_json => {
                return app.ui.nothing_to_do(&PaintedLine(&why).to_string());
            }
            Outcome::Nothing { output, .. } | Outcome::Done(output) => output,
        };
        for failure in output.failed() {
            app.ui.error(&CommandError::of_failure(failure, session.as_deref()));
        }
        if self.is_json {
            let mut out = app.ui.raw();
            output.json(&mut out)?;
            writeln!(out)?;
            out.finish()?;
        } else {
            say(app, output.as_ref(), session.as_deref())?;
        }
        app.tell(&output.notes(), named);
        let ended = output.failure().map(|failure| CommandError::of_failure(failure, session.as_deref()));
        *shown = Some(output);
        ended.map_or(Ok(()), Err)
    }
}

/// Whether an option of a command calls the operation.
fn is_asked_by_option(row: &Row, name: &str, matches: &ArgMatches) -> bool {
    row.option_of.is_some_and(|(command, option)| command == name && matches.get_flag(option))
}

fn given(row: &'static Row, matches: &ArgMatches) -> Given {
    let mut given = Given::default();
    for arg in row.args {
        if matches.value_source(arg.name) != Some(ValueSource::CommandLine) {
            continue;
        }
        let value = match (arg.kind, arg.is_many) {
            (ArgKind::Flag, _) => Some(ArgValue::Flag),
            (ArgKind::Number, _) => matches.get_one::<u64>(arg.name).copied().map(ArgValue::Number),
            (ArgKind::File | ArgKind::Folder, _) => matches.get_one::<PathBuf>(arg.name).cloned().map(ArgValue::Path),
            (_, true) => matches.get_many::<String>(arg.name).map(|all| ArgValue::Many(all.cloned().collect())),
            (_, false) => matches.get_one::<String>(arg.name).cloned().map(ArgValue::Text),
        };
        value.into_iter().for_each(|value| given.put(arg.name, value));
    }
    given
}

fn say(app: &App, output: &dyn Output, session: Option<&str>) -> Result<()> {
    let mut words = Words::default();
    output.words(&mut words);
    let mut out = match (words.is_exact, words.is_long) {
        (true, _) => app.ui.raw(),
        (false, true) => app.ui.paged(),
        (false, false) => app.ui.text(),
    };
    let size = ScreenSize { width: app.ui.width, height: app.ui.height };
    let mut say = |block: &WordsBlock| match block {
        WordsBlock::Line(line) => out.line(line),
        WordsBlock::Table(table) => laid_out(table).write(&mut out, size.width),
    };
    words.blocks.iter().try_for_each(&mut say)?;
    if words.is_streamed {
        output.stream(size, &mut say).map_err(|failure| CommandError::of_operation(failure, session))?;
    }
    if words.is_exact {
        output.bytes(&mut out)?;
    }
    out.finish()?;
    app.tell(&words.notes, session.unwrap_or_default());
    words.next.iter().for_each(|next| app.ui.hint(&spelled(next, session)));
    Ok(())
}

fn laid_out(table: &WordsTable) -> Table {
    let last = table.columns.len().saturating_sub(1);
    let column = |(at, column): (usize, &TableColumn)| {
        let align = if column.is_right { Align::Right } else { Align::Left };
        let made = Column::new(column.title, align, style_of(column.role));
        let made = column.widest.into_iter().fold(made, Column::cut_to);
        let made = column.leaves.into_iter().fold(made, Column::leaves);
        if at == last { made.last() } else { made }
    };
    let mut made = Table::new(table.columns.iter().enumerate().map(column).collect());
    table.rows.iter().for_each(|(cells, role)| made.row(cells.clone(), style_of(*role)));
    made
}
