//! Calls of the system program.
use crate::account::Account;
use crate::address::{Address, SYSTEM_PROGRAM};
use crate::error::{require, Error, Result};
use crate::syscalls::{self, AccountInfo, AccountMeta, Bytes, Instruction, Rent, SignerSeeds};

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

/// A call of the system program. (One argument: BPF passes five words at most.)
struct Call<'a> {
    metas: &'a [AccountMeta],
    infos: &'a [AccountInfo],
    data: Bytes,
    /// Seeds of the address of ours that signs; empty: none does.
    seeds: &'a [Bytes],
}

/// An account to be made, with zeros for data.
pub struct NewAccount<'a> {
    pub payer: Account,
    pub account: Account,
    pub program: &'a Address,
    pub bytes: usize,
    /// Of its address, bump last.
    pub seeds: &'a [Bytes],
}

/// Moves lamports of an account that signed.
pub fn transfer(from: Account, to: Account, lamports: u64) {
    call(&Call {
        metas: &[
            AccountMeta { address: from.address(), is_writable: true, is_signer: true },
            AccountMeta { address: to.address(), is_writable: true, is_signer: false },
        ],
        infos: &[from.info(), to.info()],
        data: Bytes::of(&WithNumber { tag: TRANSFER, number: lamports }),
        seeds: &[],
    })
}

/// Makes an account of this program at one of its addresses, rent paid by `payer`. Lamports that somebody sent there before
/// don't stand in the way (they would in the way of the system program's CreateAccount).
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
    call(&Call { metas, infos: &[account.info()], data: Bytes::of(&allocate), seeds });
    let assign = WithAddress { tag: ASSIGN, address: *program };
    call(&Call { metas, infos: &[account.info()], data: Bytes::of(&assign), seeds });
    Ok(())
}

/// A call that fails ends the whole transaction in the runtime; there is no status to read.
#[inline(never)]
fn call(call: &Call) {
    let instruction = Instruction {
        program: &SYSTEM_PROGRAM,
        accounts: call.metas.as_ptr(),
        accounts_len: call.metas.len() as u64,
        data: call.data,
    };
    let signers = [SignerSeeds { seeds: call.seeds.as_ptr(), length: call.seeds.len() as u64 }];
    let (infos, infos_len) = (call.infos.as_ptr(), call.infos.len() as u64);
    let signers_len = if call.seeds.is_empty() { 0 } else { 1 };
    unsafe { syscalls::sol_invoke_signed_c(&instruction, infos, infos_len, signers.as_ptr(), signers_len) };
}

/// Lamports that an account of so many bytes of data has to hold. The threshold is a double that has always been a power of
/// two (2 years; 1 after SIMD-0194), so its exponent is all that has to be read.
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
