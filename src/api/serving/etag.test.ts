import { describe, expect, it } from 'vitest'
import { answerOfJsonBytes, okAnswer } from '../http/answer.js'
import { notModifiedIfMatching, withEntityTag } from './etag.js'

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
    expect(answer.headers!['cache-control']).toBe('no-cache')
    expect(
      withEntityTag(okAnswer(1, { 'cache-control': 'no-store' })).headers!['cache-control'],
    ).toBe('no-store')
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

  it.each(['-gzip', '--gzip', ';gzip', ':gzip', '-br', ';br', '-zstd', '-deflate'])(
    'omit the content for a client that sends them as a proxy changed them, with %s',
    (suffix) => {
      for (const tag of [etag, etag.slice(2)])
        expect(notModifiedIfMatching(answer, tag.replace(/"$/, `${suffix}"`))).toMatchObject({
          status: 304,
        })
    },
  )

  it.each([
    ['one with an unknown suffix', etag.replace(/"$/, '-other"')],
    ['nothing', undefined],
    ['an empty text', ''],
    ['another', '"x"'],
    ['one cut short', etag.slice(0, -1)],
  ])('do not omit the content for a client that sends %s', (_, other) => {
    expect(notModifiedIfMatching(answer, other)).toBe(answer)
  })
})
