import { storedOf } from '../support/airdrop.js'
import { type ApiWorld, bid, freshName, randomAddress } from './support.js'

/** Writes rows of wallets like signed changes would write them. */

const CLUSTER = '(SELECT cluster FROM names WHERE network = 0 AND name = $1)'
type World = Pick<ApiWorld, 'pool' | 'append'>

interface Listed {
  name: string
  address: string
  wallet: string
  isPrivate: boolean
}

/** Lists an unverified wallet in the cluster of a name. */
export async function listWallet(
  { pool }: World,
  { name, address, wallet, isPrivate }: Listed,
): Promise<void> {
  await pool.query(
    `INSERT INTO wallets SELECT network, cluster, $2, $3, false, $4, false, created_seq, updated_seq
     FROM wallets WHERE network = 0 AND cluster = ${CLUSTER} LIMIT 1`,
    [name, storedOf(address), wallet, isPrivate],
  )
}

/** A private wallet that holds the name `other`, and is also listed as `secret` in the cluster of `name`. */
export async function plantPrivate(world: World) {
  const name = freshName()
  const other = freshName()
  const hidden = randomAddress()
  await world.append('mainnet', [
    bid({ from: randomAddress(), name }),
    bid({ from: hidden, name: other }),
  ])
  await world.pool.query(
    `UPDATE wallets SET private = true WHERE network = 0 AND cluster = ${CLUSTER}`,
    [other],
  )
  await listWallet(world, { name, address: hidden, wallet: 'secret', isPrivate: true })
  return { name, other, hidden }
}

/** Fills the cluster of a name up to a thousand wallets. */
export async function fullCluster(world: World): Promise<string> {
  const name = freshName()
  await world.append('mainnet', [bid({ from: randomAddress(), name })])
  await world.pool.query(
    `INSERT INTO wallets SELECT network, cluster, decode('01' || lpad(to_hex(i), 40, '0'), 'hex'), 'w' || i,
       false, false, false, created_seq, updated_seq
     FROM wallets, generate_series(1, 999) i WHERE network = 0 AND cluster = ${CLUSTER}`,
    [name],
  )
  return name
}
