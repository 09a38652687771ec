import { expect, it } from 'vitest'
import { createLocalWalletClient } from '../../src/testing/chains/localClients.js'
import { deployLocalToken } from '../../src/testing/contracts/deploy.js'
import { ask, freshWallet, hubOf } from '../support/world.js'

it('a token’s symbol and decimals come from its contract', async () => {
  const client = {
    walletClient: createLocalWalletClient(hubOf(), await freshWallet()),
    publicClient: hubOf().reader,
  }
  const token = await deployLocalToken(client)
  expect(await ask('GET', `/v1/tokens/1/${token}`)).toMatchObject({
    status: 200,
    body: { symbol: 'LOCAL', decimals: 18 },
  })
  const plain = (await freshWallet()).address
  const none = { status: 200, body: { symbol: null, decimals: 0 } }
  expect(await ask('GET', `/v1/tokens/1/${plain}`)).toEqual(none)
  expect(await ask('GET', `/v1/tokens/1/${hubOf().contracts.hub}`)).toEqual(none)
  expect((await ask('GET', `/v1/tokens/0/${token}`)).status).toBe(404)
  expect((await ask('GET', `/v1/tokens/solana/${token}`)).status).toBe(404)
  expect((await ask('GET', '/v1/tokens/1/0x12')).status).toBe(400)
})
