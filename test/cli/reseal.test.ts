import { randomBytes } from 'node:crypto'
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { beforeAll, describe, expect, it } from 'vitest'
import {
  decryptKeyShare,
  encryptKeyShare,
  type ShareEncryptionKeys,
  shareEncryptionKeyId,
} from '../../src/api/clusters/keyShares.js'
import { addKeyCommands } from '../../src/cli/keys/commands.js'
import { useApi } from '../api/support.js'
import { messageOf, signIn } from '../api/wallets.js'
import { runHere } from '../support/cli.js'

/** Rotation of SHARE_KEY: shares are still encrypted under an earlier key. */

const NEW = randomBytes(32)
const FORMER = randomBytes(32)
const LOST = randomBytes(32)
const hexOf = (key: Buffer): string => `0x${key.toString('hex')}`
const world = useApi({ shareKeys: [NEW, FORMER] })

interface Generated {
  account: PrivateKeyAccount
  address: string
  share: string
}

async function generate(): Promise<Generated> {
  const account = privateKeyToAccount(generatePrivateKey())
  const body = JSON.stringify({ type: 'evm', name: 'a', isPrivate: false })
  const headers = await signIn(world, account)
  const answer = await world.request('/v1/clusters/generate/wallet', {
    method: 'POST',
    headers,
    body,
  })
  return { account, address: answer.body.address, share: answer.body.share }
}

async function recover({ account, address, share }: Generated) {
  const query = `?type=evm&wallet=${account.address}&recover=${address}`
  const { message, signingDate } = await messageOf(world, query)
  const signature = await account.signMessage({ message })
  const body = JSON.stringify({ address, share, signature, signingDate })
  const headers = await signIn(world, account)
  return world.request('/v1/clusters/generate/wallet/recover', { method: 'POST', headers, body })
}

const rowOf = ({ address }: Generated) => Buffer.from(`01${address.slice(2)}`, 'hex')

async function stored(wallet: Generated) {
  const text = 'SELECT share, key_id FROM wallet_shares WHERE address = $1'
  const { rows } = await world.pool.query(text, [rowOf(wallet)])
  return { share: rows[0].share as Buffer, keyId: rows[0].key_id as Buffer | null }
}

/** Encrypts a share under a key, as if the service had stored it then. `hasId` false: before key ids existed. */
async function keepUnder(
  keys: ShareEncryptionKeys,
  wallet: Generated,
  hasId: boolean,
): Promise<void> {
  const share = decryptKeyShare([NEW, FORMER], 'mainnet', rowOf(wallet), await stored(wallet))
  const sealed = encryptKeyShare(keys, 'mainnet', rowOf(wallet), share)
  await world.pool.query('UPDATE wallet_shares SET share = $2, key_id = $3 WHERE address = $1', [
    rowOf(wallet),
    sealed.share,
    hasId ? sealed.keyId : null,
  ])
}

const reseal = (keys: readonly Buffer[]) =>
  runHere(addKeyCommands, ['keys', 'reseal', '--json'], {
    DATABASE_URL: world.postgres.url,
    SHARE_KEY: keys.map(hexOf).join(','),
  })

describe('wallets whose shares are encrypted under an earlier key', () => {
  let withId: Generated
  let withoutId: Generated
  let current: Generated
  beforeAll(async () => {
    withId = await generate()
    withoutId = await generate()
    current = await generate()
    await keepUnder([FORMER], withId, true)
    await keepUnder([FORMER], withoutId, false)
  })

  it('can be recovered while SHARE_KEY has both keys', async () => {
    for (const wallet of [withId, withoutId, current])
      expect((await recover(wallet)).status).toBe(200)
  })

  it('are left unchanged, with exit code 1, where SHARE_KEY has only the new key', async () => {
    const before = await stored(withId)
    const { stdout, stderr, code } = await reseal([NEW])
    expect(JSON.parse(stdout)).toMatchObject({ resealed: 0, unreadable: 2 })
    expect(stderr).toContain('add the key behind a comma')
    expect(code).toBe(1)
    expect(await stored(withId)).toEqual(before)
  })

  it('are encrypted again, and can be recovered without the earlier key', async () => {
    const untouched = await stored(current)
    const { stdout, stderr, code } = await reseal([NEW, FORMER])
    const key = shareEncryptionKeyId(NEW).toString('hex')
    expect({ stderr, code }).toEqual({ stderr: '', code: 0 })
    expect(JSON.parse(stdout)).toEqual({ key, resealed: 2, unreadable: 0 })
    expect(await stored(current)).toEqual(untouched)
    for (const wallet of [withId, withoutId]) {
      const kept = await stored(wallet)
      expect(kept.keyId).toEqual(shareEncryptionKeyId(NEW))
      expect(decryptKeyShare([NEW], 'mainnet', rowOf(wallet), kept)).toHaveLength(33)
      expect((await recover(wallet)).status).toBe(200)
    }
  })

  it('are not counted on a second run', async () => {
    expect(JSON.parse((await reseal([NEW, FORMER])).stdout)).toMatchObject({ resealed: 0 })
  })

  it('are left unchanged where their key is lost, while others are encrypted again', async () => {
    await keepUnder([LOST], withId, true)
    await keepUnder([FORMER], withoutId, true)
    const { stdout, code } = await reseal([NEW, FORMER])
    expect(JSON.parse(stdout)).toMatchObject({ resealed: 1, unreadable: 1 })
    expect(code).toBe(1)
    expect((await recover(withId)).status).toBe(500)
    expect((await recover(withoutId)).status).toBe(200)
  })
})
