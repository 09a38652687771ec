import type pg from 'pg'
import { encodeAbiParameters, type Hex, parseAbiParameters, zeroAddress } from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import { isoTimestamp } from '../../api/http/timestamps.js'
import { readDistributorTerms } from '../../chains/evm/airdrop/distributor.js'
import { createEvmChainRpc } from '../../chains/evm/chain.js'
import { readEnvironment } from '../../config/index.js'
import {
  type Airdrop,
  findAirdrop,
  listAirdrops,
  setDistributor,
} from '../../db/airdrop/airdrops.js'
import { loadAirdrop, removeAirdrop } from '../../db/airdrop/load.js'
import { findClusterIdByName } from '../../db/registry/clusters.js'
import { EVM, familyOfLabel } from '../../registry/families.js'
import { fromHex, toHex } from '../../registry/primitives/bytes.js'
import { NETWORK_OF_CHAIN_LABEL, type Network } from '../../registry/primitives/network.js'
import { withDatabasePool } from '../database.js'
import { printFields, printList } from '../output.js'
import {
  type NetworkOptions,
  networksOfOptions,
  parseNameArgument,
  requireConfiguredChain,
} from '../values.js'
import { readAirdropFile, type UnreadableLine } from './allocations.js'

interface AirdropOptions extends NetworkOptions {
  json?: boolean
}

interface LoadAirdropOptions extends AirdropOptions {
  community: string
  chain: string
  replace?: boolean
}

interface SetDistributorOptions extends AirdropOptions {
  distributor: Buffer
  fromBlock?: number
}

/** Options with the terms of an airdrop's distributor contract. */
export type DistributorTermsOptions = AirdropOptions & {
  owner?: Buffer
  token?: Buffer
  /** Unix time in seconds. */
  endsAt?: number
}

/** Maximum number of bad lines of a file to print. */
const BAD_LINES_LIMIT = 100

/**
 * `clusterd airdrop load`: loads the whole file of an airdrop's accounts and amounts, or nothing. Prints the file's bad
 * lines on stderr.
 * @throws Error with one sentence for bad lines, a bad option, or an airdrop that may not be replaced
 */
export async function loadAirdropFile(file: string, command: LoadAirdropOptions): Promise<void> {
  const community = parseNameArgument(command.community, 'community')
  const network = networkOfChain(command.chain, command)
  await withDatabasePool(async (pool) => {
    const { rows, bad, fileHash } = await readAirdropFile(file)
    if (bad.length > 0) throw printBadLines(file, bad)
    const request = {
      network,
      community,
      label: command.chain,
      fileHash,
      replaces: command.replace === true,
      nowMs: Date.now(),
    }
    const { airdrop, isNew } = await loadAirdrop(pool, request, rows)
    printFields({ isNew, ...describeAirdrop(airdrop) }, command.json)
    if ((await findClusterIdByName(pool, network, community)) === null)
      console.error(`No cluster holds ${community} on the ${network}: is --community right?`)
  })
}

/**
 * `clusterd airdrop set`: records a deployed contract as the airdrop's distributor.
 * @throws as `withAirdrop` and `storeAirdropDistributor`
 */
export async function setDistributorCommand(
  name: string,
  command: SetDistributorOptions,
): Promise<void> {
  const { distributor, fromBlock } = command
  const { isChanged, now } = await withAirdrop(name, command, (pool, airdrop) =>
    storeAirdropDistributor(pool, airdrop, distributor, fromBlock),
  )
  printFields({ isChanged, ...describeAirdrop(now) }, command.json)
}

/** `clusterd airdrop list`: prints the airdrops of one network, or of both. */
export async function printAirdrops({ json, ...options }: AirdropOptions): Promise<void> {
  const airdrops = await withDatabasePool((pool) => listAirdrops(pool, networksOfOptions(options)))
  printList(airdrops, {
    json,
    none: 'No airdrops.',
    describe: describeAirdrop,
    row(airdrop) {
      const { community, network, chain, state, accounts, claimed, total, distributor } =
        describeAirdrop(airdrop)
      return {
        community,
        network,
        chain,
        state,
        accounts,
        claimed: claimed.confirmed,
        total,
        distributor,
      }
    },
  })
}

