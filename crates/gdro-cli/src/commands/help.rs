//! What the help says beside the options: examples first, and how much is shown.

use clap::builder::ArgAction;
use clap::{Arg, Command};

/// In which order the parts of a help stand.
const TEMPLATE: &str = "{about-with-newline}
Examples:
{before-help}{usage-heading} {usage}

{all-args}{after-help}";

/// What `gdro` alone says.
pub const START: &str = "\
gdro trains one model that does well on every group, not only on average.

Try it:
  gdro example island          # writes island.csv, a table that ships
  gdro fit island.csv --target ill --groups site --objective max

Your own table:
  gdro inspect people.csv --target income --groups race,sex
  gdro fit people.csv --target income --groups race,sex --out run/

gdro --help lists the commands, gdro fit --help the options of one.
";

/// Examples of the program.
pub const GDRO: &str = "  gdro example adult
  gdro fit adult.csv --target income --groups race,sex --missing own-category --out run/
  gdro evaluate run/ later.csv";

/// Examples of `gdro fit`.
pub const FIT: &str = "  gdro fit people.csv --target income --groups race,sex
  gdro fit people.csv --target income --groups sex,age:25,40,60 --objective max --out run/
  gdro fit 'visits-*.parquet' --target ill --groups hospital --stream --out run/";

/// Examples of `gdro select`.
pub const SELECT: &str = "  gdro select people.csv --target income --groups race,sex --out run/
  gdro select people.csv --target income --groups race --objectives max --l2 1e-4,1e-2,1
  gdro select people.csv --target income --groups race,sex --path";

/// Examples of `gdro inspect`.
pub const INSPECT: &str = "  gdro inspect people.csv
  gdro inspect people.csv --target income --groups race,sex
  gdro inspect people.csv --target income --groups age:25,40,60 --missing mean --json";

/// Examples of `gdro resume`.
pub const RESUME: &str = "  gdro resume run/
  gdro resume run/ --json";

/// Examples of `gdro evaluate`.
pub const EVALUATE: &str = "  gdro evaluate run/ later.csv
  gdro evaluate run/ later.csv --report page.html
  gdro evaluate run/ later.csv --delta 0.01 --json";

/// Examples of `gdro predict`.
pub const PREDICT: &str = "  gdro predict run/ new.csv
  gdro predict run/ new.csv --out predictions.csv
  gdro predict run/ 'new-*.parquet' --quiet";

/// Examples of `gdro export`.
pub const EXPORT: &str = "  gdro export run/ --out model.onnx";

/// Examples of `gdro certify`.
pub const CERTIFY: &str = "  gdro certify run/ people.csv
  gdro certify run/ people.csv --json";

/// Examples of `gdro show`.
pub const SHOW: &str = "  gdro show run/
  gdro show run/ --all";

/// Examples of `gdro example`.
pub const EXAMPLE: &str = "  gdro example
  gdro example adult
  gdro example german_credit --out credits.csv";

/// Examples of `gdro completions`.
pub const COMPLETIONS: &str =
    "  gdro completions bash > ~/.local/share/bash-completion/completions/gdro
  gdro completions zsh > ~/.zfunc/_gdro
  gdro completions fish > ~/.config/fish/completions/gdro.fish";

/// Examples of `gdro man`.
pub const MAN: &str = "  gdro man ~/.local/share/man/man1";

/// The commands with their help as it should be: `--help` shows what is common, on one screen, and
/// `--help-all` what there is.
pub fn dressed(program: Command) -> Command {
    program.help_template(TEMPLATE).mut_subcommands(|command| {
        let help = Arg::new("help").short('h').long("help").action(ArgAction::HelpShort);
        let all = Arg::new("help-all").long("help-all").action(ArgAction::HelpLong);
        let has_more = command.get_long_about().is_some()
            || command.get_arguments().any(Arg::is_hide_short_help_set);
        let said = if has_more { "The common options" } else { "Print help" };
        let command = command.help_template(TEMPLATE).disable_help_flag(true);
        let command = command.arg(help.help(said).help_heading("Help"));
        if !has_more {
            return command;
        }
        command.arg(all.help("All options, and all about each").help_heading("Help"))
    })
}
