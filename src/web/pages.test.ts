import { describe, expect, it } from 'vitest'
import { find, pathOfName } from './page/lib/search.js'
import { pageAt, pagePathOf } from './page.js'

describe('a search', () => {
  const signature = '5'.repeat(88)
  it.each([
    ['alice', { text: 'alice', candidates: ['name'] }],
    [' Alice/ ', { text: 'alice', candidates: ['name'] }],
    ['Club/Alice', { text: 'club/alice', candidates: ['name'] }],
    [`0x${'Ab'.repeat(20)}`, { text: `0x${'ab'.repeat(20)}`, candidates: ['address'] }],
    [signature, { text: signature, candidates: ['tx'] }],
    ['a'.repeat(33), { text: 'a'.repeat(33), candidates: ['address'] }],
    ['xn--80ak6aa92e.com', { text: 'xn--80ak6aa92e.com', candidates: ['address'] }],
  ])('takes %s for what its form says', (text, found) => {
    expect(find(text)).toEqual(found)
  })

  it('asks where a form fits several', () => {
    const hash = `0x${'ab'.repeat(32)}`
    expect(find(hash)).toEqual({ text: hash, candidates: ['cluster', 'address', 'tx'] })
    const short = '1BoatSLRHtKNngkdXEeobR76b53LETt'
    expect(find(short)).toEqual({ text: short, candidates: ['address', 'name'] })
    expect(find('  ')).toBeNull()
  })
})

describe('paths', () => {
  it.each([
    '/',
    '/alice',
    '/alice/',
    '/club/alice',
    '/tx/0xabc',
    '/address/0xabc',
    '/@account',
    '/docs',
    '/v1',
  ])('%s is a page', (path) => expect(pageAt(`${path}?testnet=true`)?.isFound).toBe(true))
  it.each(['/a%20b', '/a/b/c', `/${'a'.repeat(33)}`, '/a/b%20c'])('%s is no page', (path) => {
    expect(pageAt(path)?.isFound).toBe(false)
  })
  it.each([
    '/v1/names',
    '/v0.1/name/x',
    '/assets/a/b.js',
    '/image/a.svg',
    '/bundles/assign',
    '/docs/a',
  ])('%s is not the pages’', (path) => expect(pageAt(path)).toBeNull())

  it.each(['alice', 'docs', 'v1', 'tx', 'address'])('of %s lead to its page', (name) => {
    expect(pathOfName(name)).toBe(pagePathOf(name))
    const path = pathOfName(`${name}/bob`)
    // a name with a page of its own elsewhere has none here
    expect(path !== null).toBe(pageAt(`/${name}/bob`) !== null)
  })
})