/**
 * `clusterd airdrop show <community>`: prints the airdrop. Prints its distributor's constructor arguments too, unless a
 * distributor is recorded and `--owner` is not given.
 * @throws as `withAirdrop`
 */
export async function showAirdrop(name: string, command: DistributorTermsOptions): Promise<void> {
  const airdrop = await withAirdrop(name, command, async (_, stored) => stored)
  // the terms of a deployed distributor are on its chain, so they are not printed
  if (airdrop.distributor && !command.owner)
    return printFields(describeAirdrop(airdrop), command.json)
  const made = distributorConstructorArguments(airdrop, command)
  printFields({ ...describeAirdrop(airdrop), ...made }, command.json)
  if (!made.encoded) console.error('`encoded` needs --token, --ends-at and --owner.')
  if (made.constructor.operator === zeroAddress)
    console.error(
      'AIRDROP_OPERATOR_PRIVATE_KEY is not set: nobody could permit claims of Solana accounts.',
    )
}

/**
 * `clusterd airdrop remove <community>`: shows the community's airdrop, and removes it with `--yes`.
 * @throws as `withAirdrop`
 */
export async function removeAirdropCommand(
  name: string,
  { yes, ...options }: AirdropOptions & { yes?: boolean },
): Promise<void> {
  const airdrop = await withAirdrop(name, options, async (pool, stored) => {
    if (yes) await removeAirdrop(pool, stored.network, stored.community)
    return stored
  })
  printFields({ isRemoved: yes === true, ...describeAirdrop(airdrop) }, options.json)
  if (!yes) console.error('Nothing is removed yet: --yes removes it.')
  console.error('What its distributor holds stays claimable on its chain.')
}

/** Prints the first `BAD_LINES_LIMIT` bad lines on stderr. @returns error with the number of all bad lines */
function printBadLines(file: string, bad: readonly UnreadableLine[]): Error {
  for (const { line, message } of bad.slice(0, BAD_LINES_LIMIT))
    console.error(`${file}:${line} ${message}`)
  if (bad.length > BAD_LINES_LIMIT) console.error(`… and ${bad.length - BAD_LINES_LIMIT} more`)
  return new Error(
    `Nothing is loaded: ${file} has ${bad.length} bad ${bad.length === 1 ? 'line' : 'lines'}.`,
  )
}

/**
 * Runs work on a community's airdrop.
 * @throws Error with one sentence for an invalid name, and where none of the options' networks, or both, have an
 * airdrop of the community
 */
export const withAirdrop = <T>(
  name: string,
  options: AirdropOptions,
  work: (pool: pg.Pool, airdrop: Airdrop) => Promise<T>,
): Promise<T> =>
  withDatabasePool(async (pool) => {
    const community = parseNameArgument(name, 'community')
    const networks = networksOfOptions(options)
    const all = await Promise.all(networks.map((on) => findAirdrop(pool, on, community)))
    const [airdrop, other] = all.filter((one) => one !== null)
    if (other)
      throw new Error(
        `Both networks have an airdrop of "${community}": say --mainnet or --testnet.`,
      )
    if (!airdrop)
      throw new Error(
        `${networks.join(' and ')}: no airdrop of "${community}"; \`clusterd airdrop list\` shows what there is.`,
      )
    return work(pool, airdrop)
  })

/** Network of an EVM chain, by the chain's label. @throws Error for another label, or if the options exclude it */
function networkOfChain(label: string, options: NetworkOptions): Network {
  const network = familyOfLabel(label) === EVM ? NETWORK_OF_CHAIN_LABEL[label] : undefined
  if (!network)
    throw new Error(
      `--chain is the network label of an EVM chain, such as 1 or 8453, not "${label}".`,
    )
  if (!networksOfOptions(options).includes(network))
    throw new Error(`Chain "${label}" belongs to ${network}.`)
  return network
}

