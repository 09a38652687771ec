import { expect, it } from 'vitest'
import { routes } from '../../../scripts/declaredRoutes.js'
import { collapseSlashes, createRouter } from './router.js'

const match = createRouter(routes)
const PATHS = routes.flatMap((own) =>
  [own.path, ...(own.aliases ?? [])].map((path) => ({ path, own })),
)

it.each(PATHS)(
  'finds $own.method $path by its path, before any other route that matches',
  ({ path, own }) => {
    const names = [...path.matchAll(/[:*](\w+)/g)].map(([, name]) => [name, 'held'])
    const url = path.replaceAll(/[:*]\w+/g, 'held')
    const found = match({ method: own.method.toUpperCase(), url })
    expect(found).toEqual({ route: own, params: Object.fromEntries(names) })
  },
)

it.each([
  ['//v1/names/address/held', 'held'],
  ['/v1//names///address/held', 'held'],
  ['//v1/names/address/held?x=a//b', 'held'],
  ['http://localhost//v1//names/address/held//', 'held'],
  ['/v1/names/address/a%2F%2Fb', 'a//b'],
])('replaces doubled slashes of a path: %s', (url, address) => {
  expect(createRouter(routes)({ method: 'GET', url })?.params).toEqual({ address })
})

it.each([
  ['//docs', '/docs'],
  ['/a//b///c?d=//', '/a/b/c?d=//'],
  ['/a?b=c//d', '/a?b=c//d'],
])('replaces doubled slashes before Express serves a path: %s', (url, folded) =>
  expect(collapseSlashes(url)).toBe(folded),
)
