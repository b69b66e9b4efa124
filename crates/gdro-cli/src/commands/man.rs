//! `gdro man`: pages for `man`.

use std::path::PathBuf;

use clap::{Arg, Args, Command};
use gdro_train::{Result, files};

use crate::print;

/// Write pages for `man` into a folder: gdro.1, and one for each command.
#[derive(Debug, Args)]
#[command(before_help = super::help::MAN)]
pub struct Man {
    /// The folder, such as /usr/local/share/man/man1
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

impl Man {
    /// Runs the command for a program, whose name is `gdro`.
    pub fn run(self, program: &Command) -> Result<()> {
        files::check_folder(&self.folder)?;
        let commands = program.get_subcommands().filter(|command| command.get_name() != "help");
        let own = commands.map(|command| (format!("gdro-{}", command.get_name()), command));
        let pages = own.chain([("gdro".to_owned(), program)]);
        for (name, command) in pages {
            print::file(&self.folder.join(format!("{name}.1")), page(&name, command))?;
        }
        Ok(())
    }
}

/// A page of a command in roff.
fn page(name: &str, command: &Command) -> String {
    let version = env!("CARGO_PKG_VERSION");
    let about = plain(command.get_about());
    let mut text = format!(".TH {} 1 \"\" \"gdro {version}\" \"gdro\"\n", name.to_uppercase());
    text += &format!(".SH NAME\n{} \\- {}\n", name.replace('-', "\\-"), escaped(&about));
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ").replace("gdro ", "");
    let usage = usage.split_once(' ').map_or("", |(_, rest)| rest);
    let usage = format!("{} {usage}", name.replacen('-', " ", 1));
    text += &format!(".SH SYNOPSIS\n.nf\n{}\n.fi\n", escaped(usage.trim()));
    text += &format!(
        ".SH DESCRIPTION\n{}\n",
        escaped(&plain(command.get_long_about().or(command.get_about())))
    );
    if let Some(examples) = command.get_before_help() {
        text += &format!(".SH EXAMPLES\n.nf\n{}\n.fi\n", escaped(&examples.to_string()));
    }
    let subcommands: Vec<&Command> = command.get_subcommands().collect();
    if !subcommands.is_empty() {
        text += ".SH COMMANDS\n";
        for inner in subcommands {
            let about = escaped(&plain(inner.get_about()));
            text += &format!(".TP\n\\fBgdro\\-{}\\fR(1)\n{about}\n", inner.get_name());
        }
    }
    let mut heading = None;
    for arg in command.get_arguments() {
        let own = arg.get_help_heading().unwrap_or(match arg.is_positional() {
            true => "Arguments",
            false => "Options",
        });
        if heading != Some(own) {
            text += &format!(".SH {}\n", own.to_uppercase());
            heading = Some(own);
        }
        text += &format!(".TP\n\\fB{}\\fR\n{}\n", escaped(&invocation(arg)), escaped(&said(arg)));
    }
    if let Some(after) = command.get_after_long_help().or_else(|| command.get_after_help()) {
        text += &format!(".SH NOTES\n.nf\n{}\n.fi\n", escaped(&after.to_string()));
    }
    text
}

/// How an argument is given: `-q, --quiet`, `--l2 <L>`.
fn invocation(arg: &Arg) -> String {
    let value = arg.get_value_names().filter(|_| arg.get_action().takes_values());
    let value = value.map_or(String::new(), |names| format!(" <{}>", names.join("> <")));
    let names = [
        arg.get_short().map(|short| format!("-{short}")),
        arg.get_long().map(|long| format!("--{long}")),
    ];
    let names: Vec<String> = names.into_iter().flatten().collect();
    format!("{}{value}", names.join(", ")).trim().to_owned()
}

/// All that is said of an argument.
fn said(arg: &Arg) -> String {
    plain(arg.get_long_help().or_else(|| arg.get_help()))
}

fn plain(text: Option<&clap::builder::StyledStr>) -> String {
    text.map(ToString::to_string).unwrap_or_default()
}

/// A text in which roff reads no request.
fn escaped(text: &str) -> String {
    let text = text.replace('\\', "\\e").replace('-', "\\-");
    let lines = text.lines().map(|line| match line.starts_with(['.', '\'']) {
        true => format!("\\&{line}"),
        false => line.to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n")
}
