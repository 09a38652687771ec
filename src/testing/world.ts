import { pbkdf2Sync } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { type Hex, pad, toHex } from 'viem'
import { HDKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { writeFileAtomically } from '../config/files.js'
import type { LabelledFamilyKey } from '../registry/families.js'
import type { Network } from '../registry/primitives/network.js'
import { TEST_MNEMONIC } from './chains/anvil.js'

/** A local world: addresses, accounts and seeds. All its keys are public. */
export interface World<N extends Network = Network> {
  /** Base address of the API. */
  api: string
  /** Base address of the operator's routes (/health, /ready, /status, /metrics). */
  ops: string
  databaseUrl: string
  networks: Record<N, WorldNetwork>
  /** Accounts for users, funded on every chain. The first EVM account owns the seeded communities. */
  accounts: WorldAccounts
  seeds: Partial<Record<N, Seed>>
}

/** Accounts by the type of their addresses. */
interface WorldAccounts {
  evm: EvmAccount[]
  solana: SolanaAccount[]
}

/**
 * A network's chains in a local world. Chains of families other than EVM are under the family's key (`solana`).
 */
export interface WorldNetwork extends Partial<Record<LabelledFamilyKey, WorldProgram>> {
  hub: WorldHub
  spokes: WorldSpoke[]
  ens: WorldEns
  solana?: WorldSolana
}

interface WorldChain {
  /** The chain's network label in the API: "1", "8453", ... */
  network: string
  /** Local chain id, so that no signature can be replayed on the public chain. */
  chainId: number
  rpcUrl: string
}

export interface WorldHub extends WorldChain {
  contracts: {
    hub: Hex
    endpoint: Hex
    communityPayments: Hex
    /** A token that anybody may mint. */
    token: Hex
  }
}

export interface WorldSpoke extends WorldChain {
  contracts: { spoke: Hex; endpoint: Hex; communityPayments: Hex }
}

/**
 * ENS on the hub's chain, on which names below `parent` resolve. `universalResolver` is viem's `ensUniversalResolver`.
 */
export interface WorldEns {
  registry: Hex
  universalResolver: Hex
  /** Address of the contract EnsResolver, which `registry` has as the resolver of `parent`. */
  resolver: Hex
  /** ENS contract in which accounts of the hub's chain set their primary names. */
  reverseRegistrar: Hex
  /** ENS name above all names of the network: `local.eth`; on testnet `local-testnet.eth`. */
  parent: string
}

/** The program that takes payments on a chain other than EVM, such as Solana's. */
interface WorldProgram {
  rpcUrl: string
  /** Address of the program, which changes at every start of the local world. */
  programId: string
}

export interface WorldSolana extends WorldProgram {
  wsUrl: string
  /** Result of `getGenesisHash`, base58. It identifies the cluster. */
  genesisHash: string
}

export interface EvmAccount {
  address: Hex
  privateKey: Hex
}

export interface SolanaAccount {
  address: string
  /** 64 bytes in base58, the export form of wallets. */
  secretKey: string
}

/** Price of a name of a community, in the form of `GET /v1/communities/:name`. */
export interface SeedCommunityPrice {
  /** Label of the chain to pay on. */
  network: string
  /** `native`, or the token's address. */
  token: string
  /** Base units. */
  amount: string
  recipient: string
}

/** The two communities that the seeds make. */
export interface SeedCommunities {
  /** Holder of both communities' names: `accounts.evm[0]`. */
  admin: Hex
  /** A community whose names are free for everybody. */
  open: { name: string }
  paid: { name: string; prices: SeedCommunityPrice[] }
}

/** A seeded name with its owner, and an example transaction for each lasting status. */
export interface Seed {
  name: string
  owner: Hex
  tx: {
    /** The winning bid for the name on the hub. */
    finalized: Hex
    /** The losing bid for the name on the hub. */
    lost: Hex
    /** Transaction on the hub that can't be mined, since its sender's earlier nonces are unused. */
    pending: Hex
    /** Message of a spoke, parked because it is above the relayer's spend cap. Absent without spokes. */
    bridging?: Hex
  }
  /** Absent where another wallet holds the communities' names. */
  communities?: SeedCommunities
}

const EVM_ACCOUNT_COUNT = 10
/** BIP-44 account index of the keys for the local world's own work. Users' wallets have index 0. */
const OPERATOR_ACCOUNT_INDEX = 1

export type TestAccount = PrivateKeyAccount & { privateKey: Hex }

/** Root key of `TEST_MNEMONIC`, once it was derived. */
let rootKey: HDKey | undefined
const testAccountByPath = new Map<string, TestAccount>()

/** Account of `TEST_MNEMONIC` (BIP-39, BIP-44). It is cached, since viem would derive the key on each call. */
export function testAccount(addressIndex: number, accountIndex = 0): TestAccount {
  const path = `m/44'/60'/${accountIndex}'/0/${addressIndex}`
  if (testAccountByPath.has(path)) return testAccountByPath.get(path)!
  rootKey ??= HDKey.fromMasterSeed(pbkdf2Sync(TEST_MNEMONIC, 'mnemonic', 2_048, 64, 'sha512'))
  const privateKey = toHex(rootKey.derive(path).privateKey!)
  testAccountByPath.set(path, { ...privateKeyToAccount(privateKey), privateKey })
  return testAccountByPath.get(path)!
}

/** The ten well-known accounts of local Ethereum tools, with lower-case addresses. */
export function worldEvmAccounts(): EvmAccount[] {
  return Array.from({ length: EVM_ACCOUNT_COUNT }, (_, addressIndex) => {
    const { address, privateKey } = testAccount(addressIndex)
    return { address: lowerCaseAddress(address), privateKey }
  })
}

/** The first of `worldEvmAccounts`, which holds the seeded communities. The seeds use no other account of that list. */
export const seededCommunityOwner = (): EvmAccount => worldEvmAccounts()[0]!

/** Roles of the accounts that the local world uses for its own work on EVM chains. */
type WorldOperatorRole = (typeof OPERATOR_ROLES)[number]
const OPERATOR_ROLES = [
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
  'ensGateway',
] as const

/** Account of a role in the local world. It is not among `worldEvmAccounts`. */
export function operatorAccount(operator: WorldOperatorRole): TestAccount {
  return testAccount(OPERATOR_ROLES.indexOf(operator), OPERATOR_ACCOUNT_INDEX)
}

export const worldOperatorAddresses = (): Hex[] =>
  OPERATOR_ROLES.map((operator) => operatorAccount(operator).address)

export const lowerCaseAddress = (address: string): Hex => address.toLowerCase() as Hex

/** An EVM address left-padded to 32 bytes. */
export const addressAsBytes32 = (address: Hex): Hex => pad(lowerCaseAddress(address))

/** Path of the file that describes a home folder's local world. */
const worldFilePath = (home: string): string => path.join(home, 'stack.json')

/** Path of the file, in a home folder, with environment variables for `clusterd`, Foundry and Hardhat. */
const envFilePath = (home: string): string => path.join(home, '.env')

/**
 * Writes the files `stack.json` and `.env` of a local world. Only their owner can read them, since they hold keys.
 * @param env environment of the world's daemon
 */
export function writeWorldFiles<N extends Network>(
  home: string,
  world: World<N>,
  env: NodeJS.ProcessEnv,
): void {
  writeFileAtomically(worldFilePath(home), `${JSON.stringify(world, null, 2)}\n`, { mode: 0o600 })
  const networks: WorldNetwork[] = Object.values(world.networks)
  const chainVariables = networks
    .flatMap(({ hub, spokes }) => [hub, ...spokes])
    .flatMap(({ network, rpcUrl, contracts }) => [
      [`RPC_URL_${network}`, rpcUrl],
      ...Object.entries(contracts).map(([name, address]) => [
        `${upperSnakeCase(name)}_${network}`,
        address,
      ]),
    ])
  const accounts = world.accounts.evm.flatMap(({ address, privateKey }, i) => [
    [`ADDRESS_${i}`, address],
    [`PRIVATE_KEY_${i}`, privateKey],
  ])
  // a shell splits a value with spaces that is not quoted
  const daemonVariables = Object.entries(env).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, /^[^']* [^']*$/.test(value) ? `'${value}'` : value]],
  )
  writeFileAtomically(
    envFilePath(home),
    [...daemonVariables, ...chainVariables, ...accounts]
      .map((pair) => `${pair.join('=')}\n`)
      .join(''),
    { mode: 0o600 },
  )
}

const upperSnakeCase = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()

/**
 * Reads the description of the local world that was started with a home folder. A killed world leaves its description
 * behind. Undefined for a folder without a readable description.
 */
export function readWorld(home: string): World | undefined {
  try {
    return JSON.parse(fs.readFileSync(worldFilePath(home), 'utf8')) as World
  } catch {
    return undefined
  }
}

/** Removes the files of a local world, where they exist: its description and its environment file. */
export function removeWorldFiles(home: string): void {
  for (const file of [worldFilePath(home), envFilePath(home)]) fs.rmSync(file, { force: true })
}
