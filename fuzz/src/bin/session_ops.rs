//! See `offshoot_session::testing::fuzz::session_ops`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| offshoot_session::testing::fuzz::session_ops(bytes));
