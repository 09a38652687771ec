import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { routes } from '../../scripts/declaredRoutes.js'
import { filesIn } from '../../scripts/files.js'
import type { Route } from '../../src/api/http/route.js'
import { witnessRoutes } from '../../src/api/v1/witness.js'

const textsOf = (folder: string): string[] =>
  filesIn(folder)
    .filter((file) => file.endsWith('.ts') && !/^test\/upgrade\/|^src\/.*\.test\.ts$/.test(file))
    .map((file) => readFileSync(file, 'utf8'))

/** Sources of the tests. The requests that test/upgrade compares with an earlier build state no answer. */
const tests = textsOf('test').join('\n')

/** Characters of a test beside a path in which its method is read. */
const CALL_LENGTH = 60

/** A path in a test, as text or template. A parameter is any segment. */
const requestPattern = (path: string): RegExp => {
  const parameter = '(?:\\$\\{[^}]*\\}|[^/`\'"?$\\s])+'
  const segments = path.replaceAll('.', '\\.').replace(/[:*]\w+/g, () => parameter)
  return new RegExp(`["'\`}]((?:[A-Z]+ )?)${segments}(?=["'\`?$])`, 'g')
}

/** Whether a test sends a request of the route. A call that names no method is a GET. */
function isTested({ method, path, aliases = [] }: Route): boolean {
  const requests = [path, ...aliases].flatMap((one) => [...tests.matchAll(requestPattern(one))])
  return requests.some(({ index, 0: request }) => {
    const before = tests.slice(Math.max(0, index - CALL_LENGTH), index)
    const after = tests.slice(index, index + request.length + CALL_LENGTH)
    const named =
      /method: '(\w+)'/.exec(after)?.[1] ??
      [...`${before}${request}`.matchAll(/\b(get|post|put|patch|delete)\b/gi)].at(-1)?.[1]
    return (named ?? 'get').toLowerCase() === method
  })
}

/** Routes of every process, and those of a mirror that is a witness. */
const all = [...routes, ...witnessRoutes({ key: '', cosigner: { name: '', keys: [] } })]

it('every route has a test that sends its request', () => {
  const untested = all.filter((route) => !isTested(route))
  const named = untested.map(({ method, path }) => `${method.toUpperCase()} ${path}`)
  expect(named, 'routes that need a test in test/api').toEqual([])
})

it('src/api/routes.ts lists every declared route, but those of a witness', () => {
  const declarations = textsOf('src/api').flatMap((text) => [
    ...text.matchAll(/\bdeclareRoute\.(\w+)\(\s*'([^']+)'/g),
  ])
  const listed = all.map(({ method, path }) => `${method} ${path}`)
  const declared = declarations.map(([, method, path]) => `${method} ${path}`)
  expect(declared.length).toBeGreaterThan(60)
  expect(declared.filter((route) => !listed.includes(route))).toEqual([])
})
