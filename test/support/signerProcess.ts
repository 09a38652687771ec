import { createServer } from 'node:http'
import { privateKeyToAccount } from 'viem/accounts'
import { bodyOf } from './httpServer.js'

/**
 * A program that signs as Web3Signer does, over JSON-RPC: SIGNER_KEY is its key, SIGNER_CHAIN_ID its chain. The path of
 * a request names a fault: `/changed` signs another amount, `/other` with another key, `/silent` never answers, and
 * `/refused` repeats its request.
 */
const { SIGNER_KEY, SIGNER_CHAIN_ID } = process.env
const account = privateKeyToAccount(SIGNER_KEY as `0x${string}`)
const other = privateKeyToAccount(`0x${'77'.repeat(32)}`)

interface Asked {
  to: `0x${string}`
  data: `0x${string}`
  [quantity: string]: string
}

function sign(path: string, method: string, params: unknown[]): Promise<string> {
  const signer = path === '/other' ? other : account
  if (method === 'eth_signTypedData')
    return signer.signTypedData(params[1] as Parameters<typeof signer.signTypedData>[0])
  const { to, data, ...quantities } = params[0] as Asked
  const number = (name: string) => BigInt(quantities[name]!)
  return signer.signTransaction({
    type: 'eip1559',
    to,
    data,
    chainId: Number(SIGNER_CHAIN_ID),
    nonce: Number(number('nonce')),
    gas: number('gas'),
    value: number('value') + (path === '/changed' ? 1n : 0n),
    maxFeePerGas: number('maxFeePerGas'),
    maxPriorityFeePerGas: number('maxPriorityFeePerGas'),
  })
}

const server = createServer(async (request, response) => {
  const body = await bodyOf(request)
  const { id, method, params } = JSON.parse(body)
  const path = request.url ?? '/'
  if (path === '/silent') return
  const answer =
    path === '/refused'
      ? { error: { code: -32_000, message: body } }
      : { result: await sign(path, method, params) }
  response.end(JSON.stringify({ jsonrpc: '2.0', id, ...answer }))
})
server.listen(Number(process.env.SIGNER_PORT ?? 0), '127.0.0.1', () => {
  const address = server.address()
  if (typeof address === 'object' && address) console.log(`signer on ${address.port}`)
})
