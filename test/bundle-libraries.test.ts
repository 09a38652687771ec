import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { bundleLibraries } from '../scripts/bundle-libraries.js'

const FOLDER = join(import.meta.dirname, `../dist-test-libraries-${process.pid}`)
afterAll(() => rmSync(FOLDER, { recursive: true, force: true }))

/** Takes libraries in every form that the build has: ES modules and CommonJS, by name, as a whole and when needed. */
const PROGRAM = `import { readFileSync } from 'node:fs'
import pg, { Client } from 'pg'
import { keccak256 as hash,
  zeroAddress } from 'viem'
import * as accounts from "viem/accounts"
const { WebSocket } = await import('ws')
const others = await import('./own/other.js')
console.log(JSON.stringify([
  pg.Client === Client, hash('0x'), zeroAddress.length, typeof accounts.privateKeyToAccount, typeof WebSocket,
  typeof readFileSync, others.Client === Client,
]))
`

test('a bundled build runs by its own copies of the libraries, each there once', async () => {
  mkdirSync(join(FOLDER, 'own'), { recursive: true })
  writeFileSync(join(FOLDER, 'main.js'), PROGRAM)
  writeFileSync(join(FOLDER, 'own/other.js'), `export { Client } from 'pg'\n`)
  await bundleLibraries(FOLDER)
  expect(readFileSync(join(FOLDER, 'own/other.js'), 'utf8')).toBe(`export { Client } from '../libraries/pg.mjs'\n`)
  const output = execFileSync(process.execPath, [join(FOLDER, 'main.js')], { encoding: 'utf8' })
  const ofNothing = '0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470'
  expect(JSON.parse(output)).toEqual([true, ofNothing, 42, 'function', 'function', 'function', true])
  expect(readFileSync(join(FOLDER, 'main.js'), 'utf8')).not.toMatch(/['"](pg|viem|viem\/accounts|ws)['"]/)
  expect(readFileSync(join(FOLDER, 'libraries/LICENSES'), 'utf8')).toMatch(/^pg 8\.\S+ \(MIT\)\n\n\S/m)
})
