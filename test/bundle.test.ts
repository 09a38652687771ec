import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import { afterAll, expect, test } from 'vitest'
import { bundle, bundleLibraries } from '../scripts/bundle.js'
import { toSourcePosition } from '../src/ops/logger/sources.js'

const FOLDER = join(import.meta.dirname, `../dist-test-libraries-${process.pid}`)
afterAll(() => rmSync(FOLDER, { recursive: true, force: true }))

/** Name and text of each file of a build's libraries. */
const librariesOf = (folder: string): [file: string, text: string][] =>
  readdirSync(join(folder, 'libraries')).map((file) => [
    file,
    readFileSync(join(folder, 'libraries', file), 'utf8'),
  ])

/** Imports libraries in every form of the build: ES modules and CommonJS, by name, as a namespace and dynamically. */
const PROGRAM = `import { readFileSync } from 'node:fs'
import pg, { Client } from 'pg'
import { keccak256 as hash,
  zeroAddress } from 'viem'
import * as accounts from "viem/accounts"
import { z } from 'zod'
const { WebSocket } = await import('ws')
const others = await import('./own/other.js')
console.log(JSON.stringify([
  pg.Client === Client, hash('0x'), zeroAddress.length, typeof accounts.privateKeyToAccount, typeof WebSocket,
  typeof readFileSync, others.Client === Client,
  z.number().safeParse('1').error.issues[0].message,
]))
`

test('a bundled build runs with its own copies of the libraries, each included once', async () => {
  mkdirSync(join(FOLDER, 'own'), { recursive: true })
  writeFileSync(join(FOLDER, 'main.js'), PROGRAM)
  writeFileSync(join(FOLDER, 'own/other.js'), `export { Client } from 'pg'\n`)
  await bundleLibraries(FOLDER)
  expect(readFileSync(join(FOLDER, 'own/other.js'), 'utf8')).toBe(
    `export { Client } from '../libraries/pg.mjs'\n`,
  )
  const output = execFileSync(process.execPath, [join(FOLDER, 'main.js')], { encoding: 'utf8' })
  const ofNothing = '0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470'
  const refused = 'Invalid input: expected number, received string'
  expect(JSON.parse(output)).toEqual([
    true,
    ofNothing,
    42,
    'function',
    'function',
    'function',
    true,
    refused,
  ])
  for (const [file, text] of librariesOf(FOLDER))
    expect(text, file).not.toContain('Ungültige Eingabe')
  expect(readFileSync(join(FOLDER, 'main.js'), 'utf8')).not.toMatch(
    /['"](pg|viem|viem\/accounts|ws)['"]/,
  )
  const loaded =
    "import './libraries/pg.mjs'; console.log(process.moduleLoadList.some((one) => one.includes('undici')))"
  const asked = ['--input-type=module', '-e', loaded]
  expect(execFileSync(process.execPath, asked, { cwd: FOLDER, encoding: 'utf8' })).toBe('false\n')
  expect(readFileSync(join(FOLDER, 'libraries/LICENSES'), 'utf8')).toMatch(
    /^pg 8\.\S+ \(MIT\)\n\n\S/m,
  )
})

test('Solana’s libraries use Node’s own fetch, and load no deprecated module', async () => {
  const folder = join(FOLDER, 'solana')
  mkdirSync(folder, { recursive: true })
  const program = `import { Connection } from '@solana/web3.js'
    import fetch from 'cross-fetch'
    const url = 'data:application/json,{"jsonrpc":"2.0","id":"1","result":7}'
    console.log((await (await fetch(url)).json()).result, typeof Connection)`
  writeFileSync(join(folder, 'main.js'), program.replaceAll(/^ +/gm, ''))
  await bundleLibraries(folder)
  const { stdout, stderr } = spawnSync(process.execPath, [join(folder, 'main.js')], {
    encoding: 'utf8',
  })
  expect({ stdout, stderr }).toEqual({ stdout: '7 function\n', stderr: '' })
  for (const [file, text] of librariesOf(folder)) expect(text, file).not.toMatch(/['"]punycode['"]/)
})

const OWN = {
  'cli.ts': `import { keccak256 } from 'viem'
    import { place, read } from './deep/own.js'
    const late = await import('./late.js')
    console.log(JSON.stringify([keccak256('0x').length, read(), place(), late.place() === place()]))`,
  'late.ts': `export { place } from './deep/own.js'`,
  'deep/own.ts': `import { readFileSync } from 'node:fs'

    export const read = (): string => readFileSync(new URL('../beside.txt', import.meta.url), 'utf8')
    export const place = (): string => /\\((.*)\\)/.exec(new Error('here').stack!)![1]!`,
}

test('our own files become one program, which finds the files beside it, and whose errors show source positions', async () => {
  const sources = join(FOLDER, 'sources')
  const folder = join(FOLDER, 'a build')
  mkdirSync(join(sources, 'deep'), { recursive: true })
  for (const [file, text] of Object.entries(OWN)) writeFileSync(join(sources, file), text)
  const entryPoints = Object.keys(OWN).map((file) => join(sources, file))
  await build({ entryPoints, outdir: folder, format: 'esm', target: 'es2022', sourcemap: true })
  writeFileSync(join(folder, 'beside.txt'), 'beside')
  await bundle(folder)
  const output = execFileSync(process.execPath, [join(folder, 'cli.js')], { encoding: 'utf8' })
  const [hash, beside, place, isSame] = JSON.parse(output)
  expect([hash, beside, isSame]).toEqual([66, 'beside', true])
  expect(place).toMatch(/\/a%20build\/program\/[^/]+\.js:\d+:\d+$/)
  expect(toSourcePosition(place)).toMatch(/\/sources\/deep\/own\.ts:4:\d+$/)
  expect(toSourcePosition('node:fs:1:2')).toBe('node:fs:1:2')
})
