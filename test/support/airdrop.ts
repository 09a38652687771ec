import { createHash } from 'node:crypto'
import type pg from 'pg'
import type { Hex } from 'viem'
import { encodeClaimCalldata } from '../../src/chains/evm/airdrop/distributor.js'
import { type Airdrop, findAirdrop, setDistributor } from '../../src/db/airdrop/airdrops.js'
import { loadAirdrop } from '../../src/db/airdrop/load.js'
import { readAirdropProofs } from '../../src/db/airdrop/pages.js'
import { addressToWord, parseWallet } from '../../src/registry/primitives/address.js'
import { fromHex } from '../../src/registry/primitives/bytes.js'
import type { DeployerClients } from '../../src/testing/chains/send.js'
import { deployLocalToken } from '../../src/testing/contracts/deploy.js'
import { deployDistributor } from './distributor.js'

export interface Row {
  address: string
  amount: bigint
}

export const storedOf = (text: string): Buffer => {
  const address = parseWallet(text)
  if (typeof address === 'string') throw new Error(`${text}: ${address}`)
  return address.bytes
}

/** Loads rows as from a file. */
export async function loadRows(
  pool: pg.Pool,
  rows: readonly Row[],
  request: Partial<Parameters<typeof loadAirdrop>[1]> = {},
): Promise<Airdrop> {
  const fileHash = createHash('sha256')
    .update(rows.map(({ address, amount }) => `${address},${amount}`).join('\n'))
    .digest()
  const place = { network: 'mainnet', community: 'drop', label: '1' } as const
  const options = { ...place, fileHash, replaces: false, nowMs: Date.now(), ...request }
  const allocations = rows.map(({ address, amount }) => ({ account: storedOf(address), amount }))
  const { airdrop } = await loadAirdrop(pool, options, allocations)
  return airdrop
}

/** Deploys and funds the distributor of a loaded airdrop, and records its address. */
export async function payBy(
  pool: pg.Pool,
  client: DeployerClients,
  airdrop: Airdrop,
  settings: { endsAtS?: bigint; operator?: Hex } = {},
): Promise<{ distributor: Hex; token: Hex; endsAtS: bigint }> {
  const token = await deployLocalToken(client)
  const deployed = await deployDistributor({
    ...client,
    ...settings,
    token,
    merkleRoot: `0x${airdrop.merkleRoot.toString('hex')}`,
    mints: airdrop.total,
  })
  await setDistributor(pool, airdrop.network, airdrop.community, {
    label: airdrop.label,
    distributor: fromHex(deployed.distributor),
    token: fromHex(token),
    endsAtS: Number(deployed.endsAtS),
    fromBlock: Number(deployed.block),
  })
  return {
    distributor: deployed.distributor.toLowerCase() as Hex,
    token,
    endsAtS: deployed.endsAtS,
  }
}

/** Calldata that claims an EVM account's allocation, proven out of the stored pages. */
export async function claimData(
  pool: pg.Pool,
  { network, airdrop }: Airdrop,
  address: string,
): Promise<Hex> {
  const account = storedOf(address)
  const { rows } = await pool.query<{ index: number; position: number; amount: string }>(
    'SELECT index, position, amount FROM airdrop_allocations WHERE airdrop = $1 AND account = $2',
    [airdrop, account],
  )
  const { index, position, amount } = rows[0]!
  const proof = (await readAirdropProofs(pool, network, airdrop, [position])).get(position)!
  return encodeClaimCalldata({
    index,
    account: addressToWord(account),
    amount: BigInt(amount),
    proof,
  })
}

/** The airdrop's current row. */
export const again = async (pool: pg.Pool, { network, community }: Airdrop): Promise<Airdrop> =>
  (await findAirdrop(pool, network, community))!
