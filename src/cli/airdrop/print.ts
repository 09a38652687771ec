import { encodeAbiParameters, type Hex, parseAbiParameters, zeroAddress } from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import { readEnvironment } from '../../config/index.js'
import type { Airdrop } from '../../db/airdrop/airdrops.js'
import { toHex } from '../../registry/primitives/bytes.js'
import { table } from '../output.js'

/** Output of the airdrop commands. Amounts are base units of the token. */

/** An airdrop as JSON. */
export const describeAirdrop = (airdrop: Airdrop) => ({
  community: airdrop.community,
  network: airdrop.network,
  chain: airdrop.label,
  state: airdrop.state,
  accounts: airdrop.leafCount,
  total: airdrop.total.toString(),
  merkleRoot: toHex(airdrop.merkleRoot),
  token: airdrop.token && toHex(airdrop.token),
  distributor: airdrop.distributor && toHex(airdrop.distributor),
  endsAt: airdrop.endsAtS === null ? null : isoOf(airdrop.endsAtS),
  claimed: airdrop.claimed,
  fromBlock: airdrop.fromBlock,
  nextBlock: airdrop.nextBlock,
  loadedAt: new Date(airdrop.createdMs).toISOString(),
})

const isoOf = (seconds: number): string => new Date(seconds * 1_000).toISOString()

export function printAirdrops(airdrops: readonly Airdrop[]): void {
  console.log(
    table([
      ['COMMUNITY', 'NETWORK', 'CHAIN', 'STATE', 'ACCOUNTS', 'CLAIMED', 'TOTAL', 'DISTRIBUTOR'],
      ...airdrops.map((airdrop) => [
        ...[airdrop.community, airdrop.network, airdrop.label, airdrop.state, String(airdrop.leafCount)],
        ...[String(airdrop.claimed.confirmed), airdrop.total.toString()],
        airdrop.distributor ? toHex(airdrop.distributor) : '-',
      ]),
    ]),
  )
}

export function printAirdrop(airdrop: Airdrop): void {
  const { claimed, ...shown } = describeAirdrop(airdrop)
  const lines = {
    ...shown,
    state: `${shown.state}${airdrop.state === 'loaded' ? ' (it has no distributor yet)' : ''}`,
    claimed: `${claimed.confirmed} confirmed, ${claimed.seen - claimed.confirmed} seen`,
  }
  for (const [what, value] of Object.entries(lines)) console.log(`${what.padEnd(12)} ${value ?? '-'}`)
}

/** Constructor arguments of an airdrop's distributor; `encoded` is their ABI form, null while one is unknown. */
export function describeRoot(airdrop: Airdrop, owner: Buffer | null) {
  const { airdropOperatorKey } = readEnvironment()
  const args = {
    token: airdrop.token && toHex(airdrop.token),
    merkleRoot: toHex(airdrop.merkleRoot),
    endsAt: airdrop.endsAtS,
    owner: owner && toHex(owner),
    operator: airdropOperatorKey ? (privateKeyToAddress(airdropOperatorKey).toLowerCase() as Hex) : zeroAddress,
  }
  const { token, merkleRoot, endsAt, owner: admin, operator } = args
  const encoded =
    token && admin && endsAt !== null
      ? encodeAbiParameters(CONSTRUCTOR, [token, merkleRoot, BigInt(endsAt), admin, operator])
      : null
  return { merkleRoot, total: airdrop.total.toString(), accounts: airdrop.leafCount, constructor: args, encoded }
}

const CONSTRUCTOR = parseAbiParameters(
  'address token, bytes32 merkleRoot, uint256 endsAt, address owner, address operator',
)
const OPTION_OF: Readonly<Record<string, string>> = { token: '--token', endsAt: '--ends-at', owner: '--owner' }

export function printRoot({
  merkleRoot,
  total,
  accounts,
  constructor: args,
  encoded,
}: ReturnType<typeof describeRoot>) {
  console.log(`root      ${merkleRoot}\ntotal     ${total} (base units)\naccounts  ${accounts}\n`)
  console.log('constructor of AirdropDistributor:')
  for (const [name, value] of Object.entries(args))
    console.log(`  ${name.padEnd(11)} ${value ?? `? (${OPTION_OF[name]})`}`)
  if (args.operator === zeroAddress)
    console.log('  (AIRDROP_OPERATOR_PRIVATE_KEY is not set: nobody could permit claims of Solana accounts)')
  if (encoded) console.log(`  encoded     ${encoded}`)
  console.log('\nIt pays out of its own balance: send it the total.')
}
