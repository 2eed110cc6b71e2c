/** Node-RED with its shortest endpoint: http in, function, http response. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { onCore } from '../cores.ts'
import { ask, runCooperatively } from '../requests.ts'
import { startServer } from '../server-process.ts'
import { freePort } from './install.ts'
import type { Peer } from './peer.ts'

export const NODE_RED = 'node-red@5.0.7'

/** Replies what the constant endpoint of the bench replies. */
const source = `msg.payload = { service: 'bench', ready: true, version: 3, regions: ['north', 'south'], limits: { page: 20, body: 1048576 } }
return msg`

const flow = [
  { id: 'tab', type: 'tab', label: 'bench' },
  {
    id: 'in',
    type: 'http in',
    z: 'tab',
    url: '/bench/constant',
    method: 'get',
    wires: [['make']],
  },
  { id: 'make', type: 'function', z: 'tab', func: source, outputs: 1, wires: [['out']] },
  { id: 'out', type: 'http response', z: 'tab', statusCode: '200', headers: {}, wires: [] },
]

export async function startNodeRed(folder: string, core: number | undefined): Promise<Peer> {
  const home = join(folder, 'node-red-home')
  await mkdir(home)
  const port = await freePort()
  const settings = {
    uiHost: '127.0.0.1',
    uiPort: port,
    flowFile: 'flows.json',
    httpNodeRoot: '/api/v1',
    httpAdminRoot: false,
    credentialSecret: false,
    logging: { console: { level: 'info', metrics: false, audit: false } },
  }
  await writeFile(join(home, 'settings.js'), `module.exports = ${JSON.stringify(settings)}`)
  await writeFile(join(home, 'flows.json'), JSON.stringify(flow))
  const program = join(folder, 'node_modules/node-red/red.js')
  const server = await startServer({
    command: onCore(core, [process.execPath, program, '-u', home, '-s', join(home, 'settings.js')]),
    environment: { HOME: home, NODE_ENV: 'production' },
    reports: false,
  })
  return {
    name: 'Node-RED',
    pid: server.pid,
    port,
    asks: { constant: () => runCooperatively([ask({ path: 'bench/constant' })]) },
    close: server.stop,
  }
}
