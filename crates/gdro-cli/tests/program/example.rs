//! The tables that ship, and what the program says to who has not read anything.

use crate::common::{Folder, stderr};

/// Each table is written where nothing is, and the command that is printed works as it stands.
#[test]
fn the_command_that_an_example_prints_works() {
    let folder = Folder::new();
    let listed = folder.prints("example");
    assert_eq!(listed.lines().count(), 3, "{listed}");
    for line in listed.lines() {
        let command = line.split("  ").next().unwrap().trim().strip_prefix("gdro ").unwrap();
        let said = folder.prints(command);
        let next = said.lines().last().unwrap().strip_prefix("next: gdro ").unwrap();
        let shown = folder.prints(next);
        let verdicts = ["\nHELPED: ", "\nHURT: ", "\nNO CLEAR EVIDENCE: "];
        assert!(verdicts.iter().any(|word| shown.contains(word)), "{next}: {shown}");
        if command.ends_with("island") {
            assert!(shown.contains("\nHELPED: "), "{shown}");
        }
        // What is there stays, and the one line says what to do.
        let file = format!("{}.csv", command.strip_prefix("example ").unwrap());
        let before = folder.read(&file);
        assert!(folder.refused(command).ends_with("name another file with --out"));
        assert_eq!(folder.read(&file), before);
        let said = folder.prints(&format!("{command} --out other-{file}"));
        assert!(said.contains(&format!("\nnext: gdro fit other-{file} --target ")), "{said}");
        assert_eq!(folder.read(&format!("other-{file}")), before);
    }
    let message = folder.refused("example nothing");
    assert_eq!(message, "nothing: no such example: expected one of adult, german_credit, island");
    assert!(folder.refused("example --out x.csv").contains("<NAME>"));
}

/// The common options fit on one screen, the rest is behind `--help-all`, and each help begins with
/// examples whose options there are.
#[test]
fn help_is_one_screen() {
    let folder = Folder::new();
    let all = folder.prints("help");
    let commands = all.split("\nCommands:\n").nth(1).unwrap().lines();
    let commands = commands.take_while(|line| !line.is_empty());
    // What a command is may go on in further lines, which are indented more.
    let named = commands.filter_map(|line| line.strip_prefix("  ").filter(|l| !l.starts_with(' ')));
    let commands = named.filter_map(|line| line.split_whitespace().next());
    let commands: Vec<&str> = commands.filter(|name| *name != "help").collect();
    assert!(commands.contains(&"fit") && commands.contains(&"example"), "{all}");
    for command in commands {
        let short = folder.prints(&format!("{command} --help"));
        assert_eq!(short, folder.prints(&format!("{command} -h")));
        assert!(short.lines().count() <= 60, "{command}: {} lines", short.lines().count());
        let mut lines = short.lines().skip_while(|line| !line.is_empty());
        assert_eq!((lines.next(), lines.next()), (Some(""), Some("Examples:")), "{short}");
        let examples: Vec<&str> = lines.take_while(|line| !line.is_empty()).collect();
        assert!(!examples.is_empty() && examples.len() <= 3, "{short}");
        let full = folder.prints(&format!("help {command}"));
        for example in examples {
            assert!(example.starts_with(&format!("  gdro {command}")), "{example}");
            let options = example.split(' ').filter(|word| word.starts_with("--"));
            for option in options {
                assert!(full.contains(option), "{example}: no {option} in {full}");
            }
        }
        if short.contains("--help-all") {
            let long = folder.prints(&format!("{command} --help-all"));
            assert!(long.lines().count() > short.lines().count(), "{command}");
            assert!(!short.contains("--index-base"), "{command}");
            assert_eq!(
                long.contains("--index-base"),
                ["fit", "select", "inspect"].contains(&command)
            );
        }
    }
}

#[test]
fn errors_end_with_what_to_try() {
    let folder = Folder::people();
    for (arguments, end) in [
        ("fit", "see gdro fit --help"),
        ("fit t.csv --unheard-of", "see gdro fit --help"),
        ("evaluate", "see gdro evaluate --help"),
        ("nonsense", "see gdro --help"),
    ] {
        let message = folder.refused(arguments);
        assert!(message.ends_with(end), "{arguments}: {message}");
    }
    let start = folder.run("");
    let said = String::from_utf8(start.stdout.clone()).unwrap();
    assert!(start.status.success() && stderr(&start).is_empty(), "{said}");
    // The commands of the start work in this order.
    let commands = said.lines().filter_map(|line| line.trim().strip_prefix("gdro example "));
    let name = commands.map(|line| line.split(' ').next().unwrap()).next().unwrap();
    folder.prints(&format!("example {name}"));
    assert!(said.contains(&format!("gdro fit {name}.csv ")), "{said}");
}

/// The lines of the README for the program, as they stand, print what stands below them.
#[test]
fn the_first_page_works() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md");
    let page = std::fs::read_to_string(page).unwrap();
    let (_, part) = page.split_once("## The program, in six lines").unwrap();
    let block = |start: &str| part.split_once(start).unwrap().1.split_once("\n```").unwrap().0;
    let folder = Folder::new();
    let mut printed = String::new();
    let commands: Vec<&str> = block("```sh\n").lines().collect();
    assert_eq!(commands.len(), 6);
    for line in commands {
        let command = line.split(" # ").next().unwrap().trim().strip_prefix("gdro ").unwrap();
        printed += &folder.prints(command);
    }
    // Tables are cut off on the page, and sentences broken.
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let (table, sentences) = block("```text\n").split_once("…\n").unwrap();
    for row in table.lines().filter(|row| !row.starts_with('─')) {
        assert!(printed.contains(row.trim_end()), "{row}\n{printed}");
    }
    assert!(words(&printed).contains(&words(sentences)), "{sentences}\n{printed}");
}

/// The shell takes what it is given, and every command and option is there.
#[test]
fn shells_and_man_get_every_option() {
    let folder = Folder::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = folder.prints(&format!("completions {shell}"));
        for word in ["certify", "holdout-column", "objectives"] {
            assert!(script.contains(word), "{shell}: no {word}");
        }
    }
    assert!(folder.refused("completions tcsh").contains("bash"));
    folder.file("gdro.bash", folder.prints("completions bash"));
    folder.file("ask.bash", "source gdro.bash\nCOMP_WORDS=(gdro fit --holdout-c)\nCOMP_CWORD=2\n_gdro\necho \"${COMPREPLY[@]}\"\n");
    let asked =
        std::process::Command::new("bash").arg("ask.bash").current_dir(folder.path()).output();
    if let Ok(asked) = asked {
        assert_eq!(
            String::from_utf8_lossy(&asked.stdout),
            "--holdout-column\n",
            "{}",
            stderr(&asked)
        );
    }
    folder.prints("man pages");
    let page = folder.read("pages/gdro-fit.1");
    assert!(
        page.starts_with(".TH GDRO-FIT 1 ") && page.contains("\\-\\-holdout\\-column <COLUMN>"),
        "{page}"
    );
    assert!(folder.read("pages/gdro.1").contains("gdro\\-select"));
}
