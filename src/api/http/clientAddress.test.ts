import express from 'express'
import { describe, expect, it } from 'vitest'
import { callerOfRequest, clientAddress, rateLimitAddress } from './clientAddress.js'

describe('the counted part of an address', () => {
  it.each([
    ['203.0.113.7', '203.0.113.7'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:0DB8:0001:0002::1', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['64:ff9b::198.51.100.1', '64:ff9b:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['1:2:3:4:5:6:7::', '1:2:3:4::/64'],
    ['203.0.113.7, evil', 'unknown'],
    [undefined, 'unknown'],
  ])('%s', (address, counted) => expect(rateLimitAddress(address)).toBe(counted))
})

/** Express's own implementation of `trust proxy`. */
function trustFunctionOf(proxies: number | string[]): (address: string, hop: number) => boolean {
  const app = express()
  app.set('trust proxy', proxies)
  return app.get('trust proxy fn')
}

function countedAddressOf(
  headers: Record<string, string>,
  proxies: number | string[] = ['10.0.0.0/8'],
) {
  const req = { headers, socket: { remoteAddress: '10.0.0.2' } }
  return rateLimitAddress(clientAddress(req, trustFunctionOf(proxies)))
}

describe('the client behind a proxy that writes', () => {
  it.each([
    ['203.0.113.7', '203.0.113.7'],
    ['203.0.113.7:51234', '203.0.113.7'],
    ['"203.0.113.7:51234"', '203.0.113.7'],
    ['203.0.113.7:_port', '203.0.113.7'],
    ['[2001:db8:5::1]', '2001:db8:5:0::/64'],
    ['[2001:db8:5::1]:443', '2001:db8:5:0::/64'],
    ['"[2001:db8:5::1]:443"', '2001:db8:5:0::/64'],
    ['2001:db8:5::1', '2001:db8:5:0::/64'],
    ['2001:DB8:5:0:0:0:0:1', '2001:db8:5:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['[fe80::1%25eth0]:80', 'fe80:0:0:0::/64'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['[::ffff:203.0.113.7]:80', '203.0.113.7'],
    ['198.51.100.9, 203.0.113.7:1,10.0.0.9:3333', '203.0.113.7'],
    ['203.0.113.7 , [::ffff:10.0.0.9]:3333', '203.0.113.7'],
    ['evil, 203.0.113.7', '203.0.113.7'],
    // a client that its proxy hides is counted as the proxy
    ['unknown', '10.0.0.2'],
    ['_hidden', '10.0.0.2'],
    ['', '10.0.0.2'],
    ['203.0.113.7, unknown', '10.0.0.2'],
    ['203.0.113.7, unknown, 10.0.0.9', '10.0.0.9'],
    ['999.1.1.1', '10.0.0.2'],
    ['[203.0.113.7', '10.0.0.2'],
  ])('X-Forwarded-For: %s', (list, counted) =>
    expect(countedAddressOf({ 'x-forwarded-for': list })).toBe(counted),
  )

  it.each([
    ['for=203.0.113.7', '203.0.113.7'],
    ['For="203.0.113.7:4711"', '203.0.113.7'],
    ['for="[2001:db8:5::1]:4711"', '2001:db8:5:0::/64'],
    ['proto=https;for=203.0.113.7;by=10.0.0.2', '203.0.113.7'],
    ['for=198.51.100.9, for=203.0.113.7;host=a, for=10.0.0.9', '203.0.113.7'],
    ['for=unknown', '10.0.0.2'],
    ['for=_gazonk', '10.0.0.2'],
    ['by=203.0.113.7', '10.0.0.2'],
    ['for=203.0.113.7, proto=https', '10.0.0.2'],
  ])('Forwarded: %s', (list, counted) =>
    expect(countedAddressOf({ forwarded: list })).toBe(counted),
  )

  it('both headers: X-Forwarded-For counts', () => {
    const headers = { 'x-forwarded-for': '203.0.113.7', forwarded: 'for=198.51.100.9' }
    expect(countedAddressOf(headers)).toBe('203.0.113.7')
  })

  it.each([
    [0, '10.0.0.2'],
    [1, '203.0.113.7'],
    [2, '198.51.100.9'],
    [9, '198.51.100.9'],
  ])('two addresses, behind %i proxies', (proxies, counted) =>
    expect(countedAddressOf({ 'x-forwarded-for': '198.51.100.9:1, 203.0.113.7:2' }, proxies)).toBe(
      counted,
    ),
  )

  it('headers of an untrusted proxy: the socket counts', () => {
    const headers = { 'x-forwarded-for': '203.0.113.7', forwarded: 'for=203.0.113.7' }
    expect(countedAddressOf(headers, ['192.0.2.0/24'])).toBe('10.0.0.2')
  })
})

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736'
const UUID_PATTERN = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[\da-f]{4}-[\da-f]{12}$/

describe('the id of a request', () => {
  const idOf = (id: string, proxies: number | string[] = 1) => {
    const req = { headers: { 'x-request-id': id }, socket: { remoteAddress: '10.0.0.2' } }
    return callerOfRequest(req, trustFunctionOf(proxies)).id
  }

  it.each([
    ['nginx', '7d1c6a4e9f0b4d4b8d6f1a2b3c4d5e6f'],
    ['Envoy', '6a3b9a86-6d0c-9c9b-8f5e-2f1f0c4f9d11'],
    ['HAProxy', '7F000001:8A3C_7F000001:1F90_65A1B2C3_0001:7F21'],
    ['a balancer of AWS', '1-67891233-abcdef012345678912345678'],
    ['Heroku', '01234567-89ab-cdef-0123-456789abcdef'],
    ['base64', 'q83vEjRWeJCrze8SNFZ4kA=='],
  ])('is taken from %s', (_, id) => {
    expect(idOf(id)).toBe(id)
    expect(idOf(id, ['10.0.0.0/8'])).toBe(id)
  })

  it.each([
    ['none', ''],
    ['short', 'abc'],
    ['long', 'a'.repeat(129)],
    ['several', 'a1b2c3d4, e5f6a7b8'],
    ['with a blank', 'a1b2c3d4 e5f6'],
    ['with quotes', '{"a":"b2c3d4e5"}'],
    ['with other letters', 'ämter-und-mehr'],
  ])('is generated where the proxy sends %s', (_, id) => {
    expect(idOf(id)).toMatch(UUID_PATTERN)
  })

  it('is generated where no proxy, or only another one, is trusted', () => {
    for (const proxies of [0, ['192.0.2.1']])
      expect(idOf('7d1c6a4e9f0b4d4b8d6f1a2b3c4d5e6f', proxies)).toMatch(UUID_PATTERN)
  })
})

describe('the trace of a request', () => {
  const traceOf = (traceparent: string, proxies = 1) => {
    const req = { headers: { traceparent }, socket: { remoteAddress: '10.0.0.2' } }
    return callerOfRequest(req, trustFunctionOf(proxies)).trace
  }

  it.each([
    `00-${TRACE_ID}-00f067aa0ba902b7-01`,
    `00-${TRACE_ID}-00f067aa0ba902b7-00`,
    `01-${TRACE_ID}-00f067aa0ba902b7-01`,
    `cc-${TRACE_ID}-00f067aa0ba902b7-01-what-the-future-brings`,
  ])('is read from %s', (text) => {
    expect(traceOf(text)).toBe(TRACE_ID)
    expect(traceOf(text, 0)).toBeUndefined()
  })

  it.each([
    '',
    `ff-${TRACE_ID}-00f067aa0ba902b7-01`,
    `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`,
    `00-${TRACE_ID}-${'0'.repeat(16)}-01`,
    `00-${TRACE_ID.toUpperCase()}-00f067aa0ba902b7-01`,
    `00-${TRACE_ID}-00f067aa0ba902b7-01-more`,
    `00-${TRACE_ID}-00f067aa0ba902b7-01.`,
    `cc-${TRACE_ID}-00f067aa0ba902b7-01.`,
    `00-${TRACE_ID}-00f067aa0ba902b7`,
    `00-${TRACE_ID}0-00f067aa0ba902b7-01`,
    ` 00-${TRACE_ID}-00f067aa0ba902b7-01`,
    `00-${TRACE_ID}-00f067aa0ba902b7-01, 00-${TRACE_ID}-00f067aa0ba902b7-01`,
  ])('is absent for %j', (text) => {
    expect(traceOf(text)).toBeUndefined()
  })
})
