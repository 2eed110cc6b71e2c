/**
 * A real S3 server for tests: OpenStack Swift with its s3api, as Debian packages it (swift-proxy, swift-account,
 * swift-container, swift-object, memcached), on 127.0.0.1 and in a temporary folder. One copy of everything, no daemon of
 * its own but the five processes. Its settings in /etc/swift are not looked at: each process is told its folder first.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { access, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { S3Server } from './s3-server.ts'

const KINDS = ['account', 'container', 'object'] as const
const NEEDED = [
  'memcached',
  ...['account', 'container', 'object', 'proxy'].map((kind) => `swift-${kind}-server`),
].map((name) => `/usr/bin/${name}`)
const PACKAGES = 'swift-proxy swift-account swift-container swift-object memcached'
const run = promisify(execFile)

/** Or why there can be none on this machine. */
export async function findSwiftServer(): Promise<S3Server | { readonly problem: string }> {
  for (const path of NEEDED)
    if (!(await exists(path))) return { problem: `OpenStack Swift is not installed: ${PACKAGES}` }
  try {
    return await openSwiftServer()
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) }
  }
}

async function openSwiftServer(): Promise<S3Server> {
  const home = await mkdtemp(join(tmpdir(), 'quoin-swift-'))
  const running: ChildProcess[] = []
  const said: string[] = []
  const start = (command: string, ...words: string[]) => {
    // Ends with its standard input, so that none outlives a test run.
    const child = spawn('/bin/sh', ['-c', UNTIL_STDIN_ENDS, 'sh', command, ...words], {
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        if (said.length < 200) said.push(text)
      })
    running.push(child)
  }
  const close = async () => {
    await Promise.all(running.map(end))
    await rm(home, { recursive: true, force: true })
  }
  try {
    const ports = { proxy: await freePort(), cache: await freePort(), account: 0, container: 0, object: 0 }
    for (const kind of KINDS) ports[kind] = await freePort()
    await mkdir(join(home, 'devices', 'sda'), { recursive: true })
    await writeFile(join(home, 'swift.conf'), SWIFT)
    for (const kind of KINDS) await writeFile(join(home, `${kind}.conf`), store(kind, home, ports[kind]))
    await writeFile(join(home, 'proxy.conf'), proxy(home, ports.proxy, ports.cache))
    await run('/usr/bin/python3', ['-c', RINGS, home, ...KINDS.map((kind) => `${kind}=${ports[kind]}`)])
    start(
      '/usr/bin/memcached',
      '-l',
      '127.0.0.1',
      '-p',
      `${ports.cache}`,
      '-U',
      '0',
      '-m',
      '16',
      '-u',
      userInfo().username,
    )
    for (const kind of [...KINDS, 'proxy'])
      start('/usr/bin/python3', '-c', SERVE, home, join(home, `${kind}.conf`), `${kind}-server`)
    const endpoint = `http://127.0.0.1:${ports.proxy}`
    const checks = KINDS.map((kind) => `http://127.0.0.1:${ports[kind]}/healthcheck`)
    for (const url of [...checks, `${endpoint}/healthcheck`]) await answers(url, said)
    return { endpoint, accessKeyId: 'test:tester', secretAccessKey: 'testing', close }
  } catch (error) {
    await close()
    throw error
  }
}

const UNTIL_STDIN_ENDS =
  'exec 3<&0; "$@" </dev/null 3<&- & server=$!; (cat <&3 >/dev/null; kill -KILL $server 2>/dev/null) & wait $server'

const SERVE = `import sys
from swift.common.utils import set_swift_dir
set_swift_dir(sys.argv[1])
from swift.common.wsgi import run_wsgi
sys.exit(run_wsgi(sys.argv[2], sys.argv[3], verbose=True))`

const RINGS = `import os, sys
from swift.common.utils import set_swift_dir
set_swift_dir(sys.argv[1])
from swift.common.ring import RingBuilder
for kind, port in (part.split('=') for part in sys.argv[2:]):
    ring = RingBuilder(1, 1, 1)
    place = dict(ip='127.0.0.1', port=int(port), replication_ip='127.0.0.1', replication_port=int(port))
    ring.add_dev(dict(id=0, region=1, zone=1, weight=1.0, device='sda', meta='', **place))
    ring.rebalance()
    ring.get_ring().save(os.path.join(sys.argv[1], kind + '.ring.gz'))`

const SWIFT = `[swift-hash]
swift_hash_path_suffix = test
swift_hash_path_prefix = test
[storage-policy:0]
name = one
default = yes
`

function common(home: string, port: number): string {
  const user = userInfo().username
  return `[DEFAULT]
bind_ip = 127.0.0.1
bind_port = ${port}
workers = 0
user = ${user}
swift_dir = ${home}
`
}

function store(kind: (typeof KINDS)[number], home: string, port: number): string {
  return `${common(home, port)}devices = ${join(home, 'devices')}
mount_check = false
disable_fallocate = true
[pipeline:main]
pipeline = healthcheck ${kind}-server
[app:${kind}-server]
use = egg:swift#${kind}
[filter:healthcheck]
use = egg:swift#healthcheck
`
}

function proxy(home: string, port: number, cache: number): string {
  const filters = 'catch_errors gatekeeper healthcheck cache listing_formats bulk s3api tempauth copy slo dlo'
  const sections = filters.split(' ').map((name) => {
    const settings = {
      cache: `memcache_servers = 127.0.0.1:${cache}\n`,
      tempauth: 'user_test_tester = testing .admin\n',
      s3api: 'location = us-east-1\ns3_acl = false\ndns_compliant_bucket_names = true\n',
    }[name]
    const use = name === 'cache' ? 'memcache' : name
    return `[filter:${name}]\nuse = egg:swift#${use}\n${settings ?? ''}`
  })
  return `${common(home, port)}[pipeline:main]
pipeline = ${filters} proxy-server
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
allow_account_management = true
${sections.join('')}`
}

async function answers(url: string, said: readonly string[]): Promise<void> {
  for (let tries = 0; tries < 400; tries++) {
    const reply = await fetch(url).catch(() => undefined)
    await reply?.arrayBuffer()
    if (reply?.ok) return
    await new Promise((next) => setTimeout(next, 50))
  }
  throw new Error(`Swift did not start:\n${said.join('')}`)
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.stdin?.end()
  await ended
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address()
      probe.close(() => {
        if (typeof address === 'object' && address) resolve(address.port)
        else reject(new Error('No port is free.'))
      })
    })
  })
}
