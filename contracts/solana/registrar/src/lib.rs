//! The registrar: takes SOL for names, to be relayed to the hub chain, and gives it back where the hub refused.
//!
//! Anchor-shaped (discriminators, borsh fields, events, custom error codes from 6000; `idl.json` describes it), written
//! without crates, so that it builds with `cargo build-sbf` and with a plain `rustc` for BPF alike.
//!
//! - `initialize`, `set_authorities`: the program's upgrade authority names who relays and who withdraws
//! - `register`: a payer's lamports go into the treasury, a payment account remembers them until they are decided
//! - `settle`: the name was won, the lamports are kept
//! - `refund`: the name was lost, exactly the recorded lamports go back to the recorded payer
//! - `withdraw`: kept lamports leave the treasury; what is held for payers never does
//! - `pay_community`, `pay_community_token`: SOL or SPL tokens for a community's name, held for a while in the payment's own
//!   account or the token's vault
//! - `refuse_community`, `release_community`, `release_community_token`, `reopen_community`, `set_hold`: what becomes of them
//!
//! Invariant after every instruction: treasury balance >= its rent-exempt minimum + kept + held; a vault's amount >= what open payments of its token hold.
#![cfg_attr(any(target_arch = "bpf", target_os = "solana"), no_std)]

mod account;
mod address;
mod call;
mod community;
mod error;
mod input;
mod instructions;
mod layout;
mod syscalls;
mod system;
mod token;
mod treasury;

/// What the loader calls, with accounts, instruction data and program id serialised at `input`.
///
/// # Safety
/// `input` has to be laid out as the loader of upgradeable programs does.
#[no_mangle]
pub unsafe extern "C" fn entrypoint(input: *mut u8) -> u64 {
    match input::read(input, instructions::dispatch) {
        Ok(()) => 0,
        Err(error) => error.code(),
    }
}

#[cfg(any(target_arch = "bpf", target_os = "solana"))]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    unsafe { syscalls::abort() }
}
