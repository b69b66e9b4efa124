//! The options of a job as arguments, made from the table of all options.

use std::marker::PhantomData;

use clap::builder::{ArgAction, ValueParser};
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};
use gdro_train::options::{self, Kind, Opt, Settings, TABLE, find, number};
use gdro_train::{Failure, Result};

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
            let is_path = find(key).is_some_and(|option| option.kind == Kind::Path);
            if is_path && texts.iter().any(|text| text.contains('\u{fffd}')) {
                let name = &texts[0];
                return Err(Failure::input(format!(
                    "{name}: the name is not valid UTF-8: rename it"
                )));
            }
            settings.set_typed(key, texts)?;
        }
        Ok(settings)
    }

    /// Whether an option was given.
    pub fn has(&self, key: &str) -> bool {
        self.typed.iter().any(|(given, _)| *given == key)
    }
}

/// An option as an argument.
fn argument(option: &'static Opt) -> Arg {
    let arg = Arg::new(option.key)
        .long(option.key)
        .help(option.help())
        .help_heading(option.heading.title());
    if option.kind == Kind::Switch {
        return arg.action(ArgAction::SetTrue);
    }
    let arg = arg.value_name(option.metavar).action(if option.kind.is_repeatable() {
        ArgAction::Append
    } else {
        ArgAction::Set
    });
    let arg = match option.kind {
        Kind::Number(_) | Kind::Count(..) | Kind::Holdout => {
            arg.value_parser(ValueParser::new(|text: &str| number(text).map(|_| text.to_owned())))
        }
        Kind::Bound(_) => arg.value_parser(ValueParser::new(|text: &str| {
            Kind::Bound(options::Range::ANY)
                .parse(&[text.to_owned()])
                .map(|_| text.to_owned())
                .map_err(|why| {
                    why.split_once(": ").map_or(why.clone(), |(_, expected)| expected.to_owned())
                })
        })),
        Kind::Path => arg.value_parser(ValueParser::new(LossyPath)),
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

/// The text of a path; what is not UTF-8 is refused later, by its name.
#[derive(Clone)]
struct LossyPath;

impl clap::builder::TypedValueParser for LossyPath {
    type Value = String;

    fn parse_ref(
        &self,
        _: &Command,
        _: Option<&Arg>,
        value: &std::ffi::OsStr,
    ) -> std::result::Result<String, clap::Error> {
        Ok(value.to_string_lossy().into_owned())
    }
}

impl<W: Which> Args for Given<W> {
    fn augment_args(command: Command) -> Command {
        let own = TABLE.iter().filter(|option| option.is_of(W::COMMAND));
        own.fold(command, |command, option| command.arg(argument(option)))
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
