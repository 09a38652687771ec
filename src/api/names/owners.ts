import {
  findOwnedCommunityNames,
  type OwnedCommunityName,
} from '../../db/registry/communityNames.js'
import { findOwnedNames, findRegistrationSeq, type OwnedName } from '../../db/registry/owners.js'
import { NATIVE_COIN } from '../../registry/community/rules.js'
import { actorText } from '../../registry/journal/eventForms.js'
import { parseWalletOrNull } from '../../registry/primitives/address.js'
import { toHex } from '../../registry/primitives/bytes.js'
import { parseFullName } from '../../registry/primitives/name.js'
import { type Context, chainsOfNetwork } from '../http/context.js'
import { ApiError } from '../http/errors.js'
import { timestampToMillisecond } from '../http/timestamps.js'

/** Maximum number of names per page. */
export const OWNED_NAMES_PAGE_SIZE = 1_000

/**
 * Names of an address, oldest first, followed by the address's names below communities. A text that is no address has
 * no names.
 * @param page `after`: name of the last record of the previous page, undefined for the first page; `limit`: number of
 * names
 * @param viewer the caller's wallet. Its names are returned even if it is private
 * @returns `next`: the `after` of the next page, null at the end
 * @throws ApiError invalid_page for a name that nobody has
 */
export async function namesOwnedBy(
  context: Context,
  input: string,
  page: { after: string | undefined; limit: number },
  viewer?: Buffer,
) {
  const address = parseWalletOrNull(input)
  if (!address) return { records: [], next: null }
  const ownedNames = await findNamesAfter(
    context,
    address.bytes,
    await positionAfter(context, page.after),
    page.limit + 1,
    viewer,
  )
  const records = ownedNames
    .slice(0, page.limit)
    .map((owned) => ownerRecord(context, address.text, owned))
  return { records, next: ownedNames.length > page.limit ? records.at(-1)!.name : null }
}

/** Position after a name, either among the names of clusters or among the names below communities. */
interface OwnedNamesPosition {
  isBelow: boolean
  after: number
}

async function positionAfter(
  context: Context,
  name: string | undefined,
): Promise<OwnedNamesPosition> {
  if (name === undefined) return { isBelow: false, after: 0 }
  const parsed = parseFullName(name)
  const after =
    parsed &&
    (await findRegistrationSeq(context.pool, context.network, parsed.cluster, parsed.wallet))
  if (after === null)
    throw new ApiError('invalid_page', 'The parameter after is no name of an earlier answer.')
  return { isBelow: parsed!.wallet !== null, after }
}

async function findNamesAfter(
  context: Context,
  address: Buffer,
  { isBelow, after }: OwnedNamesPosition,
  limit: number,
  viewer: Buffer | undefined,
) {
  const { pool, network } = context
  const names = isBelow
    ? []
    : await findOwnedNames(pool, network, address, { after, limit }, viewer)
  if (names.length === limit) return names
  const rest = { after: isBelow ? after : 0, limit: limit - names.length }
  const below = await findOwnedCommunityNames(pool, network, address, rest)
  return [...names, ...below.map((name) => communityNameRecord(context, name))]
}

/** A record of a name below a community. The amount is 0 for a name that was not paid for in ETH. */
export const communityNameRecord = (
  context: Context,
  { community, name, paid, atMs, by, clusterId }: OwnedCommunityName,
) => ({
  name: `${community}/${name}`,
  amountWei: paid && isPaidInEth(context, paid) ? paid.amount : 0n,
  createdMs: atMs,
  updatedMs: atMs,
  updatedBy: by,
  clusterId,
  walletName: name,
  tx: null,
})

const isPaidInEth = (context: Context, paid: { network: string; token: string }): boolean =>
  paid.token === NATIVE_COIN &&
  chainsOfNetwork(context).some(
    ({ label, gasToken }) => label === paid.network && gasToken.symbol === 'ETH',
  )

const ownerRecord = (
  { network }: Context,
  owner: string,
  owned: Omit<OwnedName, 'clusterId' | 'tx'> & Record<'clusterId' | 'tx', Buffer | null>,
) => ({
  name: owned.name,
  owner,
  totalWeiAmount: owned.amountWei.toString(),
  createdAt: timestampToMillisecond(owned.createdMs),
  updatedAt: timestampToMillisecond(owned.updatedMs),
  updatedBy: actorText(owned.updatedBy),
  isTestnet: network === 'testnet',
  clusterId: owned.clusterId && toHex(owned.clusterId),
  walletName: owned.walletName,
  expiresAt: null,
  tx: owned.tx && toHex(owned.tx),
})
