//! See `offshoot_session::testing::fuzz::text`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| offshoot_session::testing::fuzz::text(bytes));
