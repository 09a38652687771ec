import { describe, expect, it } from 'vitest'
import { gzipFile, indexPage, pageOfUrl, setPageServiceInfo } from './page.js'
import { firstNameInText, pageOfPath, pathOfName, pathOfText } from './paths.js'

it('names’ pages, which strangers make at will, push no fixed file out of the compressed ones', () => {
  const home = gzipFile(pageOfUrl('/')!.file)
  for (let i = 0; i < 501; i++) gzipFile(pageOfUrl(`/name-${i}`)!.file)
  expect(gzipFile(pageOfUrl('/')!.file)).toBe(home)
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
  ])('%s is a page', (path) => expect(pageOfUrl(`${path}?testnet=true`)?.isFound).toBe(true))
  const WORD = `0x${'ab'.repeat(32)}`
  const SIGNATURE = '5'.repeat(88)
  const BITCOIN = 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq'
  /** An address of 31 letters and digits, which has the form of a name too. */
  const BASE58 = '1BoatSLRHtKNngkdXEeobR76b53LETt'

  it.each([
    ['/', { page: 'home' }],
    ['/docs', { page: 'reference' }],
    ['/Alice/', { page: 'name', name: 'alice' }],
    ['/Club/Alice', { page: 'member', community: 'club', name: 'alice' }],
    ['/@keys', { page: 'account', part: 'keys' }],
    [`/tx/${WORD}`, { page: 'tx', tx: WORD }],
    [`/tx/${SIGNATURE}`, { page: 'tx', tx: SIGNATURE }],
    ['/tx/alice', { page: 'member', community: 'tx', name: 'alice' }],
    [`/address/${BITCOIN}`, { page: 'address', address: BITCOIN }],
    ['/tx', { page: 'name', name: 'tx' }],
    ['/address', { page: 'name', name: 'address' }],
    // a hash, an address or a cluster id in the place of a name
    [`/${WORD}`, { page: 'search', text: WORD, kinds: ['cluster', 'address'], otherwise: 'tx' }],
    [`/${SIGNATURE}`, { page: 'search', text: SIGNATURE, kinds: [], otherwise: 'tx' }],
    [
      `/0x${'Ab'.repeat(20)}`,
      { page: 'search', text: `0x${'ab'.repeat(20)}`, kinds: [], otherwise: 'address' },
    ],
    [`/${BITCOIN}/`, { page: 'search', text: BITCOIN, kinds: [], otherwise: 'address' }],
    [`/${BASE58}`, { page: 'search', text: BASE58, kinds: ['address'], otherwise: 'name' }],
    [`/${BASE58.toLowerCase()}`, { page: 'name', name: BASE58.toLowerCase() }],
  ])('%s is read', (path, place) => {
    expect(pageOfPath(path)).toEqual(place)
    expect(pageOfUrl(path)?.isFound).toBe(true)
  })

  it.each([
    ['docs', { page: 'name', name: 'docs' }],
    ['Docs/Bob', { page: 'member', community: 'docs', name: 'bob' }],
    ['a b', { page: 'none', text: 'a b' }],
  ])('a name whose path belongs to another page is read from q=%s', (q, place) => {
    expect(pageOfPath('/', q)).toEqual(place)
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
  ])('%s has no page', (path, text) => {
    expect(pageOfPath(path)).toEqual({ page: 'none', text })
  })

  const ENS = { mainnet: 'bundles.eth', testnet: 'bundles-test.eth' }
  it.each([
    ['/alice.bundles.eth', 'alice', false],
    ['/Alice.Bundles.ETH/', 'alice', false],
    ['/cold.alice.bundles.eth', 'alice/cold', false],
    ['/alice.bundles-test.eth', 'alice', true],
  ])('%s is an ENS name', (path, name, isTestnet) => {
    expect(pageOfPath(path, '', ENS)).toEqual({ page: 'ens', name, isTestnet })
    expect(pageOfPath('/', path.slice(1), ENS)).toEqual({ page: 'ens', name, isTestnet })
  })

  it.each(['vitalik.eth', 'bundles.eth', 'a.b.c.bundles.eth', 'ü.bundles.eth', 'alicebundles.eth'])(
    '%s is not below an ENS parent of this service',
    (text) => expect(pageOfPath(`/${text}`, '', ENS)).toEqual({ page: 'none', text }),
  )

  it.each([
    ['alice', '/alice'],
    [' Alice/ ', '/alice'],
    ['Club/Alice', '/club/alice'],
    ['docs', '/?q=docs'],
    ['docs/bob', '/?q=docs%2Fbob'],
    [WORD, `/?q=${WORD}`],
    [BASE58, `/?q=${BASE58}`],
    ['alice.bundles.eth', '/?q=alice.bundles.eth'],
    ['hello world?', '/?q=hello%20world%3F'],
    ['..', '/?q=..'],
    ['%', '/?q=%25'],
    ['/', '/?q=%2F'],
  ])('a search for “%s” leads to %s, whose path is read as the same text', (text, path) => {
    expect(pathOfText(text)).toBe(path)
    const { pathname, searchParams } = new URL(path, 'http://localhost')
    expect(pageOfPath(pathname, searchParams.get('q') ?? '', ENS)).toEqual(
      pageOfPath('/', text, ENS),
    )
  })

  it.each(['/a%20b', '/@nothing', '/%', '/a/b/c', '/?q=a%20b'])('%s is answered by 404', (path) => {
    expect(pageOfUrl(path)?.isFound).toBe(false)
  })

  it.each([
    ['@alice', 'alice'],
    ['Seedling.local.eth', 'seedling'],
    ['alice/', 'alice'],
    ['a b', null],
    ['@', null],
    ['ünicode', null],
  ])('%s contains the name %s', (text, name) => expect(firstNameInText(text)).toBe(name))
  it.each([
    '/v1/names',
    '/v0.1/name/x',
    '/assets/a/b.js',
    '/image/a.svg',
    '/bundles/assign',
    '/docs/a',
  ])('%s does not belong to the pages', (path) => expect(pageOfUrl(path)).toBeNull())

  it.each(['alice', 'docs', 'v1', 'tx', 'address'])('of the name %s leads to its page', (name) => {
    const own = new URL(pathOfName(name)!, 'http://localhost')
    expect(pageOfPath(own.pathname, own.searchParams.get('q') ?? '')).toEqual({
      page: 'name',
      name,
    })
    const path = pathOfName(`${name}/bob`)
    // names below `docs` and `v1` have no path, because the API or files have it
    expect(path !== null).toBe(pageOfUrl(`/${name}/bob`) !== null)
  })
})

describe('facts of the service in the pages', () => {
  it('are the ones written last, and decide which ENS names have a page', () => {
    const networks = ['mainnet', 'testnet'] as const
    setPageServiceInfo({ ens: { mainnet: 'first.eth' }, networks, isLocal: true })
    expect(pageOfUrl('/alice.first.eth')?.isFound).toBe(true)
    setPageServiceInfo({ ens: { mainnet: 'second.eth' }, networks, isLocal: false })
    expect(pageOfUrl('/alice.first.eth')?.isFound).toBe(false)
    expect(pageOfUrl('/alice.second.eth')?.isFound).toBe(true)
    expect(indexPage.text).not.toContain('first.eth')
    expect(indexPage.text.match(/<meta name="service"/g)).toHaveLength(1)
    setPageServiceInfo({ ens: {}, networks, isLocal: false })
  })
})
