import { randomBytes } from 'node:crypto'
import bs58 from 'bs58'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createSolanaRpc } from '../../src/chains/rpc/solana.js'
import { createSolanaSigner } from '../../src/chains/solana/signer.js'
import { keypairOf } from '../../src/testing/solana/accounts.js'
import { startSolanaProxy } from '../solana/solanaProxy.js'
import { type PaymentWorld, startPaymentWorld } from './paymentWorld.js'

let world: PaymentWorld
let proxy: Awaited<ReturnType<typeof startSolanaProxy>>
beforeAll(async () => {
  world = await startPaymentWorld()
  proxy = await startSolanaProxy(world.solana.rpcUrl)
})
afterAll(async () => {
  await proxy?.stop()
  await world?.stop()
})

it('one odd answer about a blockhash and its end does not keep a payment from being given back', async () => {
  const paid = await world.pay('odd-hash', { foreign: true })
  const { registrar, solana } = world
  const rpc = createSolanaRpc({ label: 'solana', urls: [proxy.url] })
  const { secretKey } = keypairOf(solana.relayAuthority)
  const signer = createSolanaSigner({ rpc, registrar, commitment: 'confirmed', secretKey, maxUnitPrice: 0 })
  const payer = await world.restart({ autoRefunds: true, signer })
  let isLying = true
  proxy.alter = (method, _, result) => {
    if (method !== 'getLatestBlockhash' || !isLying) return result
    isLying = false
    return { ...(result as object), value: { blockhash: bs58.encode(randomBytes(32)), lastValidBlockHeight: 2 ** 40 } }
  }
  for (let i = 0; i < 60 && (await world.closings(paid)) === 0; i++) {
    await payer.step().catch(() => {})
    // what is signed expires within minutes, and what failed is tried again
    world.bridge.aheadMs += 60_000
    await new Promise((resolve) => setTimeout(resolve, 150))
  }
  expect(isLying).toBe(false)
  expect(await world.closings(paid)).toBe(1)
})
