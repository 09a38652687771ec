import fs from 'node:fs'
import path from 'node:path'
import { type HDAccount, mnemonicToAccount } from 'viem/accounts'
import type { Network } from '../registry/primitives/network.js'
import { TEST_MNEMONIC } from './chains/anvil.js'
import { writeAtomically } from './processes/files.js'

/** The content of `<home>/stack.json`: where a local world is, and what is in it. All keys in it are public ones. */
export interface World<N extends Network = Network> {
  /** Base address of the API. */
  api: string
  /** Base address of the operator's routes (/health, /ready, /metrics). */
  ops: string
  databaseUrl: string
  networks: Record<N, WorldNetwork>
  /**
   * Funded on every chain, never used by the daemon, its relayer or the deployer. The first EVM one holds the seeded communities;
   * else the seeder uses none.
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
  /** A local id, so that nothing signed here could be replayed on the public chain. */
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
  /** The registrar; another one after every start of the world. */
  programId: string
}

export interface EvmAccount {
  address: `0x${string}`
  privateKey: `0x${string}`
}

export interface SolanaAccount {
  address: string
  /** 64 bytes in base58, as wallets export it. */
  secretKey: string
}

/** A price of a community, as `GET /v1/communities/:name` answers it. */
export interface SeedPrice {
  network: string
  token: string
  amount: string
  recipient: string
}

/** The communities that the world came with. */
export interface SeedCommunities {
  /** Holds both names: `accounts.evm[0]`. */
  admin: `0x${string}`
  /** Free for everybody. */
  open: { name: string }
  paid: { name: string; prices: SeedPrice[] }
}

/** A name that the world came with, its owner's address, and a transaction of each kind that stays as it is. */
export interface Seed {
  name: string
  owner: `0x${string}`
  tx: {
    /** Two bids for the name, on the hub. */
    finalized: `0x${string}`
    lost: `0x${string}`
    /** On the hub; its sender's earlier nonces are unused, so no block takes it. */
    pending: `0x${string}`
    /** On a spoke, of a value above what the relayer may spend on a message: it is parked. Absent in a world without spokes. */
    bridging?: `0x${string}`
  }
  /** Absent where somebody else holds their names: in the world of an earlier version. */
  communities?: SeedCommunities
}

const EVM_ACCOUNTS = 10
/** Account 1 of the same mnemonic: nobody's wallet, for the world's own work. */
const OPERATOR_ACCOUNT_INDEX = 1

/** The ten accounts that every local Ethereum tool knows (`test test ... junk`), lower-case addresses. */
export function worldAccounts(): EvmAccount[] {
  return Array.from({ length: EVM_ACCOUNTS }, (_, addressIndex) => {
    const account = mnemonicToAccount(TEST_MNEMONIC, { addressIndex })
    return { address: lowerCase(account.address), privateKey: privateKeyOf(account) }
  })
}

/** Who does the world's own work on the EVM chains. */
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

/** The account of one of the world's own workers, none of which is among `worldAccounts`. */
export function operatorAccount(operator: Operator): HDAccount {
  return mnemonicToAccount(TEST_MNEMONIC, {
    accountIndex: OPERATOR_ACCOUNT_INDEX,
    addressIndex: OPERATORS.indexOf(operator),
  })
}

export function operatorAddresses(): `0x${string}`[] {
  return OPERATORS.map((operator) => operatorAccount(operator).address)
}

/** The private key of an account derived from a mnemonic. */
export function privateKeyOf(account: HDAccount): `0x${string}` {
  const key = account.getHdKey().privateKey
  if (!key) throw new Error('deriving a local key: the account has no private key')
  return `0x${Buffer.from(key).toString('hex')}`
}

export function lowerCase(address: string): `0x${string}` {
  return address.toLowerCase() as `0x${string}`
}

/** Where a world of this home folder is described. */
export function worldFile(home: string): string {
  return path.join(home, 'stack.json')
}

/** Writes the world file, readable by its owner only (it holds keys, if only local ones). */
export function writeWorld<N extends Network>(home: string, world: World<N>): void {
  writeAtomically(worldFile(home), `${JSON.stringify(world, null, 2)}\n`, 0o600)
}

/** The world of a home folder as its file describes it; undefined when there is none. It may have ended since. */
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
