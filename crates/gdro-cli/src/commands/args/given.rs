//! The options of a job as arguments, made from the table of all options.

use std::marker::PhantomData;

use clap::builder::{ArgAction, ValueParser};
use clap::error::ErrorKind;
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};
use gdro::algorithm::Algorithm;
use gdro_train::Result;
use gdro_train::job::utf8;
use gdro_train::options::{self, Heading, Kind, Opt, Settings, TABLE};

/// A command that reads a job.
pub trait Which {
    /// In the words of the table of options.
    const COMMAND: options::Command;
}

/// `gdro fit`.
#[derive(Debug)]
pub struct Fit;

/// `gdro select`.
#[derive(Debug)]
pub struct Select;

/// `gdro inspect`.
#[derive(Debug)]
pub struct Inspect;

impl Which for Fit {
    const COMMAND: options::Command = options::Command::Fit;
}

impl Which for Select {
    const COMMAND: options::Command = options::Command::Select;
}

impl Which for Inspect {
    const COMMAND: options::Command = options::Command::Inspect;
}

/// The options that were given to a command, as they were typed.
#[derive(Debug)]
pub struct Given<W> {
    typed: Vec<(&'static str, Vec<String>)>,
    command: PhantomData<W>,
}

impl<W> Given<W> {
    /// The options as settings.
    pub fn settings(&self) -> Result<Settings> {
        let mut settings = Settings::default();
        for (key, texts) in &self.typed {
            settings.set_typed(key, texts)?;
        }
        Ok(settings)
    }

    /// Whether an option was given.
    pub fn has(&self, key: &str) -> bool {
        self.typed.iter().any(|(given, _)| *given == key)
    }
}

/// An option as an argument of a command.
fn argument(option: &'static Opt, command: options::Command) -> Arg {
    let arg = Arg::new(option.key).long(option.key).help_heading(option.heading.title());
    let arg = match option.brief(command) {
        Some(brief) => arg.help(brief).long_help(option.help()),
        None => arg.help(option.help()).hide_short_help(true),
    };
    if option.kind == Kind::Switch {
        return arg.action(ArgAction::SetTrue);
    }
    let arg = arg.value_name(option.metavar).action(if option.kind.is_repeatable() {
        ArgAction::Append
    } else {
        ArgAction::Set
    });
    let arg = match option.kind {
        kind if kind.is_number() => {
            arg.value_parser(ValueParser::new(move |text: &str| numeric(kind, text)))
        }
        Kind::Path => arg.value_parser(ValueParser::new(PathText)),
        _ => arg,
    };
    // A trade-off without a number of points.
    let arg = if option.key == "path" {
        arg.num_args(0..=1).require_equals(true).default_missing_value("20")
    } else {
        arg
    };
    match option.kind {
        kind if kind.is_number() => arg.allow_hyphen_values(true),
        Kind::List | Kind::Text => arg.allow_negative_numbers(true),
        _ => arg,
    }
}

/// The text of a number, if it is one.
fn numeric(kind: Kind, text: &str) -> std::result::Result<String, String> {
    let said = format!("{text}: ");
    match kind.parse(&[text.to_owned()]) {
        Ok(_) => Ok(text.to_owned()),
        Err(why) => Err(why.strip_prefix(&said).unwrap_or(&why).to_owned()),
    }
}

/// The text of a path, which a model records in UTF-8.
#[derive(Clone)]
struct PathText;

impl clap::builder::TypedValueParser for PathText {
    type Value = String;

    fn parse_ref(
        &self,
        _: &Command,
        _: Option<&Arg>,
        value: &std::ffi::OsStr,
    ) -> std::result::Result<String, clap::Error> {
        let refuse = |why: gdro_train::Failure| clap::Error::raw(ErrorKind::InvalidUtf8, why);
        utf8(std::path::Path::new(value)).map(str::to_owned).map_err(refuse)
    }
}

impl<W: Which> Args for Given<W> {
    fn augment_args(command: Command) -> Command {
        let of = |heading| TABLE.iter().filter(move |option| option.heading == heading);
        let own = Heading::ALL.into_iter().flat_map(of);
        let own = own.filter(|option| option.is_of(W::COMMAND));
        let own = own.map(|option| argument(option, W::COMMAND));
        let command = command.args(own);
        if !options::find("solver").is_some_and(|solver| solver.is_of(W::COMMAND)) {
            return command;
        }
        let lines = Algorithm::help_lines().join("\n  ");
        command.after_long_help(format!("Algorithms that --solver names:\n  {lines}"))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<W: Which> FromArgMatches for Given<W> {
    fn from_arg_matches(matches: &ArgMatches) -> std::result::Result<Self, clap::Error> {
        let own = TABLE.iter().filter(|option| option.is_of(W::COMMAND));
        let given = own.filter_map(|option| {
            if option.kind == Kind::Switch {
                return matches.get_flag(option.key).then(|| (option.key, Vec::new()));
            }
            let texts = matches.get_many::<String>(option.key)?;
            Some((option.key, texts.cloned().collect()))
        });
        Ok(Given { typed: given.collect(), command: PhantomData })
    }

    fn update_from_arg_matches(
        &mut self,
        matches: &ArgMatches,
    ) -> std::result::Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
