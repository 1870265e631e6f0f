//! The table of a batch as Parquet, for whoever asks questions of tens of thousands of rows.

use crate::rows::Row;
use anyhow::Result;
use parquet::data_type::{ByteArray, ByteArrayType, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use std::sync::Arc;

const SCHEMA: &str = "message batch {
    required binary input (UTF8);
    required binary program (UTF8);
    required binary hash (UTF8);
    required binary guest (UTF8);
    required binary stage (UTF8);
    required int64 words;
    required int64 us;
    required binary outcome (UTF8);
    required binary cause (UTF8);
    required binary file (UTF8);
}";

enum Column {
    Text(fn(&Row) -> &str),
    Number(fn(&Row) -> u64),
}

/// In the order of the schema.
const COLUMNS: [Column; 10] = [
    Column::Text(|row| &row.input),
    Column::Text(|row| &row.program),
    Column::Text(|row| &row.hash),
    Column::Text(|row| &row.guest),
    Column::Text(|row| &row.stage),
    Column::Number(|row| row.words),
    Column::Number(|row| row.us),
    Column::Text(|row| &row.outcome),
    Column::Text(|row| &row.cause),
    Column::Text(|row| &row.file),
];

/// Rows as a file.
pub fn file(rows: &[&Row]) -> Result<Vec<u8>> {
    let schema = Arc::new(parse_message_type(SCHEMA)?);
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::new(WriterProperties::default()))?;
    let mut group = writer.next_row_group()?;
    for column in &COLUMNS {
        let Some(mut out) = group.next_column()? else { break };
        match column {
            Column::Text(of) => {
                let texts: Vec<ByteArray> = rows.iter().map(|row| ByteArray::from(of(row))).collect();
                out.typed::<ByteArrayType>().write_batch(&texts, None, None)?;
            }
            Column::Number(of) => {
                let numbers: Vec<i64> =
                    rows.iter().map(|row| i64::try_from(of(row)).unwrap_or(i64::MAX)).collect();
                out.typed::<Int64Type>().write_batch(&numbers, None, None)?;
            }
        }
        out.close()?;
    }
    group.close()?;
    Ok(writer.into_inner()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::RowAccessor;

    #[test]
    fn rows_read_back() {
        let rows: Vec<Row> = (0..1000)
            .map(|n| Row {
                input: format!("{n}.shbin"),
                program: String::new(),
                hash: "ab".into(),
                guest: "pica".into(),
                stage: "vertex".into(),
                words: n,
                us: n * n,
                outcome: "ok".into(),
                cause: "ä".into(),
                file: String::new(),
            })
            .collect();
        let bytes = file(&rows.iter().collect::<Vec<_>>()).unwrap();
        let reader = SerializedFileReader::new(bytes::Bytes::from(bytes)).unwrap();
        let read: Vec<_> = reader.get_row_iter(None).unwrap().map(Result::unwrap).collect();
        assert_eq!(read.len(), rows.len());
        for (read, row) in read.iter().zip(&rows) {
            assert_eq!(read.get_string(0).unwrap(), &row.input);
            assert_eq!(read.get_long(6).unwrap() as u64, row.us);
            assert_eq!(read.get_string(8).unwrap(), &row.cause);
        }
    }
}
