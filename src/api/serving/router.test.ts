import { expect, it } from 'vitest'
import { routes } from '../../../scripts/declaredRoutes.js'
import { createRouter, normalizeUrl } from './router.js'

const matchRoute = createRouter(routes)
const ROUTE_PATHS = routes.flatMap((own) =>
  [own.path, ...(own.aliases ?? [])].map((path) => ({ path, own })),
)

it.each(ROUTE_PATHS)(
  'finds $own.method $path by its path, before any other route that matches',
  ({ path, own }) => {
    const names = [...path.matchAll(/[:*](\w+)/g)].map(([, name]) => [name, 'held'])
    const url = path.replaceAll(/[:*]\w+/g, 'held')
    const found = matchRoute({ method: own.method.toUpperCase(), url })
    expect(found).toEqual({ route: own, params: Object.fromEntries(names) })
  },
)

it('decodes the parameters of a path', () => {
  const url = '/v1/names/address/a%2F%2Fb?x=c//d'
  expect(matchRoute({ method: 'GET', url })?.params).toEqual({ address: 'a//b' })
  expect(matchRoute({ method: 'GET', url: '/v1/names/address/%zz' })).toBeNull()
})

it.each([
  ['//v1/names/address/held', '/v1/names/address/held'],
  ['/v1//names///address/held', '/v1/names/address/held'],
  ['//v1/names/address/held?x=a//b', '/v1/names/address/held?x=a//b'],
  ['http://localhost//v1//names/address/held//', '/v1/names/address/held/'],
  ['https://localhost?x=/a//b', '?x=/a//b'],
  ['/v1/names/address/a%2F%2Fb', '/v1/names/address/a%2F%2Fb'],
  ['//docs', '/docs'],
  ['/a//b///c?d=//', '/a/b/c?d=//'],
  ['/a?b=c//d', '/a?b=c//d'],
  ['*', '*'],
])('a URL as path and query: %s', (url, local) => expect(normalizeUrl(url)).toBe(local))
