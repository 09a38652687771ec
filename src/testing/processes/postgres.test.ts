import { spawn } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { queryOn } from '../../../test/support/database.js'
import { useFolder } from '../../../test/support/folder.js'
import { createDatabase, dropDatabase, type Postgres, startPostgres } from './postgres.js'
import { isProcessAlive, waitForCondition } from './processes.js'

const home = useFolder()
const startedServers: Postgres[] = []

async function startTestServer(options: { port?: number; name?: string } = {}): Promise<Postgres> {
  const server = await startPostgres({
    dataDir: path.join(home, options.name ?? 'pg'),
    ...(options.port !== undefined && { port: options.port }),
  })
  startedServers.push(server)
  return server
}

afterEach(async () => {
  for (const server of startedServers.splice(0)) await server.stop()
})

describe('startPostgres', () => {
  it('starts with our settings, keeps data over a restart on the same port, and leaves no process', async () => {
    const first = await startTestServer()
    const settings = await queryOn<{ name: string; setting: string }>(
      first.url,
      `select name, setting from pg_settings
        where name in ('listen_addresses', 'max_wal_size', 'wal_compression', 'wal_buffers', 'shared_buffers')`,
    )
    expect(Object.fromEntries(settings.map((row) => [row.name, row.setting]))).toEqual({
      listen_addresses: '127.0.0.1',
      max_wal_size: '4096',
      wal_compression: 'pglz',
      wal_buffers: '2048',
      shared_buffers: '65536',
    })
    await queryOn(first.url, 'create table kept (n int); insert into kept values (7)')
    await first.stop()
    expect(isProcessAlive(first.pid)).toBe(false)

    const second = await startTestServer({ port: first.port })
    expect(second.port).toBe(first.port)
    expect(await queryOn(second.url, 'select n from kept')).toEqual([{ n: 7 }])
  })

  it('starts again after SIGKILL of the server, despite a pid file whose id belongs to another process', async () => {
    const first = await startTestServer({ name: 'stale' })
    await queryOn(first.url, 'create table kept (n int)')
    process.kill(first.pid, 'SIGKILL')
    await waitForCondition(() => !isProcessAlive(first.pid), 5_000)
    const pidFile = path.join(home, 'stale', 'postmaster.pid')
    const lines = fs.readFileSync(pidFile, 'utf8').split('\n')
    const second = await startTestServer({ name: 'stale' })
    expect(await queryOn(second.url, 'select count(*)::int as n from kept')).toEqual([{ n: 0 }])
    await second.stop()

    const stranger = spawn('sleep', ['60'])
    try {
      fs.writeFileSync(pidFile, [stranger.pid, ...lines.slice(1)].join('\n'))
      await startTestServer({ name: 'stale' })
    } finally {
      stranger.kill('SIGKILL')
    }
  })

  it('starts again while a child process of the killed server still has the shared memory', async () => {
    const first = await startTestServer({ name: 'children' })
    const [child] = await queryOn<{ pid: number }>(
      first.url,
      "select pid from pg_stat_activity where backend_type = 'checkpointer'",
    )
    process.kill(child!.pid, 'SIGSTOP')
    try {
      process.kill(first.pid, 'SIGKILL')
      setTimeout(() => process.kill(child!.pid, 'SIGCONT'), 2_000)
      await startTestServer({ name: 'children' })
    } finally {
      if (isProcessAlive(child!.pid)) process.kill(child!.pid, 'SIGKILL')
    }
  })

  it('reports a taken port in one line', async () => {
    const first = await startTestServer()
    await expect(startTestServer({ name: 'other', port: first.port })).rejects.toThrow(
      `: port ${first.port} is taken`,
    )
  })

  it('creates and drops databases, repeatedly and at once', async () => {
    const server = await startTestServer()
    const urls = await Promise.all([
      createDatabase(server.url, 'a "b"'),
      createDatabase(server.url, 'a "b"'),
    ])
    expect(await queryOn(urls[0], 'select current_database() as name')).toEqual([{ name: 'a "b"' }])
    await dropDatabase(server.url, 'a "b"')
    await dropDatabase(server.url, 'a "b"')
    await expect(queryOn(urls[1], 'select 1')).rejects.toThrow('does not exist')
  })
})
