import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort, isPortFree } from '../../src/testing/processes/ports.js'
import { waitFor } from '../../src/testing/processes/processes.js'

const START_LIMIT_MS = 10_000

/** A proxy that this machine may have, and how it is started before an API. */
export interface ProxyProgram {
  name: string
  isInstalled: boolean
  /** @returns its URL */
  start(api: string): Promise<{ url: string; stop(): Promise<void> }>
}

/** nginx that compresses everything, joins paths with a doubled slash below /joined, and names clients with ports. */
const nginxConfig = (upstream: string, port: number, folder: string) => `
daemon off; master_process off; pid ${folder}/pid; error_log stderr notice;
events {}
http {
  access_log off;
  client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/f; uwsgi_temp_path ${folder}/u; scgi_temp_path ${folder}/s;
  gzip on; gzip_types *; gzip_min_length 1; gzip_proxied any;
  upstream api { server ${upstream}; keepalive 8; }
  server {
    listen 127.0.0.1:${port};
    proxy_http_version 1.1;
    proxy_set_header Connection "";
    location / {
      proxy_pass http://api;
      proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
    }
    location /joined/ {
      proxy_pass http://api//;
      proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
    }
    location /ports/ {
      proxy_pass http://api/;
      proxy_set_header X-Forwarded-For "$http_x_forwarded_for:40000, $remote_addr:$remote_port";
    }
    location /standard/ {
      proxy_pass http://api/;
      proxy_set_header X-Forwarded-For "";
      proxy_set_header Forwarded 'for="[$http_x_forwarded_for]:40000", for="$remote_addr:$remote_port"';
    }
  }
}
`

/** HAProxy as examples/deploy/topology has it, that compresses and keeps connections. */
const haproxyConfig = (upstream: string, port: number) => `
defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
frontend clients
  bind 127.0.0.1:${port}
  option forwardfor
  http-request replace-path /joined/(.*) //\\1
  http-request set-header X-Forwarded-For "%[req.hdr(X-Forwarded-For)]:40000" if { path_beg /ports/ }
  http-request replace-path /ports/(.*) /\\1
  default_backend api
backend api
  http-reuse always
  compression algo gzip
  compression type application/json text/event-stream
  server one ${upstream}
`

async function startProxy(
  command: string,
  args: (file: string) => string[],
  configOf: (port: number, folder: string) => string,
) {
  const folder = mkdtempSync(join(tmpdir(), 'clusterd-proxy-'))
  chmodSync(folder, 0o755)
  const port = await freePort()
  const file = join(folder, 'proxy.conf')
  writeFileSync(file, configOf(port, folder))
  const child = spawn(command, args(file), { stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  child.stderr.on('data', (chunk: Buffer) => {
    said += chunk.toString()
  })
  const isUp = async () => child.exitCode !== null || !(await isPortFree(port))
  if (!(await waitFor(isUp, START_LIMIT_MS)) || child.exitCode !== null)
    throw new Error(`starting ${command}: ${said}`)
  return {
    url: `http://127.0.0.1:${port}`,
    async stop(): Promise<void> {
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function commandOf(name: string): string | undefined {
  return [name, `/usr/sbin/${name}`].find((path) => spawnSync(path, ['-v']).status === 0)
}

const nginx = commandOf('nginx')
const haproxy = commandOf('haproxy')
const hostOf = (api: string): string => new URL(api).host

export const PROXIES: readonly ProxyProgram[] = [
  {
    name: 'nginx',
    isInstalled: nginx !== undefined,
    start: (api) =>
      startProxy(
        nginx!,
        (file) => ['-c', file],
        (port, folder) => nginxConfig(hostOf(api), port, folder),
      ),
  },
  {
    name: 'HAProxy',
    isInstalled: haproxy !== undefined,
    start: (api) =>
      startProxy(
        haproxy!,
        (file) => ['-f', file],
        (port) => haproxyConfig(hostOf(api), port),
      ),
  },
]
