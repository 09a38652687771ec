import { execFile } from 'node:child_process'
import { cpSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it } from 'vitest'
import { attach } from '../../src/testing/index.js'
import { useFolder } from '../support/folder.js'
import { install } from '../support/installed.js'

const run = promisify(execFile)
const vitest = resolve('node_modules/vitest/vitest.mjs')
const folder = useFolder()
const env = { ...process.env, VITEST: undefined, NODE_ENV: undefined }

/** The example in a folder of its own, as `npm install` would make it; the type check of this project has its types. */
beforeAll(async () => {
  cpSync('examples/contract-harness', folder, { recursive: true })
  await install(folder, ['@types/node', 'solc', 'tsx', 'viem', 'vitest'])
})

describe.concurrent('examples/contract-harness', () => {
  it('mines, reorgs, drops, holds the bridge and moves the clock under node:test', async () => {
    const flags = ['--import', 'tsx', '--test', '--test-reporter=tap']
    const { stdout } = await run(process.execPath, [...flags, 'test/nameGate.test.ts'], {
      cwd: folder,
      env,
    })
    expect(stdout).toContain('# pass 6')
  })

  it('attaches to a chain that runs under vitest', async () => {
    // as a package that is installed, not linked: Node loads it
    const config =
      "{ test: { include: ['test/attach.test.ts'], server: { deps: { external: [/dist-test-/] } } } }"
    writeFileSync(join(folder, 'vitest.config.ts'), `export default ${config}`)
    const { stdout } = await run(process.execPath, [vitest, 'run'], { cwd: folder, env })
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
