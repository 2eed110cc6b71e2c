/** Processor time of a PostgreSQL on this machine, where the kernel tells it (Linux). */
import { readFile } from 'node:fs/promises'
import { cpuMicroseconds } from '../cpu-time.ts'

/**
 * Microseconds that all of its processes together have had a core so far. `backend`: one of them. What ended meanwhile is
 * missing, so it is for servers whose connections stay.
 */
export async function databaseMicroseconds(backend: number): Promise<number> {
  // "pid (name) state parent …", and a name may hold spaces.
  const status = await readFile(`/proc/${backend}/stat`, 'utf8')
  const parent = Number(status.slice(status.lastIndexOf(')') + 2).split(' ')[1])
  const children = await readFile(`/proc/${parent}/task/${parent}/children`, 'utf8')
  const all = [parent, ...children.trim().split(' ').map(Number)]
  return all.reduce((sum, pid) => sum + (cpuMicroseconds(pid) ?? 0), 0)
}
