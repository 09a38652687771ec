import { existsSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { DOCUMENTS, ROOT, read } from './support/documents.js'

/** Relative targets of `[text](target)`, resolved from the project's root, without anchors. */
const linksOf = (path: string): string[] =>
  [...read(path).matchAll(/\]\((?!https?:|#)([^)\s]+)\)/g)].map(([, target]) =>
    join(dirname(path), target!.replace(/#.*$/, '')),
  )

/** Files and folders of the project that are named in backticks: `src/…`, `test/…`, `scripts/…`, without patterns. */
const pathsOf = (path: string): string[] =>
  [...read(path).matchAll(/`((?:src|test|scripts|docs|contracts|prisma|examples)\/[\w./-]*)`/g)].map(
    ([, name]) => name!,
  )

const missing = (paths: readonly string[]) => paths.filter((path) => !existsSync(join(ROOT, path)))

describe.each(DOCUMENTS)('%s', (path) => {
  it('names only files that exist', () => {
    expect(missing([...linksOf(path), ...pathsOf(path)])).toEqual([])
  })
})

describe('the check of paths', () => {
  it('finds links and paths', () => {
    expect(linksOf('README.md').length).toBeGreaterThan(10)
    expect(pathsOf('CONTRIBUTING.md').length).toBeGreaterThan(10)
    expect(missing(['docs/architecture.md', 'docs/nowhere.md'])).toEqual(['docs/nowhere.md'])
  })
})

describe('the package, which is in no registry yet', () => {
  const { version, name } = JSON.parse(read('package.json'))
  const own = `${name}-${version}.tgz`

  it('is named with this version where a page installs it', () => {
    const named = DOCUMENTS.flatMap((path) => read(path).match(/\bclusterd-\d[\w.-]*\.tgz/g) ?? [])
    expect(named.length).toBeGreaterThan(3)
    expect(new Set(named)).toEqual(new Set([own]))
  })

  it('is what the examples depend on', () => {
    for (const example of ['contract-harness', 'react-status']) {
      const { dependencies = {}, devDependencies } = JSON.parse(read(`examples/${example}/package.json`))
      expect({ ...devDependencies, ...dependencies }[name]).toBe(`file:../../${own}`)
      expect(read(`examples/${example}/README.md`)).toContain(`/${own}`)
    }
  })
})

describe('README.md', () => {
  it('names every command of the command line', () => {
    const sources = ['src/cli.ts', ...commandFiles('src/cli')].map(read).join('\n')
    const commands = [...sources.matchAll(/program\s*\.command\('([a-z]+)/g)].map(([, name]) => name!)
    expect(commands.length).toBeGreaterThan(8)
    const readme = read('README.md')
    expect(commands.filter((name) => !readme.includes(`| \`clusterd ${name}\` |`))).toEqual([])
  })

  it('links every document, by itself or by one that it links', () => {
    const linked = new Set(linksOf('README.md'))
    for (const path of [...linked].filter((path) => path.endsWith('.md')))
      for (const link of linksOf(path)) linked.add(link)
    expect(DOCUMENTS.filter((path) => path !== 'README.md' && !linked.has(path))).toEqual([])
  })
})

function commandFiles(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('ommands.ts'))
    .map((file) => `${folder}/${file}`)
}
