import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it, vi } from 'vitest'
import type { Step } from '../../chains/evm/deployment/item.js'
import type { SendingChain } from '../../chains/evm/deployment/send.js'
import { carryOut } from './carryOut.js'

const folder = mkdtempSync(join(tmpdir(), 'clusterd-carry-out-'))
afterAll(() => rmSync(folder, { recursive: true }))

const OWNER = `0x${'0a'.repeat(20)}` as const
const STEP: Step = {
  ...{ id: '1.hub.peer', chain: '1', by: OWNER, to: `0x${'0b'.repeat(20)}`, data: '0x00', value: 0n },
  ...{ does: 'sets a peer', usualGas: 1n },
}
const chains = new Map([['1', { label: '1', chainId: 1 } as SendingChain]])
const batchesInto = (out: string, before: () => Promise<void>) =>
  carryOut([STEP], { chains, owners: new Map(), before }, { unsigned: 'safe', out })

describe('batches for a Safe', () => {
  it('go into a folder that is made for them', async () => {
    const out = join(folder, 'new', 'batches')
    vi.spyOn(console, 'log').mockImplementation(() => {})
    const before = vi.fn(async () => expect(existsSync(out)).toBe(true))
    await batchesInto(out, before).finally(() => vi.restoreAllMocks())
    expect(readdirSync(out)).toEqual([`safe-1-${OWNER}.json`])
  })

  it('change nothing before where there can be no such folder', async () => {
    const file = join(folder, 'file')
    writeFileSync(file, '')
    const before = vi.fn(async () => {})
    await expect(batchesInto(join(file, 'batches'), before)).rejects.toThrow('ENOTDIR')
    expect(before).not.toHaveBeenCalled()
  })
})
