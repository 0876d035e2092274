//! The studio over plain HTTP, without a browser: who is let in, what a first-time user meets, and what goes wrong.

mod bad_input;
mod browser;
mod first_time;
mod history;
mod security;
