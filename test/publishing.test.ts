import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { read, rowsOf } from '../scripts/lint/documents.js'
import { useFolder } from './support/folder.js'

/** What leads readers and robots of a public repository here: `package.json`, workflows, Dependabot. */

const { engines, ...manifest } = JSON.parse(read('package.json'))
/** Majors of Node that package.json allows, and the newest that is tested: 26. */
const MAJORS = [...engines.node.matchAll(/(?:\^|>=)(\d+)/g)]
  .map(([, major]) => Number(major))
  .concat(26)

const folder = useFolder()

/** Files that name the version, and a text that `.ci/release` refuses until a package is published. */
const NAMING = ['README.md', 'examples/deploy/kubernetes/kustomization.yaml', 'docs/use/client.md']
const UNPUBLISHED = /^.*registry yet.*$/gm
const NOBODY = { NAME: 'a', EMAIL: 'a@b.example' }

/**
 * Runs `.ci/release 9.9.9` in a repository of its own, with these documents after `edit`. Its checks print the lines
 * with the new version. Afterwards nothing is left to commit.
 * @param checks code with which the checks end
 */
function release(name: string, edit: (text: string) => string, checks: 0 | 1 = 1) {
  const root = join(folder, name)
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text, { mode: 0o755 })
  }
  write('.ci/release', read('.ci/release'))
  write('.ci/run', `#!/bin/sh\ngit diff -U0 | grep "^+.*9\\.9\\.9" >&2\nexit ${checks}\n`)
  write('docs/run/changelog.md', '## 9.9.9\n')
  for (const path of ['package.json', ...NAMING]) write(path, edit(read(path)))
  const persons = ['AUTHOR', 'COMMITTER'].flatMap((role) =>
    Object.entries(NOBODY).map(([field, text]) => [`GIT_${role}_${field}`, text]),
  )
  const env = { ...process.env, ...Object.fromEntries(persons) }
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: root, stdio: 'pipe', encoding: 'utf8', env })
  git('init', '-q', '-b', 'main')
  git('add', '-A')
  git('commit', '-q', '-m', 'Begin')
  const { status, stderr } = spawnSync('bash', ['.ci/release', '9.9.9'], {
    cwd: root,
    encoding: 'utf8',
    env,
  })
  expect(git('status', '--porcelain')).toBe('')
  return { status, text: stderr.trim(), tag: git('tag', '--points-at', 'HEAD').trim() }
}

describe('.ci/release', () => {
  const withOwner = (text: string) => text.replaceAll('/OWNER/', '/somebody/')
  /** Documents that no longer say that something is not published, and a `check:package` that does nothing. */
  const ready = (text: string) =>
    withOwner(text)
      .replaceAll(UNPUBLISHED, (line) => /The version is .*\.$/.exec(line)?.[0] ?? '')
      .replace(/("(?:pre)?check:package": )".*"/g, '$1"true"')
  const refused = (text: string) => ({ status: 1, text, tag: '' })

  it('refuses a package that names no repository', () => {
    expect(release('placeholder', (text) => text)).toEqual(
      refused(
        'package.json names no repository: replace OWNER in its homepage, bugs and repository.',
      ),
    )
  })

  it('refuses documents that say that nothing is published', () => {
    expect(release('unpublished', withOwner)).toEqual(
      refused(
        'These say that the packages are not published: README.md docs/use/client.md. Let them say how to install 9.9.9.',
      ),
    )
  })

  it.each([
    ['takes it back where one fails', 1, ''],
    ['commits and tags it', 0, 'v9.9.9'],
  ] as const)('sets the version everywhere before the checks, and %s', (name, status, tag) => {
    const { text, ...ended } = release(name, ready, status)
    expect(ended).toEqual({ status, tag })
    expect(text.split('\n').toSorted()).toEqual([
      '+    newTag: 9.9.9',
      '+  "version": "9.9.9",',
      '+The version is 9.9.9.',
      '+npm i <checkout>/clusterd-client-9.9.9.tgz   # in your project',
    ])
  })
})

it('every place that names the version has that of package.json', () => {
  const lock = JSON.parse(read('package-lock.json'))
  const [, tag] = /newTag: (.*)/.exec(read(NAMING[1]!))!
  const [, shown] = /The version is (.*)\.$/m.exec(read('README.md'))!
  const [, newest] = /^## (\d.*)$/m.exec(read('docs/run/changelog.md'))!
  const named = { lock: lock.version, root: lock.packages[''].version, tag, shown, newest }
  for (const [place, version] of Object.entries(named))
    expect({ place, version }).toEqual({ place, version: manifest.version })
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
