//! A file of rows, in whatever format it is.

use std::path::Path;

use super::batch::Source;
use super::delimited::Delimited;
use super::opened::Opened;
use super::svmlight::Svmlight;
use crate::error::{Error, Result};
use crate::features::Encoding;
use crate::options::{DataOptions, Format};

/// Opens a file of rows in whatever format it is.
pub(super) fn source(
    path: &Path,
    options: &DataOptions,
    encoding: Option<&Encoding>,
) -> Result<(Format, Box<dyn Source>)> {
    let opened = Opened::new(path)?;
    let format = opened.format(options)?;
    check_options(format, &opened.name, options)?;
    let sparse = encoding.is_some_and(Encoding::has_sparse);
    if sparse && format != Format::Svmlight {
        return Err(Error::NotSparse { file: opened.name, found: format.words() });
    }
    let source: Box<dyn Source> = match format {
        Format::Csv | Format::Tsv => Box::new(Delimited::open(opened.unpack()?, format, options)?),
        Format::Svmlight => Box::new(Svmlight::open(opened.unpack()?, options, encoding)?),
        #[cfg(feature = "arrow")]
        Format::Parquet => {
            let (file, opened) = opened.whole()?;
            Box::new(super::columnar::Parquet::open(file, opened, options)?)
        }
        #[cfg(feature = "arrow")]
        Format::Arrow => {
            let (file, opened) = opened.whole()?;
            Box::new(super::columnar::Arrow::open(file, opened, options)?)
        }
        #[cfg(not(feature = "arrow"))]
        Format::Parquet | Format::Arrow => {
            return Err(Error::NoArrow { file: opened.name, format: format.words() });
        }
    };
    Ok((format, source))
}

/// Refuses options that do not concern a format.
fn check_options(format: Format, file: &str, options: &DataOptions) -> Result<()> {
    let refuse = |option, expected: &str| {
        let found = format!("{file} is {}", format.words());
        Err(Error::Option { option, found, expected: expected.to_owned() })
    };
    let delimited = matches!(format, Format::Csv | Format::Tsv);
    if !delimited && options.delimiter.is_some() {
        return refuse("delimiter", "it with delimited text only");
    }
    if !delimited && options.comment.is_some() {
        return refuse("comment", "it with delimited text only");
    }
    if !delimited && options.columns.is_some() {
        return refuse("columns", "it with delimited text without a header only");
    }
    if format == Format::Svmlight {
        let given = [("decimal", options.decimal), ("thousands", options.thousands)];
        if let Some((option, _)) = given.into_iter().find(|(_, sign)| sign.is_some()) {
            return refuse(option, "it with tables, whose cells are texts");
        }
    }
    if format != Format::Svmlight && options.index_base.is_some() {
        return refuse("index-base", "it with LIBSVM only");
    }
    if format == Format::Svmlight && !options.na.is_empty() && options.group_file.is_empty() {
        return refuse("na", "it with tables, in which cells can be missing");
    }
    Ok(())
}
