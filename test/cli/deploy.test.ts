import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { DEFAULT_OPS_PORT, DEFAULT_PORT, readEnvironment } from '../../src/config/index.js'
import { DAEMON_NODEJS_FLAGS } from '../../src/testing/processes/daemonProcess.js'
import { readCompose } from '../support/topologyFiles.js'

const FOLDER = 'examples/deploy'
const read = (file: string): string => readFileSync(`${FOLDER}/${file}`, 'utf8')
const { bin, name, engines } = JSON.parse(readFileSync('package.json', 'utf8'))
/** Path of the program where the package is installed. */
const PROGRAM = `/opt/clusterd/node_modules/${name}/${bin.clusterd}`

const settings = (file: string): Map<string, string> =>
  new Map([...read(file).matchAll(/^(\w+)=(.*)$/gm)].map(([, key, value]) => [key!, value!]))

describe('the systemd unit', () => {
  const unit = settings('clusterd.service')

  it('starts the package as its own user, with the files of `clusterd init`', () => {
    expect(unit.get('ExecStart')).toBe(
      `/usr/bin/node ${DAEMON_NODEJS_FLAGS.join(' ')} ${PROGRAM} start`,
    )
    expect(unit.get('EnvironmentFile')).toBe(`${unit.get('WorkingDirectory')}/.env`)
    expect(unit.get('User')).toBe('clusterd')
    expect(unit.get('Documentation')).toContain('docs/run/operations.md')
  })

  it('waits longer than a stop takes, and allows enough file descriptors', () => {
    // after the drain, requests have ten seconds, and workers and connections the rest
    expect(Number(unit.get('TimeoutStopSec'))).toBeGreaterThan(
      readEnvironment({}).drainMs / 1_000 + 20,
    )
    expect(Number(unit.get('LimitNOFILE'))).toBeGreaterThan(10_000)
  })

  it.skipIf(spawnSync('systemd-analyze', ['--version']).status !== 0)(
    'is valid for systemd, and has a low exposure',
    () => {
      const verified = spawnSync('systemd-analyze', ['verify', `${FOLDER}/clusterd.service`], {
        encoding: 'utf8',
      })
      expect([verified.status, verified.stderr]).toEqual([0, ''])
      // exposure at most 2.0 of 10
      const args = [
        'security',
        '--offline=true',
        '--threshold=20',
        '--no-pager',
        `${FOLDER}/clusterd.service`,
      ]
      expect(execFileSync('systemd-analyze', args, { encoding: 'utf8' })).toMatch(
        /exposure level .*: [01]\.\d OK/,
      )
    },
  )
})

describe('the container file', () => {
  const steps = [...read('Containerfile').matchAll(/^([A-Z]+) (.*)$/gm)].map(
    ([, step, rest]) => [step!, rest!] as const,
  )
  const of = (step: string) => steps.filter(([one]) => one === step).map(([, rest]) => rest)

  it('packs this checkout and installs the package without development dependencies', () => {
    expect(of('RUN')[0]).toBe('npm ci --ignore-scripts --no-audit --no-fund')
    expect(of('RUN')[1]).toBe('npm pack --pack-destination /tmp')
    const flags = '--ignore-scripts --omit=dev --omit=optional'
    expect(of('RUN')[2]).toMatch(new RegExp(`^npm install ${flags} .*/tmp/${name}-\\*\\.tgz`))
    expect(of('COPY')[1]).toContain(`/tmp/${name}-*.tgz`)
    expect(JSON.parse(of('ENTRYPOINT')[0]!)).toEqual(['node', ...DAEMON_NODEJS_FLAGS, PROGRAM])
    for (const image of of('FROM'))
      expect(engines.node, image).toContain(`^${/^node:(\d+)-slim/.exec(image)![1]}.`)
  })

  it('runs as an unprivileged user, with a health check of the daemon’s port', () => {
    expect(of('USER')).toEqual(['node'])
    expect(of('EXPOSE')).toEqual([`${DEFAULT_PORT} ${DEFAULT_OPS_PORT}`])
    expect(of('HEALTHCHECK')[0]).toContain(`http://127.0.0.1:${DEFAULT_OPS_PORT}/health`)
  })

  it.each(['.git', '.clusterd', '.env', '**/node_modules', 'dist', '**/generated'])(
    'copies no secret, world or build of the checkout into the image: %s',
    (entry) => {
      expect(read('Containerfile.dockerignore').split('\n')).toContain(entry)
    },
  )
})

describe('the compose file', () => {
  const compose = read('compose.yaml')

  it('refers to existing files, and to variables that `clusterd init --compose` writes', () => {
    for (const [path] of compose.matchAll(/examples\/[\w./-]+\w/g))
      expect(existsSync(path), path).toBe(true)
    const source = readFileSync('src/cli/init/init.ts', 'utf8')
    for (const [, variable] of compose.matchAll(/\$\{(\w+):[?-]/g)) {
      const isWritten = variable === 'CLUSTERD_IMAGE' || source.includes(`${variable}=`)
      expect(isWritten, variable).toBe(true)
    }
  })

  it('has the health check of the container file, which images in OCI’s format lose', () => {
    const { healthcheck } = readCompose(`${FOLDER}/compose.yaml`).clusterd!
    const own = /^HEALTHCHECK .* CMD (node -e) "(.*)"$/m.exec(read('Containerfile'))!
    expect(healthcheck!.test).toEqual(['CMD', ...own[1]!.split(' '), own[2]])
  })

  it('publishes the API only to this machine, and does not publish the operator’s port', () => {
    expect(compose.match(/^ +- \S+:\d+:\d+$/gm)).toEqual([
      `      - 127.0.0.1:${DEFAULT_PORT}:${DEFAULT_PORT}`,
    ])
    expect(Number(/stop_grace_period: (\d+)s/.exec(compose)![1])).toBeGreaterThan(25)
  })
})
