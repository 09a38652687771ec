//! Calls of other programs.
use crate::address::Address;
use crate::syscalls::{self, AccountInfo, AccountMeta, Bytes, Instruction, SignerSeeds};

/// A call of another program. (One argument: BPF passes five words at most.)
pub struct Call<'a> {
    pub program: &'a Address,
    pub metas: &'a [AccountMeta],
    pub infos: &'a [AccountInfo],
    pub data: Bytes,
    /// Seeds of the address of ours that signs; empty: none does.
    pub seeds: &'a [Bytes],
}

/// A call that fails ends the whole transaction in the runtime; there is no status to read.
#[inline(never)]
pub fn call(call: &Call) {
    let instruction = Instruction {
        program: call.program,
        accounts: call.metas.as_ptr(),
        accounts_len: call.metas.len() as u64,
        data: call.data,
    };
    let signers = [SignerSeeds { seeds: call.seeds.as_ptr(), length: call.seeds.len() as u64 }];
    let (infos, infos_len) = (call.infos.as_ptr(), call.infos.len() as u64);
    let signers_len = if call.seeds.is_empty() { 0 } else { 1 };
    unsafe { syscalls::sol_invoke_signed_c(&instruction, infos, infos_len, signers.as_ptr(), signers_len) };
}
