import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { ROOT, read, rowsOf } from '../scripts/lint/documents.js'
import { useFolder } from './support/folder.js'

/** What leads readers and robots of a public repository here: `package.json`, workflows, Dependabot. */

const { engines, ...manifest } = JSON.parse(read('package.json'))
/** Majors of Node that package.json allows, and the newest that is tested: 26. */
const MAJORS = [...engines.node.matchAll(/(?:\^|>=)(\d+)/g)]
  .map(([, major]) => Number(major))
  .concat(26)

const folder = useFolder()

/** Runs `.ci/release 9.9.9` in a repository of its own, with this package.json after `edit`. @returns its complaint */
function release(name: string, edit: (text: string) => string): string {
  const root = join(folder, name)
  mkdirSync(join(root, 'docs/run'), { recursive: true })
  cpSync(join(ROOT, '.ci/release'), join(root, '.ci/release'))
  writeFileSync(join(root, 'package.json'), edit(readFileSync('package.json', 'utf8')))
  writeFileSync(join(root, 'docs/run/changelog.md'), '## 9.9.9\n')
  writeFileSync(join(root, '.ci/run'), '#!/bin/sh\necho "the checks fail" >&2\nexit 1\n', {
    mode: 0o755,
  })
  const git = (...args: string[]) => execFileSync('git', args, { cwd: root, stdio: 'pipe' })
  git('init', '-q', '-b', 'main')
  git('add', '-A')
  git('-c', 'user.name=a', '-c', 'user.email=a@b.example', 'commit', '-q', '-m', 'Begin')
  const { status, stderr } = spawnSync('bash', ['.ci/release', '9.9.9'], {
    cwd: root,
    encoding: 'utf8',
  })
  expect(status).toBe(1)
  return stderr.trim()
}

describe('.ci/release', () => {
  it('refuses a package that names no repository', () => {
    expect(release('placeholder', (text) => text)).toBe(
      'package.json names no repository: replace OWNER in its homepage, bugs and repository.',
    )
  })

  it('goes on to the checks, and stops at the first that fails, once it names one', () => {
    const named = release('named', (text) => text.replaceAll('/OWNER/', '/somebody/'))
    expect(named).toBe('the checks fail')
  })
})

it('package.json leads to its repository, its faults and its page', () => {
  const { homepage, bugs, repository } = manifest
  const [, base] = /^git\+(https:\/\/github\.com\/\w+\/clusterd)\.git$/.exec(repository.url)!
  expect({ homepage, bugs }).toEqual({
    homepage: `${base}#readme`,
    bugs: { url: `${base}/issues` },
  })
  expect(manifest.keywords.length).toBeGreaterThan(4)
})

describe('the workflow of pushes and pull requests', () => {
  const { on, permissions, jobs } = parse(read('.github/workflows/ci.yml'))

  it('runs .ci/run on every version of Node that package.json allows', () => {
    expect(Object.keys(on)).toEqual(['push', 'pull_request'])
    expect(jobs.run.strategy.matrix.node).toEqual(MAJORS)
    expect(jobs.run.container).toMatch(/matrix\.node/)
    expect(jobs.run.steps.at(-1)).toEqual({ run: '.ci/run' })
  })

  it('can write nothing, and uses actions by their commit', () => {
    expect(permissions).toEqual({ contents: 'read' })
    const uses = read('.github/workflows/ci.yml').match(/uses: .*/g)!
    for (const line of uses) expect(line).toMatch(/@[0-9a-f]{40} # v\d/)
  })
})

it('Dependabot leaves what dependencies.md keeps, and nothing else', () => {
  const { updates } = parse(read('.github/dependabot.yml'))
  const names = updates[0].ignore.map((one: Record<string, string>) => one['dependency-name'])
  const kept = read('docs/build/dependencies.md').split('## Kept at an earlier version')[1]!
  const packages = rowsOf(kept.split('\n## ')[0]!).flatMap(([first]) =>
    [...first!.matchAll(/`([^`]+)`/g)].map(([, name]) => name!),
  )
  expect(packages.length).toBeGreaterThan(5)
  expect(names.toSorted()).toEqual(packages.toSorted())
})
