//! `gdro completions`: what a shell needs to complete commands and options.

use clap::{Arg, Args, Command, ValueEnum};

use crate::print;
use gdro_train::Result;

/// Print what a shell needs to complete commands and options.
#[derive(Debug, Args)]
#[command(before_help = super::help::COMPLETIONS)]
pub struct Completions {
    /// Which shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

/// A shell.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Shell {
    Bash,
    Zsh,
    Fish,
}

impl Completions {
    /// Runs the command for a program, whose name is `gdro`.
    pub fn run(self, program: &Command) -> Result<()> {
        print::text(&match self.shell {
            Shell::Bash => bash(program),
            Shell::Zsh => zsh(program),
            Shell::Fish => fish(program),
        })
    }
}

/// The commands that are shown.
fn commands(program: &Command) -> impl Iterator<Item = &Command> {
    program.get_subcommands().filter(|command| !command.is_hide_set())
}

/// The options of a command by their long names.
fn options(command: &Command) -> impl Iterator<Item = (&Arg, &str)> {
    command.get_arguments().filter_map(|arg| Some((arg, arg.get_long()?)))
}

/// What an argument or a command is, in one line without what a shell would read.
fn about(text: Option<&clap::builder::StyledStr>) -> String {
    let text = text.map(ToString::to_string).unwrap_or_default();
    let line = text.lines().next().unwrap_or_default();
    line.chars().filter(|c| !matches!(c, '\'' | '"' | '[' | ']' | ':' | '\\' | '`' | '$')).collect()
}

fn bash(program: &Command) -> String {
    let names: Vec<&str> = commands(program).map(Command::get_name).collect();
    let mut text = "_gdro() {\n    local words\n    case ${COMP_WORDS[1]} in\n".to_owned();
    for command in commands(program) {
        let long: Vec<String> = options(command).map(|(_, long)| format!("--{long}")).collect();
        text += &format!("        {}) words=\"{}\" ;;\n", command.get_name(), long.join(" "));
    }
    text + "    esac\n"
        + &format!("    [[ $COMP_CWORD -eq 1 ]] && words=\"{} --help --version\"\n", names.join(" "))
        + "    local cur=${COMP_WORDS[COMP_CWORD]}\n"
        + "    if [[ $COMP_CWORD -eq 1 || $cur == -* ]]; then\n"
        + "        COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
        + "    fi\n}\n"
        // Files where nothing else fits.
        + "complete -o bashdefault -o default -F _gdro gdro\n"
}

fn zsh(program: &Command) -> String {
    let mut text = "#compdef gdro\n\n_gdro() {\n    local -a commands\n    commands=(\n".to_owned();
    for command in commands(program) {
        text += &format!("        '{}:{}'\n", command.get_name(), about(command.get_about()));
    }
    text += "    )\n    if (( CURRENT == 2 )); then\n        _describe command commands\n        return\n    fi\n";
    text +=
        "    local command=$words[2]\n    shift words\n    (( CURRENT-- ))\n    case $command in\n";
    for command in commands(program) {
        text += &format!("        {}) _arguments \\\n", command.get_name());
        for (arg, long) in options(command) {
            let value = if arg.get_action().takes_values() { ":value:_files" } else { "" };
            text += &format!("            '*--{long}[{}]{value}' \\\n", about(arg.get_help()));
        }
        text += "            '*:file:_files' ;;\n";
    }
    text + "    esac\n}\n\n_gdro \"$@\"\n"
}

fn fish(program: &Command) -> String {
    let mut text = String::new();
    for command in commands(program) {
        let (name, about_it) = (command.get_name(), about(command.get_about()));
        text +=
            &format!("complete -c gdro -n __fish_use_subcommand -f -a {name} -d '{about_it}'\n");
        for (arg, long) in options(command) {
            let value = if arg.get_action().takes_values() { " -r" } else { "" };
            text += &format!(
                "complete -c gdro -n '__fish_seen_subcommand_from {name}' -l {long}{value} -d '{}'\n",
                about(arg.get_help())
            );
        }
    }
    text
}
