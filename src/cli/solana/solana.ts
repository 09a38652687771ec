import { Keypair, PublicKey, type TransactionInstruction } from '@solana/web3.js'
import bs58 from 'bs58'
import { createSolanaRpc } from '../../chains/rpc/solana.js'
import {
  acceptAdminInstruction,
  initializeRegistrarInstruction,
  proposeAdminInstruction,
  setAuthoritiesInstruction,
  withdrawTreasuryInstruction,
} from '../../chains/solana/admin.js'
import { sendInstructions } from '../../chains/solana/deployment/deploy.js'
import { encodeUnsignedTransaction } from '../../chains/solana/quote.js'
import { readLatestBlockhash, readRegistrarState } from '../../chains/solana/reads.js'
import { createRegistrarClient, type RegistrarClient } from '../../chains/solana/registrar.js'
import { ConfigError, readDraftChainsFile, readEnvironment } from '../../config/index.js'
import { readSolanaKeyFile } from '../../config/solanaKey.js'
import { parseWalletOrNull } from '../../registry/primitives/address.js'
import { printJson } from '../output.js'
import { confirmOnTerminal } from '../signing/signing.js'

interface SolanaNetworkOptions {
  testnet?: boolean
}

/** Options of commands that sign: `keypair` is a key file, without which the transaction is printed unsigned. */
export interface SolanaSigningOptions extends SolanaNetworkOptions {
  keypair?: string
  base58?: boolean
  yes?: boolean
  unitPrice: number
}

const READ_COMMITMENT = 'confirmed'
const DAY_SECONDS = 86_400
const MAX_RECLAIM_DAYS = 30

/** `clusterd solana show`: prints the registrar program's state. Amounts are in lamports. */
export async function showRegistrarProgram(options: SolanaNetworkOptions): Promise<void> {
  const state = Object.entries(await requireRegistrarState(options))
  printJson(
    Object.fromEntries(state.map(([name, value]) => [name, value === null ? null : String(value)])),
  )
}

interface InitializeRegistrarOptions
  extends SolanaSigningOptions,
    Record<'upgradeAuthority' | 'admin' | 'relay' | 'treasury' | 'reclaimDays', string> {}

/**
 * `clusterd solana init`: initializes the program with its authorities. Like all commands of this file, it throws an
 * Error with one sentence for a bad option.
 */
export async function initializeRegistrarProgram(
  options: InitializeRegistrarOptions,
): Promise<void> {
  const days = Number(options.reclaimDays)
  if (!(days >= 1 && days <= MAX_RECLAIM_DAYS))
    throw new Error(`--reclaim-days is a number from 1 to ${MAX_RECLAIM_DAYS}.`)
  const terms = {
    admin: parseSolanaAddress('--admin', options.admin),
    relay: parseSolanaAddress('--relay', options.relay),
    treasury: parseSolanaAddress('--treasury', options.treasury),
    reclaimSeconds: BigInt(Math.round(days * DAY_SECONDS)),
  }
  const by = parseSolanaAddress('--upgrade-authority', options.upgradeAuthority)
  await requireEmptyTreasury(options)
  await sendOrPrintInstruction(options, by, (registrar) =>
    initializeRegistrarInstruction(registrar, by, terms),
  )
}

/** Largest balance of the treasury with which `init` runs, lamports. Anybody can send lamports there before `init`. */
const MAX_TREASURY_LAMPORTS = 50_000_000

/**
 * Checks that the treasury is nearly empty: `init` would make the deployer pay nine times the balance into it.
 * @throws Error where it is not
 */
async function requireEmptyTreasury(options: SolanaNetworkOptions): Promise<void> {
  const { rpc, registrar, findState } = openRegistrarOfOptions(options)
  const address = registrar.treasury.toBase58()
  const { value } = await rpc.call<{ value: number }>('getBalance', [
    address,
    { commitment: READ_COMMITMENT },
  ])
  if (value <= MAX_TREASURY_LAMPORTS) return
  const advice = (await findState())
    ? 'The program is initialized already, see `clusterd solana show`: nothing is left to do.'
    : '`init` adds nine times as much: deploy with another --program-keypair.'
  throw new Error(`Somebody has sent ${value} lamports to the treasury, ${address}. ${advice}`)
}

/** `clusterd solana authorities`: changes the program's relay authority or treasury authority. */
export async function changeRegistrarAuthorities(
  options: SolanaSigningOptions & { relay?: string; treasury?: string },
): Promise<void> {
  const {
    adminAuthority: admin,
    relayAuthority,
    treasuryAuthority,
  } = await requireRegistrarState(options)
  const relay =
    options.relay === undefined ? relayAuthority : parseSolanaAddress('--relay', options.relay)
  const treasury =
    options.treasury === undefined
      ? treasuryAuthority
      : parseSolanaAddress('--treasury', options.treasury)
  if (relay.equals(relayAuthority) && treasury.equals(treasuryAuthority))
    throw new Error('Name another --relay or --treasury: these are the authorities already.')
  await sendOrPrintInstruction(options, admin, (registrar) =>
    setAuthoritiesInstruction(registrar, admin, { relay, treasury }),
  )
}