/** An airdrop as its commands print it: bytes in hex, amounts in base units of the token, times in ISO 8601. */
export const describeAirdrop = (airdrop: Airdrop) => ({
  community: airdrop.community,
  network: airdrop.network,
  chain: airdrop.label,
  state: airdrop.state,
  accounts: airdrop.leafCount,
  total: airdrop.total,
  merkleRoot: toHex(airdrop.merkleRoot),
  token: airdrop.token && toHex(airdrop.token),
  distributor: airdrop.distributor && toHex(airdrop.distributor),
  endsAt: airdrop.endsAtS === null ? null : isoTimestamp(airdrop.endsAtS * 1_000),
  claimed: airdrop.claimed,
  fromBlock: airdrop.fromBlock,
  nextBlock: airdrop.nextBlock,
  loadedAt: isoTimestamp(airdrop.createdMs),
})

/**
 * Constructor arguments of an airdrop's distributor. Token and end time are from the options, else from the
 * distributor that is stored for the airdrop. The operator is the zero address where the environment has no operator's
 * key. `encoded` is the arguments' ABI encoding, null while token, end or owner is unknown.
 */
export function distributorConstructorArguments(
  airdrop: Airdrop,
  command: DistributorTermsOptions,
) {
  const { airdropOperatorKey } = readEnvironment()
  const { token = airdrop.token, endsAt = airdrop.endsAtS, owner } = command
  const args = {
    token: token && toHex(token),
    merkleRoot: toHex(airdrop.merkleRoot),
    endsAt,
    owner: owner ? toHex(owner) : null,
    operator: airdropOperatorKey
      ? (privateKeyToAddress(airdropOperatorKey).toLowerCase() as Hex)
      : zeroAddress,
  }
  const encoded =
    args.token && args.owner && endsAt !== null
      ? encodeAbiParameters(DISTRIBUTOR_CONSTRUCTOR_PARAMETERS, [
          args.token,
          args.merkleRoot,
          BigInt(endsAt),
          args.owner,
          args.operator,
        ])
      : null
  return { constructor: args, encoded }
}

const DISTRIBUTOR_CONSTRUCTOR_PARAMETERS = parseAbiParameters(
  'address token, bytes32 merkleRoot, uint256 endsAt, address owner, address operator',
)

/**
 * Records which contract is an airdrop's distributor. The contract's state is read from its chain, and its Merkle root
 * is compared with the airdrop's. If its operator is not the configured one, a warning is printed on stderr.
 * @param fromBlock first block to read claims from. Undefined: the stored block, or for a new distributor the chain's
 * `startBlock`
 * @throws Error with one sentence where the contract is no distributor, has another Merkle root, or is another
 * airdrop's distributor, and where claims were made at an earlier distributor; ConfigError for an unknown chain;
 * ChainUnavailableError
 */
export async function storeAirdropDistributor(
  pool: pg.Pool,
  { network, community, label, merkleRoot }: Airdrop,
  address: Buffer,
  fromBlock: number | undefined,
): Promise<{ isChanged: boolean; now: Airdrop }> {
  const { airdropOperatorKey } = readEnvironment()
  const config = requireConfiguredChain(label)
  const rpc = createEvmChainRpc(config)
  // two nodes have to agree where two are configured: the API sends claimants to this address
  const state = await rpc.quorum((call) => readDistributorTerms(call, toHex(address)))
  if (!state) throw new Error(`${toHex(address)} is no airdrop distributor on chain "${label}".`)
  if (state.merkleRoot !== toHex(merkleRoot))
    throw new Error(
      `The distributor ${toHex(address)} pays another tree (root ${state.merkleRoot}).`,
    )
  const twin = (await listAirdrops(pool, [network])).find(
    (one) => one.community !== community && one.label === label && one.distributor?.equals(address),
  )
  if (twin)
    throw new Error(
      `${toHex(address)} is the distributor of "${twin.community}", and pays each claim once: give this airdrop another --ends-at, or another list.`,
    )
  const operator = airdropOperatorKey && privateKeyToAddress(airdropOperatorKey)
  if (operator && operator !== state.operator)
    console.error(
      `Note: AIRDROP_OPERATOR_PRIVATE_KEY is of ${operator}, but the distributor's operator is ${state.operator}: Solana accounts can not claim.`,
    )
  const token = fromHex(state.token)
  const { startBlock } = config
  const distributor = {
    label,
    distributor: address,
    token,
    endsAtS: state.endsAtS,
    fromBlock,
    startBlock,
  }
  const isChanged = await setDistributor(pool, network, community, distributor)
  return { isChanged, now: (await findAirdrop(pool, network, community))! }
}
