import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { attach } from '../../src/testing/index.js'

const ROOT = join(import.meta.dirname, '../..')
const run = promisify(execFile)
const folder = mkdtempSync(join(tmpdir(), 'clusterd-harness-'))
const from = (name: string) => join(ROOT, 'node_modules', name)
const source = (room: string) => join(ROOT, 'src', room, 'index.ts')
const env = { ...process.env, NODE_OPTIONS: '--conditions=clusterd-source', VITEST: undefined, NODE_ENV: undefined }

/** The example in a folder of its own, as `npm install` would make it; the type check of this project has its types. */
beforeAll(() => {
  cpSync(join(ROOT, 'examples/contract-harness'), folder, { recursive: true })
  mkdirSync(join(folder, 'node_modules/@types'), { recursive: true })
  symlinkSync(ROOT, join(folder, 'node_modules/clusterd'))
  for (const name of ['@types/node', 'solc', 'tsx', 'viem', 'vitest'])
    symlinkSync(from(name), join(folder, 'node_modules', name))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe.concurrent('examples/contract-harness', () => {
  it('mines, reorgs, drops, holds the bridge and moves the clock under node:test', async () => {
    const { stdout } = await run(process.execPath, ['--import', 'tsx', '--test', 'test/nameGate.test.ts'], {
      cwd: folder,
      env,
    })
    expect(stdout).toContain('# pass 6')
  })

  it('attaches to a chain that runs under vitest', async () => {
    const alias = { 'clusterd/testing': source('testing'), 'clusterd/contracts': source('contracts') }
    const config = { resolve: { alias }, test: { include: ['test/attach.test.ts'] } }
    writeFileSync(join(folder, 'vitest.config.ts'), `export default ${JSON.stringify(config)}`)
    const { stdout } = await run(process.execPath, [from('vitest/vitest.mjs'), 'run'], { cwd: folder, env })
    expect(stdout).toMatch(/3 passed/)
  })
})

describe('attach', () => {
  it('says what to do where no development chain answers', async () => {
    await expect(attach({ rpcUrl: 'http://127.0.0.1:9' })).rejects.toThrow(
      'no chain answers at http://127.0.0.1:9, where "1" is attached: start it first.',
    )
  })
})
