import dns from 'node:dns'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, vi } from 'vitest'
import { postWebhookMessage } from './post.js'
import {
  isPrivateAddress,
  lookupPublicAddress,
  parseWebhookUrl,
  TargetRefusedError,
} from './target.js'

const PRIVATE = [
  ...[
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '127.0.0.1',
    '127.255.0.1',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.9.9',
  ],
  ...['192.168.1.1', '198.18.0.1', '224.0.0.1', '255.255.255.255'],
  ...[
    '::',
    '::1',
    '::ffff:127.0.0.1',
    '::ffff:8.8.8.8',
    '64:ff9b::a00:1',
    '2002:7f00:1::',
    'fc00::1',
    'fd12::1',
  ],
  ...['fe80::1', 'ff02::1', '2001:db8::1', 'not an address'],
]
const PUBLIC = [
  '1.1.1.1',
  '8.8.8.8',
  '172.32.0.1',
  '100.128.0.1',
  '2606:4700::1111',
  '2a00:1450::1',
]

type Resolved = (error: null, found: dns.LookupAddress[]) => void

describe('addresses', () => {
  it.each(PRIVATE)('%s is private', (address) => expect(isPrivateAddress(address)).toBe(true))
  it.each(PUBLIC)('%s is public', (address) => expect(isPrivateAddress(address)).toBe(false))
})

describe('a target', () => {
  it.each([
    ...[
      'ftp://example.com/',
      'no url',
      'http://example.com/',
      'https://me:secret@example.com/',
      'https://127.0.0.1/',
    ],
    'https://:secret@example.com/',
    // spellings of loopback addresses that URLs allow (WHATWG URL, "host parsing")
    ...[
      'https://127.1/',
      'https://2130706433/',
      'https://0x7f.0.0.1/',
      'https://[::1]/',
      'https://[::ffff:7f00:1]/',
    ],
  ])('%s is refused', (url) =>
    expect(() => parseWebhookUrl(url, false)).toThrow(TargetRefusedError),
  )

  it('may be any HTTP URL where private addresses are allowed', () => {
    expect(parseWebhookUrl('http://127.0.0.1:8080/hook', true).port).toBe('8080')
    expect(() => parseWebhookUrl('https://me:secret@example.com/', true)).toThrow(
      TargetRefusedError,
    )
  })

  it('is refused at connection time where its name resolves to a private address', async () => {
    const { signal } = new AbortController()
    const options = {
      url: 'https://localhost:9/',
      headers: {},
      body: '{}',
      allowsPrivate: false,
      signal,
    }
    await expect(postWebhookMessage(options)).rejects.toThrow(TargetRefusedError)
  })

  it('is refused where one of several addresses is private, because a connection tries each', () => {
    const found = ['8.8.8.8', '10.0.0.1'].map((address) => ({ address, family: 4 }))
    const lookup = vi
      .spyOn(dns, 'lookup')
      .mockImplementation(((_name: string, _options: object, done: Resolved) =>
        done(null, found)) as never)
    const callback = vi.fn()
    lookupPublicAddress('example.com', { all: true }, callback)
    lookup.mockRestore()
    expect(callback.mock.calls).toEqual([[expect.any(TargetRefusedError), '', 0]])
  })
})

it('a response that changes the protocol is a failure, not a delivery that never ends', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  const answer = 'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n'
  server.on('connection', (socket) => socket.once('data', () => socket.write(answer)))
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const { signal } = new AbortController()
  await expect(
    postWebhookMessage({ url, headers: {}, body: '{}', allowsPrivate: true, signal }),
  ).rejects.toThrow('without an answer')
  server.close()
  server.closeAllConnections()
}, 15_000)