/** `clusterd solana propose-admin <key>`: proposes the program's next admin authority. */
export async function proposeAdminCommand(
  key: string,
  options: SolanaSigningOptions,
): Promise<void> {
  const { adminAuthority: admin } = await requireRegistrarState(options)
  const proposed = parseSolanaAddress('The proposed admin', key)
  await sendOrPrintInstruction(options, admin, (registrar) =>
    proposeAdminInstruction(registrar, admin, proposed),
  )
}

/** `clusterd solana accept-admin`: makes the proposed key the program's admin authority. */
export async function acceptAdminCommand(options: SolanaSigningOptions): Promise<void> {
  const { proposedAdmin } = await requireRegistrarState(options)
  if (!proposedAdmin) throw new Error('Nobody is proposed: see `clusterd solana propose-admin`.')
  await sendOrPrintInstruction(options, proposedAdmin, (registrar) =>
    acceptAdminInstruction(registrar, proposedAdmin),
  )
}

/** `clusterd solana withdraw <lamports>`: withdraws from the program's treasury to an account. */
export async function withdrawTreasuryCommand(
  amount: string,
  options: SolanaSigningOptions & { to: string },
): Promise<void> {
  const { treasuryAuthority, keptLamports } = await requireRegistrarState(options)
  if (!/^[1-9][0-9]{0,18}$/.test(amount)) throw new Error('The amount is a number of lamports.')
  if (BigInt(amount) > keptLamports)
    throw new Error(`The program keeps ${keptLamports} lamports, less than ${amount}.`)
  const to = parseSolanaAddress('--to', options.to)
  await sendOrPrintInstruction(options, treasuryAuthority, (registrar) =>
    withdrawTreasuryInstruction(registrar, treasuryAuthority, to, BigInt(amount)),
  )
}

/**
 * Signs and sends a transaction with the key of the options. Without a key the transaction is printed, with the signer
 * as payer and a blockhash that is valid for about a minute. A multisig such as Squads replaces the blockhash in the
 * printed transaction.
 */
async function sendOrPrintInstruction(
  options: SolanaSigningOptions,
  signer: PublicKey,
  instructionOf: (registrar: RegistrarClient) => TransactionInstruction,
): Promise<void> {
  const { rpc, registrar } = openRegistrarOfOptions(options)
  const instruction = instructionOf(registrar)
  if (options.keypair) {
    const key = readKeypairFile(options.keypair, '--keypair')
    if (!key.publicKey.equals(signer))
      throw new Error(
        `${signer.toBase58()} has to sign, and --keypair holds the key of ${key.publicKey.toBase58()}.`,
      )
    await confirmOnTerminal(`Send it, signed by ${signer.toBase58()}?`, options)
    const signature = await sendInstructions(rpc, [key], [instruction], options.unitPrice)
    console.log(signature)
    return
  }
  const { blockhash } = await readLatestBlockhash(rpc.call, READ_COMMITMENT)
  const transaction = encodeUnsignedTransaction(signer, blockhash, instruction)
  console.log(options.base58 ? bs58.encode(Buffer.from(transaction, 'base64')) : transaction)
  console.error(
    `To be signed by ${signer.toBase58()}, which pays the fee, and sent within a minute.`,
  )
}

async function requireRegistrarState(options: SolanaNetworkOptions) {
  const { programId, findState } = openRegistrarOfOptions(options)
  const state = await findState()
  if (state) return state
  throw new Error(`The program ${programId} is not initialized: see \`clusterd solana init\`.`)
}

/**
 * Opens the network's registrar program. `findState` reads the program's state, which is null before `init`.
 * @throws ConfigError
 */
export function openRegistrarOfOptions(options: SolanaNetworkOptions) {
  const { config } = readDraftSolanaClusterSettings(options)
  const { programId } = config
  if (!programId)
    throw new ConfigError('The chains file names no program: see `clusterd solana deploy`.')
  const rpc = createSolanaRpc(config)
  const registrar = createRegistrarClient(programId)
  return {
    programId,
    rpc,
    registrar,
    findState: async () => {
      const { state } = await rpc.onOneNode((call) =>
        readRegistrarState(call, registrar, READ_COMMITMENT),
      )
      return state
    },
  }
}

/** Settings of the network's Solana cluster, whose program may not be deployed yet. @throws ConfigError */
export function readDraftSolanaClusterSettings({ testnet }: SolanaNetworkOptions) {
  const { chainsFile: file } = readEnvironment()
  const network = testnet ? 'testnet' : 'mainnet'
  const config = readDraftChainsFile(file).solana[network]
  if (!config)
    throw new ConfigError(`The chains file ${file} has no Solana cluster of the ${network}.`)
  return { file, network, config }
}

function parseSolanaAddress(option: string, text: string): PublicKey {
  if (parseWalletOrNull(text)?.type !== 'solana')
    throw new Error(`${option} is a Solana address: 32 bytes in base58.`)
  return new PublicKey(text)
}

/** Reads a key file of solana-keygen. @param option option to name in errors @throws ConfigError */
export const readKeypairFile = (file: string, option: string): Keypair =>
  Keypair.fromSecretKey(readSolanaKeyFile(file, option))
