//! The one test binary of the command line: the real program in an empty home.
