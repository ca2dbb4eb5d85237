//! The work queues of controller runtimes as exact, pure state machines.
#![no_std]
extern crate alloc;
