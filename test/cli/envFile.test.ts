import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { describe, expect, it } from 'vitest'
import type { DoctorFinding } from '../../src/ops/finding.js'
import { runCli } from '../support/cli.js'
import { useFolder } from '../support/folder.js'

const folder = useFolder()
const UNSET = { DATABASE_URL: undefined, OPS_TOKEN: undefined, CLUSTERD_CHAINS: undefined }
const FILE = [
  '# a comment',
  'DATABASE_URL=postgresql://u:se#cret@127.0.0.1:1/d',
  'export OPS_TOKEN=0123456789abcdef',
  'PORT=3000',
].join('\n')

/** Output of a command that fails in the folder. */
const failureOf = (...args: string[]): Promise<{ stdout: string; stderr: string }> =>
  runCli(args, UNSET, folder).then(
    () => Promise.reject(new Error(`${args} did not fail`)),
    (error) => error,
  )

describe('a line of .env that systemd or Docker Compose read differently', () => {
  it('is named by `clusterd start` before the configuration is read', async () => {
    writeFileSync(join(folder, '.env'), FILE)
    const { stderr } = await failureOf('start')
    expect(stderr).toContain(
      'clusterd: .env, line 2 (DATABASE_URL) has a #, where Node begins a comment, and systemd does not. Put the value in single quotes.\n',
    )
    expect(stderr).toContain('clusterd: .env, line 3 (OPS_TOKEN) begins with export')
    expect(stderr).not.toContain('se#cret')
    expect(stderr).not.toContain('line 4')
  })

  it('is a warning of `clusterd doctor`, also where the configuration is wrong', async () => {
    writeFileSync(join(folder, '.env'), `${FILE}\nPORT=x`)
    const { stdout } = await failureOf('doctor', '--json')
    const findings: DoctorFinding[] = JSON.parse(stdout)
    const ofFile = findings.filter(({ about }) => about.startsWith('.env'))
    expect(ofFile.map(({ about, level }) => [about, level])).toEqual([
      ['.env, line 2 (DATABASE_URL)', 'warn'],
      ['.env, line 3 (OPS_TOKEN)', 'warn'],
      ['.env, line 5 (PORT)', 'warn'],
    ])
    expect(findings.find(({ about }) => about === 'configuration')?.level).toBe('bad')
  })

  it('is not what `clusterd init` writes', async () => {
    const url = 'postgresql://u:p$w@127.0.0.1:1/d?options=-c%20a#b'
    const rpc = '11155111=http://127.0.0.1:9'
    const out = join(folder, 'new')
    await runCli(
      ['init', '--hub', '11155111', '--rpc', rpc, '--database', url, '--out', out],
      UNSET,
      folder,
    )
    const text = readFileSync(join(out, '.env'), 'utf8')
    expect(text).toContain(`\nDATABASE_URL='${url}'\n`)
    expect(parseEnv(text).DATABASE_URL).toBe(url)
  })
})

it('adds no direct URL to a DATABASE_URL that the caller chose', async () => {
  const old =
    'DATABASE_URL=postgresql://u@127.0.0.1:1/d\nDATABASE_DIRECT_URL=postgresql://u@127.0.0.1:2/d'
  writeFileSync(join(folder, '.env'), old)
  const restored = (env: Record<string, string | undefined>) =>
    runCli(['journal', 'restored', '--yes'], { ...UNSET, ...env }, folder).then(
      () => Promise.reject(new Error('it did not fail')),
      ({ stderr }) => /127\.0\.0\.1:\d/.exec(stderr)?.[0],
    )
  expect(await restored({})).toBe('127.0.0.1:2')
  const copy = 'postgresql://u@127.0.0.1:3/d'
  expect(await restored({ DATABASE_URL: copy })).toBe('127.0.0.1:3')
  const urlFile = join(folder, 'copy')
  writeFileSync(urlFile, copy)
  writeFileSync(join(folder, 'direct'), 'postgresql://u@127.0.0.1:2/d')
  const names = ['DATABASE_URL_FILE', 'DATABASE_DIRECT_URL_FILE']
  writeFileSync(
    join(folder, '.env'),
    names.map((one) => `${one}=${join(folder, 'direct')}\n`).join(''),
  )
  expect(await restored({ DATABASE_URL: copy })).toBe('127.0.0.1:3')
  expect(await restored({ DATABASE_URL_FILE: urlFile })).toBe('127.0.0.1:3')
})
