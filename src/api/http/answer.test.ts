import { describe, expect, it } from 'vitest'
import { answerOfJsonBytes, notModifiedIfMatching, okAnswer, withEntityTag } from './answer.js'

const answer = withEntityTag(okAnswer({ name: 'alice' }))
const etag = answer.headers!.etag!

describe('entity tags', () => {
  it('depend on the JSON text', () => {
    expect(withEntityTag(okAnswer({ name: 'alice' })).headers).toEqual(answer.headers)
    expect(withEntityTag(okAnswer({ name: 'bob' })).headers!.etag).not.toBe(etag)
    expect(withEntityTag(answerOfJsonBytes(Buffer.from('{"name":"alice"}'))).headers!.etag).toBe(
      etag,
    )
    expect(withEntityTag({ ...okAnswer(null), status: 404 }).headers).toBeUndefined()
  })

  it('keep a response’s own cache-control', () => {
    const own = withEntityTag(okAnswer(1, { 'cache-control': 'no-store' }))
    expect(own.headers!['cache-control']).toBe('no-store')
  })

  it.each([
    ['strong', etag],
    ['weak', etag.slice(2)],
    ['in a list', `"x", ${etag}`],
    ['by *', ' * '],
  ])('omit the content for a client that sends them, %s', (_, known) => {
    expect(notModifiedIfMatching(answer, known)).toMatchObject({
      status: 304,
      headers: answer.headers,
    })
  })

  const SUFFIXES = '-gzip --gzip ;gzip :gzip -br ;br ;gz -zstd -deflate -df -ssl-df'.split(' ')
  it.each(SUFFIXES)(
    'omit the content for a client that sends them as a proxy changed them, with %s',
    (suffix) => {
      for (const tag of [etag, etag.slice(2)])
        for (const sent of [tag.replace(/"$/, `${suffix}"`), `${tag}${suffix}`.replaceAll('"', '')])
          expect(notModifiedIfMatching(answer, sent), sent).toMatchObject({ status: 304 })
    },
  )

  it.each([
    ['without quotes', etag.replaceAll('"', '')],
    ['strong and without quotes', etag.slice(3, -1)],
    ['with a suffix after the quotes', `${etag.slice(2)}-gzip`],
    ['in a list as long as is read', `"${'x'.repeat(508 - etag.length)}", ${etag}`],
  ])('omit the content for a client that sends them %s', (_, sent) => {
    expect(notModifiedIfMatching(answer, sent)).toMatchObject({ status: 304 })
  })

  it.each([
    ['a tag', `"${'x'.repeat(509 - etag.length)}", ${etag}`],
    ['15,000 tags', `${'"x",'.repeat(15_000)}${etag}`],
    ['15,000 commas', ','.repeat(15_000)],
    ['an asterisk', `${' '.repeat(512)}*`],
  ])('count as absent in a list that is too long, with %s', (_, list) => {
    expect(notModifiedIfMatching(answer, list)).toBe(answer)
  })

  it.each([
    ['one with an unknown suffix', etag.replace(/"$/, '-other"')],
    ['nothing', undefined],
    ['an empty text', ''],
    ['another', '"x"'],
    ['one cut short', etag.slice(0, -1)],
    ['one without its first quote', etag.replace('"', '')],
    ['one without its last character', etag.replace(/."$/, '"')],
    ['one with a character more', etag.replace('"', '"x')],
    ['one in another case', etag.toLowerCase() === etag ? '"x"' : etag.toLowerCase()],
    ['one with a suffix in place of its end', etag.replace(/.{5}"$/, '-gzip"')],
  ])('do not omit the content for a client that sends %s', (_, other) => {
    expect(notModifiedIfMatching(answer, other)).toBe(answer)
  })
})
