import { describe, expect, it } from 'vitest'
import { ok, okJson } from '../http/answer.js'
import { tagged, unlessKnown } from './etag.js'

const answer = tagged(ok({ name: 'alice' }))
const etag = answer.headers!.etag!

describe('entity tags', () => {
  it('are those of the JSON text', () => {
    expect(tagged(ok({ name: 'alice' })).headers).toEqual(answer.headers)
    expect(tagged(ok({ name: 'bob' })).headers!.etag).not.toBe(etag)
    expect(tagged(okJson(Buffer.from('{"name":"alice"}'))).headers!.etag).toBe(etag)
    expect(tagged({ ...ok(null), status: 404 }).headers).toBeUndefined()
  })

  it('leave an answer its own word for caches', () => {
    expect(answer.headers!['cache-control']).toBe('no-cache')
    expect(tagged(ok(1, { 'cache-control': 'no-store' })).headers!['cache-control']).toBe(
      'no-store',
    )
  })

  it('spare the content to who names them, strong, weak, in a list or by *', () => {
    for (const known of [etag, etag.slice(2), `"x", ${etag}`, ' * '])
      expect(unlessKnown(answer, known)).toMatchObject({ status: 304, headers: answer.headers })
    for (const other of [undefined, '', '"x"', etag.slice(0, -1)])
      expect(unlessKnown(answer, other)).toBe(answer)
  })
})
