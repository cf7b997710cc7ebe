//! What a list shows of many sessions, remembered between runs in a SQLite file that may vanish at any time.
