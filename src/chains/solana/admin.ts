import { PublicKey, type TransactionInstruction } from '@solana/web3.js'
import { type RegistrarClient, toAnchorNumber } from './registrar.js'

/** Solana's upgradeable BPF loader: the program that owns all upgradeable programs. */
export const UPGRADEABLE_LOADER_PROGRAM = new PublicKey(
  'BPFLoaderUpgradeab1e11111111111111111111111',
)

/** Address of the account that holds a program's code and upgrade authority. */
export const programDataAddress = (programId: PublicKey): PublicKey =>
  PublicKey.findProgramAddressSync([programId.toBuffer()], UPGRADEABLE_LOADER_PROGRAM)[0]

/** Authorities of a registrar, and its reclaim time. */
interface RegistrarInitialSettings {
  admin: PublicKey
  relay: PublicKey
  treasury: PublicKey
  /** Time after which a payer may take an undecided payment back: 1 to 30 days, in seconds. Can't be changed later. */
  reclaimSeconds: bigint
}

/** Instruction that initializes the registrar. The program's upgrade authority signs and pays. */
export function initializeRegistrarInstruction(
  registrar: RegistrarClient,
  upgradeAuthority: PublicKey,
  terms: RegistrarInitialSettings,
) {
  const args = {
    ...authorityArguments(terms),
    admin_authority: terms.admin,
    reclaim_seconds: toAnchorNumber(terms.reclaimSeconds),
  }
  const programData = programDataAddress(registrar.programId)
  return registrar.instruction('initialize', args, {
    payer: upgradeAuthority,
    program_data: programData,
  })
}

type ChangeableAuthorities = Pick<RegistrarInitialSettings, 'relay' | 'treasury'>

const authorityArguments = ({ relay, treasury }: ChangeableAuthorities) => ({
  relay_authority: relay,
  treasury_authority: treasury,
})

/** Instruction that changes the registrar's relay and treasury authorities. The admin authority signs. */
export const setAuthoritiesInstruction = (
  registrar: RegistrarClient,
  admin: PublicKey,
  authorities: ChangeableAuthorities,
): TransactionInstruction =>
  registrar.instruction('set_authorities', authorityArguments(authorities), {
    admin_authority: admin,
  })

/**
 * Instruction that proposes a new admin authority, which accepts by `acceptAdminInstruction`. The present admin
 * authority signs.
 */
export const proposeAdminInstruction = (
  registrar: RegistrarClient,
  admin: PublicKey,
  proposed: PublicKey,
): TransactionInstruction =>
  registrar.instruction('propose_admin', { admin_authority: proposed }, { admin_authority: admin })

/** Instruction by which the proposed admin authority accepts its role. The proposed authority signs. */
export const acceptAdminInstruction = (
  registrar: RegistrarClient,
  proposed: PublicKey,
): TransactionInstruction => registrar.instruction('accept_admin', {}, { proposed_admin: proposed })

/** Instruction that takes settled lamports out of the treasury. The treasury authority signs. */
export const withdrawTreasuryInstruction = (
  registrar: RegistrarClient,
  treasuryAuthority: PublicKey,
  destination: PublicKey,
  lamports: bigint,
): TransactionInstruction =>
  registrar.instruction(
    'withdraw',
    { lamports: toAnchorNumber(lamports) },
    { treasury_authority: treasuryAuthority, destination },
  )
