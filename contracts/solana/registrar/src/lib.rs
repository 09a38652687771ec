//! The registrar: takes SOL for names, to be relayed to the hub chain, and gives it back where the hub refused.
//!
//! Anchor-shaped (discriminators, borsh fields, events, custom error codes from 6000; `idl.json` describes it), written
//! without crates, so that it builds with `cargo build-sbf`, and with a plain `rustc` for BPF.
//!
//! - `initialize`: the program's upgrade authority names who administers, who relays and who withdraws
//! - `set_authorities`, `propose_admin`, `accept_admin`: the admin authority names others, and hands over in two steps
//! - `register`: a payer's lamports go into the treasury, a payment account remembers them until they are decided
//! - `settle`: the name was won, the lamports are kept
//! - `refund`: the name was lost, exactly the recorded lamports go back to the recorded payer
//! - `reclaim_payment`: nobody has decided in time, the payer takes them back
//! - `withdraw`: kept lamports leave the treasury; what is held for payers never does
//! - `pay_community`, `pay_community_token`: SOL or SPL tokens for a community's name, held in the payment's own
//!   account or the token's vault until the relay authority speaks
//! - `refuse_community`, `release_community`: it has spoken, the money is the payer's or the recipient's
//! - `claim_community`: the payer takes back what nobody decided in time; who couldn't be paid at once collects
//!
//! Silence pays back: no deadline turns a payer's money into somebody else's.
//!
//! Invariant after every instruction: treasury balance >= kept + held; a vault's amount >= what open payments of its
//! token hold.
#![cfg_attr(any(target_arch = "bpf", target_os = "solana"), no_std)]

mod account;
mod address;
mod call;
mod community;
mod error;
mod event;
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
