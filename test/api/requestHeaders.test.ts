import { once } from 'node:events'
import net from 'node:net'
import { describe, expect, it } from 'vitest'
import { limitsOf, useApi } from './support.js'

const BURST = 50
const open = useApi()
const behind = useApi({ limits: limitsOf(BURST), trustProxy: 1 })

interface Reply {
  status: number
  head: string
  body: { error?: string; message?: string }
}

/** Sends the headers as they are, in their order, and reads the answer. */
async function send(
  { url }: { url: string },
  headers: readonly string[],
  request = 'GET /v1/networks',
): Promise<Reply> {
  const socket = net.connect(Number(new URL(url).port), '127.0.0.1')
  let text = ''
  socket.on('data', (bytes) => {
    text += bytes
  })
  socket.write([`${request} HTTP/1.1`, 'connection: close', ...headers, '', ''].join('\r\n'))
  await once(socket, 'close')
  const [head, body] = text.split('\r\n\r\n')
  return { status: Number(head!.split(' ')[1]), head: head!, body: JSON.parse(body || '{}') }
}

const others = (count: number) => Array.from({ length: count }, (_, i) => `a${i}: 1`)
const left = ({ head }: Reply) => Number(/ratelimit: "address";r=(\d+)/.exec(head)?.[1])

describe('a request with too many headers', () => {
  it.each([65, 100, 1_000, 2_000])('is refused, with %s', async (count) => {
    const headers = others(count - 1).map((header) => header.slice(0, 8))
    const reply = await send(open, headers)
    expect(reply.status).toBe(431)
    expect(reply.head).toContain('content-type: application/json')
    expect(reply.body).toMatchObject({
      status: 431,
      error: 'invalid_request',
      message: 'The request has more than 64 headers.',
    })
  })

  it.each(['GET /', 'GET /no/such/path', 'OPTIONS /v1/names', 'POST /v1/names', 'GET /%zz'])(
    'is refused everywhere: %s',
    async (request) => {
      expect((await send(open, others(64), request)).status).toBe(431)
    },
  )

  it('is answered with 64', async () => {
    expect((await send(open, others(63))).status).toBe(200)
  })

  it.each(['x-forwarded-for: 198.51.100.7', 'forwarded: for=198.51.100.7'])(
    'is charged to the client that the proxy names, in its last header %s',
    async (header) => {
      const before = left(await send(behind, [header]))
      for (const count of [64, 130, 498, 1_498]) {
        const headers = others(count).map((one) => one.slice(0, 8))
        expect((await send(behind, [...headers, header])).status).toBe(431)
      }
      expect(left(await send(behind, [header]))).toBe(before - 7)
    },
  )
})

describe('a header that identifies the caller', () => {
  it.each([
    ['Authorization', 4_096],
    ['X-AUTH-KEY', 4_096],
    ['X-API-Key', 4_096],
    ['X-Forwarded-For', 1_024],
    ['Forwarded', 1_024],
  ])('is refused when it is too long: %s of more than %s characters', async (name, limit) => {
    const half = `${name}: ${'x'.repeat(limit / 2)}`
    expect((await send(open, [half, half])).status).toBe(200)
    const { status, body } = await send(open, [half, `${half}x`])
    expect([status, body.error]).toEqual([431, 'invalid_request'])
    expect(body.message).toBe(
      `The header ${name.toLowerCase()} is longer than ${limit} characters.`,
    )
    expect((await send(open, [`${name}: ${'x'.repeat(limit + 1)}`])).status).toBe(431)
  })

  it('is charged to the client at the end of a list that is too long', async () => {
    const client = 'x-forwarded-for: 198.51.100.9'
    const before = left(await send(behind, [client]))
    const long = `x-forwarded-for: ${'192.0.2.1, '.repeat(500)}198.51.100.9`
    expect((await send(behind, [long])).status).toBe(431)
    expect(left(await send(behind, [client]))).toBe(before - 2)
  })

  it('is refused by 429 once the client has no units left', async () => {
    const headers = [...others(64), 'x-forwarded-for: 198.51.100.11']
    const statuses = new Set<number>()
    for (let i = 0; i <= BURST; i++) statuses.add((await send(behind, headers)).status)
    expect([...statuses]).toEqual([431, 429])
  })
})
