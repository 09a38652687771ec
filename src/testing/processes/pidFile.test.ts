import { type ChildProcess, spawn } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { lockFile, tryLock } from './files.js'
import { PidFile } from './pidFile.js'
import { freePort, isPortFree, nextFreePort } from './ports.js'
import { endProcess, identifyProcess, isAlive, spawnChild, waitFor } from './processes.js'

let home: string
const started: ChildProcess[] = []

function sleeper(seconds = '300'): { pid: number } {
  const child = spawn('sleep', [seconds], { stdio: 'ignore' })
  started.push(child)
  return { pid: child.pid as number }
}

beforeAll(() => {
  home = fs.mkdtempSync(path.join(os.tmpdir(), 'clusterd-pids-'))
})

afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL')
})

afterAll(() => fs.rmSync(home, { recursive: true, force: true }))

describe('PidFile', () => {
  it('ends what an earlier launcher left, and only that', async () => {
    const dir = path.join(home, 'a')
    const [left, kept, other] = [sleeper('301'), sleeper('302'), sleeper('303')]
    const earlier = new PidFile(dir)
    earlier.add(left.pid, 'anvil', 'sleep 301')
    earlier.add(kept.pid, 'postgres', 'sleep 302')
    earlier.add(other.pid, 'daemon', 'sleep 999') // the id was reused

    const later = new PidFile(dir)
    expect(later.leftovers().map((entry) => entry.pid)).toEqual([left.pid, kept.pid])
    expect((await later.endLeftovers(['postgres'])).map((entry) => entry.pid)).toEqual([left.pid])
    expect([left, kept, other].map(({ pid }) => isAlive(pid))).toEqual([false, true, true])
    expect(new PidFile(dir).leftovers().map((entry) => entry.kind)).toEqual(['postgres'])
  })

  it('tells a process from a later one with the same id and command by its start time', () => {
    const dir = path.join(home, 'b')
    const { pid } = sleeper('304')
    new PidFile(dir).add(pid, 'anvil', 'sleep 304')
    const file = path.join(dir, 'pids.json')
    const entries = JSON.parse(fs.readFileSync(file, 'utf8')) as { startedAt: string }[]
    entries[0]!.startedAt = 'another time'
    fs.writeFileSync(file, JSON.stringify(entries))
    expect(new PidFile(dir).leftovers()).toEqual([])
  })

  it('takes a broken file for an empty one', () => {
    fs.mkdirSync(path.join(home, 'c'))
    fs.writeFileSync(path.join(home, 'c', 'pids.json'), '[{"pid": 1')
    expect(new PidFile(path.join(home, 'c')).leftovers()).toEqual([])
  })
})

describe('processes', () => {
  it('ends one that ignores the first signal', async () => {
    const logFile = path.join(home, 'stubborn.log')
    const child = await spawnChild({ command: 'sh', args: ['-c', 'trap "" INT; echo up; sleep 60'], logFile })
    await waitFor(() => child.logTail().includes('up'), 5_000)
    await endProcess(child.pid, 'SIGINT', 200)
    expect(identifyProcess(child.pid)).toBeUndefined()
    expect(await child.exited).toEqual({ code: null, signal: 'SIGKILL' })
  })
})

describe('lockFile', () => {
  it('lets one in at a time, and forgets a holder that was killed', async () => {
    const file = path.join(home, 'lock')
    const first = await lockFile(file, 1_000)
    expect(tryLock(file)).toEqual({ heldBy: process.pid })
    await expect(lockFile(file, 60)).rejects.toThrow(`process ${process.pid} holds it`)
    first.release()

    const dead = sleeper()
    const startedAt = identifyProcess(dead.pid)?.startedAt
    fs.writeFileSync(file, `${dead.pid} ${startedAt} x`)
    expect(tryLock(file)).toEqual({ heldBy: dead.pid })
    await endProcess(dead.pid, 'SIGKILL', 1_000)
    const results = Array.from({ length: 5 }, () => tryLock(file))
    expect(results.filter((result) => 'lock' in result)).toHaveLength(1)
  })
})

describe('ports', () => {
  it('hands out free ports, never one twice', async () => {
    const ports = await Promise.all(Array.from({ length: 20 }, freePort))
    expect(new Set(ports).size).toBe(20)
    expect(await isPortFree(ports[0]!)).toBe(true)
    expect(await nextFreePort(ports[0]!)).toBeGreaterThan(ports[0]!)
  })
})
