import { type ChildProcess, spawn } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { useFolder } from '../../../test/support/folder.js'
import { lockFile, tryLockFile } from './files.js'
import { chooseFreePort, chooseFreePortFrom, isPortFree } from './ports.js'
import { identifyProcess, isProcessAlive, spawnChild, waitForCondition } from './processes.js'

const home = useFolder()
const startedProcesses: ChildProcess[] = []

/** Starts a process that runs a script, which starts children by `start` and prints their ids as JSON. */
async function launch(script: string): Promise<{ launcher: ChildProcess; pids: number[] }> {
  const file = path.join(home, 'launcher.mts')
  fs.writeFileSync(
    file,
    `import { spawnChild } from ${JSON.stringify(path.resolve('src/testing/processes/processes.ts'))}
    const start = (script, exitSignal) =>
      spawnChild({ command: 'sh', args: ['-c', script], logFile: ${JSON.stringify(path.join(home, 'log'))}, exitSignal })
    ${script}`,
  )
  const launcher = spawn(process.execPath, ['--import', 'tsx', file], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  startedProcesses.push(launcher)
  const said = await new Promise<string>((resolve) =>
    launcher.stdout.once('data', (data) => resolve(String(data))),
  )
  return { launcher, pids: JSON.parse(said) }
}

afterEach(() => {
  for (const child of startedProcesses.splice(0)) child.kill('SIGKILL')
})

describe('spawnChild', () => {
  it.each(['SIGKILL', 'SIGTERM'] as const)(
    'leaves no child running when its process gets %s',
    async (signal) => {
      const done = path.join(home, `done ${signal}`)
      const ready = path.join(home, `ready ${signal}`)
      const { launcher, pids } = await launch(`
      const ended = await start('exit 0')
      await ended.exited
      const tidy = await start('trap "touch \\'${done}\\'; exit" INT; touch \\'${ready}\\'; while :; do sleep 0.1; done', 'SIGINT')
      const stubborn = await start('trap "" TERM; while :; do sleep 0.1; done', 'SIGTERM')
      console.log(JSON.stringify([tidy.pid, stubborn.pid]))
      setInterval(() => {}, 1000)`)
      expect(pids.filter((pid) => !isProcessAlive(pid))).toEqual([])
      expect(await waitForCondition(() => fs.existsSync(ready), 15_000)).toBe(true)
      launcher.kill(signal)
      expect(await waitForCondition(() => !pids.some(isProcessAlive), 15_000)).toBe(true)
      expect(fs.existsSync(done)).toBe(true)
    },
  )
})

describe('lockFile', () => {
  it('has one holder at a time, and ignores a holder that was killed', async () => {
    const file = path.join(home, 'lock')
    const first = await lockFile(file, 1_000)
    expect(tryLockFile(file)).toEqual({ heldBy: process.pid })
    await expect(lockFile(file, 60)).rejects.toThrow(`process ${process.pid} holds it`)
    first.release()

    const dead = await spawnChild({
      command: 'sleep',
      args: ['300'],
      logFile: path.join(home, 'sleep.log'),
    })
    const startedAt = identifyProcess(dead.pid)?.startedAt
    fs.writeFileSync(file, `${dead.pid} ${startedAt}`)
    expect(tryLockFile(file)).toEqual({ heldBy: dead.pid })
    await dead.end('SIGKILL', 0)
    const results = Array.from({ length: 5 }, () => tryLockFile(file))
    expect(results.filter((result) => 'lock' in result)).toHaveLength(1)
  })
})

describe('ports', () => {
  it('returns free ports, never one twice', async () => {
    const ports = await Promise.all(Array.from({ length: 20 }, chooseFreePort))
    expect(new Set(ports).size).toBe(20)
    expect(await isPortFree(ports[0]!)).toBe(true)
    const claimed = await chooseFreePortFrom(ports[0]!)
    expect(await chooseFreePortFrom(claimed)).toBeGreaterThan(claimed)
  })
})
