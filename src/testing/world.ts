import fs from 'node:fs'
import path from 'node:path'
import { type HDAccount, mnemonicToAccount } from 'viem/accounts'
import type { Network } from '../registry/primitives/network.js'
import { TEST_MNEMONIC } from './chains/anvil.js'
import { writeAtomically } from './processes/files.js'

/** Content of `<home>/stack.json`: addresses and contents of a local world. All its keys are public. */
export interface World<N extends Network = Network> {
  /** Base address of the API. */
  api: string
  /** Base address of the operator's routes (/health, /ready, /metrics). */
  ops: string
  databaseUrl: string
  networks: Record<N, WorldNetwork>
  /**
   * Accounts funded on every chain and unused by the daemon, its relayer and the deployer. The first EVM account holds
   * the seeded communities; the seeder uses no other.
   */
  accounts: { evm: EvmAccount[]; solana: SolanaAccount[] }
  seeds: Partial<Record<N, Seed>>
}

export interface WorldNetwork {
  hub: WorldHub
  spokes: WorldSpoke[]
  solana?: WorldSolana
}

interface WorldChain {
  /** Network label of the interface: "1", "8453", ... */
  network: string
  /** Local chain id, so that no signature can be replayed on the public chain. */
  chainId: number
  rpcUrl: string
}

export interface WorldHub extends WorldChain {
  contracts: {
    hub: `0x${string}`
    endpoint: `0x${string}`
    communityPayments: `0x${string}`
    /** A token that anybody may mint. */
    token: `0x${string}`
  }
}

export interface WorldSpoke extends WorldChain {
  contracts: { spoke: `0x${string}`; endpoint: `0x${string}`; communityPayments: `0x${string}` }
}

export interface WorldSolana {
  rpcUrl: string
  wsUrl: string
  /** In base58. */
  genesisHash: string
  /** Program id of the registrar, fresh at every start of the world. */
  programId: string
}

export interface EvmAccount {
  address: `0x${string}`
  privateKey: `0x${string}`
}

export interface SolanaAccount {
  address: string
  /** 64 bytes in base58, the export form of wallets. */
  secretKey: string
}

/** Price of a community, as in `GET /v1/communities/:name`. */
interface SeedPrice {
  network: string
  token: string
  amount: string
  recipient: string
}

/** Seeded communities. */
export interface SeedCommunities {
  /** Holder of both names: `accounts.evm[0]`. */
  admin: `0x${string}`
  /** Free for everybody. */
  open: { name: string }
  paid: { name: string; prices: SeedPrice[] }
}

/** A seeded name with its owner, and one transaction per lasting status. */
export interface Seed {
  name: string
  owner: `0x${string}`
  tx: {
    /** Two bids for the name on the hub. */
    finalized: `0x${string}`
    lost: `0x${string}`
    /** Transaction on the hub that no block takes, since its sender's earlier nonces are unused. */
    pending: `0x${string}`
    /** Message of a spoke above the relayer's spend cap, hence parked. Absent in a world without spokes. */
    bridging?: `0x${string}`
  }
  /** Absent where another wallet holds their names: in the world of an earlier version. */
  communities?: SeedCommunities
}

const EVM_ACCOUNTS = 10
/** Index of the mnemonic's account for the world's own work, which is nobody's wallet. */
const OPERATOR_ACCOUNT_INDEX = 1

/** The ten well-known accounts of local Ethereum tools (`test test ... junk`), lower-case addresses. */
export function worldAccounts(): EvmAccount[] {
  return Array.from({ length: EVM_ACCOUNTS }, (_, addressIndex) => {
    const account = mnemonicToAccount(TEST_MNEMONIC, { addressIndex })
    return { address: lowerCase(account.address), privateKey: privateKeyOf(account) }
  })
}

/** Roles of the world's own work on the EVM chains. */
export type Operator = (typeof OPERATORS)[number]
const OPERATORS = [
  'deployer',
  'owner',
  'relayer',
  'pauser',
  'seedOwner',
  'seedLoser',
  'neighbour',
  'seedWaiter',
  'seedTraveller',
  'airdropOperator',
  'treasurer',
] as const

/** Account of a role, none of which is among `worldAccounts`. */
export function operatorAccount(operator: Operator): HDAccount {
  return mnemonicToAccount(TEST_MNEMONIC, {
    accountIndex: OPERATOR_ACCOUNT_INDEX,
    addressIndex: OPERATORS.indexOf(operator),
  })
}

export function operatorAddresses(): `0x${string}`[] {
  return OPERATORS.map((operator) => operatorAccount(operator).address)
}

/** Private key of an account derived from a mnemonic. */
export function privateKeyOf(account: HDAccount): `0x${string}` {
  const key = account.getHdKey().privateKey
  if (!key) throw new Error('deriving a local key: the account has no private key')
  return `0x${Buffer.from(key).toString('hex')}`
}

export function lowerCase(address: string): `0x${string}` {
  return address.toLowerCase() as `0x${string}`
}

/** Path of a home folder's world file. */
function worldFile(home: string): string {
  return path.join(home, 'stack.json')
}

/** Writes the world file, readable by its owner only since it holds keys, if only local ones. */
export function writeWorld<N extends Network>(home: string, world: World<N>): void {
  writeAtomically(worldFile(home), `${JSON.stringify(world, null, 2)}\n`, 0o600)
}

/** Reads the world file of a home folder; undefined when there is none. The world may have ended since. */
export function readWorld(home: string): World | undefined {
  try {
    return JSON.parse(fs.readFileSync(worldFile(home), 'utf8')) as World
  } catch {
    return undefined
  }
}

export function removeWorld(home: string): void {
  fs.rmSync(worldFile(home), { force: true })
}
