import { describe, expect, it } from 'vitest'
import { pageAt } from './page.js'
import { find, nameIn, pathOfName, placeOf } from './paths.js'

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
  const WORD = `0x${'ab'.repeat(32)}`
  const SIGNATURE = '5'.repeat(88)
  const BITCOIN = 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq'

  it.each([
    ['/', { page: 'home' }],
    ['/Alice/', { page: 'name', name: 'alice' }],
    ['/Club/Alice', { page: 'member', community: 'club', name: 'alice' }],
    ['/@keys', { page: 'account', part: 'keys' }],
    [`/tx/${WORD}`, { page: 'tx', tx: WORD }],
    [`/tx/${SIGNATURE}`, { page: 'tx', tx: SIGNATURE }],
    ['/tx/alice', { page: 'member', community: 'tx', name: 'alice' }],
    [`/address/${BITCOIN}`, { page: 'address', address: BITCOIN }],
    ['/tx', { page: 'name', name: 'tx' }],
    ['/address', { page: 'name', name: 'address' }],
    // a hash, an address or a cluster's id where a name stands
    [`/${WORD}`, { page: 'search', text: WORD }],
    [`/${SIGNATURE}`, { page: 'search', text: SIGNATURE }],
    [`/0x${'Ab'.repeat(20)}`, { page: 'search', text: `0x${'Ab'.repeat(20)}` }],
    [`/${BITCOIN}/`, { page: 'search', text: BITCOIN }],
  ])('%s is read', (path, place) => {
    expect(placeOf(path)).toEqual(place)
    expect(pageAt(path)?.isFound).toBe(true)
  })

  it.each([
    ['docs', { page: 'name', name: 'docs' }],
    ['Docs/Bob', { page: 'member', community: 'docs', name: 'bob' }],
    ['a b', { page: 'none', text: 'a b' }],
  ])('a name whose path is another page’s is read of q=%s', (q, place) => {
    expect(placeOf('/', q)).toEqual(place)
  })

  it.each([
    ['/a%20b', 'a b'],
    ['/Bad%20Name!', 'Bad Name!'],
    ['/a/b/c', 'a/b/c'],
    ['/a/b%20c', 'a/b c'],
    ['/a%20b/c', 'a b/c'],
    [`/${'a'.repeat(33)}`, 'a'.repeat(33)],
    [`/club/${'a'.repeat(33)}`, `club/${'a'.repeat(33)}`],
    ['/@nothing', '@nothing'],
    ['/@bundle', '@bundle'],
    ['/@', '@'],
    ['/@Account', '@Account'],
    ['/@account/keys', '@account/keys'],
    ['/seedling.local.eth', 'seedling.local.eth'],
    ['/vitalik.eth', 'vitalik.eth'],
    ['/%C3%BCnicode', 'ünicode'],
    ['/%E0%A4%A', '%E0%A4%A'],
    ['/%', '%'],
    ['/%2F', '/'],
    ['/a%2Fb', 'a/b'],
    ['/<script>', '<script>'],
    ['/a+b', 'a+b'],
    ['/a:b', 'a:b'],
    ['/a,b', 'a,b'],
    ['/.', '.'],
    ['/index.html', 'index.html'],
    ['/favicon.png', 'favicon.png'],
    ['/wp-login.php', 'wp-login.php'],
    [`/0x${'ab'.repeat(80)}`, `0x${'ab'.repeat(80)}`],
    [`/tx/${WORD}/logs`, `tx/${WORD}/logs`],
    ['/tx/a%20b', 'tx/a b'],
    [`/tx/${WORD}00`, `tx/${WORD}00`],
    ['/address/a/b', 'address/a/b'],
    [`/${WORD}/alice`, `${WORD}/alice`],
    [`/club/${WORD}`, `club/${WORD}`],
    ['/alice/?', 'alice/?'],
    ['/~alice', '~alice'],
    ['/alice!', 'alice!'],
    ['/%00', '\0'],
    ['/\u202Ealice', '\u202Ealice'],
    ['/ａlice', 'ａlice'],
  ])('%s is no page', (path, text) => {
    expect(placeOf(path)).toEqual({ page: 'none', text })
  })

  it.each(['/a%20b', '/@nothing', '/%', '/a/b/c'])('%s is answered by 404', (path) => {
    expect(pageAt(`${path}?testnet=true`)?.isFound).toBe(false)
  })

  it.each([
    ['@alice', 'alice'],
    ['Seedling.local.eth', 'seedling'],
    ['alice/', 'alice'],
    ['a b', null],
    ['@', null],
    ['ünicode', null],
  ])('%s has the name %s in it', (text, name) => expect(nameIn(text)).toBe(name))
  it.each([
    '/v1/names',
    '/v0.1/name/x',
    '/assets/a/b.js',
    '/image/a.svg',
    '/bundles/assign',
    '/docs/a',
  ])('%s is not the pages’', (path) => expect(pageAt(path)).toBeNull())

  it.each(['alice', 'docs', 'v1', 'tx', 'address'])('of %s lead to its page', (name) => {
    const own = new URL(pathOfName(name)!, 'http://localhost')
    expect(placeOf(own.pathname, own.searchParams.get('q') ?? '')).toEqual({ page: 'name', name })
    const path = pathOfName(`${name}/bob`)
    // a name with a page of its own elsewhere has none here
    expect(path !== null).toBe(pageAt(`/${name}/bob`) !== null)
  })
})
