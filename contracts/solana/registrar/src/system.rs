//! Calls of the system program, and values of the runtime.
use crate::account::Account;
use crate::address::{Address, SYSTEM_PROGRAM};
use crate::call::{call, Call};
use crate::error::{require, Error, Result};
use crate::syscalls::{self, AccountMeta, Bytes, Clock, Rent};

const ASSIGN: u32 = 1;
const TRANSFER: u32 = 2;
const ALLOCATE: u32 = 8;
/// What an account costs beyond its data.
const ACCOUNT_OVERHEAD_BYTES: u64 = 128;
const MANTISSA_BITS: u64 = 52;
const EXPONENT_BIAS: u64 = 1023;
/// Far above any rent there was, and small enough that nothing below overflows.
const MAX_LAMPORTS_PER_BYTE: u64 = 1 << 32;

#[repr(C, packed)]
struct WithNumber {
    tag: u32,
    number: u64,
}

#[repr(C, packed)]
struct WithAddress {
    tag: u32,
    address: Address,
}

/// An account to be made, with zeros for data.
pub struct NewAccount<'a> {
    pub payer: Account,
    pub account: Account,
    /// Its owner.
    pub program: &'a Address,
    pub bytes: usize,
    /// Of its address, bump last.
    pub seeds: &'a [Bytes],
}

/// Moves lamports of an account that signed.
#[inline(never)]
pub fn transfer(from: Account, to: Account, lamports: u64) {
    call(&Call {
        program: &SYSTEM_PROGRAM,
        metas: &[
            AccountMeta { address: from.address(), is_writable: true, is_signer: true },
            AccountMeta { address: to.address(), is_writable: true, is_signer: false },
        ],
        infos: &[from.info(), to.info()],
        data: Bytes::of(&WithNumber { tag: TRANSFER, number: lamports }),
        seeds: &[],
    })
}

/// Makes an account at one of this program's addresses, for `program` to own, rent paid by `payer`. Lamports that
/// somebody sent there before don't stand in the way (they would in the way of the system program's CreateAccount).
#[inline(never)]
pub fn create(new: &NewAccount) -> Result<()> {
    let &NewAccount { payer, account, program, bytes, seeds } = new;
    let bytes = bytes as u64;
    let missing = rent_exempt_minimum(bytes)?.saturating_sub(account.lamports());
    if missing > 0 {
        transfer(payer, account, missing);
    }
    let metas = &[AccountMeta { address: account.address(), is_writable: true, is_signer: true }];
    let allocate = WithNumber { tag: ALLOCATE, number: bytes };
    call(&Call { program: &SYSTEM_PROGRAM, metas, infos: &[account.info()], data: Bytes::of(&allocate), seeds });
    let assign = WithAddress { tag: ASSIGN, address: *program };
    call(&Call { program: &SYSTEM_PROGRAM, metas, infos: &[account.info()], data: Bytes::of(&assign), seeds });
    Ok(())
}

/// Lamports that an account of so many bytes of data has to hold. The threshold is a double that has always been a
/// power of two (2 years; 1 after SIMD-0194), so its exponent is all that has to be read.
#[inline(never)]
pub fn rent_exempt_minimum(bytes: u64) -> Result<u64> {
    let mut rent = Rent { lamports_per_byte: 0, exemption_threshold_bits: 0, burn_percent: 0 };
    unsafe { syscalls::sol_get_rent_sysvar(&mut rent) };
    let mantissa = rent.exemption_threshold_bits & ((1 << MANTISSA_BITS) - 1);
    let years_log2 = (rent.exemption_threshold_bits >> MANTISSA_BITS).wrapping_sub(EXPONENT_BIAS);
    let is_read = mantissa == 0 && years_log2 < 8 && rent.lamports_per_byte <= MAX_LAMPORTS_PER_BYTE;
    require(is_read && bytes <= u16::MAX as u64, Error::UnsupportedRent)?;
    Ok((ACCOUNT_OVERHEAD_BYTES + bytes).wrapping_mul(rent.lamports_per_byte) << years_log2)
}

/// The cluster's slot and its time, in Unix seconds.
pub fn clock() -> Clock {
    let mut clock =
        Clock { slot: 0, epoch_start_timestamp: 0, epoch: 0, leader_schedule_epoch: 0, unix_timestamp: 0 };
    unsafe { syscalls::sol_get_clock_sysvar(&mut clock) };
    clock
}
