import { expect, it } from 'vitest'
import { ok } from '../http/answer.js'
import { route } from '../http/route.js'
import { routes } from '../routes.js'
import { createRouter } from './router.js'

it('finds every route by its own paths: no other one stands before it', () => {
  const match = createRouter(routes)
  for (const own of routes)
    for (const path of [own.path, ...(own.aliases ?? [])]) {
      const names = [...path.matchAll(/:(\w+)/g)].map(([, name]) => [name, 'held'])
      const url = path.replaceAll(/:\w+/g, 'held')
      const found = match({ method: own.method.toUpperCase(), url })
      expect(found, path).toEqual({ route: own, params: Object.fromEntries(names) })
    }
})

it('no route whose answers depend on a key keeps them for others', () => {
  const responses = {}
  route.get('/x', {
    summary: '',
    responses,
    auth: 'optional',
    // @ts-expect-error: beside a key
    kept: 'journal',
    handle: async () => ok(null),
  })
  route.get('/x', { summary: '', responses, kept: 'journal', handle: async () => ok(null) })
})
