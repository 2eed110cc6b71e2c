import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'

const END_MS = 10_000

/** `npm run dev`, in a group of processes of its own, as at a terminal. */
export interface DevelopmentProcess {
  /** `http://127.0.0.1:<port>`, the one that was printed. */
  readonly address: string
  printed(): string
  /** Ends it as Ctrl-C does. Gives the number of processes that have ended; throws when one is left. */
  interrupt(): Promise<number>
}

export async function startDevelopment(folder: string, data: string): Promise<DevelopmentProcess> {
  // Without `predev`: what it installs is there.
  const child = spawn('npm', ['run', '--ignore-scripts', 'dev'], {
    cwd: folder,
    env: { PATH: process.env.PATH, QUOIN_PORT: '0', QUOIN_DATA: data },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  const signal = (name: NodeJS.Signals) => {
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null)
      process.kill(-child.pid, name)
  }
  const orphaned = () => signal('SIGKILL')
  process.once('exit', orphaned)
  let printed = ''
  const ready = new Promise<string>((resolve) => {
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        printed += text
        const [, address] = /Studio +(http:\S+)\/studio$/m.exec(printed) ?? []
        if (address !== undefined) resolve(address)
      })
  })
  const address = await Promise.race([ready, once(child, 'exit').then(() => undefined)])
  if (address === undefined) throw new Error(`npm run dev ended before it served:\n${printed}`)
  return {
    address,
    printed: () => printed,
    async interrupt() {
      const started = child.pid === undefined ? [] : [child.pid, ...(await startedBy(child.pid))]
      signal('SIGINT')
      const late = performance.now() + END_MS
      while (started.some(isRunning) && performance.now() < late) await wait(10)
      orphaned()
      process.removeListener('exit', orphaned)
      const left = started.filter(isRunning)
      if (left.length > 0) throw new Error(`Processes are left: ${left.join(', ')}. Printed:\n${printed}`)
      return started.length
    },
  }
}

async function startedBy(parent: number): Promise<number[]> {
  const children = await readFile(`/proc/${parent}/task/${parent}/children`, 'utf8').catch(() => '')
  const pids = children.split(' ').filter(Boolean).map(Number)
  return [...pids, ...(await Promise.all(pids.map(startedBy))).flat()]
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
