//! A test double: a program that calls another one with what it was given, as a multisig does, and signs as its vault (the
//! address of seed "vault", bump in the first byte of the data).
//!
//! Accounts: the program to call, then the accounts of the call. Data: bump of the vault u8, a byte a account (bit 0: pass it
//! as signer), the data of the call.
#![cfg_attr(any(target_arch = "bpf", target_os = "solana"), no_std)]

use core::mem::MaybeUninit;

const MAX_ACCOUNTS: usize = 16;
const AROUND_DATA_BYTES: u64 = 88 + 10_240 + 8;
const INVALID: u64 = 1;

#[repr(C)]
#[derive(Clone, Copy)]
struct Bytes(*const u8, u64);

#[repr(C)]
struct Instruction(*const u8, *const Meta, u64, Bytes);

#[repr(C)]
struct Meta(*const u8, bool, bool);

#[repr(C)]
struct Info {
    address: *const u8,
    lamports: *const u8,
    data_len: u64,
    data: *const u8,
    owner: *const u8,
    rent_epoch: u64,
    is_signer: bool,
    is_writable: bool,
    is_executable: bool,
}

extern "C" {
    #[cfg(any(target_arch = "bpf", target_os = "solana"))]
    fn abort() -> !;
    fn sol_invoke_signed_c(call: *const Instruction, infos: *const Info, count: u64, signers: *const Bytes, n: u64) -> u64;
}

/// # Safety
/// `input` has to be what the loader serialises.
#[no_mangle]
pub unsafe extern "C" fn entrypoint(input: *mut u8) -> u64 {
    let count = *(input as *const u64) as usize;
    if count == 0 || count > MAX_ACCOUNTS {
        return INVALID;
    }
    let mut starts = [const { MaybeUninit::<*const u8>::uninit() }; MAX_ACCOUNTS];
    let mut at = input.add(8) as *const u8;
    for index in 0..count {
        if *at == 0xff {
            starts[index].write(at);
            let data_len = *(at.add(80) as *const u64);
            at = at.add((data_len.wrapping_add(7) & !7).wrapping_add(AROUND_DATA_BYTES) as usize);
        } else {
            starts[index] = starts[*at as usize % MAX_ACCOUNTS];
            at = at.add(8);
        }
    }
    let data_len = *(at as *const u64);
    let data = at.add(8);
    let count = count as u64;
    if data_len < count {
        return INVALID;
    }
    call(&starts, count, data, data_len)
}

#[inline(never)]
unsafe fn call(starts: &[MaybeUninit<*const u8>; MAX_ACCOUNTS], count: u64, data: *const u8, data_len: u64) -> u64 {
    let mut infos = [const { MaybeUninit::<Info>::uninit() }; MAX_ACCOUNTS];
    let mut metas = [const { MaybeUninit::<Meta>::uninit() }; MAX_ACCOUNTS];
    for index in 0..count as usize {
        if index >= MAX_ACCOUNTS {
            return INVALID;
        }
        let start = starts[index].assume_init();
        let is_signer = *start.add(1) != 0;
        let is_writable = *start.add(2) != 0;
        infos[index].write(Info {
            address: start.add(8),
            lamports: start.add(72),
            data_len: *(start.add(80) as *const u64),
            data: start.add(88),
            owner: start.add(40),
            rent_epoch: u64::MAX,
            is_signer,
            is_writable,
            is_executable: *start.add(3) != 0,
        });
        let asked = index > 0 && *data.add(index) & 1 != 0;
        metas[index].write(Meta(start.add(8), is_writable, is_signer || asked));
    }
    let program = starts[0].assume_init().add(8);
    let accounts = (metas.as_ptr() as *const Meta).add(1);
    let payload = Bytes(data.add(count as usize), data_len - count);
    let instruction = Instruction(program, accounts, count - 1, payload);
    let seeds = [Bytes(b"vault".as_ptr(), 5), Bytes(data, 1)];
    let signers = [Bytes(seeds.as_ptr() as *const u8, 2)];
    sol_invoke_signed_c(&instruction, infos.as_ptr() as *const Info, count, signers.as_ptr(), 1)
}

#[cfg(any(target_arch = "bpf", target_os = "solana"))]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    unsafe { abort() }
}
