import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/**
 * `tsx scripts/bench/batches.ts <url>`: a Solana node that takes batches, as public ones do, before one that doesn't
 * (Surfpool). Transactions are remembered, so that the client is measured and not the node. Prints its address.
 */
interface Question {
  id: number
  method: string
  params: unknown
}

const target = process.argv[2]!
const remembered = new Map<string, string>()

/** The answer's `result` as JSON. */
async function resultOf({ method, params }: Question): Promise<string> {
  const key = JSON.stringify([method, params])
  const known = remembered.get(key)
  if (known) return known
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const response = await fetch(target, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  const { result } = (await response.json()) as { result: unknown }
  const text = JSON.stringify(result)
  if (method === 'getTransaction') remembered.set(key, text)
  return text
}

const answerTo = async (question: Question): Promise<string> =>
  `{"jsonrpc":"2.0","id":${question.id},"result":${await resultOf(question)}}`

const server = createServer((request, response) => {
  const answer = async (): Promise<void> => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part as Buffer)
    const body: Question | Question[] = JSON.parse(Buffer.concat(parts).toString())
    const text = Array.isArray(body) ? `[${(await Promise.all(body.map(answerTo))).join()}]` : await answerTo(body)
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }).end(text)
  }
  answer().catch(() => response.destroy())
})
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`))
