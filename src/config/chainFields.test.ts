import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { addChainFields } from './chainsFile.js'
import { writeFileAtomically } from './files.js'

const CONTRACT = `0x${'0c'.repeat(20)}`
const ADDED = new Map([
  ['11155111', { contract: CONTRACT, startBlock: 7 }],
  ['17000', { contract: CONTRACT }],
])

/** Adds fields to a file. @returns its new text */
function added(text: string): string {
  const file = join(mkdtempSync(join(tmpdir(), 'clusterd-chains-')), 'chains.json')
  writeFileSync(file, text)
  addChainFields(file, ADDED)
  return readFileSync(file, 'utf8')
}

it('a file that can not be replaced leaves no copy with its secrets', () => {
  const folder = mkdtempSync(join(tmpdir(), 'clusterd-files-'))
  const file = join(folder, 'taken')
  mkdirSync(join(file, 'full'), { recursive: true })
  expect(() => writeFileAtomically(file, 'a key')).toThrow(/EISDIR|ENOTEMPTY|EEXIST/)
  expect(readdirSync(folder)).toEqual(['taken'])
})

describe('fields that are added to a chains file', () => {
  it('keep the other fields, their order and the indentation', () => {
    const hub = { label: '11155111', role: 'hub', rpcUrls: ['http://a'] }
    const spoke = { rpcUrls: ['http://b'], role: 'spoke', label: '17000' }
    const textOf = (...chains: object[]) =>
      `${JSON.stringify({ payments: { refusalWorth: 0.5 }, chains }, null, '\t')}\n`
    expect(added(textOf(hub, spoke))).toBe(
      textOf({ ...hub, contract: CONTRACT, startBlock: 7 }, { ...spoke, contract: CONTRACT }),
    )
  })

  it('replace a field that is there already', () => {
    const chain = { startBlock: 0, label: '11155111', role: 'hub', rpcUrls: ['http://a'] }
    const text = JSON.stringify({ chains: [chain], payments: { releaseAfterMs: 1 } })
    expect(JSON.parse(added(text))).toEqual({
      chains: [{ ...chain, contract: CONTRACT, startBlock: 7 }],
      payments: { releaseAfterMs: 1 },
    })
  })

  it('leave mode, link and folder as they are', () => {
    const folder = mkdtempSync(join(tmpdir(), 'clusterd-chains-'))
    const [file, link] = ['chains.json', 'link.json'].map((name) => join(folder, name))
    const chain = { label: '11155111', role: 'hub', rpcUrls: ['http://a'] }
    writeFileSync(file!, JSON.stringify({ chains: [chain] }))
    // a bit that the umask of most processes clears
    chmodSync(file!, 0o662)
    symlinkSync('chains.json', link!)
    addChainFields(link!, ADDED)
    expect(lstatSync(link!).isSymbolicLink()).toBe(true)
    expect(statSync(file!).mode & 0o777).toBe(0o662)
    expect(JSON.parse(readFileSync(file!, 'utf8')).chains[0].contract).toBe(CONTRACT)
    expect(readdirSync(folder).toSorted()).toEqual(['chains.json', 'link.json'])
  })
})
