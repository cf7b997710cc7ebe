//! The keys in oh-my-pi's `agent.db`: the rows `api_key` of its table `auth_credentials`. Tokens of sign-ins are not read.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension as _};
use serde_json::Value;

use crate::foreign_store::{ForeignStore, ForeignStoreError};

/// More rows are not looked at.
const MOST_ROWS: u32 = 1_000;
/// No key is longer.
const LONGEST_KEY: usize = 16 << 10;

/// A provider's key.
#[derive(Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct OmpKey {
    pub provider: String,
    /// The name of a variable, a command after `!`, or the key itself.
    pub key: String,
}

/// What the database has of keys.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct OmpKeys {
    /// The first key of each provider, in the order of the providers' names.
    pub keys: Vec<OmpKey>,
    /// Providers that somebody is signed in to.
    pub sign_ins: Vec<String>,
}

/// Reads the database; nothing if there is none, or if it has no such table.
///
/// # Errors
/// It cannot be read.
pub fn omp_keys(database: &Path) -> Result<OmpKeys, ForeignStoreError> {
    Ok(ForeignStore::new(database).read(read)?.unwrap_or_default())
}

fn read(connection: &Connection) -> rusqlite::Result<OmpKeys> {
    let is_table = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'auth_credentials' AND sql NOT LIKE 'CREATE VIRTUAL%'";
    if connection.query_row(is_table, [], |_| Ok(())).optional()?.is_none() {
        return Ok(OmpKeys::default());
    }
    // A column that is computed may cost any time.
    let computed = "SELECT 1 FROM pragma_table_xinfo('auth_credentials') WHERE hidden <> 0";
    if connection.query_row(computed, [], |_| Ok(())).optional()?.is_some() {
        return Ok(OmpKeys::default());
    }
    let has_disabled = connection.column_exists(None, "auth_credentials", "disabled_cause")?;
    let enabled = if has_disabled { "disabled_cause IS NULL" } else { "1" };
    // The data of other rows are not even read.
    let mut rows = connection.prepare(&format!(
        "SELECT provider, credential_type, CASE credential_type WHEN 'api_key' THEN data END FROM auth_credentials \
         WHERE {enabled} AND typeof(provider) = 'text' AND credential_type IN ('api_key', 'oauth') \
         AND length(data) <= {LONGEST_KEY} ORDER BY provider, id LIMIT {MOST_ROWS}"
    ))?;
    let mut rows = rows.query([])?;
    let mut found = OmpKeys::default();
    while let Some(row) = rows.next()? {
        let (provider, kind): (String, String) = (row.get(0)?, row.get(1)?);
        if kind == "oauth" {
            if found.sign_ins.last() != Some(&provider) {
                found.sign_ins.push(provider);
            }
            continue;
        }
        // What is no text of JSON is no key.
        let data: Option<String> = row.get(2).unwrap_or_default();
        let key = data.and_then(|data| Some(serde_json::from_str::<Value>(&data).ok()?["key"].as_str()?.to_owned()));
        let is_known = found.keys.last().is_some_and(|last| last.provider == provider);
        if let Some(key) = key.filter(|key| !is_known && !key.trim().is_empty()) {
            found.keys.push(OmpKey { provider, key });
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fs;
    use std::path::PathBuf;
    use std::time::SystemTime;

    use super::*;

    const TABLE: &str = "CREATE TABLE auth_credentials (id INTEGER PRIMARY KEY AUTOINCREMENT, provider TEXT NOT NULL, \
        credential_type TEXT NOT NULL, data TEXT NOT NULL, disabled_cause TEXT DEFAULT NULL);";
    const ROWS: &str = r#"INSERT INTO auth_credentials (provider, credential_type, data, disabled_cause) VALUES
        ('zai', 'api_key', '{"key":"second"}', NULL), ('anthropic', 'oauth', '{"access":"secret","refresh":"r"}', NULL),
        ('anthropic', 'oauth', '{"access":"other"}', NULL), ('openai', 'api_key', '{"key":"off"}', 'revoked'),
        ('openai', 'api_key', '{"key":"sk-1","source":"login"}', NULL), ('openai', 'api_key', '{"key":"sk-2"}', NULL),
        ('groq', 'api_key', 'no json', NULL), ('xai', 'api_key', '{"key":" "}', NULL);"#;

    fn folder() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("agent?.db");
        (folder, file)
    }

    fn made(file: &Path, mode: &str) -> Connection {
        let connection = Connection::open(file).unwrap();
        connection.execute_batch(&format!("PRAGMA journal_mode={mode}; {TABLE}{ROWS}")).unwrap();
        connection
    }

    /// Bytes and times of all that is in a folder.
    fn stamps(folder: &Path) -> BTreeMap<PathBuf, (Vec<u8>, SystemTime)> {
        let all = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let mut stamps: BTreeMap<_, _> = all
            .map(|path| (path.clone(), (fs::read(&path).unwrap(), fs::metadata(&path).unwrap().modified().unwrap())))
            .collect();
        stamps.insert(folder.to_path_buf(), (Vec::new(), fs::metadata(folder).unwrap().modified().unwrap()));
        stamps
    }

    fn read_of(file: &Path) -> (Vec<(String, String)>, Vec<String>) {
        let folder = file.parent().unwrap();
        let before = stamps(folder);
        let found = omp_keys(file).unwrap();
        assert!(stamps(folder) == before, "not one byte, name or time changed");
        (found.keys.into_iter().map(|key| (key.provider, key.key)).collect(), found.sign_ins)
    }

    fn expected() -> (Vec<(String, String)>, Vec<String>) {
        let keys = [("openai", "sk-1"), ("zai", "second")];
        (keys.map(|(name, key)| (name.to_owned(), key.to_owned())).to_vec(), vec!["anthropic".to_owned()])
    }

    /// The stores of the other program in every state: closed, open with a log, crashed with a log, in a transaction, crashed in one.
    #[test]
    fn keys_are_read_in_every_state_and_nothing_changes() {
        for mode in ["delete", "wal"] {
            let (_folder, file) = folder();
            drop(made(&file, mode));
            assert_eq!(read_of(&file), expected(), "closed, {mode}");
        }
        let (_folder, file) = folder();
        drop(made(&file, "wal"));
        // Rows that are not committed do not count.
        let mut other = OtherProcess::with_open(&file);
        assert_eq!(read_of(&file), expected(), "live, in a transaction");
        let (_copy, crashed) = folder_with(&file, &["", "-wal"]);
        assert_eq!(read_of(&crashed), expected(), "a log alone");
        other.end();
    }

    /// In one process SQLite shares what it knows of a file; the other program is another one.
    struct OtherProcess(std::process::Child);

    impl OtherProcess {
        /// With a committed change and one that is not.
        fn with_open(file: &Path) -> Self {
            use std::io::{BufRead as _, BufReader};
            let mut command = std::process::Command::new(std::env::current_exe().unwrap());
            command.args(["--exact", "omp_keys::tests::the_other_process", "--nocapture"]).env(OTHER, file);
            let mut child =
                command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped()).spawn().unwrap();
            let told = BufReader::new(child.stdout.take().unwrap())
                .lines()
                .map_while(Result::ok)
                .any(|line| line.ends_with("ready"));
            assert!(told, "the other process has the file open");
            Self(child)
        }

        fn end(&mut self) {
            drop(self.0.stdin.take());
            self.0.wait().unwrap();
        }
    }

    const OTHER: &str = "OFFSHOOT_TEST_STORE";

    /// Does nothing, unless a test has started it.
    #[test]
    fn the_other_process() {
        let Some(file) = std::env::var_os(OTHER) else { return };
        let writer = Connection::open(PathBuf::from(file)).unwrap();
        writer
            .execute_batch("UPDATE auth_credentials SET data = data; BEGIN IMMEDIATE; DELETE FROM auth_credentials;")
            .unwrap();
        println!("\nready");
        std::io::stdin().read_line(&mut String::new()).unwrap();
        writer.execute_batch("ROLLBACK").unwrap();
    }

    #[test]
    fn a_journal_of_a_crash_is_rolled_back_in_a_copy() {
        let (_folder, file) = folder();
        let writer = made(&file, "delete");
        writer.execute_batch("PRAGMA cache_size=1; PRAGMA cache_spill=1; BEGIN IMMEDIATE; UPDATE auth_credentials SET provider = 'x' || provider; \
            CREATE TABLE filler (x); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) INSERT INTO filler SELECT randomblob(500) FROM n;").unwrap();
        let (_copy, crashed) = folder_with(&file, &["", "-journal"]);
        writer.execute_batch("ROLLBACK").unwrap();
        assert_eq!(read_of(&crashed), expected());
    }

    fn folder_with(file: &Path, suffixes: &[&str]) -> (tempfile::TempDir, PathBuf) {
        let (folder, copy) = folder();
        for suffix in suffixes {
            fs::copy(format!("{}{suffix}", file.display()), format!("{}{suffix}", copy.display())).unwrap();
        }
        (folder, copy)
    }

    #[test]
    fn what_is_not_there_or_of_another_shape_has_no_keys() {
        let (_folder, file) = folder();
        assert!(omp_keys(&file).unwrap() == OmpKeys::default());
        for sql in [
            "CREATE TABLE other (x)",
            "CREATE VIEW auth_credentials AS SELECT 1 AS id, 'openai' AS provider, 'api_key' AS credential_type, '{\"key\":\"x\"}' AS data",
        ] {
            drop(fs::remove_file(&file));
            Connection::open(&file).unwrap().execute_batch(sql).unwrap();
            assert_eq!(read_of(&file), Default::default(), "{sql}");
        }
        // Of an older version.
        drop(fs::remove_file(&file));
        let older = TABLE.replace(", disabled_cause TEXT DEFAULT NULL", "");
        let rows = "INSERT INTO auth_credentials (provider, credential_type, data) VALUES ('openai', 'api_key', '{\"key\":\"old\"}')";
        Connection::open(&file).unwrap().execute_batch(&format!("{older}{rows}")).unwrap();
        assert_eq!(read_of(&file).0, [("openai".to_owned(), "old".to_owned())]);
    }

    #[test]
    fn hostile_files_are_refused_in_bounded_time() {
        let (folder, file) = folder();
        let refused = |file: &Path| omp_keys(file).err().unwrap().to_string();
        fs::write(
            &file,
            "no database, but long enough to have a header of one, and more than that: some hundred bytes".repeat(20),
        )
        .unwrap();
        assert!(refused(&file).contains("not a database"));
        fs::remove_file(&file).unwrap();
        std::os::unix::fs::symlink("/dev/zero", &file).unwrap();
        assert!(refused(&file).contains("not a regular file"));
        fs::remove_file(&file).unwrap();
        fs::File::create(&file).unwrap().set_len(65 << 20).unwrap();
        assert!(refused(&file).contains("larger than 64 MiB"));
        fs::remove_file(&file).unwrap();
        drop(made(&file, "delete"));
        std::os::unix::fs::symlink("/dev/zero", format!("{}-wal", file.display())).unwrap();
        assert!(refused(&file).contains("not a regular file"));
        fs::remove_file(format!("{}-wal", file.display())).unwrap();
        // A column that computes for ever.
        fs::remove_file(&file).unwrap();
        let slow = "CREATE TABLE auth_credentials (id INTEGER PRIMARY KEY, provider TEXT, credential_type TEXT, \
            data TEXT AS (hex(zeroblob(400000))) VIRTUAL, disabled_cause TEXT);
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
            INSERT INTO auth_credentials (provider, credential_type) SELECT 'p', 'api_key' FROM n";
        Connection::open(&file).unwrap().execute_batch(slow).unwrap();
        assert!(omp_keys(&file).unwrap() == OmpKeys::default());
        // Damaged in the middle.
        fs::remove_file(&file).unwrap();
        drop(made(&file, "delete"));
        let mut bytes = fs::read(&file).unwrap();
        bytes[4096..].fill(0xff);
        fs::write(&file, bytes).unwrap();
        assert!(refused(&file).contains("malformed"));
        drop(folder);
    }
}
