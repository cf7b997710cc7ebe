//! See `offshoot_session::testing::fuzz::codec`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| offshoot_session::testing::fuzz::codec(bytes));
