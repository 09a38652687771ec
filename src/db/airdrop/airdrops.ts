import type pg from 'pg'
import type { Network } from '../../registry/primitives/network.js'
import type { Prisma, Airdrop as StoredAirdrop } from '../generated/client.js'
import { AIRDROP_STATE, type AirdropState, nameOfCode } from '../pg/codes.js'
import { plainRowFromPrisma, prismaClientOf, toPrismaValues } from '../pg/prisma.js'
import type { DecodedRow } from '../pg/rows.js'

/** load.ts loads and removes airdrops. answers.ts has the queries of hot paths. */

/** An airdrop without the counts of its claims, which cost a query. Addresses of contracts are 20 bytes. */
export type AirdropWithoutClaimCounts = Omit<DecodedRow<StoredAirdrop>, 'state'> & {
  state: AirdropState
}

/** An airdrop with the number of its claims seen on chain, and the number of confirmed claims. */
export type Airdrop = AirdropWithoutClaimCounts & { claimed: { seen: number; confirmed: number } }

/** Fields of an airdrop that are not null once its distributor is set. */
export type RequiredAirdropFields<Field extends keyof AirdropWithoutClaimCounts> = {
  [Key in Field]: NonNullable<AirdropWithoutClaimCounts[Key]>
}

/** A deployed distributor, as its chain reports it. Addresses are 20 bytes. */
export interface Distributor
  extends RequiredAirdropFields<'label' | 'distributor' | 'token' | 'endsAtS'> {
  /** First block that may hold its claims. Undefined: unchanged, or `startBlock` for a new distributor. */
  fromBlock: number | undefined
  /** First block from which the chain is indexed. Default 0. */
  startBlock?: number
}

/** An airdrop can't be changed as requested. The message is one sentence, and says what to do. */
export class AirdropError extends Error {
  override name = 'AirdropError'
}

export async function findAirdrop(
  pool: pg.Pool,
  network: Network,
  community: string,
): Promise<Airdrop | null> {
  return (await read(await prismaClientOf(pool), toPrismaValues({ network, community })))[0] ?? null
}

export async function listAirdrops(
  pool: pg.Pool,
  networks: readonly Network[],
): Promise<Airdrop[]> {
  return read(await prismaClientOf(pool), {
    OR: networks.map((network) => toPrismaValues({ network })),
  })
}

async function read(
  prisma: Prisma.TransactionClient,
  where: Prisma.AirdropWhereInput,
): Promise<Airdrop[]> {
  const rows = await prisma.airdrop.findMany({
    where,
    orderBy: [{ network: 'asc' }, { community: 'asc' }],
  })
  const counts = await prisma.airdropClaim.groupBy({
    by: ['network', 'airdrop', 'confirmed'],
    where: { OR: rows.map(({ network, airdrop }) => ({ network, airdrop })) },
    _count: true,
  })
  return rows.map((row) => {
    const own = counts.filter(
      ({ network, airdrop }) => network === row.network && airdrop === row.airdrop,
    )
    const confirmed = own.find((count) => count.confirmed)?._count ?? 0
    const unconfirmed = own.find((count) => !count.confirmed)?._count ?? 0
    const claimed = { seen: confirmed + unconfirmed, confirmed }
    return { ...plainRowFromPrisma(row), state: nameOfCode(AIRDROP_STATE, row.state), claimed }
  })
}

/** Longest wait for the indexer, which locks an airdrop while it stores claims. */
const LOCK_TIMEOUT_MS = 60_000

/**
 * Sets the contract that pays an airdrop, and the block from which its claims are indexed.
 * @returns false where nothing changed
 * @throws AirdropError where the community has no airdrop, or claims were made at another distributor
 */
export async function setDistributor(
  pool: pg.Pool,
  network: Network,
  community: string,
  to: Distributor,
): Promise<boolean> {
  const where = toPrismaValues({ network, community })
  return (await prismaClientOf(pool)).$transaction(
    async (tx) => {
      // locked, so that neither the indexer's claims nor other commands change the airdrop meanwhile
      await tx.$executeRaw`SELECT FROM airdrops WHERE network = ${where.network} AND community = ${community} FOR UPDATE`
      const [airdrop] = await read(tx, where)
      if (!airdrop) throw new AirdropError(noAirdropText(network, community))
      const isSame = airdrop.distributor?.equals(to.distributor) && airdrop.label === to.label
      const fromBlock = to.fromBlock ?? (isSame ? airdrop.fromBlock : to.startBlock) ?? 0
      if (isSame && fromBlock === airdrop.fromBlock) return false
      if (!isSame && airdrop.claimed.seen > 0)
        throw new AirdropError(alreadyClaimedText(airdrop, 'its distributor stays'))
      const { label, distributor, token, endsAtS } = to
      const checkpoint = { fromBlock, nextBlock: fromBlock, parentHash: null }
      const data = {
        ...toPrismaValues({ label, distributor, token, endsAtS }),
        ...checkpoint,
        state: AIRDROP_STATE.open,
      }
      await tx.airdrop.update({ where: { network_community: where }, data })
      return true
    },
    { timeout: LOCK_TIMEOUT_MS },
  )
}

export const noAirdropText = (network: Network, community: string): string =>
  `${network} has no airdrop of "${community}": \`clusterd airdrop list\` shows them.`

export const alreadyClaimedText = (
  { community, claimed }: { community: string; claimed: { seen: number } },
  therefore: string,
): string =>
  `${claimed.seen} of the airdrop of "${community}" ${claimed.seen === 1 ? 'is' : 'are'} claimed already: ${therefore}.`
