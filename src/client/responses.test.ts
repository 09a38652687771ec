import { createRequire } from 'node:module'
import { inspect } from 'node:util'
import { expect, it } from 'vitest'
import { caught, clientOf, failure, json } from '../../test/support/misbehavingService.js'

/** Responses of other `fetch` functions, of gateways, and with long bodies. */

const require = createRequire(import.meta.url)
/** node-fetch 2, which @solana/web3.js uses, and cross-fetch in Node. Its responses have streams of Node. */
const nodeFetch: typeof fetch = createRequire(require.resolve('@solana/web3.js'))('node-fetch')

it('reads responses with streams of Node, and their errors', async () => {
  const { client } = await clientOf(
    (req, res) =>
      req.url === '/v1/networks' ? json(res, [{ chainId: null }]) : failure(res, 404, 'not_found'),
    { fetch: nodeFetch },
  )
  expect(await client.networks()).toEqual([{ chainId: null, chain: null }])
  expect(await client.cluster('foobar')).toBeNull()
  expect(client.transport.hasStreams).toBe(false)
})

it('does not take a gateway’s JSON of a missing route for an answer of the service', async () => {
  const bodies = [
    null,
    {},
    { cluster_name: 'edge-1', message: 'no Route matched' },
    { status: 404, error: 'Not Found' },
  ]
  const { client } = await clientOf((_, res) => json(res, bodies.shift(), 404))
  expect(await caught(client.nameOf('0x1'))).toMatchObject({ status: 404 })
  expect(await caught(client.cluster('x'))).toMatchObject({ status: 404 })
  expect(await caught(client.community('x'))).toMatchObject({ status: 404 })
  expect(await caught(client.clusterIdOf('0x1'))).toMatchObject({ status: 404 })
})

it('takes the record of an address without a name or a cluster for an answer', async () => {
  const records = [{ address: '0x1', clusterName: null, walletName: null }, { clusterId: null }]
  const { client } = await clientOf((_, res) => json(res, records.shift(), 404))
  expect(await client.nameOf('0x1')).toBeNull()
  expect(await client.clusterIdOf('0x1')).toBeNull()
})

it('prints no long body', async () => {
  const details = Array.from({ length: 200 }, (_, i) => ({ path: `[${i}]`, message: 'Not one.' }))
  const body = { status: 400, error: 'invalid_request', message: 'Some are wrong.', details }
  const { client } = await clientOf((_, res) => json(res, body, 400))
  const error = await caught(client.networks())
  expect(error.body).toEqual(body)
  expect(inspect(error).length).toBeLessThan(2_000)
})
